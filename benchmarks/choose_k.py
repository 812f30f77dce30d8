"""How often is the number of clusters right? Sets with known classes, and noise, which has none.

    python benchmarks/choose_k.py measure --data ../shared/data --cache CACHE [mfeat ...]     # resumable
    python benchmarks/choose_k.py table --cache CACHE

``measure`` keeps, for every set with 2 to 10 classes and for generated noise, what speaks for each number of clusters
from 2 to 12, and the numbers that three usual criteria give on the concatenation of the balanced views: mean
silhouette, gap statistic (uniform in the box of the principal components), largest gap between the eigenvalues of the
graph of 10 nearest neighbours. ``table`` prints them beside the rule of ``choose_k``, and beside the rule that is best
on all other sets, so that no rule sees the classes of the set it is judged on. Sets of less than 300 samples count by
half in that choice, and two forms of the same images count as one set.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from itertools import product
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
from manyviews.recommend.choose_k import RULE, Rule, best_number, evidence, measured_on

NUMBERS = range(2, 13)
MOST_CLASSES, FEW_SAMPLES, MOST_SAMPLES = 10, 300, 1500
SAME = {"msrcv1_5view": "msrcv1"}
COMPONENTS, NEIGHBORS, REFERENCES = 50, 10, 5
USUAL = ("silhouette", "gap statistic", "eigengap")
RULES = [
    Rule(dict(zip(("stability", "structure", "gap"), weights, strict=True)), slack)
    for weights in product((0.0, 0.25, 0.5, 0.75, 1.0), repeat=2)
    for weights in [(*weights, 1.0 - sum(weights))]
    if weights[2] >= 0
    for slack in (0.0, 0.02, 0.05, 0.1, 0.2)
]


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("measure", help="measure what is not in the cache")
    measure.add_argument("names", nargs="*", help="all data sets of the folder, and noise, if none is named")
    measure.add_argument("--data", required=True, type=Path, help="folder of .npz files")
    table = commands.add_parser("table", help="right numbers, set by set")
    for command in (measure, table):
        command.add_argument("--cache", required=True, type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    {"measure": measure_all, "table": print_table}[args.command](args)


def measure_all(args):
    args.cache.mkdir(exist_ok=True)
    paths = [args.data / f"{name}.npz" for name in args.names] or sorted(args.data.glob("*.npz"))
    for path in sorted(paths, key=lambda path: path.stat().st_size):
        data = datasets.load(path)
        if 2 <= len(data.class_names) <= MOST_CLASSES:
            keep(args.cache / f"{path.stem}.json", data.views, len(data.class_names))
    if not args.names:
        for name, views in noise_sets():
            keep(args.cache / f"{name}.json", views, None)


def keep(target, views, n_classes):
    if target.exists():
        return
    if len(views) > MOST_SAMPLES:
        views = views[np.sort(np.random.default_rng(0).choice(len(views), MOST_SAMPLES, replace=False))]
    start = time.process_time()
    found, reference = measured_on(views, list(NUMBERS), np.random.default_rng(0))
    record = {
        "n_samples": len(views),
        "classes": n_classes,
        "found": {name: values.tolist() for name, values in found.items()},
        "reference": {name: values.tolist() for name, values in reference.items()},
        "seconds": time.process_time() - start,
        "usual": usual_numbers(views),
    }
    target.write_text(json.dumps(record))
    print(target, f"{record['seconds']:.1f} s", record["usual"], flush=True)


def noise_sets():
    """Yield data without groups: independent columns of four kinds, long clouds, single views."""
    for seed in range(3):
        rng = np.random.default_rng(100 + seed)
        n = (120, 300, 600)[seed]
        long = rng.normal(size=(n, 8)) * np.geomspace(5, 0.5, 8) @ np.linalg.qr(rng.normal(size=(8, 8)))[0]
        yield f"noise-normal-{n}", Views([rng.normal(size=(n, 10)), rng.normal(size=(n, 6))])
        yield f"noise-uniform-{n}", Views([rng.uniform(size=(n, 10)), rng.uniform(size=(n, 4))])
        yield f"noise-tails-{n}", Views([rng.standard_t(3, size=(n, 12)), rng.standard_t(3, size=(n, 5))])
        yield f"noise-long-{n}", Views([long, rng.normal(size=(n, 5))])
        yield f"noise-one-view-{n}", Views([rng.normal(size=(n, 20))])
        yield f"noise-words-{n}", Views([sparse.random_array((n, 400), density=0.03, rng=rng, format="csr")] * 1)


def usual_numbers(views):
    X = balanced(views)
    labels = {k: KMeans(k, n_init=5, random_state=0).fit(X) for k in NUMBERS}
    silhouettes = {k: silhouette_score(X, model.labels_) for k, model in labels.items()}
    return {
        "silhouette": max(silhouettes, key=silhouettes.get),
        "gap statistic": gap_statistic(X),
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


def gap_statistic(X):
    """Return the smallest k whose gap is at least that of k + 1 less its deviation; 1 is not asked for."""
    rng = np.random.default_rng(0)
    X = X - X.mean(axis=0)
    X = X @ np.linalg.svd(X, full_matrices=False)[2].T
    drawn = [rng.uniform(X.min(axis=0), X.max(axis=0), size=X.shape) for _ in range(REFERENCES)]
    gaps, errors = [], []
    for k in NUMBERS:
        own, *others = (np.log(KMeans(k, n_init=2, random_state=0).fit(Y).inertia_) for Y in (X, *drawn))
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
    evidences = {name: evidence_of(record) for name, record in records.items()}
    real = {name: record for name, record in records.items() if record["classes"]}
    line = "{:18} {:>5} {:>8} {:>6} {:>14} " + " {:>13}" * len(USUAL)
    print(line.format("set", "n", "classes", "ours", "left out", *USUAL))
    rows = {}
    for name, record in real.items():
        others = {key: row for key, row in real.items() if SAME.get(key, key) != SAME.get(name, name)}
        rule = best_rule(others, evidences)
        ours = best_number(list(NUMBERS), evidences[name], RULE)
        left_out = best_number(list(NUMBERS), evidences[name], rule._replace(least=RULE.least))
        rows[name] = [ours, left_out, *(record["usual"][each] for each in USUAL)]
        print(line.format(name, record["n_samples"], record["classes"], *map(str, rows[name])))
    for words, within in (("right", 0), ("within 1", 1)):
        counts = [sum(hits(real, rows, i, within)) for i in range(2 + len(USUAL))]
        print(line.format(words, "", sum(share(name, real) for name in real), *counts))
    noise = [name for name, record in records.items() if not record["classes"]]
    said = {name: best_number(list(NUMBERS), evidences[name], RULE) for name in noise}
    print(f"noise: no clear number in {sum(k is None for k in said.values())} of {len(said)}", said)
    print("best rule on all sets:", best_rule(real, evidences))


def evidence_of(record):
    return evidence(*({name: np.array(own) for name, own in record[key].items()} for key in ("found", "reference")))


def hits(real, rows, i, within):
    for name, record in real.items():
        k = rows[name][i]
        yield share(name, real) * (k is not None and abs(k - record["classes"]) <= within)


def share(name, real):
    """Return 1, or a half for two forms of the same images."""
    return 1.0 / sum(SAME.get(key, key) == SAME.get(name, name) for key in real)


def best_rule(real, evidences):
    return max(RULES, key=lambda rule: worth(rule, real, evidences))


def worth(rule, real, evidences):
    """Return the weighted part of sets within 1, with a tenth of that for how far the others are off."""
    total = 0.0
    for name, record in real.items():
        off = abs(best_number(list(NUMBERS), evidences[name], rule) - record["classes"])
        weight = share(name, real) * (0.5 if record["n_samples"] < FEW_SAMPLES else 1.0)
        total += weight * ((off <= 1) - 0.1 * off)
    return total


if __name__ == "__main__":
    main()
