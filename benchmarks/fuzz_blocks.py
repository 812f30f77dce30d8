"""Fits over blocks against fits in memory, on small data in awkward forms.

    python benchmarks/fuzz_blocks.py [--cases 400] [--seed 0] [--method FastMICE] [--show]

Each case draws a method, its settings, two or three views of about 200 samples with some defects (samples that a view
lacks, NaN cells, text, categories, infinity, constant views, identical samples, tiny or huge numbers), a form (arrays,
frames, one table; lengths of blocks known or not), blocks (empty ones, single rows, all in one, misaligned), and in
some cases weights of the samples. The same data goes through ``fit`` in memory and ``manyviews.distributed.fit``. A
fault is: other labels, an error that only one of the two raises, an error of another kind, or one that is no ValueError
or TypeError. Labels that a fit in memory changes too where columns are multiplied by 1 and a few units in the last
place are counted as "last bits". What blocks refuse by design, with what to say instead, is counted by its first words.
``--show`` prints every case.
"""

import argparse
import time
import traceback
import warnings
from collections import Counter

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

import manyviews
from manyviews import distributed
from manyviews.cluster import base

SETTINGS = {
    "ConcatKMeans": {"n_init": 2, "max_iter": 30},
    "Consensus": {"n_base_clusterings": 4, "n_anchors": 20, "system_weight": 0.0},
    "FastMICE": {"n_base_clusterings": 3, "n_anchors": 25},
    "KCC": {"n_base_clusterings": 3, "base_cluster_range": (3, 5), "n_init": 2},
    "MSPL": {"n_init": 1},
    "OPLFMVC": {"approximation": "nystrom", "n_landmarks": 20, "n_init": 3},
    "UDBGL": {"n_init": 1, "max_passes": 4, "max_iter": 3},
}
MORE = {
    "ConcatKMeans": [{}, {"scaling": "minmax"}, {"scaling": "unit"}, {"balance_views": False}],
    "Consensus": [{}, {"scaling": "minmax"}, {"system_weight": 0.2}],
    "FastMICE": [{}, {"metric": "cosine"}, {"scaling": "unit"}, {"scaling": None}, {"weighting": "reliability"}],
    "KCC": [{}, {"scaling": "unit"}, {"metric": "cosine"}, {"utility": "entropy"}, {"normalize_utility": True}],
    "MSPL": [{}, {"pacing": "hard"}, {"scaling": "unit", "init": "k-means++"}, {"scaling": "standard"}],
    "OPLFMVC": [{}, {"kernel": "cosine"}, {"kernel": "linear"}, {"scaling": "unit"}],
    "UDBGL": [{}, {"scaling": "unit"}, {"anchor_space": "concatenated"}, {"n_anchors": 8}],
}
# the methods whose samples may weigh differently
WEIGHTED = ("ConcatKMeans", "Consensus", "FastMICE", "KCC", "MSPL")
# what blocks say they do not do: parts of messages
BY_DESIGN = ("over blocks", "blocks are taken as dense", "misaligned", "different numbers of blocks")


def numbers(rng):
    n, V, k = int(rng.integers(150, 220)), int(rng.integers(1, 4)), int(rng.integers(1, 5))
    groups = rng.integers(4, size=n)
    views = [
        (rng.normal(scale=rng.choice([1.0, 4.0]), size=(4, d))[groups] + rng.normal(size=(n, d))).astype(np.float64)
        for d in rng.integers(1, 7, size=V)
    ]
    return views, k


def real(X):
    """Return a view that takes NaN and infinity."""
    return X if X.dtype.kind == "f" else X.astype(np.float64)


def spoiled(views, rng):
    """Return the views, with one or two defects drawn, as arrays and as what frames would hold, and their names."""
    views, notes = [X.copy() for X in views], []
    n, v = len(views[0]), int(rng.integers(len(views)))
    X = views[v]
    hopeless = rng.random() < 0.15  # both refuse what holds such numbers
    drawn = rng.choice(list(REFUSED) if hopeless else list(DEFECTS), size=1 if hopeless else 2, replace=False)
    for what in drawn[: int(rng.integers(3))]:
        notes.append(str(what))
        views[v] = X = (DEFECTS | REFUSED)[what](X, n, rng)
    return views, notes


