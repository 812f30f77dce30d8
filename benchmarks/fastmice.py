"""CPU seconds by stage, peak memory and agreement of FastMICE, beside k-means on the views side by side.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/fastmice.py 10000 100000 1000000 --kmeans

Views of 50, 100 and 200 columns, float32, 10 overlapping clusters; M = 20, p = 1000, K = 5.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import defaultdict

import numpy as np

from manyviews import FastMICE, datasets
from manyviews.cluster import anchor_cut, ensemble_clusterer, sampled_rows
from manyviews.metrics import adjusted_rand_index

STAGES = {
    "reading rows": (sampled_rows.ViewRows, "read"),
    "anchors": (anchor_cut, "hybrid_anchors"),
    "regions": (anchor_cut, "anchor_regions"),
    "neighbours": (anchor_cut, "find_anchors"),
    "weights": (anchor_cut, "affinities"),
    "graph": (anchor_cut, "bipartite_block"),
    "gram and eigenvectors": (anchor_cut, "cut_vectors"),
    "lift": (anchor_cut, "cut_embedding"),
    "base k-means": (anchor_cut, "discretize_embedding"),
    "consensus": (ensemble_clusterer, "fit_ensemble_cut"),
}


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(record):
    """Wrap the stages so that they add their CPU seconds to a record."""
    for stage, (owner, name) in STAGES.items():
        original = getattr(owner, name)

        def wrapper(*args, _stage=stage, _original=original, **kwargs):
            start = time.process_time()
            result = _original(*args, **kwargs)
            record[_stage] += time.process_time() - start
            return result

        setattr(owner, name, wrapper)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--kmeans", action="store_true", help="also run KMeans(n_init=10) on the views side by side")
    parser.add_argument("--search", default="auto", choices=["auto", "exact", "approximate"])
    parser.add_argument("--noise", type=float, default=0.3, help="noise of the views; more of it overlaps clusters")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    record = defaultdict(float)
    timed(record)
    last = None
    for n in args.sizes:
        data = datasets.make_blobs_views(
            n, (50, 100, 200), 10, view_noise=args.noise, dtype="float32", random_state=args.seed
        )
        seconds = run_fastmice(data, args, record)
        if last is not None:
            print(f"  growth exponent from n={last[0]}: {np.log(seconds / last[1]) / np.log(n / last[0]):.3f}")
        last = (n, seconds)
        if args.kmeans:
            run_kmeans(data, args.seed)


def run_fastmice(data, args, record):
    before = peak_mb()
    record.clear()
    start = time.process_time()
    model = FastMICE(10, n_base_clusterings=20, search=args.search, random_state=args.seed, n_jobs=1)
    model.fit(data.views)
    seconds = time.process_time() - start
    ari = adjusted_rand_index(data.labels, model.labels_)
    size = sum(X.nbytes for X in data.views.arrays) / 2**20
    print(f"n={len(data.views)} search={args.search}: {seconds:.1f} CPU s, ARI {ari:.3f}, data {size:.0f} MB,")
    print(f"  peak {before:.0f} MB before the fit, {peak_mb():.0f} MB after")
    for stage in STAGES:
        print(f"  {stage:24s} {record[stage]:8.2f}")
    print(f"  {'all else':24s} {seconds - sum(record.values()):8.2f}", flush=True)
    return seconds


def run_kmeans(data, seed):
    from sklearn.cluster import KMeans

    start = time.process_time()
    labels = KMeans(10, n_init=10, random_state=seed).fit_predict(data.views.concatenate())
    seconds = time.process_time() - start
    print(f"  KMeans(n_init=10): {seconds:.1f} CPU s, ARI {adjusted_rand_index(data.labels, labels):.3f}")
    print(f"  peak after it {peak_mb():.0f} MB", flush=True)


if __name__ == "__main__":
    main()
