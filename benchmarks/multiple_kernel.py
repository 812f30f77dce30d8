"""The multiple-kernel family beside one-pass late fusion: the digits in full kernels, growth with n by landmarks.

Usage: python benchmarks/multiple_kernel.py [digits] [large] [memory]
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import resource
import subprocess
import sys
import time
import warnings

import numpy as np

from manyviews import (
    LKAM,
    LMKKM,
    MKKM,
    MKKMMM,
    ONKC,
    OPLFMVC,
    AverageKKM,
    MKKMMiR,
    SimpleMKKM,
    Views,
    datasets,
)
from manyviews.metrics import evaluate

LANDMARKS = {each.__name__: each for each in (MKKM, MKKMMM, SimpleMKKM, MKKMMiR)}
ALL = {each.__name__: each for each in (OPLFMVC, AverageKKM)} | LANDMARKS
ALL |= {each.__name__: each for each in (ONKC, LKAM, LMKKM)}
SIZES = (25_000, 50_000, 100_000)


def digits():
    """Every method on the 2000 digits with the kernels of their six views: the whole fit, and the kernels alone."""
    data = datasets.load("mfeat")
    print("mfeat, n = 2000, six Gaussian kernels in full, k = 10, one seed; CPU seconds of the whole fit")
    for name, method in ALL.items():
        model = method(10, random_state=0)
        if "approximation" in model.get_params():
            model.set_params(approximation="exact")
        start = time.process_time()
        model.fit(data.views)
        seconds = time.process_time() - start
        found = evaluate(data.labels, model.labels_)
        weights = getattr(model, "view_weights_", None)
        text = "" if weights is None else "  weights " + " ".join(f"{w:.2f}" for w in weights)
        print(
            f"  {name:11s} {seconds:6.2f} s  {model.n_iter_:3d} iterations  acc {found['acc']:.3f}  "
            f"nmi {found['nmi']:.3f}  ari {found['ari']:.3f}{text}",
            flush=True,
        )


def large():
    """Growth with n, each fit in a process of its own so that peak memory is its own."""
    print("landmarks (200 a view), views of 64/32/16 columns, k = 10")
    for name in LANDMARKS:
        found = [one_process(name, n) for n in SIZES]
        for n, (seconds, peak, size, ari) in zip(SIZES, found, strict=True):
            print(f"  {name:11s} n = {n:6d}: {seconds:5.1f} s, peak {peak:.2f} GB, data {size:.2f} GB, ari {ari:.3f}")
        growth = np.log(found[-1][0] / found[0][0]) / np.log(SIZES[-1] / SIZES[0])
        print(f"  {name:11s} growth exponent {growth:.2f}", flush=True)


def one_process(name, n):
    """Seconds, peak and data in GB, and ARI of one fit."""
    run = subprocess.run([sys.executable, __file__, "one", name, str(n)], capture_output=True, text=True, check=True)
    return tuple(map(float, run.stdout.split()))


def one(name, n):
    data = datasets.make_blobs_views(n, (64, 32, 16), 10, view_noise=0.4, dtype="float32", random_state=0)
    start = time.process_time()
    model = LANDMARKS[name](10, random_state=0).fit(data.views)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    size = sum(array.nbytes for array in data.views.arrays) / 2**30
    print(f"{seconds:.2f} {peak:.3f} {size:.3f} {evaluate(data.labels, model.labels_)['ari']:.3f}")


def memory():
    """Up to how many samples the methods in full kernels go, by their own estimate, with six views."""
    arrays = [np.zeros((10_000, 2)) for _ in range(6)]
    print("six views: samples that some memory is enough for, by the estimates")
    for name in ("ONKC", "LKAM", "LMKKM"):
        needed = ALL[name](10)._memory_estimate(Views(arrays))
        sizes = ", ".join(f"{gb} GB: {int(10_000 * np.sqrt(gb * 1e9 / needed)):,}" for gb in (8, 16, 24, 64))
        print(f"  {name:11s} {sizes}")


def main():
    """Run what is asked for, or all."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="*", default=["digits", "large", "memory"])
    what = parser.parse_args().what
    if what[0] == "one":
        one(what[1], int(what[2]))
        return
    for each in what:
        {"digits": digits, "large": large, "memory": memory}[each]()


if __name__ == "__main__":
    main()
