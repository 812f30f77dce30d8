"""Write the same numbers as tables of every kind, and count what reading and clustering them gives.

Two views of the same samples are written with a separator, header, index, code of missing numbers, encoding, kind of
ids and orientation drawn at random, the second with its rows in another order where they have ids; they are read with
the options that such files need, or with none. What may come out: the labels that the plain arrays give; an error in
one line that names the cause; with no options also other labels, if a caution says why. Anything else is printed.

    python benchmarks/fuzz_tables.py --tables 5000 --seed 0
"""

import argparse
import gzip
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl

from manyviews import ConcatKMeans, ViewImputer, Views
from manyviews.io import read_views
from manyviews.io.choosing import Caution
from manyviews.metrics import adjusted_rand_index

N, K = 24, 3
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "blank": " ", "blanks": "   "}
SUFFIXES = {"comma": [".csv", ".txt"], "semicolon": [".csv"], "tab": [".tsv", ".tab", ".txt"], "bar": [".txt", ".csv"],
            "blank": [".txt", ".dat"], "blanks": [".txt", ".data"]}  # fmt: skip
HEADERS = ("names", "none", "numbers", "comment above", "title above", "behind #")
INDEXES = ("none", "id column", "unnamed", "row names", "row numbers")
ID_KINDS = ("text", "numbers", "leading zeros", "dates")
CODES = ("none", "", "NA", "nan", ".", "-", "99", "<0.05", "missing")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "latin-1")
KINDS = ("text", "text", "text", "text", "parquet", "npy")
# Words of which an error must have one, by what was done to the tables.
CAUSES = {
    "none": ("header", "different numbers of rows", "no column", "cannot be used as numbers", "has no name"),
    "numbers": ("no column", "header", "has no name"),
    "transposed": ("transpose", "samples in columns", "Samples in columns", "different numbers of rows", "no column",
                   "cannot be used as numbers", "no id is in two views"),
    "code": ("missing", "cannot be used as numbers", "NaN"),
    "id": ("--id", "no id is in two views", "has no column", "has no name", "another order"),
    "latin-1": ("UTF-8",),
    "blank": ("cells where the first line", "cannot be used as numbers"),
    "row names": ("cells where the first line has",),
    "title above": ("is blank", "cells where the first line", "cannot be used as numbers", "cannot be read"),
}  # fmt: skip


def draw(rng):
    """Return what is done to the tables."""
    pick = lambda options: str(options[rng.integers(len(options))])  # noqa: E731
    case = {name: pick(options) for name, options in (
        ("kind", KINDS), ("separator", list(SEPARATORS)), ("header", HEADERS), ("index", INDEXES), ("ids", ID_KINDS),
        ("code", CODES), ("encoding", ENCODINGS),
    )}  # fmt: skip
    case["transposed"] = bool(rng.random() < 0.2)
    case["zipped"] = bool(rng.random() < 0.2)
    case["informed"] = bool(rng.random() < 0.6)
    if case["kind"] != "text":
        case |= {"separator": "comma", "header": "names", "encoding": "utf-8", "zipped": False}
        case["code"] = case["code"] if case["code"] in ("none", "99") else "none"
    if case["kind"] == "npy":
        case["index"] = "none"
    if case["index"] == "row names" and case["header"] in ("none", "behind #"):
        case["header"] = "names"
    if case["separator"].startswith("blank") and case["code"] == "":
        case["code"] = "NA"  # nothing between blanks is no cell
    return case


def make_ids(kind, rng):
    numbers = rng.choice(900, N, replace=False)
    return {
        "text": [f"s{i}ü" for i in numbers], "numbers": [str(100 + i) for i in numbers],
        "leading zeros": [f"{i:04d}" for i in numbers],
        "dates": [str(np.datetime64("2020-01-01") + int(i)) for i in numbers],
    }[kind]  # fmt: skip


