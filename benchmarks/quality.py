"""How right the answers are: every method on every stored set, and how the rule of ``Consensus`` was chosen.

    python benchmarks/quality.py fit --data ../shared/data --cache CACHE [mfeat ...] --seconds 800    # resumable
    python benchmarks/quality.py table --cache CACHE [--before OLD.csv]
    python benchmarks/quality.py choose --cache CACHE
    python benchmarks/quality.py time --samples 10000 100000

``fit`` keeps the labels of all methods and the ballot of ``Consensus`` (its members) for each set and seed; ``table``
prints the mean NMI of each; ``choose`` cuts the same ballots by other rules, set by set, and leaves out each set in
turn: the rule that is best on the others is applied to it. No rule sees the classes of the set it is scored on. Sets
count alike, whatever their size; two forms of the same images count as one. ``--before`` names a table of lines
``set,seed,nmi`` of an earlier default.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform

from manyviews import Consensus, FastMICE, datasets
from manyviews.cluster.registry import METHODS, find_method
from manyviews.metrics import nmi_score
from manyviews.partitions.agreement_cut import fit_agreement_cut
from manyviews.partitions.coassociation import indicator_matrix
from manyviews.partitions.discretize import EmbeddingRule
from manyviews.partitions.ensemble_cut import fit_ensemble_cut

SAME = {"msrcv1_5view": "msrcv1"}
ANCHORS = "anchor cut"
CONSENSUS, PUBLISHED = "consensus", "fastmice as published"
MOST_SAMPLES = {"mvec": 700, "rsec": 700, "sec": 5_000, "kcc": 5_000}
SHARES = (0.0, 0.2, 0.3, 0.4)
RULES = {
    **{f"agreement, systems {share}": ("agreement", share, "") for share in SHARES},
    "agreement, members alike": ("agreement", None, ""),
    "agreement, systems 0.2, standardised": ("agreement", 0.2, "standardised"),
    "agreement, systems 0.2, as given": ("agreement", 0.2, "as given"),
    "Ward, systems 0.2": ("ward", 0.2, ""),
    "average linkage, systems 0.2": ("average", 0.2, ""),
    "normalised cut, members alike": ("released", None, ""),
}


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    fit = commands.add_parser("fit", help="fit what is not in the cache")
    fit.add_argument("names", nargs="*", help="all data sets of the folder if none is named")
    fit.add_argument("--data", required=True, type=Path, help="folder of .npz files")
    fit.add_argument("--seeds", type=int, default=2)
    fit.add_argument("--methods", nargs="*", help="all if none is named")
    fit.add_argument("--seconds", type=float, default=np.inf, help="start no other fit after so long")
    table = commands.add_parser("table", help="all methods, set by set")
    table.add_argument("--before", type=Path, help="figures of an earlier default")
    choose = commands.add_parser("choose", help="other rules on the same ballots, each set left out in turn")
    choose.add_argument("--seeds", type=int, default=2)
    for command in (fit, table, choose):
        command.add_argument("--cache", required=True, type=Path)
    clock = commands.add_parser("time", help="CPU seconds beside FastMICE")
    clock.add_argument("--samples", type=int, nargs="+", default=[10_000, 100_000])
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    {"fit": fit_all, "table": print_table, "choose": print_choice, "time": print_times}[args.command](args)


def fit_all(args):
    paths = [args.data / f"{name}.npz" for name in args.names] or sorted(args.data.glob("*.npz"))
    methods = args.methods or [CONSENSUS, PUBLISHED, *(row.name for row in METHODS if row.name != CONSENSUS)]
    begin = time.monotonic()
    # what the choice of a rule needs comes first, then method by method, so that a part of the run is of use
    for method in methods:
        for seed in range(args.seeds):
            for path in paths:
                target = args.cache / f"{path.stem}-{seed}" / f"{method}.npz"
                if target.exists():
                    continue
                if time.monotonic() - begin > args.seconds:
                    sys.exit("time is up; the same command goes on from here")
                data = datasets.load(path)
                if len(data.views) <= MOST_SAMPLES.get(method, len(data.views)):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    start = time.process_time()
                    found = record_of(data, method, seed)
                    partial = target.with_name("partial.npz")
                    np.savez_compressed(partial, **found)
                    partial.rename(target)
                    print(f"{target} {time.process_time() - start:.1f} CPU s", flush=True)


def record_of(data, method, seed):
    """Return the labels of a method; of the consensus also its members with what they are, and the classes."""
    k = len(np.unique(data.labels))
    if method == PUBLISHED:
        model = FastMICE.as_published(k, random_state=seed).fit(data.views)
    else:
        model = find_method(method).load()(k, random_state=seed).fit(data.views)
    record = {"labels": model.labels_.astype(np.int16)}
    if method == CONSENSUS:
        record |= {
            "classes": np.unique(data.labels, return_inverse=True)[1],
            "members": model.base_labels_.astype(np.int16),
            "member_methods": np.array([member.method for member in model.members_]),
            "member_treatments": np.array([member.treatment for member in model.members_]),
        }
    return record


def records(cache, seeds=None):
    """Yield name, seed, ballot of the consensus and labels of all methods of everything in the cache."""
    for folder in sorted(cache.iterdir()):
        name, seed = folder.name.rsplit("-", 1)
        if (seeds is None or int(seed) < seeds) and (folder / f"{CONSENSUS}.npz").exists():
            found = {}
            for path in sorted(folder.glob("*.npz")):
                with np.load(path) as file:
                    found[path.stem] = dict(file)
            yield name, int(seed), found[CONSENSUS], {method: one["labels"] for method, one in found.items()}


def score(record, labels):
    return nmi_score(record["classes"], labels, average_method="geometric")


def print_table(args):
    scores = {}
    for name, _, record, found in records(args.cache):
        for method, labels in found.items():
            scores.setdefault(method, {}).setdefault(name, []).append(score(record, labels))
    if args.before:
        with args.before.open(newline="") as file:
            for name, _, nmi in csv.reader(file):
                scores.setdefault("default before", {}).setdefault(name, []).append(float(nmi))
    names = sorted(scores[CONSENSUS])
    print("| method | mean | " + " | ".join(names) + " |")
    print("| --- " * (len(names) + 2) + "|")
    for method, per_set in sorted(scores.items(), key=lambda item: -np.nan_to_num(mean_of_sets(item[1], names))):
        cells = [f"{np.mean(per_set[name]):.2f}" if name in per_set else "" for name in names]
        print(f"| {method} | {mean_of_sets(per_set, names):.3f} | " + " | ".join(cells) + " |")


def mean_of_sets(per_set, names):
    """Return the mean over sets, forms of the same data counting as one; NaN where a set is lacking."""
    groups = {}
    for name in names:
        groups.setdefault(SAME.get(name, name), []).append(np.mean(per_set.get(name, [np.nan])))
    return float(np.mean([np.mean(values) for values in groups.values()]))


def print_choice(args):
    scores = {rule: {} for rule in RULES}
    for name, seed, record, _ in records(args.cache, args.seeds):
        for rule in RULES:
            found = score(record, labels_by(record, rule, seed))
            scores[rule].setdefault(name, []).append(found)
        print(name, seed, " ".join(f"{scores[rule][name][-1]:.3f}" for rule in RULES), flush=True)
    names = sorted(scores[next(iter(RULES))])
    for rule in RULES:
        print(f"{mean_of_sets(scores[rule], names):.3f}  {rule}")
    left_out = {}
    for name in names:
        others = [other for other in names if SAME.get(other, other) != SAME.get(name, name)]
        best = max(RULES, key=lambda rule, others=others: mean_of_sets(scores[rule], others))
        left_out[name] = scores[best][name]
        print(f"without {name}: {best}, there {np.mean(left_out[name]):.3f}")
    print(f"{mean_of_sets(left_out, names):.3f}  the rule that is best on the other sets")


def labels_by(record, rule, seed):
    """Return the labels that a rule gives to a ballot."""
    cut, share, treatment = RULES[rule]
    k, members = int(record["classes"].max()) + 1, record["members"].astype(np.int32)
    anchored = record["member_methods"] == ANCHORS
    kept = np.array([treatment in str(own) for own in record["member_treatments"]]) | ~anchored
    weights = np.ones(members.shape[1])
    if share is not None:
        weights = np.where(anchored, (1 - share) / max((anchored & kept).sum(), 1), share / max((~anchored).sum(), 1))
    kept &= weights > 0
    members, weights = members[:, kept], weights[kept] / weights[kept].mean()
    sizes, rng = members.max(axis=0).astype(np.int64) + 1, np.random.default_rng(seed)
    if cut == "agreement":
        return fit_agreement_cut(members, sizes, k, rng, weights=weights)[0]
    if cut == "released":
        return fit_ensemble_cut(members, sizes, k, rng, rule=EmbeddingRule("cosine", 20, 5), weighting="equal")[0]
    B = indicator_matrix(members, n_columns=sizes)
    B.data *= np.sqrt(np.broadcast_to(weights, members.shape)[members >= 0])
    D = np.maximum(1 - (B @ B.T).toarray() / weights.sum(), 0)
    np.fill_diagonal(D, 0)
    distances = squareform(D, checks=False)
    return cut_tree(linkage(np.sqrt(2 * distances) if cut == "ward" else distances, cut), k).ravel()


def print_times(args):
    for n in args.samples:
        data = datasets.make_blobs_views(n, (20, 15, 10), 10, view_noise=0.3, random_state=0)
        for method in (FastMICE, Consensus):
            begin = time.process_time()
            model = method(10, random_state=0).fit(data.views)
            seconds = time.process_time() - begin
            print(f"{n:>9} {method.__name__:>10} {seconds:8.1f} CPU s  NMI {nmi_score(data.labels, model.labels_):.3f}")


if __name__ == "__main__":
    main()
