"""Read the folders of 10x Genomics: a matrix of features × cells with the names of both beside it."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from manyviews.io.arrays import read_array
from manyviews.io.choosing import Caution, choose
from manyviews.io.files import readable
from manyviews.io.machine import read_bounded

__all__ = ["CellMatrix", "find_matrix", "read_cells"]

_BARCODES, _FEATURES = ("barcodes.tsv",), ("features.tsv", "genes.tsv")


class CellMatrix(NamedTuple):
    """Counts (cells × features, CSR) by kind of feature, names of the cells and of the features, files, notes."""

    views: dict[str, Any]
    ids: list[str]
    columns: dict[str, tuple[str, ...]]
    files: tuple[str, ...]
    notes: tuple[str, ...]


def find_matrix(path: str | os.PathLike[str]) -> tuple[Path, Path, Path] | None:
    """Return matrix, cells and features of a folder, or of a matrix file beside the others; None where they lack."""
    given = Path(path)
    folder = given if given.is_dir() else given.parent
    matrix = _first(folder, ("matrix.mtx",)) if given.is_dir() else given
    cells, features = _first(folder, _BARCODES), _first(folder, _FEATURES)
    return None if matrix is None or cells is None or features is None else (matrix, cells, features)


def _first(folder: Path, names: Sequence[str]) -> Path | None:
    return next(
        (folder / f"{name}{end}" for name in names for end in ("", ".gz") if (folder / f"{name}{end}").is_file()), None
    )


def read_cells(places: tuple[Path, Path, Path], name: str, kinds: Sequence[str] | None) -> CellMatrix:
    """Read the counts of cells.

    Parameters
    ----------
    places : tuple of Path
        Files of the matrix, of the cells and of the features.
    name : str
        Name of the view where all features are of one kind.
    kinds : sequence of str or None
        Kinds of features to keep, as ``"Gene Expression"``; None for all, one view each.

    Returns
    -------
    CellMatrix
        Counts with cells as rows.

    Raises
    ------
    ValueError
        If the numbers of names and of rows and columns differ.
    """
    matrix, cells, features = places
    where = os.fspath(matrix)
    counts = read_array(matrix)
    ids, rows = [row[0] for row in _lines(cells)], _lines(features)
    if counts.shape != (len(rows), len(ids)):
        raise ValueError(
            f"{where} has {counts.shape[0]} rows and {counts.shape[1]} columns for {len(rows)} features in {features} "
            f"and {len(ids)} cells in {cells}; these files do not belong together"
        )
    turned = counts.T.tocsr() if hasattr(counts, "tocsr") else np.ascontiguousarray(counts.T)
    kind_of = np.array([row[2] if len(row) > 2 else "" for row in rows])
    found = list(dict.fromkeys(kind_of.tolist()))
    wanted = found if kinds is None else choose(found, kinds, where, "kind of features")
    views, columns = {}, {}
    for kind in wanted:
        at = np.flatnonzero(kind_of == kind)
        view = name if len(found) == 1 else kind
        views[view] = turned[:, at]
        columns[view] = tuple(rows[i][0] for i in at.tolist())
    note = Caution(f"{where} holds features × cells: its {len(ids)} columns are the samples")
    return CellMatrix(views, ids, columns, tuple(map(os.fspath, places)), (note,))


def _lines(file: Path) -> list[list[str]]:
    with readable(file, "a list of names"):
        text = read_bounded(file, os.fspath(file)).decode("utf-8")
        return [row for row in csv.reader(io.StringIO(text), delimiter="\t") if row]
