"""Scores of FastMICE on stored data sets, mean and deviation over seeds, for several scalings.

python benchmarks/fastmice_quality.py --data ../shared/data mfeat bbcsport --seeds 20 --set n_base_clusterings=20
"""

from __future__ import annotations

import argparse
import ast
import time

import numpy as np

from manyviews import FastMICE, datasets
from manyviews.metrics import evaluate

SCALINGS = {"auto": "auto", "standard": "standard", "none": None}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="+")
    parser.add_argument("--data", required=True, help="folder of .npz files")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--scalings", default="auto,standard,none")
    parser.add_argument("--set", action="append", default=[], metavar="PARAMETER=VALUE")
    args = parser.parse_args()
    parameters = {key: ast.literal_eval(value) for key, value in (pair.split("=", 1) for pair in args.set)}
    for name in args.names:
        data = datasets.load(f"{args.data}/{name}.npz")
        k = np.unique(data.labels).size
        for scaling in args.scalings.split(","):
            start, rows = time.process_time(), []
            for seed in range(args.seeds):
                model = FastMICE(k, scaling=SCALINGS[scaling], random_state=seed, **parameters).fit(data.views)
                scores = evaluate(data.labels, model.labels_)
                rows.append([scores[key] for key in ("nmi", "acc", "ari")])
            mean, deviation = np.mean(rows, axis=0), np.std(rows, axis=0)
            text = "  ".join(
                f"{key} {m:.3f} ± {d:.3f}" for key, m, d in zip(("NMI", "ACC", "ARI"), mean, deviation, strict=True)
            )
            seconds = (time.process_time() - start) / args.seeds
            print(f"{name:16s} {scaling:9s} {text}  {seconds:.1f} CPU s a fit", flush=True)


if __name__ == "__main__":
    main()
