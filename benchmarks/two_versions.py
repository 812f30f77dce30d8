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
STORED = HERE.parent / "shared" / "reference" / "mvec"
CASES = (
    "fastmice-10000",
    "fastmice-100000",
    "mvec-544",
    "mvec-2000",
    "udbgl-mfeat",
    "rsec-544",
    "rsec-1000",
    "rsec-2000",
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
    if method in ("mvec", "rsec"):
        stored = np.load(STORED / ("mvec_bbcsport.npz" if size == "544" else "mvec_digit2.npz"))
        kind, every = MVEC if method == "mvec" else RSEC, stored["P"].shape[1] // int(size)
        views = [view[::every].astype(np.float64) for view in stored["P"]]
        return kind(int(stored["K"]), base=labels_word(kind), random_state=0), views
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
