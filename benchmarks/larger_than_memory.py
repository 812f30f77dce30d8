"""One run of ``manyviews cluster`` on views larger than a bound on memory: its time, and its memory over time.

Makes three views as .npy files (float32, ten blobs), clusters them by the command, and reads what the process holds in
/proc while it runs: "anonymous" is what it allocated, "file" the pages of files that are mapped at that moment, "peak"
the most of both together. With --predict the model is of the first 20 000 samples, and it is ``manyviews predict`` that
is run on all. Needs Linux, and disk for the views.

Usage: python benchmarks/larger_than_memory.py [--n 10000000] [--base 20] [--method M] [--predict] [--folder /tmp]
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from manyviews.metrics import nmi_score

WIDTHS = {"a": 16, "b": 32, "c": 32}
CLUSTERS = 10
ROWS = 100_000
SHOWN = 40
FITTED = 20_000


def make_views(folder, n):
    """Write the views and the classes, block by block."""
    rng = np.random.default_rng(0)
    y = rng.integers(CLUSTERS, size=n).astype(np.int8)
    for name, d in WIDTHS.items():
        centers = 1.5 * rng.standard_normal((CLUSTERS, d), dtype=np.float32)
        X = np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.float32, (n, d))
        for start in range(0, n, ROWS):
            block = y[start : start + ROWS]
            X[start : start + ROWS] = centers[block] + rng.standard_normal((block.size, d), dtype=np.float32)
        X.flush()
    return y


def held(pid):
    """Return what a process holds, in MB: anonymous memory, pages of files, and the most of both so far."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    entries = {line.split(":")[0]: line.split() for line in lines}
    return [int(entries[key][1]) / 1024 for key in ("RssAnon", "RssFile", "VmHWM")]


def words_of(folder, method, settings):
    """Return the words of ``manyviews cluster`` for the views in a folder."""
    words = ["cluster", *views_of(folder), "--n-clusters", str(CLUSTERS), "--method", method]
    return [*words, *settings, "--out", str(folder / "out"), "--quiet"]


def views_of(folder):
    """Return the words that name the views in a folder."""
    return [word for name in WIDTHS for word in ("--view", f"{name}={folder / name}.npy")]


def run(words):
    """Run a command; return seconds and what was held at each, and the processor seconds."""
    process = subprocess.Popen([sys.executable, "-m", "manyviews", *words])
    start, trace, before = time.perf_counter(), [], resource.getrusage(resource.RUSAGE_CHILDREN)
    while process.poll() is None:
        try:
            trace.append((time.perf_counter() - start, *held(process.pid)))
        except (OSError, KeyError):
            break
        time.sleep(0.2)
    if process.wait() != 0:
        raise SystemExit(f"the command failed with {process.returncode}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return trace, used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime


def run_predict(folder, method, settings):
    """Fit the first samples, label all with the model; return what ``run`` does of the second."""
    (folder / "first").mkdir()
    for name in WIDTHS:
        np.save(folder / "first" / f"{name}.npy", np.load(folder / f"{name}.npy", mmap_mode="r")[:FITTED])
    run(words_of(folder / "first", method, settings))
    (folder / "out").mkdir()
    words = ["predict", str(folder / "first" / "out"), *views_of(folder), "--out", str(folder / "out" / "labels.csv")]
    return run([*words, "--quiet"])


def main():
    """Make the views, run, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=10_000_000)
    parser.add_argument("--base", type=int, default=None, help="base clusterings; the method's own number by default")
    parser.add_argument("--method", default="fastmice")
    parser.add_argument("--predict", action="store_true", help="label all samples with a model of the first")
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="where the views are made and removed again")
    args = parser.parse_args()
    settings = [] if args.base is None else ["--set", f"n_base_clusterings={args.base}"]
    with tempfile.TemporaryDirectory(dir=args.folder) as place:
        folder = Path(place)
        y = make_views(folder, args.n)
        trace, cpu = (
            run_predict(folder, args.method, settings) if args.predict else run(words_of(folder, args.method, settings))
        )
        with (folder / "out" / "labels.csv").open(encoding="utf-8", newline="") as stream:
            labels = np.fromiter((int(row["cluster"]) for row in csv.DictReader(stream)), np.int64, count=args.n)
        record = None if args.predict else json.loads((folder / "out" / "run.json").read_text(encoding="utf-8"))
    size = 4 * args.n * sum(WIDTHS.values()) / 1e9
    times, anonymous, files, peaks = map(np.array, zip(*trace, strict=True))
    print(
        f"{args.n} samples, {size:.2f} GB of views; {cpu:.0f} CPU s, {times[-1]:.0f} s; NMI {nmi_score(y, labels):.4f}"
    )
    if record is not None:
        print("stages, s:", {name: round(seconds, 1) for name, seconds in record["timings"].items()})
    print(f"most, MB: anonymous {anonymous.max():.0f}, files {files.max():.0f}, together {peaks.max():.0f}")
    print("second  anonymous  files")
    for i in np.unique(np.linspace(0, times.size - 1, SHOWN).astype(int)):
        print(f"{times[i]:6.0f} {anonymous[i]:10.0f} {files[i]:6.0f}")


if __name__ == "__main__":
    main()
