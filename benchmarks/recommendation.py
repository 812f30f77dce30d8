"""Does `manyviews compare` recommend a good method? Data with known classes tell: real sets, then generated ones.

python benchmarks/recommendation.py --data ../shared/data --store fits.jsonl [--sets cora,mfeat] [--generated second]

Every finished fit is kept in the store; started again, only those that lack are made. A recommendation is a hit where
the method's mean NMI is at most 0.05 below that of the best method of the set.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from recommendation_data import generated_sets

from manyviews import datasets
from manyviews.recommend.compare import choose_methods, compare_methods
from manyviews.recommend.fits import Options
from manyviews.recommend.rule import score_of

HIT = 0.05
# The same images with other features; counted once in the means.
TWINS = {"msrcv1_5view"}
ALWAYS = ("fastmice", "concat-kmeans", "sum-spectral", "mspl")
FORMAT = "{:18} {:>5} {:16} {:>6}  {:16} {:>6} {:>6}  {:>8} {:>8}  {}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of .npz files")
    parser.add_argument("--store", type=Path, default=Path("fits.jsonl"), help="file of finished fits")
    parser.add_argument("--sets", default="", help="names with commas between; all by default, the small ones first")
    parser.add_argument("--generated", choices=("first", "second"), help="generated sets instead: in sight or after")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=None, help="seconds for all fits of a set")
    args = parser.parse_args()
    options = Options(n_seeds=args.seeds, n_parts=0, time_limit=args.time_limit)
    sets = generated_sets(args.generated) if args.generated else real_sets(args.data, args.sets)
    print(FORMAT.format("set", "n", "best", "NMI", "recommended", "NMI", "score", "fastmice", "concat-k", "left out"))
    outcomes = {data.name: outcome(data, args.store, options) for data in sets}
    summarize({name: found for name, found in outcomes.items() if name not in TWINS})


def real_sets(folder, names):
    wanted = [folder / f"{name}.npz" for name in names.split(",")] if names else sorted(folder.glob("*.npz"))
    found = [datasets.load(str(path)) for path in wanted]
    return found if names else sorted(found, key=lambda data: len(data.views))


def outcome(data, store, options):
    """Compare the methods on a set, print its row, return the mean NMI of each, the choice and its score."""
    methods = choose_methods("main")
    found = compare_methods(data.views, methods, len(data.class_names), store, truth=data.labels, options=options)
    nmi = {row.method.name: float(np.mean(row.scores["nmi"])) for row in found.results if row.status == "ok"}
    scores = {row.method.name: score_of(row.criteria) for row in found.results if row.status == "ok"}
    lacking = [f"{row.method.name} ({row.status})" for row in found.results if row.status != "ok"]
    best, chosen = max(nmi, key=nmi.get), found.recommendation.method
    numbers = [f"{nmi.get(name, float('nan')):.3f}" for name in ("fastmice", "concat-kmeans")]
    cells = [
        data.name,
        len(data.views),
        best,
        f"{nmi[best]:.3f}",
        chosen,
        f"{nmi[chosen]:.3f}",
        f"{scores[chosen]:.2f}",
    ]
    mark = "" if nmi[best] - nmi[chosen] <= HIT else "  miss"
    print(FORMAT.format(*cells, *numbers, ", ".join(lacking) + mark), flush=True)
    return nmi, chosen, scores[chosen]


def summarize(outcomes):
    """Print hit rates and means of the recommendation and of what one could do instead."""
    rows = list(outcomes.values())
    best = np.array([max(nmi.values()) for nmi, _, _ in rows])
    ways = {"recommended": np.array([nmi[chosen] for nmi, chosen, _ in rows])}
    # a method without a result on a set has nothing to offer there
    ways |= {f"always {name}": np.array([nmi.get(name, 0.0) for nmi, _, _ in rows]) for name in ALWAYS}
    by_chance = [np.mean([max(nmi.values()) - value <= HIT for value in nmi.values()]) for nmi, _, _ in rows]
    print(f"\n{len(rows)} sets; the best method of each has a mean NMI of {best.mean():.3f}")
    for way, reached in ways.items():
        print(f"{way:24} mean NMI {reached.mean():.3f}  within {HIT} of the best {np.mean(best - reached <= HIT):.0%}")
    means = np.mean([np.mean(list(nmi.values())) for nmi, _, _ in rows])
    print(f"{'any method, by chance':24} mean NMI {means:.3f}  within {HIT} of the best {np.mean(by_chance):.0%}\n")
    levels = np.array([score for _, _, score in rows])
    for low, high, word in ((0.4, 1.01, "fairly sure"), (0.2, 0.4, "a hint"), (-1.0, 0.2, "unsure")):
        inside = (levels >= low) & (levels < high)
        hits = (best - ways["recommended"])[inside] <= HIT
        print(f"{word:12} {inside.sum():3} sets, {hits.sum()} hits")


if __name__ == "__main__":
    main()