def _missing(X, n, rng):
    X = real(X)
    X[rng.choice(n, int(rng.integers(1, n // 2)), replace=False)] = np.nan
    return X


def _missing_run(X, n, rng):
    X = real(X)
    start = int(rng.integers(n // 2))
    X[start : start + n // 3] = np.nan
    return X


def _cell(X, n, rng):
    X = real(X)
    X[rng.integers(n), rng.integers(X.shape[1])] = np.nan
    return X


def _inf(X, n, rng):
    X = real(X)
    X[rng.integers(n), rng.integers(X.shape[1])] = np.inf
    return X


def _constant(X, n, rng):
    return np.full(X.shape, 3.0)


def _constant_column(X, n, rng):
    X[:, rng.integers(X.shape[1])] = 7
    return X


def _copies(X, n, rng):
    return np.round(X / 4)


def _zeros(X, n, rng):
    X[rng.choice(n, n // 3, replace=False)] = 0
    return X


def _single(X, n, rng):
    return X.astype(np.float32)


def _whole(X, n, rng):
    return np.nan_to_num(np.round(X * 3), posinf=0).astype(np.int64)


def _flags(X, n, rng):
    return X > 0


def _tiny(X, n, rng):
    return X * 1e-90


def _huge(X, n, rng):
    return X * 1e80


def _rare(X, n, rng):
    return (rng.random((n, 40)) < 0.015).astype(float)


def _shifted(X, n, rng):
    return X + 1e6


def _few(X, n, rng):
    return X[rng.integers(3, size=n)]


DEFECTS = {
    "missing": _missing,
    "missing run": _missing_run,
    "constant": _constant,
    "constant column": _constant_column,
    "copies": _copies,
    "zeros": _zeros,
    "float32": _single,
    "integers": _whole,
    "booleans": _flags,
    "rare counts": _rare,
    "shifted": _shifted,
    "three values": _few,
}
REFUSED = {"NaN cell": _cell, "infinity": _inf, "tiny": _tiny, "huge": _huge}


def lengths(n, rng):
    """Return the rows of each block, and how they were cut."""
    how = str(rng.choice(["even", "one", "uneven", "single rows", "empty", "many"]))
    if how == "one":
        return [n], how
    if how == "even":
        size = int(rng.integers(30, 120))
        return [min(size, n - start) for start in range(0, n, size)], how
    ends = np.sort(rng.choice(np.arange(1, n), 12 if how == "many" else 3, replace=False))
    sizes = np.diff(np.r_[0, ends, n]).tolist()
    if how == "single rows":
        sizes = [1, 1, *sizes[:-1], sizes[-1] - 3, 1] if sizes[-1] > 3 else [1] * n
    if how == "empty":
        for place in (0, 2, len(sizes) + 2):
            sizes.insert(place, 0)
    return sizes, how


def pieces_of(X, sizes):
    return np.split(X, np.cumsum(sizes)[:-1])


def as_array(X, sizes, known):
    parts = [
        da.from_delayed(dask.delayed(np.array)(piece), (len(piece) if known else np.nan, X.shape[1]), X.dtype)
        for piece in pieces_of(X, sizes)
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def as_frame(frame, sizes):
    parts = [dask.delayed(frame.iloc[rows].copy)() for rows in pieces_of(np.arange(len(frame)), sizes)]
    return dd.from_delayed(parts, meta=frame.iloc[:0])


def framed(X, v, index, rng, notes):
    frame = pd.DataFrame(X, columns=[f"v{v}c{j}" for j in range(X.shape[1])], index=index)
    what = str(rng.choice(["numbers"] * 16 + ["text", "category", "digits", "nullable", "date"]))
    if what != "numbers":
        notes.append(what)
    column = frame.columns[-1]
    if what == "text":
        frame[column] = [f"x{i % 3}" for i in range(len(frame))]
    if what == "category":
        frame[column] = pd.Categorical([f"x{i % 3}" for i in range(len(frame))])
    if what == "digits":
        frame[column] = [str(i % 3) for i in range(len(frame))]
    if what == "nullable":
        frame[column] = pd.array(np.arange(len(frame)) % 7, dtype="Int64")
    if what == "date":
        frame[column] = pd.date_range("2020-01-01", periods=len(frame))
    return frame


def formed(views, rng, notes):
    """Return the data as fit in memory takes it, as blocks, the cut of a table, lengths of blocks, and the form."""
    n, (sizes, how) = len(views[0]), lengths(len(views[0]), rng)
    form = str(rng.choice(["arrays", "unknown", "frames", "keys", "other keys", "table", "frame table", "misaligned"]))
    notes += [form, f"{len(sizes)} blocks {how}"]
    cut = None
    if form in ("arrays", "unknown"):
        return views, [as_array(X, sizes, form == "arrays") for X in views], cut, sizes, form
    if form == "misaligned":
        other = lengths(n, rng)[0]
        return views, [as_array(X, sizes if v == 0 else other, True) for v, X in enumerate(views)], cut, sizes, form
    if form == "table":
        cut = [X.shape[1] for X in views]
        table = np.hstack(views)
        return table, as_array(table, sizes, bool(rng.integers(2))), cut, sizes, form
    keys = np.array([f"s{i:04d}" for i in range(n)])
    index = pd.RangeIndex(n) if form == "frames" else pd.Index(rng.permutation(keys))
    frames = [framed(X, v, index, rng, notes) for v, X in enumerate(views)]
    if form == "frame table":
        cut = {f"view_{v}": list(frame.columns) for v, frame in enumerate(frames)}
        table = pd.concat(frames, axis=1)
        return table, as_frame(table, sizes), cut, sizes, form
    if form == "other keys" and len(frames) > 1:
        frames[1].index = pd.Index(rng.permutation(np.asarray(frames[1].index)))
    return frames, [as_frame(frame, sizes) for frame in frames], cut, sizes, form


def weighed(n, sizes, form, rng, notes):
    """Return weights of the samples as ``fit`` in memory takes them, and as blocks; some are 0."""
    weights = rng.choice([0.5, 1.0, 2.0, 3.7], size=n)
    if rng.random() < 0.6:
        weights[rng.choice(n, int(rng.integers(1, n // 2)), replace=False)] = 0
    kind = str(rng.choice(["array", "array of Dask", "unknown", "series"]))
    kind = "array" if form == "misaligned" else kind
    notes.append(f"weights as {kind}, {int((weights == 0).sum())} of them 0")
    if kind == "series":
        frame = pd.DataFrame({"weight": weights})
        return weights, as_frame(frame, sizes)["weight"]
    if kind == "array of Dask":
        return weights, da.from_array(weights, chunks=61)
    return weights, as_array(weights[:, None], sizes, False)[:, 0] if kind == "unknown" else weights


def outcome(action):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return action(), None
        except (ValueError, TypeError) as error:
            return None, error


def nudged(given, turn):
    """Return the data with columns multiplied by numbers that differ from 1 by some units in the last place."""
    if isinstance(given, list):
        return [nudged(item, turn) for item in given]
    framed = isinstance(given, pd.DataFrame)
    real = given.select_dtypes(["number", "bool"]).columns if framed else np.arange(given.shape[1])
    factors = 1 + np.random.default_rng(turn).integers(1, 65, size=len(real)) * np.finfo(np.float64).eps
    if not framed:
        return given if given.dtype == np.float32 else given * factors
    frame = given.copy()
    frame[real] = frame[real].astype(np.float64) * factors
    return frame


def judge(own, theirs, again):
    """Return what the outcomes come to: nothing where they agree, else in what way they do not.

    ``again`` fits nudged data in memory, and tells labels that hang on the last bits from others.
    """
    (labels, error), (found, refused) = own, theirs
    if error is None and refused is None:
        if np.array_equal(labels, found):
            return ""
        ari = f"ARI {adjusted_rand_score(labels, found):.4f}"
        nudges = (adjusted_rand_score(labels, again(turn)) for turn in range(12))
        return f"{'last bits' if min(nudges) < 1 else 'labels differ'}: {np.mean(labels != found):.3f} of them, {ari}"
    if error is not None and refused is not None:
        return "" if type(error) is type(refused) else f"{type(error).__name__} in memory: {error}"
    if refused is not None:
        by_design = any(words in str(refused) for words in BY_DESIGN)
        return "refused" if by_design else "an error over blocks alone"
    return f"an error in memory alone: {type(error).__name__}: {error}"


def case(seed, number, wanted):
    rng = np.random.default_rng([seed, number])
    name = wanted or str(rng.choice(sorted(SETTINGS)))
    views, k = numbers(rng)
    views, notes = spoiled(views, rng)
    given, blocks, cut, sizes, form = formed(views, rng, notes)
    more = dict(rng.choice(MORE[name]))
    if rng.random() < 0.3:
        more["view_weights"] = rng.choice([0.5, 1.0, 2.0, 3.0], size=len(views)).tolist()
        if len(views) > 1 and rng.random() < 0.3:
            more["view_weights"][0] = 0.0
    notes.append(str(more))
    moved = bool(rng.integers(2))
    base.MOST_MOVED = 1 << 26 if moved else 0
    own, parts = {}, {}
    if name in WEIGHTED and rng.random() < 0.4:
        weights, split = weighed(len(views[0]), sizes, form, rng, notes)
        own, parts = {"sample_weight": weights}, {"sample_weight": split}

    def model():
        return getattr(manyviews, name)(k, random_state=number, views=cut, **(SETTINGS[name] | more))

    memory = outcome(lambda: model().fit(given, **own).labels_)
    theirs = outcome(lambda: np.asarray(distributed.fit(model(), blocks, **parts).labels_))
    verdict = judge(memory, theirs, lambda turn: model().fit(nudged(given, turn), **own).labels_)
    head = f"case {number}: {name} k={k} n={len(views[0])} {'moved' if moved else 'as given'}; {'; '.join(notes)}"
    return head, verdict, memory[1], theirs[1]


def main(cases, seed, wanted, first, *, show):
    counts, refusals, start = Counter(), Counter(), time.perf_counter()
    for number in range(first, first + cases):
        try:
            head, verdict, error, refused = case(seed, number, wanted)
        except Exception:
            counts["crash"] += 1
            print(f"CRASH case {number}\n{traceback.format_exc(limit=-6)}", flush=True)
            continue
        kind = verdict if verdict in ("", "refused") else "last bits" if verdict.startswith("last") else "fault"
        counts[kind or ("both refuse" if refused else "same labels")] += 1
        if kind == "refused":
            refusals[str(refused)[:90]] += 1
        if kind in ("fault", "last bits") or show:
            print(f"{head}\n    {verdict or 'agree'}\n    memory: {error}\n    blocks: {refused}", flush=True)
    print(f"{cases} cases in {time.perf_counter() - start:.0f} s: {dict(counts)}")
    for words, count in refusals.most_common():
        print(f"  {count} × {words}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--method", choices=sorted(SETTINGS))
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    with dask.config.set(scheduler="sync"):
        main(given.cases, given.seed, given.method, given.first, show=given.show)
