"""Scores of FastMICE: on stored data sets beside k-means, with views of noise, with samples missing.

    python benchmarks/fastmice_quality.py table --data ../shared/data [mfeat bbcsport] --seeds 5
    python benchmarks/fastmice_quality.py noise --seeds 5
    python benchmarks/fastmice_quality.py missing --data ../shared/data mfeat bbcsport --seeds 10

``--set PARAMETER=VALUE`` changes a parameter of FastMICE in each of them.
"""

from __future__ import annotations

import argparse
import ast
import time
from pathlib import Path

import numpy as np

from manyviews import ConcatKMeans, FastMICE, Views, datasets
from manyviews.metrics import adjusted_rand_index, evaluate

SCALINGS = {"auto": "auto", "standard": "standard", "none": None}
SCORES = {"NMI": "nmi", "ACC": "acc", "ARI": "ari"}


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    table = commands.add_parser("table", help="all scalings on data sets, beside balanced k-means")
    table.add_argument("--scalings", default="auto,standard,none")
    noise = commands.add_parser("noise", help="what a view of pure noise costs")
    noise.add_argument("--samples", type=int, default=50_000)
    noise.add_argument("--overlap", type=float, nargs=2, default=(0.5, 0.26), help="noise of the two other views")
    missing = commands.add_parser("missing", help="30 %% of the (sample, view) pairs removed at random")
    missing.add_argument("--fraction", type=float, default=0.3)
    for command in (table, missing):
        command.add_argument("names", nargs="*", help="all data sets of the folder if none is named")
        command.add_argument("--data", required=True, type=Path, help="folder of .npz files")
    for command in (table, noise, missing):
        command.add_argument("--seeds", type=int, default=5)
        command.add_argument("--set", action="append", default=[], metavar="PARAMETER=VALUE")
    args = parser.parse_args()
    args.parameters = {key: ast.literal_eval(value) for key, value in (pair.split("=", 1) for pair in args.set)}
    {"table": run_table, "noise": run_noise, "missing": run_missing}[args.command](args)


def chosen(args):
    for name in args.names or sorted(path.stem for path in args.data.glob("*.npz")):
        yield name, datasets.load(args.data / f"{name}.npz")


def summary(rows, keys=SCORES):
    """Mean and deviation of dictionaries of scores."""
    parts = []
    for title, key in keys.items():
        values = [row[key] for row in rows]
        parts.append(f"{title} {np.mean(values):.3f} ± {np.std(values):.3f}")
    return "  ".join(parts)


def run_table(args):
    for name, data in chosen(args):
        k = np.unique(data.labels).size
        rows = [
            evaluate(data.labels, ConcatKMeans(k, random_state=seed).fit(data.views).labels_)
            for seed in range(args.seeds)
        ]
        print(f"{name:16s} {'k-means':9s} {summary(rows)}")
        for scaling in args.scalings.split(","):
            start, rows = time.process_time(), []
            for seed in range(args.seeds):
                model = FastMICE(k, scaling=SCALINGS[scaling], random_state=seed, **args.parameters).fit(data.views)
                rows.append(evaluate(data.labels, model.labels_))
            seconds = (time.process_time() - start) / args.seeds
            print(f"{name:16s} {scaling:9s} {summary(rows)}  {seconds:.1f} CPU s a fit", flush=True)


def run_noise(args):
    """A view of noise (64 columns), one of heavy overlap (32), a good one (16); 10 clusters."""
    scores = []
    for seed in range(args.seeds):
        # the noise view gets the variance of one with clusters, whatever its own parameter
        data = datasets.make_blobs_views(
            args.samples,
            (64, 32, 16),
            10,
            view_noise=(0.3, *args.overlap),
            noise_views=[0],
            dtype="float32",
            random_state=seed,
        )
        without = data.views.select(data.views.names[1:])
        row = {}
        for method, make in {
            "k-means": lambda seed=seed: ConcatKMeans(10, random_state=seed),
            "FastMICE": lambda seed=seed: FastMICE(10, random_state=seed, **args.parameters),
        }.items():
            for views, title in ((data.views, "with"), (without, "without")):
                row[f"{method} {title}"] = adjusted_rand_index(data.labels, make().fit(views).labels_)
        scores.append(row)
        print(f"seed {seed}: " + "  ".join(f"{title} {value:.3f}" for title, value in row.items()), flush=True)
    print("ARI: " + summary(scores, {title: title for title in scores[0]}))
    loss = np.mean([row["FastMICE without"] - row["FastMICE with"] for row in scores])
    print(f"FastMICE loses {loss:.3f} by the noise view")


def run_missing(args):
    for name, data in chosen(args):
        k = np.unique(data.labels).size
        complete, partial, unseen = [], [], 0
        for seed in range(args.seeds):
            views = with_holes(data.views, args.fraction, np.random.default_rng(seed))
            unseen += int((~views.observed.any(axis=1)).sum())
            for rows, given in ((complete, data.views), (partial, views)):
                model = FastMICE(k, random_state=seed, **args.parameters).fit(given)
                assert model.labels_.shape == data.labels.shape
                assert model.labels_.min() >= 0
                assert np.isfinite(model.confidence_).all()
                rows.append(evaluate(data.labels, model.labels_))
        loss = np.mean([a["nmi"] - b["nmi"] for a, b in zip(complete, partial, strict=True)])
        print(f"{name:16s} complete {summary(complete)}\n{'':16s} partial  {summary(partial)}  loss of NMI {loss:.3f}")
        print(f"{'':16s} {len(views.names)} views, {unseen} samples without any view", flush=True)


def with_holes(views, fraction, rng):
    """Remove (sample, view) pairs at random; a sample that would lose all views keeps one of them."""
    holes = rng.random((len(views), len(views.names))) < fraction
    lost = np.flatnonzero(holes.all(axis=1))
    holes[lost, rng.integers(len(views.names), size=lost.size)] = False
    return Views(views.arrays, names=views.names, observed=views.observed & ~holes)


if __name__ == "__main__":
    main()
