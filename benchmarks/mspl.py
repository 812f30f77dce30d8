"""What MSPL costs, against k-means on the views side by side, and what missing pairs cost it.

python benchmarks/mspl.py speed [--samples N] [--starts 10]     blobs of 64, 32, 16 columns, k = 10, n = N; 0: mfeat
python benchmarks/mspl.py memory [--samples N] [--starts 10]    the fit alone, and the peak of the process
python benchmarks/mspl.py missing [--seeds 10] [--share 0.3]    mfeat with pairs missing at random, and two imputations

Set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1: CPU seconds of one thread are printed.
"""

import argparse
import resource
import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

from manyviews import MSPL, datasets
from manyviews.linalg.balance import apply_balanced, fit_balanced
from manyviews.metrics import evaluate


def data_set(n):
    if n == 0:
        return datasets.load("mfeat")
    return datasets.make_blobs_views(n, (64, 32, 16), 10, view_noise=0.25, random_state=0)


def balanced_table(arrays, kind):
    return np.hstack([apply_balanced(X, fit_balanced(X, kind)) for X in arrays])


def timed(work):
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def line(name, labels, found, seconds):
    scores = evaluate(labels, found)
    print(f"{name:24s} {seconds:8.2f} s   nmi {scores['nmi']:.3f}   acc {scores['acc']:.3f}", flush=True)


def speed(args):
    data = data_set(args.samples)
    table = balanced_table(data.views.arrays, "minmax")
    plain, plain_s = timed(lambda: KMeans(10, n_init=args.starts, random_state=0).fit(table))
    line("KMeans", data.labels, plain.labels_, plain_s)
    model, model_s = timed(lambda: MSPL(10, n_init=args.starts, random_state=0).fit(data.views))
    line("MSPL", data.labels, model.labels_, model_s)
    print(f"ratio {model_s / plain_s:.2f} at n = {len(data.views)}")


def memory(args):
    data = data_set(args.samples)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    model, seconds = timed(lambda: MSPL(10, n_init=args.starts, random_state=0).fit(data.views))
    line("MSPL", data.labels, model.labels_, seconds)
    size = sum(X.nbytes for X in data.views.arrays) / 2**30
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"data {size:.2f} GiB, peak before the fit {before:.2f} GiB, peak {peak:.2f} GiB")


def with_gaps(arrays, share, seed):
    rng = np.random.default_rng(seed)
    n, V = len(arrays[0]), len(arrays)
    lost = rng.random((V, n)) < share
    bare = lost.all(axis=0)
    lost[rng.integers(V, size=bare.sum()), np.flatnonzero(bare)] = False
    return [np.where(gone[:, None], np.nan, X) for X, gone in zip(arrays, lost, strict=True)], lost


def neighbour_table(arrays, lost, n_neighbors=10):
    """Balanced views, gaps filled by the mean of the nearest samples in the mean distance over shared views."""
    views = [apply_balanced(X, fit_balanced(X, "standard")) for X in arrays]
    total, shared = 0.0, 0.0
    for Z, gone in zip(views, lost, strict=True):
        both = np.outer(~gone, ~gone)
        squares = (Z**2).sum(axis=1)
        total = total + both * np.maximum(squares[:, None] + squares - 2 * Z @ Z.T, 0)
        shared = shared + both
    distances = np.where(shared > 0, total / np.maximum(shared, 1), 1e9)
    for Z, gone in zip(views, lost, strict=True):
        seen = np.flatnonzero(~gone)
        finder = NearestNeighbors(n_neighbors=n_neighbors, metric="precomputed").fit(distances[np.ix_(seen, seen)])
        near = finder.kneighbors(distances[np.ix_(np.flatnonzero(gone), seen)], return_distance=False)
        Z[gone] = Z[seen][near].mean(axis=1)
    return np.hstack(views)


def missing(args):
    data = data_set(0)
    labels, rows = data.labels, {"complete": [], "gaps": [], "mean + KMeans": [], "neighbours + KMeans": []}
    for seed in range(args.seeds):
        holes, lost = with_gaps([X.astype(np.float64) for X in data.views.arrays], args.share, seed)
        found = {
            "complete": MSPL(10, random_state=seed).fit(data.views).labels_,
            "gaps": MSPL(10, random_state=seed).fit(holes).labels_,
            "mean + KMeans": KMeans(10, n_init=10, random_state=seed).fit(balanced_table(holes, "standard")).labels_,
            "neighbours + KMeans": KMeans(10, n_init=10, random_state=seed).fit(neighbour_table(holes, lost)).labels_,
        }
        for name, clusters in found.items():
            scores = evaluate(labels, clusters)
            rows[name].append((scores["nmi"], scores["acc"]))
    for name, values in rows.items():
        (nmi, acc), (nmi_s, acc_s) = np.mean(values, axis=0), np.std(values, axis=0)
        print(f"{name:24s} nmi {nmi:.3f} ± {nmi_s:.3f}   acc {acc:.3f} ± {acc_s:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["speed", "memory", "missing"])
    parser.add_argument("--samples", type=int, default=0)
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--share", type=float, default=0.3)
    args = parser.parse_args()
    {"speed": speed, "memory": memory, "missing": missing}[args.task](args)


if __name__ == "__main__":
    main()
