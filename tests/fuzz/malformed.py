"""Random input that is wrong in some way, or nearly so: arrays for the library, files and arguments for the command."""

import gzip
import io
import json
import pickle
import warnings
import zipfile

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

ODD_NUMBERS = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-308, 1e39, 0.0, -0.0, 1e16, 5e-324]
ODD_CELLS = [
    "",
    "NA",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "x",
    "1,5",
    "1.234,5",
    '"',
    "'",
    "0x10",
    "1_000",
    "é",
    "\x00",
    " ",
    "1 2",
    "--",
    "True",
    "1e5",
    "٣",
    "\u2028",
    "=1+1",
    "9" * 400,
    "a" * 200_000,
]
SEPARATORS = [",", ";", "\t", "|", " "]
ENDS = ["\n", "\r\n", "\r", "\n\n", "\n\r"]
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "utf-32"]
OPTIONS = [
    (),
    ("--id", "id"),
    ("--id", "column_0"),
    ("--truth", "f1"),
    ("--missing", "union", "--id", "id"),
    ("--missing", "intersection", "--id", "id"),
    ("--impute", "median"),
    ("--impute", "knn", "--id", "id"),
    ("--header", "no"),
    ("--header", "yes"),
    ("--scaling", "none"),
    ("--scaling", "tfidf"),
    ("--scaling", "minmax"),
    ("--set", "kernel=linear"),
    ("--set", "approximation=nystrom"),
    ("--match-to", "a.csv"),
    ("--truth", "b.csv", "--id", "id"),
]


def pick(rng, items):
    return items[int(rng.integers(len(items)))]


