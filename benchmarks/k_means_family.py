"""Quality of MSPL, RMKMC and the baselines beside the published figures, mean ± deviation over seeds.

python benchmarks/k_means_family.py digits [--seeds 20]                    mfeat, Table 1 of the MSPL paper
python benchmarks/k_means_family.py webkb --data ../shared/data            Table 3 of the MSPL paper
python benchmarks/k_means_family.py text --data ../shared/data             three sets of newspaper and newsgroup texts
"""

import argparse
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from manyviews import (
    MSPL,
    RMKMC,
    BestSingleView,
    CCAClustering,
    ConcatKMeans,
    ConcatSpectral,
    SumSpectral,
    datasets,
)
from manyviews.metrics import evaluate


def row(name, views, labels, seeds, method, **parameters):
    scores, start = [], time.process_time()
    for seed in range(seeds):
        model = method(int(labels.max()) + 1, random_state=seed, **parameters).fit(views)
        found = evaluate(labels, model.labels_)
        scores.append([found[score] for score in ("nmi", "acc", "purity")])
    seconds = (time.process_time() - start) / seeds
    cells = [f"{mean:.3f}±{std:.3f}" for mean, std in zip(np.mean(scores, axis=0), np.std(scores, axis=0), strict=True)]
    print(f"{name:44s} {'  '.join(cells)}  {seconds:6.2f} s", flush=True)


def digits(args):
    data = datasets.load("mfeat")
    views, y = data.views, data.labels
    plain = {"scaling": "minmax", "balance_views": False}
    print("Table 1: Con-MC .739±.039 .728±.067, RMKMC .807±.033 .788±.075, MSPL .868±.020 .874±.055 (NMI ACC)")
    single = {"n_init": 1, "init": "random"}
    row("MSPL, one random start", views, y, args.seeds, MSPL, **single)
    row("MSPL hard, one random start", views, y, args.seeds, MSPL, pacing="hard", **single)
    row("MSPL none, one random start", views, y, args.seeds, MSPL, pacing="none", **single)
    row("MSPL", views, y, args.seeds, MSPL)
    row("MSPL, standard", views, y, args.seeds, MSPL, scaling="standard")
    row(
        "RMKMC as in the paper, random labels",
        views,
        y,
        args.seeds,
        RMKMC,
        init="labels",
        n_init=1,
        balance_views=False,
    )
    row(
        "RMKMC as in the paper, k-means start",
        views,
        y,
        args.seeds,
        RMKMC,
        init="random",
        n_init=1,
        balance_views=False,
    )
    row("RMKMC", views, y, args.seeds, RMKMC)
    row("Con-MC as in the paper, one start", views, y, args.seeds, ConcatKMeans, n_init=1, **plain)
    row("ConcatKMeans", views, y, args.seeds, ConcatKMeans)
    few = min(args.seeds, 5)
    row("ConcatSpectral", views, y, few, ConcatSpectral)
    row("SumSpectral", views, y, few, SumSpectral)
    row("SumSpectral, gaussian", views, y, few, SumSpectral, affinity="gaussian")
    row("BestSingleView", views, y, few, BestSingleView)
    row("CCAClustering", views, y, few, CCAClustering)


def read(path):
    """Views as float64 CSR, and labels, of a file in the layout of ../shared/data."""
    z = np.load(path, allow_pickle=False)
    views = {}
    for i, name in enumerate(z["view_names"]):
        if f"view_{i}" in z:
            views[str(name)] = sparse.csr_matrix(z[f"view_{i}"].astype(float))
        else:
            parts = (z[f"view_{i}_data"].astype(float), z[f"view_{i}_indices"], z[f"view_{i}_indptr"])
            views[str(name)] = sparse.csr_matrix(parts, shape=tuple(z[f"view_{i}_shape"]))
    return views, z["labels"]


def webkb(args):
    published = {"cornell": "0.215", "texas": "0.255", "washington": "0.281", "wisconsin": "0.337"}
    for name, nmi in published.items():
        views, y = read(args.data / f"{name}.npz")
        dense = {view: X.toarray() for view, X in views.items()}
        print(f"{name}: published NMI of MSPL {nmi}")
        raw = {"scaling": None, "balance_views": False}
        row("  MSPL, raw", dense, y, args.seeds, MSPL, **raw)
        row("  MSPL, raw, one random start", dense, y, args.seeds, MSPL, n_init=1, init="random", **raw)
        row("  MSPL, unit rows", views, y, args.seeds, MSPL, scaling="unit")
        row("  MSPL", views, y, args.seeds, MSPL)
        row(
            "  ConcatKMeans, minmax, unbalanced",
            dense,
            y,
            args.seeds,
            ConcatKMeans,
            scaling="minmax",
            balance_views=False,
        )
        row("  CCAClustering, dense", dense, y, args.seeds, CCAClustering)


def text(args):
    for name in ("3sources", "bbcsport", "newsgroups_ngs"):
        views, y = read(args.data / f"{name}.npz")
        print(name)
        row("  MSPL", views, y, args.seeds, MSPL)
        row("  MSPL, euclidean, k-means++", views, y, args.seeds, MSPL, geometry="euclidean", init="k-means++")
        row("  MSPL, cosine, k-means++", views, y, args.seeds, MSPL, init="k-means++")
        row("  ConcatKMeans", views, y, args.seeds, ConcatKMeans)
        row("  ConcatSpectral", views, y, args.seeds, ConcatSpectral)
        row("  SumSpectral", views, y, args.seeds, SumSpectral)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["digits", "webkb", "text"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    args = parser.parse_args()
    {"digits": digits, "webkb": webkb, "text": text}[args.task](args)


if __name__ == "__main__":
    main()
