"""CPU seconds of fits in two checkouts, in alternating order in one run, one thread; the least of several turns.

python benchmarks/two_versions.py OTHER_CHECKOUT --turns 5 --cases fastmice-10000 mvec-544
"""

import argparse
import importlib
import inspect
import multiprocessing
import os
import sys
import time
import warnings
from pathlib import Path

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
HERE = Path(__file__).resolve().parents[1]
FORK = multiprocessing.get_context("fork")
STORED = HERE.parent / "shared" / "reference" / "mvec" / "mvec_bbcsport.npz"
CASES = (
    "fastmice-10000",
    "fastmice-100000",
    "mvec-544",
    "mvec-2000",
    "udbgl-mfeat",
    "rsec-544",
    "kcc-mfeat",
    "mspl-mfeat",
)


def option(estimator, *names):
    """Return the first of several names of an option that an estimator has."""
    return next(name for name in names if name in inspect.signature(estimator.__init__).parameters)


def labels_word(estimator):
    """Return what says that views hold labels."""
    (choices,) = estimator._parameter_constraints["base"]
    return next(word for word in choices.options if word != "features")


def prepare(case):
    """Return an estimator and its views."""
    import numpy as np

    from manyviews import KCC, MSPL, MVEC, RSEC, UDBGL, FastMICE, datasets

    method, size = case.split("-")
    if method == "fastmice":
        data = datasets.make_blobs_views(int(size), (50, 100, 200), 10, view_noise=0.3, dtype="float32", random_state=0)
        return FastMICE(10, random_state=0, **{option(FastMICE, "n_base_clusterings", "n_base"): 20}), data.views
    if size == "544":
        stored = np.load(STORED)
        kind = MVEC if method == "mvec" else RSEC
        return kind(int(stored["K"]), base=labels_word(kind), random_state=0), list(stored["P"].astype(np.float64))
    if method == "mvec":
        rng = np.random.default_rng(0)
        truth = np.arange(int(size)) % 10
        labels = truth[:, None] * 4 + rng.integers(4, size=(truth.size, 100))
        wrong = rng.random(labels.shape) < 0.2
        labels[wrong] = rng.integers(40, size=int(wrong.sum()))
        return MVEC(10, base=labels_word(MVEC), random_state=0), [
            labels[:, :50].astype(float),
            labels[:, 50:].astype(float),
        ]
    data = datasets.load("mfeat")
    estimator = {"udbgl": UDBGL, "kcc": KCC, "mspl": MSPL}[method]
    return estimator(10, random_state=0), data.views


def one(checkout, case, results):
    """Measure one fit of a checkout, in a process of its own."""
    sys.path.insert(0, str(Path(checkout) / "src"))
    warnings.simplefilter("ignore")
    estimator, views = prepare(case)
    start = time.process_time()
    estimator.fit(views)
    results.put(time.process_time() - start)


def measure(checkout, case):
    results = FORK.SimpleQueue()
    child = FORK.Process(target=one, args=(checkout, case, results))
    child.start()
    child.join()
    if child.exitcode:
        raise SystemExit(f"{case} failed in {checkout}")
    return results.get()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", help="checkout to compare with")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=CASES)
    args = parser.parse_args()
    # what both versions need is loaded once, before the processes part
    for name in ("scipy.sparse.linalg", "scipy.linalg", "sklearn.cluster", "sklearn.utils.extmath", "joblib"):
        importlib.import_module(name)
    for case in args.cases:
        seconds = {args.other: [], HERE: []}
        for turn in range(args.turns):
            for checkout in list(seconds)[:: 1 if turn % 2 else -1]:
                seconds[checkout].append(measure(checkout, case))
        other, here = (min(values) for values in seconds.values())
        print(f"{case:18s} other {other:8.2f} s, here {here:8.2f} s, ratio {here / other:.3f}", flush=True)


if __name__ == "__main__":
    main()