def numbers(rng, n=None, d=None):
    """Return a matrix that may be tiny, constant, repeated, of any scale, or hold an odd number."""
    n = int(rng.integers(1, 14)) if n is None else n
    d = int(rng.integers(1, 6)) if d is None else d
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4)
    turn = rng.integers(16)
    if turn == 0:
        X[:] = X[0]
    elif turn == 1:
        X = X[rng.integers(0, max(1, n // 3), n)]
    elif turn == 2:
        X[int(rng.integers(n))] = np.nan
    elif turn == 3:
        X[int(rng.integers(n)), int(rng.integers(d))] = pick(rng, ODD_NUMBERS)
    elif turn == 4:
        X = np.round(X)
    elif turn == 5:
        X[:, int(rng.integers(d))] = pick(rng, ODD_NUMBERS)
    return X


def as_kind(rng, X):
    """Return the matrix as some kind of table."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    kinds = {
        "float32": lambda: X.astype(np.float32),
        "int": lambda: X.astype(np.int64),
        "bool": lambda: X > 0,
        "float16": lambda: X.astype(np.float16),
        "longdouble": lambda: X.astype(np.longdouble),
        "complex": lambda: X.astype(complex),
        "object": lambda: X.astype(object),
        "text": lambda: X.astype(str),
        "list": X.tolist,
        "ragged": lambda: [[1.0, 2.0], [1.0]],
        "csr": lambda: sparse.csr_matrix(np.nan_to_num(X) * (rng.random(X.shape) < 0.4)),
        "csc": lambda: sparse.csc_matrix(X),
        "triplets": lambda: sparse.coo_array(X),
        "pandas": lambda: pd.DataFrame(X, index=rng.permutation(len(X))),
        "nested": lambda: pd.DataFrame(X, columns=pd.MultiIndex.from_product([["a"], range(X.shape[1])])),
        "polars": lambda: pl.DataFrame(X),
        "arrow": lambda: pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])}),
        "masked": lambda: np.ma.masked_array(X, X > 0),
        "matrix": lambda: np.asmatrix(X),
        "fortran": lambda: np.asfortranarray(X),
        "flat": X.ravel,
        "cube": lambda: X[None],
        "scalar": lambda: 3.0,
        "none": lambda: None,
        "dates": lambda: np.zeros(X.shape, "datetime64[s]"),
        "no rows": lambda: X[:0],
        "no columns": lambda: X[:, :0],
        "plain": lambda: X,
    }
    name = "plain" if rng.random() < 0.6 else pick(rng, list(kinds))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return name, kinds[name]()


def make_array_case(rng):
    """Return the kind, the X and the parameters of one fit."""
    n, count = int(rng.integers(1, 14)), int(rng.integers(1, 4))
    made = [as_kind(rng, numbers(rng, n if rng.random() < 0.9 else None)) for _ in range(count)]
    kind, arrays = "+".join(sorted({name for name, _ in made})), [array for _, array in made]
    door = rng.integers(8)
    X = arrays
    if door == 0:
        X = {f"v{i}": array for i, array in enumerate(arrays)}
    elif door == 1:
        X = arrays[0]
    elif door == 2:
        X = dict(enumerate(arrays))
    elif door == 3:
        X = tuple(arrays)
    parameters = {
        "n_clusters": pick(rng, [1, 2, 2, 2, 3, 3, n, n + 1, 0]),
        "random_state": 0,
        "scaling": pick(rng, ["auto", "auto", "standard", "minmax", "unit", "tfidf", None]),
        "views": pick(rng, [[1, 2], [n], {"a": [0]}, {"a": slice(0, 0)}, "x", 3]) if rng.random() < 0.1 else None,
    }
    return kind if count == 1 else "several", X, parameters


def text_table(rng):
    """Return the bytes of a text table."""
    X = numbers(rng, int(rng.integers(1, 24)))
    mark = pick(rng, SEPARATORS) if rng.random() < 0.5 else ","
    end = pick(rng, ENDS) if rng.random() < 0.2 else "\n"
    rows = [[repr(float(value)) for value in row] for row in X]
    ids = [f"{i:02d}" for i in rng.permutation(len(rows) + int(rng.integers(3)))[: len(rows)]]
    if rng.random() < 0.85:
        rows = [[key, *row] for key, row in zip(ids, rows, strict=True)]
    if rng.random() < 0.9:
        rows.insert(0, ["id", *(f"f{j}" for j in range(len(rows[0]) - 1))])
    for _ in range(max(0, int(rng.integers(-4, 4)))):
        row = pick(rng, rows)
        turn = rng.integers(5)
        if turn == 0:
            row.append("7")
        elif turn == 1 and row:
            row.pop()
        elif row:
            row[int(rng.integers(len(row)))] = pick(rng, ODD_CELLS)
    text = end.join(mark.join(row) for row in rows) + (end if rng.random() < 0.8 else "")
    if rng.random() < 0.15 and mark != ",":
        text = text.replace(".", ",")
    content = text.encode(pick(rng, ENCODINGS) if rng.random() < 0.2 else "utf-8", errors="replace")
    return damaged(rng, content)


def damaged(rng, content):
    """Return bytes cut short, changed or doubled, or as they are."""
    turn = rng.integers(14)
    if turn == 0:
        return content[: int(rng.integers(len(content) + 1))]
    if turn == 1 and content:
        changed = bytearray(content)
        for _ in range(int(rng.integers(1, 5))):
            changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
        return bytes(changed)
    if turn == 2:
        return content + content[: int(rng.integers(len(content) + 1))]
    return content


def npz(rng):
    stream, X = io.BytesIO(), numbers(rng)
    members = {
        "view_0": X,
        "view_1": numbers(rng, X.shape[0] if rng.random() < 0.7 else None),
        "view_3": X,
        "labels": pick(
            rng, [np.arange(len(X)), np.zeros(3), np.array(["a"] * len(X)), np.array([None, 1], dtype=object)]
        ),
        "view_names": pick(rng, [np.array(["a", "b"]), np.array(["a", "a"]), np.array([1, 2]), np.array("x")]),
        "meta": pick(rng, [np.array("{"), np.array(json.dumps({"a": 1})), np.zeros(2)]),
        "view_0_data": np.ones(2),
        "view_0_indices": pick(rng, [np.array([0, 1]), np.array([0, 99]), np.array([-1, 0]), np.zeros(2)]),
        "view_0_indptr": pick(rng, [np.array([0, 1, 2]), np.array([0, 5, 2]), np.array([0])]),
        "view_0_shape": pick(rng, [np.array([2, 3]), np.array([2]), np.array([-1, 2]), np.array([2**40, 2**40])]),
        "x": X,
        "format": np.array("csr"),
        "shape": np.array([2, 2]),
        "data": np.ones(2),
    }
    chosen = [key for key in members if rng.random() < 0.35] or ["view_0"]
    np.savez(stream, **{key: members[key] for key in chosen})
    if rng.random() < 0.15:
        with zipfile.ZipFile(stream, "a") as archive:
            archive.writestr(
                pick(rng, ["../outside.npy", "/abs.npy", "note.txt", "view_9.npy", "view_0.npy"]), b"\x93NUMPY"
            )
    return damaged(rng, stream.getvalue())


def npy(rng):
    stream = io.BytesIO()
    np.save(stream, pick(rng, [numbers(rng), numbers(rng)[0], numbers(rng).astype(str), np.round(numbers(rng))]))
    content = stream.getvalue()
    if rng.random() < 0.1:
        content = content.replace(b"(", b"(9999999999, ", 1)
    if rng.random() < 0.1:
        content = pickle.dumps([1])
    return damaged(rng, content)


def mat(rng):
    stream, X = io.BytesIO(), numbers(rng)
    cell = np.empty((1, 2), dtype=object)
    cell[0, 0], cell[0, 1] = X, pick(rng, [numbers(rng, len(X)), X.T, np.zeros((0, 2)), np.array("text")])
    variables = {
        "X": pick(rng, [X, cell, sparse.csc_matrix(np.nan_to_num(X))]),
        "gt": pick(rng, [np.arange(len(X)), X[:, :1], np.eye(len(X))]),
        "X1": X,
        "Y": X,
        "names": "x",
    }
    scipy_io.savemat(stream, {key: value for key, value in variables.items() if rng.random() < 0.6} or {"X": X})
    return damaged(rng, stream.getvalue())


def mtx(rng):
    stream = io.BytesIO()
    scipy_io.mmwrite(stream, sparse.coo_matrix(np.nan_to_num(numbers(rng))))
    return damaged(rng, stream.getvalue())


def columnar(rng, write):
    import polars as pl

    frame = pl.DataFrame(numbers(rng), schema=None)
    if rng.random() < 0.5:
        frame = frame.with_columns(id=pick(rng, [pl.lit("a"), pl.int_range(pl.len()), pl.lit(None), pl.lit([1])]))
    stream = io.BytesIO()
    getattr(frame, write)(stream)
    return damaged(rng, stream.getvalue())


MAKERS = {
    "a.csv": text_table,
    "a.tsv": text_table,
    "a.csv.gz": lambda rng: damaged(rng, gzip.compress(text_table(rng))),
    "a.npz": npz,
    "a.npy": npy,
    "a.mat": mat,
    "a.mtx": mtx,
    "a.parquet": lambda rng: columnar(rng, "write_parquet"),
    "a.arrow": lambda rng: columnar(rng, "write_ipc"),
}


def make_file_case(rng, folder):
    """Write one or two files and return their kind and the arguments of ``manyviews cluster``."""
    name = "a.csv" if rng.random() < 0.4 else pick(rng, list(MAKERS))
    (folder / name).write_bytes(MAKERS[name](rng))
    argv = ["cluster", name]
    if rng.random() < 0.4:
        (folder / "b.csv").write_bytes(text_table(rng))
        argv = ["cluster", "--view", f"a={name}", "--view", "b=b.csv"]
    k = pick(rng, [1, 2, 2, 2, 2, 3, 5, 14])
    options = list(pick(rng, OPTIONS))
    if name.startswith(("a.csv", "a.tsv", "a.parquet")) and "--id" not in options and rng.random() < 0.6:
        options += ["--id", "id"]
    return name.partition(".")[2], [*argv, "-k", str(k), *options]
