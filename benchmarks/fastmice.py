"""CPU seconds by stage, peak memory and agreement of FastMICE, beside k-means on the views side by side.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/fastmice.py 10000 100000 1000000 --kmeans
    python benchmarks/fastmice.py 50000 --jobs 7        (wall time of one and of all cores, the least of 7 turns)

Views of 50, 100 and 200 columns, float32, 10 overlapping clusters; M = 20, p = 1000, K = 5. CPU seconds grow where
other programs share caches and memory, so the speed of a matrix product before and after each fit is printed too.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import defaultdict

import numpy as np

from manyviews import FastMICE, datasets
from manyviews.cluster.anchors import base as ensemble_clusterer
from manyviews.graphs.anchor_graph import recall
from manyviews.metrics import adjusted_rand_index
from manyviews.partitions import anchor_cut, anchor_links
from manyviews.prototypes import sampled_rows

STAGES = {
    "reading rows": (sampled_rows.ViewRows, "read"),
    "anchors": (anchor_links, "hybrid_anchors"),
    "regions": (anchor_links, "anchor_regions"),
    "neighbours": (anchor_links, "find_anchors"),
    "weights": (anchor_links, "affinities"),
    "graph": (anchor_links, "bipartite_block"),
    "gram and eigenvectors": (anchor_cut, "cut_vectors"),
    "lift": (anchor_cut, "cut_embedding"),
    "base k-means": (anchor_cut, "discretize_embedding"),
    "consensus": (ensemble_clusterer, "fit_ensemble_cut"),
}


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def gemm_speed():
    """Return GFLOP/s of a float32 product of 8192 x 100 by 100 x 1000, the best of 5."""
    X, P = np.ones((8192, 100), np.float32), np.ones((100, 1000), np.float32)
    times = []
    for _ in range(5):
        start = time.process_time()
        X @ P
        times.append(time.process_time() - start)
    return 2 * 8192 * 100 * 1000 / min(times) / 1e9


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
    parser.add_argument("--starts", type=int, default=10, help="n_init of KMeans; its time is scaled to 10")
    parser.add_argument("--compare", action="store_true", help="also fit with the exact search, and print recalls")
    parser.add_argument("--jobs", type=int, default=0, metavar="TURNS", help="only compare n_jobs=1 and n_jobs=-1")
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
        if args.jobs:
            run_jobs(data, args)
            continue
        seconds, model = run_fastmice(data, args, record, args.search)
        if args.compare:
            run_fastmice(data, args, record, "exact")
            print_recalls(data, model)
        if last is not None:
            print(f"  growth exponent from n={last[0]}: {np.log(seconds / last[1]) / np.log(n / last[0]):.3f}")
        last = (n, seconds)
        if args.kmeans:
            run_kmeans(data, args)


def run_fastmice(data, args, record, search):
    before, speed = peak_mb(), gemm_speed()
    record.clear()
    start = time.process_time()
    model = FastMICE(10, n_base_clusterings=20, search=search, random_state=args.seed, n_jobs=1)
    model.fit(data.views)
    seconds = time.process_time() - start
    ari = adjusted_rand_index(data.labels, model.labels_)
    size = sum(X.nbytes for X in data.views.arrays) / 2**20
    print(f"n={len(data.views)} search={search}: {seconds:.1f} CPU s, ARI {ari:.3f}, data {size:.0f} MB,")
    print(f"  peak {before:.0f} MB before the fit, {peak_mb():.0f} MB after")
    print(f"  matrix product {speed:.0f} GFLOP/s before the fit, {gemm_speed():.0f} after")
    for stage in STAGES:
        print(f"  {stage:24s} {record[stage]:8.2f}")
    print(f"  {'all else':24s} {seconds - sum(record.values()):8.2f}", flush=True)
    return seconds, model


def print_recalls(data, model):
    """Print which part of the true neighbours the searches find that the fit has chosen."""
    links = [link for cut in model._cuts for link in cut.links]
    rows = np.arange(0, len(data.views), max(1, len(data.views) // 500))
    found = []
    for link in links:
        if link.search == "approximate":
            block = sampled_rows.ViewRows(data.views.arrays[link.view], None, link.treatment).read(rows).rows
            found.append(recall(link.index, block, link.n_neighbors))
    text = f", recall there {np.mean(found):.4f}, at least {min(found):.4f}" if found else ""
    print(f"  {len(found)} of {len(links)} searches approximate{text}", flush=True)


def run_jobs(data, args):
    """Print wall times of one and of all cores, in turns so that both meet the same load."""
    times, labels = {1: [], -1: []}, {}
    for _ in range(args.jobs):
        for n_jobs, walls in times.items():
            start = time.perf_counter()
            model = FastMICE(10, n_base_clusterings=20, random_state=args.seed, n_jobs=n_jobs).fit(data.views)
            walls.append(time.perf_counter() - start)
            labels[n_jobs] = model.labels_
    one, all_cores = times[1], times[-1]
    print(f"n={len(data.views)}: n_jobs=1 {min(one):.2f} s ({np.median(one):.2f} in the middle), ", end="")
    print(f"n_jobs=-1 {min(all_cores):.2f} s ({np.median(all_cores):.2f}), ", end="")
    print(f"ratio {min(one) / min(all_cores):.2f}, same labels: {np.array_equal(labels[1], labels[-1])}", flush=True)


def run_kmeans(data, args):
    from sklearn.cluster import KMeans

    start = time.process_time()
    labels = KMeans(10, n_init=args.starts, random_state=args.seed).fit_predict(data.views.concatenate())
    seconds = (time.process_time() - start) * 10 / args.starts
    scaled = "" if args.starts == 10 else f", from {args.starts} of 10 starts"
    print(f"  KMeans(n_init=10): {seconds:.1f} CPU s{scaled}, ARI {adjusted_rand_index(data.labels, labels):.3f}")
    print(f"  peak after it {peak_mb():.0f} MB", flush=True)


if __name__ == "__main__":
    main()
