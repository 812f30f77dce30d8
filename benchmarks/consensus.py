"""Consensus functions: growth in n on partitions that are given, and the rows of a published table.

python benchmarks/consensus.py growth --methods kcc,sec --samples 25000,50000,100000
python benchmarks/consensus.py growth --methods rsec --samples 500,1000,2000
python benchmarks/consensus.py table --data ../shared/data --sets 3sources,bbcsport,mfeat --seeds 5
"""

import argparse
import multiprocessing
import resource
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from manyviews import KCC, MVEC, RSEC, SEC, metrics

METHODS = {"kcc": KCC, "sec": SEC, "rsec": RSEC}
# NMI and Rn of best single view (BSV) and all views (SUM) in the paper of MVEC, percent
PUBLISHED = {
    "3sources": {"KCC_BSV": (60.42, 47.24), "SEC_BSV": (55.23, 37.09), "SEC_SUM": (59.21, 43.24)}
    | {"RSEC_BSV": (63.60, 54.52), "RSEC_SUM": (41.65, 16.39), "MVEC": (75.69, 62.21)},
    "bbcsport": {"KCC_BSV": (84.25, 86.18), "SEC_BSV": (87.26, 89.73), "SEC_SUM": (86.86, 86.96)}
    | {"RSEC_BSV": (64.95, 40.74), "RSEC_SUM": (62.24, 36.93), "MVEC": (90.83, 92.06)},
    "mfeat": {"KCC_BSV": (74.59, 60.98), "SEC_BSV": (76.73, 66.33), "SEC_SUM": (66.90, 55.09)}
    | {"RSEC_BSV": (88.20, 87.35), "RSEC_SUM": (85.72, 77.00), "MVEC": (86.66, 81.55)},
}
TAKEN_VIEWS = {"mfeat": ("fourier", "pixel_averages")}


def given_partitions(n, k, r, rng):
    """Make partitions of 2k to 4k clusters that split the classes at random and get a fifth of the labels wrong."""
    truth = rng.integers(k, size=n)
    labels = np.empty((n, r))
    for j in range(r):
        parts = int(rng.integers(2, 5))
        column = truth * parts + rng.integers(parts, size=n)
        wrong = rng.random(n) < 0.2
        column[wrong] = rng.integers(parts * k, size=wrong.sum())
        labels[:, j] = column
    return labels, truth


def measure(queue, method, n, args):
    labels, truth = given_partitions(n, args.clusters, args.partitions, np.random.default_rng(0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with threadpool_limits(1):
        start = time.process_time()
        model = METHODS[method](args.clusters, base="labels", n_init=args.n_init, random_state=0).fit([labels])
        seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    queue.put((seconds, model.n_iter_, peak / 2**20, (peak - before) / 2**20, metrics.nmi_score(truth, model.labels_)))


def growth(args):
    for method in args.methods.split(","):
        sizes, times, each = [int(n) for n in args.samples.split(",")], [], []
        for n in sizes:
            queue = multiprocessing.get_context("spawn").Queue()
            process = multiprocessing.get_context("spawn").Process(target=measure, args=(queue, method, n, args))
            process.start()
            seconds, iterations, peak, own, nmi = queue.get()
            process.join()
            times.append(seconds)
            each.append(seconds / iterations)
            print(
                f"{method} n = {n}: {seconds:.2f} CPU s, {iterations} iterations in the best start, "
                f"peak {peak:.2f} GiB ({own:.2f} above the input), NMI {nmi:.3f}",
                flush=True,
            )
        print(
            f"{method}: exponent {_exponent(sizes, times):.2f}, per iteration {_exponent(sizes, each):.2f}", flush=True
        )


def _exponent(sizes, seconds):
    return np.polyfit(np.log(sizes), np.log(seconds), 1)[0]


def load(path):
    stored, views = np.load(path), {}
    for i, name in enumerate(stored["view_names"]):
        if f"view_{i}" in stored:
            views[str(name)] = stored[f"view_{i}"]
        else:
            parts = tuple(stored[f"view_{i}_{part}"] for part in ("data", "indices", "indptr"))
            views[str(name)] = sparse.csr_matrix(parts, shape=tuple(stored[f"view_{i}_shape"]))
    kept = TAKEN_VIEWS.get(path.stem, tuple(views))
    return {name: views[name] for name in kept}, stored["labels"]


def scores(model, labels, truth, columns):
    found = model.fit([labels[:, part].astype(np.float64) for part in columns]).labels_
    return 100 * metrics.nmi_score(truth, found), 100 * metrics.adjusted_rand_index(truth, found)


def table(args):
    """Same partitions for all methods; BSV takes the view with the best mean NMI over the seeds, as the paper."""
    for name in args.sets.split(","):
        views, truth = load(Path(args.data) / f"{name}.npz")
        k, rows = len(set(truth.tolist())), {}
        for seed in range(args.seeds):
            # all base labels come with any of the estimators
            labels = SEC(k, n_init=1, random_state=seed).fit(views).base_labels_
            parts = np.split(np.arange(labels.shape[1]), len(views))
            for method in args.methods.split(","):
                for v, part in enumerate((*parts, None)):
                    columns = [part] if part is not None else parts
                    model = METHODS[method](k, base="labels", random_state=seed)
                    rows.setdefault((method, v), []).append(scores(model, labels, truth, columns))
            if not args.no_mvec:
                model = MVEC(k, base="labels", random_state=seed)
                rows.setdefault(("mvec", len(views)), []).append(scores(model, labels, truth, parts))
        report(name, rows, args.methods.split(","), len(views))


def report(name, rows, methods, n_views):
    named = {}
    for method in methods:
        best = max(range(n_views), key=lambda v: np.mean([nmi for nmi, _ in rows[method, v]]))
        named[f"{method.upper()}_BSV"], named[f"{method.upper()}_SUM"] = rows[method, best], rows[method, n_views]
    if ("mvec", n_views) in rows:
        named["MVEC"] = rows["mvec", n_views]
    for title, values in named.items():
        (nmi, rn), (nmi_std, rn_std) = np.mean(values, axis=0), np.std(values, axis=0)
        paper = PUBLISHED[name].get(title)
        beside = f"   paper {paper[0]:.2f} {paper[1]:.2f}" if paper else ""
        print(f"{name:10s} {title:9s} NMI {nmi:.2f}±{nmi_std:.2f}  Rn {rn:.2f}±{rn_std:.2f}{beside}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["growth", "table"])
    parser.add_argument("--methods", default="kcc,sec,rsec")
    parser.add_argument("--samples", default="25000,50000,100000")
    parser.add_argument("--partitions", type=int, default=100)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--n-init", type=int, default=1)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--sets", default="3sources,bbcsport,mfeat")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--no-mvec", action="store_true")
    args = parser.parse_args()
    (growth if args.what == "growth" else table)(args)


if __name__ == "__main__":
    main()
