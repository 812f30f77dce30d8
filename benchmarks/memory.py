"""Memory of a fit: what each method says before it starts, beside the peak measured in a process of its own.

The peak is that of the resident set during ``fit``, less what was resident before it, with libraries loaded and the
data in memory. Needs Linux.

Usage: python benchmarks/memory.py [METHOD ...] [--case NAME ...]
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import ctypes
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from manyviews import Views, datasets
from manyviews.cluster.registry import METHODS, find_method

# samples, columns of the views, clusters; "text" views are CSR with one entry in a hundred
CASES = {
    "usual": (20_000, (60, 40), 10),
    "long": (50_000, (6, 5, 4), 5),
    "wide": (20_000, (800, 20), 20),
    "small": (600, (240, 216, 76), 10),
    "rows": (600, (2_000, 800), 10),
    "text": (20_000, (3_000, 1_000), 10),
    "cohort": (300, (20_000, 20_000, 800), 5),
}
# n × n arrays: fewer samples, and a few iterations, since the arrays are there from the first one on; fewer partitions
# for time
SMALLER = {
    "MVEC": (3_000, {"max_iter": 6, "n_base_clusterings": 20}),
    "RSEC": (2_500, {"max_iter": 4, "n_base_clusterings": 20}),
    "KCC": (None, {"n_base_clusterings": 10}),
    "SEC": (None, {"n_base_clusterings": 10}),
    "AMGL": (10_000, {"n_init": 2}),
    "CoRegSpectral": (10_000, {"max_iter": 3}),
    "ConvexSub": (2_000, {"max_iter": 2}),
    "MultiNMF": (None, {"n_starts": 2, "n_sweeps": 4, "max_iter": 3}),
    "RMSC": (2_500, {"max_iter": 6}),
    "SwMC": (3_000, {"max_iter": 3, "max_passes": 5}),
    "ONKC": (3_000, {"max_iter": 2}),
    "LKAM": (3_000, {}),
    "LMKKM": (3_000, {"max_iter": 2}),
}
EXACT = {"approximation": "exact"}
VARIANTS = {
    "OPLFMVC exact": ("OPLFMVC", 4_000, EXACT),
    "AverageKKM exact": ("AverageKKM", 4_000, EXACT),
    "MKKM exact": ("MKKM", 4_000, EXACT),
    "MKKMMiR exact": ("MKKMMiR", 4_000, EXACT),
    "ConcatSpectral gaussian": ("ConcatSpectral", 4_000, {"affinity": "gaussian"}),
    "SumSpectral gaussian": ("SumSpectral", 4_000, {"affinity": "gaussian"}),
    "UDBGL 100 anchors": ("UDBGL", 10_000, {"n_anchors": 100, "max_iter": 2, "max_passes": 4}),
    "CoRegSpectral gaussian": ("CoRegSpectral", 3_000, {"affinity": "gaussian", "max_iter": 3}),
    "MVEC double": ("MVEC", 2_500, {"max_iter": 6, "precision": "double"}),
}


def data(case, n):
    """The views of a case."""
    most, widths, k = CASES[case]
    n = n or most
    if case != "text":
        return datasets.make_blobs_views(n_samples=n, n_features=widths, n_clusters=k, random_state=0).views, k
    rng = np.random.default_rng(0)
    arrays = [
        sparse.random(n, d, 0.01, format="csr", random_state=rng, data_rvs=lambda s: 1.0 + rng.poisson(1, s))
        for d in widths
    ]
    return Views(arrays), k


def status(key):
    """A line of /proc/self/status, in bytes."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(text.partition(f"{key}:")[2].split()[0])


def measure(name, case):
    """One fit; prints estimate, peak and seconds as JSON."""
    class_name, n, parameters = VARIANTS.get(name, (name, *SMALLER.get(name, (None, {}))))
    method = find_method(class_name).load()
    warnings.simplefilter("ignore")
    small, _ = data(case, 300)
    method(n_clusters=3, random_state=0, **parameters).fit(small)  # loads what is loaded on first use
    views, k = data(case, n)
    model = method(n_clusters=k, random_state=0, **parameters)
    estimate = model._needed_bytes(views)
    ctypes.CDLL(None).malloc_trim(0)  # what the small fit left behind would hide some of what follows
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak counts from here on
    start = time.process_time()
    model.fit(views)
    seconds = time.process_time() - start
    print(json.dumps({"n": len(views), "peak": status("VmHWM") - before, "estimate": estimate, "seconds": seconds}))


def main():
    """Measure every method in every case."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("methods", nargs="*", help="class names or names of variants; all by default")
    parser.add_argument("--case", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--one", action="store_true", help="measure here, one method and case; for the script itself")
    args = parser.parse_args()
    if args.one:
        measure(args.methods[0], args.case[0])
        return
    names = args.methods or [row.class_name for row in METHODS] + list(VARIANTS)
    print(f"{'method':24s} {'case':6s} {'n':>6s} {'peak MB':>9s} {'estimate':>9s} {'est/peak':>8s} {'CPU s':>7s}")
    for name in names:
        for case in args.case:
            run = subprocess.run(
                [sys.executable, __file__, name, "--case", case, "--one"], capture_output=True, text=True, check=False
            )
            if run.returncode:
                print(f"{name:24s} {case:6s} failed: {run.stderr.strip().splitlines()[-1]}", flush=True)
                continue
            found = json.loads(run.stdout.splitlines()[-1])
            peak, estimate = found["peak"] / 1e6, found["estimate"] / 1e6
            print(
                f"{name:24s} {case:6s} {found['n']:6d} {peak:9.1f} {estimate:9.1f} {estimate / peak:8.2f} "
                f"{found['seconds']:7.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
