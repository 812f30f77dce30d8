"""FastMICE beside k-means in one run, and its search for neighbours beside what float32 products give on this machine.

Times FastMICE with 20 base clusterings and scikit-learn's KMeans(n_init=10) on the views side by side, in turn, on
views of 50, 100 and 200 columns. Of the search of the nearest anchors it counts the multiply-adds of the exact
search, 2 n p d floating-point operations, and the seconds spent in it, and divides: by the rate of one large product,
and by that of a product of the shape that the search asks for, which is what a search without any comparison would
take.

Usage: python benchmarks/roofline.py [--n 100000] [--runs 1]
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import time
from unittest import mock

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from manyviews import FastMICE, datasets
from manyviews.metrics import nmi_score
from manyviews.partitions import view_links

WIDTHS = (50, 100, 200)
CLUSTERS = 10
BASE = 20


def product_rate(rows, inner, columns, repeats=5):
    """Return the best GFLOP/s of a float32 product of this shape, by CPU time."""
    rng = np.random.default_rng(0)
    A, B = rng.random((rows, inner), dtype=np.float32), rng.random((inner, columns), dtype=np.float32)
    out, best = np.empty((rows, columns), np.float32), np.inf
    for _ in range(repeats):
        start, count = time.process_time(), 0
        while time.process_time() - start < 0.2:
            np.matmul(A, B, out=out)
            count += 1
        best = min(best, (time.process_time() - start) / count)
    return 2e-9 * rows * inner * columns / best


class Search:
    """Counts the operations and the CPU seconds of the exact search, by the shape of its products."""

    def __init__(self):
        self.shapes, self.original = {}, view_links.find_anchors

    def __call__(self, index, rows, n_neighbors):
        start = time.process_time()
        found = self.original(index, rows, n_neighbors)
        if index.candidates is None and rows.shape[0] > 1_000:
            p, d = index.points.shape
            seconds, flops = self.shapes.get((p, d), (0.0, 0.0))
            self.shapes[p, d] = (seconds + time.process_time() - start, flops + 2.0 * rows.shape[0] * p * d)
        return found


def timed(function):
    """Return the result of a call and its CPU seconds."""
    start = time.process_time()
    return function(), time.process_time() - start


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=1)
    args = parser.parse_args()
    data = datasets.make_blobs_views(n_samples=args.n, n_features=WIDTHS, n_clusters=CLUSTERS, random_state=0)
    views = [X.astype(np.float32) for X in data.views.arrays]
    table = StandardScaler().fit_transform(np.hstack(views))
    for _ in range(args.runs):
        search = Search()
        with mock.patch.object(view_links, "find_anchors", search):
            model, ours = timed(lambda: FastMICE(CLUSTERS, n_base_clusterings=BASE, random_state=0).fit(views))
        plain, theirs = timed(lambda: KMeans(CLUSTERS, n_init=10, random_state=0).fit(table))
        print(
            f"FastMICE {ours:.1f} CPU s, KMeans {theirs:.1f}: ratio {ours / theirs:.2f}; "
            f"NMI {nmi_score(data.labels, model.labels_):.3f} and {nmi_score(data.labels, plain.labels_):.3f}"
        )
        report(search.shapes, ours)


def report(shapes, whole):
    """Print the rate of the search and of products."""
    if not shapes:
        print("every search was approximate: there are no large products to compare with")
        return
    peak = product_rate(2_000, 1_000, 1_000)
    seconds, flops = (sum(parts) for parts in zip(*shapes.values(), strict=True))
    rows = view_links.ROWS_PER_BLOCK["exact"]
    alike = sum(1e-9 * work / product_rate(rows, d, p, 1) for (p, d), (_, work) in shapes.items())
    rate = 1e-9 * flops / seconds
    print(f"one large product {peak:.1f} GFLOP/s; the search {rate:.1f}, {seconds:.1f} of {whole:.1f} s")
    print(f"share of the peak {rate / peak:.2f}; products alone, in its shapes, {alike / seconds:.2f}")


if __name__ == "__main__":
    main()
