"""How often is the number of clusters right? Sets with known classes, and noise, which has none.

    python benchmarks/choose_k.py measure --data ../shared/data --cache CACHE [mfeat ...]     # resumable
    python benchmarks/choose_k.py table --cache CACHE

``measure`` keeps, for every set with 2 to 10 classes and for generated noise, what speaks for each number of clusters
from 2 to 12, and the numbers that three usual criteria give on the concatenation of the balanced views: mean
silhouette, gap statistic (uniform in the box of the principal components), largest gap between the eigenvalues of the
graph of 10 nearest neighbours. ``table`` prints them beside the rule of ``choose_k``, and beside the rule that is best
on all other sets, so that no rule sees the classes of the set it is judged on. Sets of less than 300 samples count by
half in that choice; seeds of a set, and two forms of the same images, count as one set. Hits are sums over sets; a set
for which there is "no clear number" is none.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import silhouette_score
from sklearn.neighbors import kneighbors_graph

from manyviews import Views, datasets
from manyviews.linalg.balance import apply_balanced, concatenate, fit_balanced
from manyviews.prototypes.view_treatment import as_sparse_if_so, fit_treatment
from manyviews.recommend.choose_k import RULE, Rule, best_number, measured_on, number_scores

NUMBERS = range(2, 13)
MOST_CLASSES, FEW_SAMPLES, MOST_SAMPLES = 10, 300, 1500
SAME = {"msrcv1_5view": "msrcv1"}
COMPONENTS, NEIGHBORS, REFERENCES = 50, 10, 5
USUAL = ("silhouette", "gap statistic", "eigengap")
RULES = [
    Rule(least, power, share)
    for least in (0.1, 0.15, 0.2, 0.25, 0.3)
    for power in (0.0, 0.5, 1.0)
    for share in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
]


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("measure", help="measure what is not in the cache")
    measure.add_argument("names", nargs="*", help="all data sets of the folder, and noise, if none is named")
    measure.add_argument("--data", required=True, type=Path, help="folder of .npz files")
    measure.add_argument("--seeds", type=int, default=2)
    table = commands.add_parser("table", help="right numbers, set by set")
    for command in (measure, table):
        command.add_argument("--cache", required=True, type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    {"measure": measure_all, "table": print_table}[args.command](args)


def measure_all(args):
    args.cache.mkdir(exist_ok=True)
    paths = [args.data / f"{name}.npz" for name in args.names] or sorted(args.data.glob("*.npz"))
    for seed in range(args.seeds):
        for path in sorted(paths, key=lambda path: path.stat().st_size):
            data = datasets.load(path)
            if 2 <= len(data.class_names) <= MOST_CLASSES:
                keep(args.cache / f"{path.stem}-{seed}.json", data.views, len(data.class_names), seed)
        for name, views in [] if args.names else noise_sets(seed):
            keep(args.cache / f"{name}-{seed}.json", views, None, seed)


def keep(target, views, n_classes, seed):
    if target.exists():
        return
    if len(views) > MOST_SAMPLES:
        views = views[np.sort(np.random.default_rng(seed).choice(len(views), MOST_SAMPLES, replace=False))]
    start = time.process_time()
    found, _, reference = measured_on(views, list(NUMBERS), np.random.default_rng(seed))
    record = {
        "n_samples": len(views),
        "classes": n_classes,
        "found": {name: values.tolist() for name, values in found.items()},
        "reference": {name: values.tolist() for name, values in reference.items()},
        "seconds": time.process_time() - start,
        "usual": usual_numbers(views, seed) if n_classes else {},
    }
    target.write_text(json.dumps(record))
    print(target.stem, f"{record['seconds']:.1f} s", record["usual"], flush=True)


def noise_sets(seed):
    """Yield data without groups: independent columns of four kinds, long clouds, single views."""
    rng = np.random.default_rng(100 + seed)
    for n in (120, 300, 600):
        long = rng.normal(size=(n, 8)) * np.geomspace(5, 0.5, 8) @ np.linalg.qr(rng.normal(size=(8, 8)))[0]
        yield f"noise-normal-{n}", Views([rng.normal(size=(n, 10)), rng.normal(size=(n, 6))])
        yield f"noise-uniform-{n}", Views([rng.uniform(size=(n, 10)), rng.uniform(size=(n, 4))])
        yield f"noise-tails-{n}", Views([rng.standard_t(3, size=(n, 12)), rng.standard_t(3, size=(n, 5))])
        yield f"noise-long-{n}", Views([long, rng.normal(size=(n, 5))])
        yield f"noise-one-view-{n}", Views([rng.normal(size=(n, 20))])
        yield f"noise-words-{n}", Views([sparse.random_array((n, 400), density=0.03, rng=rng, format="csr")])


def usual_numbers(views, seed):
    X = balanced(views)
    labels = {k: KMeans(k, n_init=5, random_state=seed).fit(X) for k in NUMBERS}
    silhouettes = {k: silhouette_score(X, model.labels_) for k, model in labels.items()}
    return {
        "silhouette": max(silhouettes, key=silhouettes.get),
        "gap statistic": gap_statistic(X, seed),
        "eigengap": eigengap(X),
    }


def balanced(views):
    arrays = []
    for X in map(as_sparse_if_so, views.arrays):
        kind = fit_treatment(X, "auto", "auto").scaling.kind
        arrays.append(apply_balanced(X, fit_balanced(X, kind)))
    X = concatenate(tuple(arrays))
    if min(X.shape) > COMPONENTS:
        return TruncatedSVD(COMPONENTS, random_state=0).fit_transform(X)
    return X.toarray() if sparse.issparse(X) else X


def gap_statistic(X, seed):
    """Return the smallest k whose gap is at least that of k + 1 less its deviation; 1 is not asked for."""
    rng = np.random.default_rng(seed)
    X = X - X.mean(axis=0)
    X = X @ np.linalg.svd(X, full_matrices=False)[2].T
    drawn = [rng.uniform(X.min(axis=0), X.max(axis=0), size=X.shape) for _ in range(REFERENCES)]
    gaps, errors = [], []
    for k in NUMBERS:
        own, *others = (np.log(KMeans(k, n_init=2, random_state=seed).fit(Y).inertia_) for Y in (X, *drawn))
        gaps.append(np.mean(others) - own)
        errors.append(np.std(others) * np.sqrt(1 + 1 / REFERENCES))
    enough = [k for i, k in enumerate(NUMBERS[:-1]) if gaps[i] >= gaps[i + 1] - errors[i + 1]]
    return enough[0] if enough else NUMBERS[-1]


def eigengap(X):
    A = kneighbors_graph(X, min(NEIGHBORS, len(X) - 1)).toarray()
    A = (A + A.T) / 2
    scale = A.sum(axis=1) ** -0.5
    values = np.linalg.eigvalsh(scale[:, None] * A * scale)[::-1]
    return max(NUMBERS, key=lambda k: values[k - 1] - values[k])


def print_table(args):
    records = {path.stem: json.loads(path.read_text()) for path in sorted(args.cache.glob("*.json"))}
    picks = {rule: {name: picked(record, rule) for name, record in records.items()} for rule in {*RULES, RULE}}
    worths = {rule: {name: worth(record, picks[rule][name]) for name, record in records.items()} for rule in RULES}
    shares = {name: share(name, records) for name in records}
    left_out = {}
    for name in records:
        rest = [other for other in records if subject(other) != subject(name)]
        best = max(RULES, key=lambda rule: sum(shares[other] * worths[rule][other] for other in rest))
        left_out[name] = picks[best][name], best
    columns = {"ours": picks[RULE], "left out": {name: k for name, (k, _) in left_out.items()}}
    columns |= {each: {name: r["usual"].get(each) for name, r in records.items()} for each in USUAL}
    print_rows(records, columns, shares)
    noise = [name for name, record in records.items() if not record["classes"]]
    for heading in ("ours", "left out"):
        wrong = {name: columns[heading][name] for name in noise if columns[heading][name] is not None}
        print(f"noise, {heading}: no clear number in {len(noise) - len(wrong)} of {len(noise)}", wrong)
    print("rules that were best with a set left out:", Counter(rule for _, rule in left_out.values()).most_common())


def print_rows(records, columns, shares):
    line = "{:18} {:>5} {:>8}" + " {:>14}" * len(columns)
    print(line.format("set", "n", "classes", *columns))
    real = {name: record for name, record in records.items() if record["classes"]}
    for name, record in real.items():
        numbers = ("none" if own[name] is None else own[name] for own in columns.values())
        print(line.format(name, record["n_samples"], record["classes"], *numbers))
    for words, most in (("right", 0), ("within 1", 1)):
        hits = [
            sum(
                shares[name] * (own[name] is not None and abs(own[name] - r["classes"]) <= most)
                for name, r in real.items()
            )
            for own in columns.values()
        ]
        print(line.format(words, "", round(sum(shares[name] for name in real), 2), *(round(hit, 2) for hit in hits)))


def subject(name):
    """Return what a record is about: two forms of the same images, and all seeds of a set, are one."""
    stem = name.rpartition("-")[0]
    return SAME.get(stem, stem)


def share(name, records):
    return 1.0 / sum(subject(other) == subject(name) for other in records)


def picked(record, rule):
    found, reference = ({name: np.array(own) for name, own in record[key].items()} for key in ("found", "reference"))
    return best_number(list(NUMBERS), number_scores(found, reference, rule), rule)


def worth(record, k):
    """Return 1 for a number within 1, less a tenth for each that it is off; for noise 1 for none."""
    if not record["classes"]:
        return float(k is None)
    weight = 0.5 if record["n_samples"] < FEW_SAMPLES else 1.0
    if k is None:
        return -0.2 * weight
    off = abs(k - record["classes"])
    return weight * ((off <= 1) - 0.1 * min(off, 5))


if __name__ == "__main__":
    main()