def make_data(case, rng):
    """Return two arrays of the same samples, whose groups only both together tell, with gaps; and the ids."""
    classes = rng.permutation(np.repeat(np.arange(K), N // K))
    arrays = []
    for shown in ([0, 0, 6], [0, 6, 6]):
        width = int(rng.integers(2, 5))
        array = np.round(np.asarray(shown)[classes][:, None] + rng.normal(size=(N, width)), 4)
        arrays.append(array)
    if case["code"] != "none":
        for array in arrays:
            array[rng.integers(N), rng.integers(array.shape[1])] = np.nan
    return arrays, make_ids(case["ids"], rng)


def write(folder, name, array, ids, case):
    """Write one table; return its path."""
    names = [f"{name}{j}" for j in range(array.shape[1])]
    if case["header"] == "numbers":
        names = [str(700 + 10 * j) for j in range(array.shape[1])]
    if case["kind"] == "npy":
        path = folder / f"{name}.npy"
        filled = np.where(np.isnan(array), 99, array) if case["code"] == "99" else array
        np.save(path, filled.T if case["transposed"] else filled)
        return path
    indexed = case["index"] != "none"
    index = [str(i) for i in range(N)] if case["index"] == "row numbers" else ids
    code = case["code"]
    cells = [[code if np.isnan(value) else repr(float(value)) for value in row] for row in array]
    if case["transposed"]:
        cells, names, index = (
            [list(column) for column in zip(*cells, strict=True)],
            index if indexed else list(map("s{}".format, range(N))),
            names,
        )
        indexed = True
    corner = {"id column": "id", "unnamed": "", "row numbers": "", "row names": None, "none": "feature"}[case["index"]]
    if case["kind"] == "parquet":
        path = folder / f"{name}.parquet"
        numbers = np.array([[float(cell or "nan") for cell in row] for row in cells])
        columns = dict(zip(names, numbers.T.tolist(), strict=True))
        if indexed:
            whole = (case["ids"] == "numbers" and not case["transposed"]) or case["index"] == "row numbers"
            key = corner or "__index_level_0__"
            columns = {key: [int(i) for i in index] if whole and not case["transposed"] else index} | columns
        pl.DataFrame(columns).write_parquet(path)
        return path
    return write_text(folder / name, cells, names, index if indexed else None, corner, case)


def write_text(stem, cells, names, index, corner, case):
    mark = SEPARATORS[case["separator"]]
    quote = (lambda cell: f'"{cell}"') if case["separator"].startswith("blank") else (lambda cell: cell)
    rows = [[quote(key), *row] for key, row in zip(index, cells, strict=True)] if index is not None else cells
    header = [*([] if index is None or corner is None else [quote(corner)]), *map(quote, names)]
    lines = [mark.join(row) for row in rows]
    if case["header"] != "none":
        lines.insert(0, ("#" if case["header"] == "behind #" else "") + mark.join(header))
    if case["header"] == "comment above":
        lines[:0] = ["# made by a machine", "# in winter"]
    if case["header"] == "title above":
        lines[:0] = ["Experiment 5", ""]
    suffix = SUFFIXES[case["separator"]][len(cells) % len(SUFFIXES[case["separator"]])]
    path = stem.with_name(stem.name + suffix + (".gz" if case["zipped"] else ""))
    content = ("\n".join(lines) + "\n").encode(case["encoding"], "replace")
    path.write_bytes(gzip.compress(content) if case["zipped"] else content)
    return path


def options_of(case):
    """Return what a person who knows these files would give."""
    if not case["informed"]:
        return {}
    options = {}
    if case["index"] == "id column" and not (case["header"] == "none" and case["kind"] == "text"):
        options["id_column"] = "id"
    if case["index"] != "none" and case["header"] == "none" and case["kind"] == "text":
        options["id_column"] = "column_0"
    if case["transposed"]:
        options["transpose"] = ["a", "b"]
        options.pop("id_column", None)
        if case["header"] == "numbers" and case["kind"] != "npy":  # names of features that are numbers
            options |= {"none": {"id_column": "feature"}, "id column": {"id_column": "id"}}.get(case["index"], {})
    if case["code"] in (".", "-", "99", "<0.05", "missing"):
        options["missing_values"] = [case["code"]]
    if case["header"] == "none":
        options["header"] = False
    elif case["header"] == "numbers":
        options["header"] = True
    return options


def run(case, rng, folder):
    """Return the outcome of a case, and what is to be printed where it is none of those allowed."""
    arrays, ids = make_data(case, rng)
    has_ids = case["index"] not in ("none", "row numbers") and not (case["transposed"] and case["header"] == "none")
    order = rng.permutation(N) if has_ids else np.arange(N)
    paths = {"a": write(folder, "a", arrays[0], ids, case)}
    paths["b"] = write(folder, "b", arrays[1][order], [ids[i] for i in order], case)
    fit = lambda views: ConcatKMeans(K, random_state=0, scaling=None).fit(ViewImputer().fit_transform(views)).labels_  # noqa: E731
    expected = fit(Views({"a": arrays[0], "b": arrays[1]}))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loaded = read_views(paths, gaps=True, **options_of(case))
            cautious = not case["informed"] and any(isinstance(note, Caution) for note in loaded.notes)
            if cautious and len(loaded.views) < K:
                return "other labels, and a caution says why", None
            labels = fit(loaded.views)
    except (ValueError, TypeError) as error:
        text = str(error)
        named = "\n" not in text and any(word in text for word in causes(case))
        return ("error that names the cause", None) if named else ("ERROR WITHOUT THE CAUSE", text)
    except Exception as error:
        return "CRASH", f"{type(error).__name__}: {error}"
    same = len(labels) == N and adjusted_rand_index(expected, labels) == 1
    if same:
        return "same labels", None
    if cautious:
        return "other labels, and a caution says why", None
    return "OTHER LABELS", f"shape {loaded.views.shape}, notes {loaded.notes}"


def causes(case):
    words = [word for name in (case["header"], case["encoding"]) for word in CAUSES.get(name, ())]
    words += CAUSES["transposed"] if case["transposed"] else ()
    words += CAUSES["code"] if case["code"] != "none" else ()
    words += CAUSES["id"] if case["index"] != "none" else ()
    words += CAUSES.get(case["index"], ())
    words += CAUSES["blank"] if case["separator"].startswith("blank") else ()
    return words


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    args = parser.parse_args()
    start, counts, shown = time.perf_counter(), Counter(), 0
    for number in range(args.tables):
        if time.perf_counter() - start > args.seconds:
            break
        rng = np.random.default_rng([args.seed, number])
        case = draw(rng)
        with tempfile.TemporaryDirectory() as folder:
            outcome, detail = run(case, rng, Path(folder))
        counts["informed" if case["informed"] else "no options", outcome] += 1
        if detail is not None and shown < args.show:
            shown += 1
            print(f"-- table {number}: {outcome}: {case}\n   {detail[:400]}")
    for (mode, outcome), count in sorted(counts.items()):
        print(f"{mode:12s} {outcome:40s} {count:6d}")
    print(f"{sum(counts.values())} pairs of tables, seed {args.seed}, {time.perf_counter() - start:.0f} s")
    return 1 if any(outcome.isupper() for _, outcome in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
