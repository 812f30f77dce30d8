"""Read what is known of the samples from a table, or from the obs of an .h5ad or .h5mu file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.io.annotated import list_samples
from manyviews.io.choosing import Caution, choose
from manyviews.io.files import ANNOTATED, TABLES, file_kind
from manyviews.io.matching import check_unique
from manyviews.io.tables import read_columns

__all__ = ["Covariates", "covariate_names", "read_covariates"]


class Covariates(NamedTuple):
    """Columns that describe the samples, as objects of shape (n,) with None for missing entries, and notes."""

    columns: dict[str, NDArray[Any]]
    notes: tuple[str, ...]


def covariate_names(path: str | os.PathLike[str]) -> list[str]:
    """Return the names of the columns of a file that ``read_covariates`` takes."""
    return list(_read(path)[1])


def read_covariates(
    path: str | os.PathLike[str],
    n: int,
    ids: Sequence[str] | None,
    *,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
) -> Covariates:
    r"""Read columns that describe n samples.

    Parameters
    ----------
    path : path-like
        A table, or an .h5ad or .h5mu file, of which obs is read.
    n : int
        Number of samples.
    ids : sequence of str or None
        Names of the samples in their order. Rows are matched by them, else by position.
    columns : sequence of str, default=None
        Columns to take: names, patterns and ranges; all by default.
    id_column : str, default=None
        Column of the table that holds the names; by default one whose values are names of samples.

    Returns
    -------
    Covariates
        The columns, without that of the names.

    Raises
    ------
    ValueError
        If the file cannot be read, has no such column, or its rows cannot be matched.

    Examples
    --------
    >>> import os, tempfile
    >>> from manyviews.io.covariates import read_covariates
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "clinic.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("patient,age\nb,61\na,54\n")
    ...     read_covariates(path, 2, ["a", "b"]).columns["age"].tolist()
    [54, 61]
    """
    given = os.fspath(path)
    own, found = _read(path)
    names, key = list(found), None
    if own is None and ids is not None:
        key = _id_column(path, ids, id_column)
        own = read_columns(path, all_text=True)[key]
    wanted = names if columns is None else choose(names, columns, given)
    chosen = {name: found[name] for name in wanted if name != key}
    if not chosen:
        raise ValueError(f"{given} has no column left that describes the samples")
    if own is None or ids is None:
        height = len(next(iter(chosen.values())))
        if height != n:
            raise ValueError(
                f"{given} has {height} rows for {n} samples, which have no ids; give --id (id_column), so that rows "
                "are matched by it"
            )
        return Covariates(chosen, (Caution(f"{given}: rows are matched by position, because the views have no ids"),))
    return _matched(given, [str(key) for key in own], chosen, ids)


def _read(path: str | os.PathLike[str]) -> tuple[list[Any] | None, Mapping[str, NDArray[Any]]]:
    """Return the names of the samples, where the file says which they are, and all columns."""
    kind = file_kind(path)
    if kind in ANNOTATED:
        return list_samples(path)
    if kind not in TABLES:
        raise ValueError(f"{os.fspath(path)}: columns that describe samples are read from a table or from obs")
    return None, {name: np.array(values, dtype=object) for name, values in read_columns(path).items()}


def _id_column(path: str | os.PathLike[str], ids: Sequence[str], id_column: str | None) -> str:
    """Return the column with the names: the one called so, else the one that holds most of them, each once."""
    columns = read_columns(path, all_text=True)
    if id_column in columns:
        return str(id_column)
    known = set(ids)
    shares = {
        name: sum(value in known for value in values)
        for name, values in columns.items()
        if len(set(values)) == len(values)
    }
    best = max(shares, key=lambda name: shares[name], default="")
    if not shares.get(best):
        raise ValueError(
            f"{os.fspath(path)} has none of the {len(ids)} samples, such as {', '.join(map(repr, ids[:3]))}, in a "
            "column of ids; check that the ids are written alike (leading zeros count)"
        )
    return best


def _matched(given: str, own: list[str], columns: dict[str, NDArray[Any]], ids: Sequence[str]) -> Covariates:
    check_unique(own, given)
    place = {key: row for row, key in enumerate(own)}
    rows = np.array([place.get(key, -1) for key in ids], dtype=np.intp)
    lacking = int((rows < 0).sum())
    if lacking == len(ids):
        raise ValueError(
            f"{given} has none of the {len(ids)} samples, such as {', '.join(map(repr, ids[:3]))}; check that the ids "
            "are written alike (leading zeros count)"
        )
    matched = {}
    for name, values in columns.items():
        matched[name] = values[rows]
        matched[name][rows < 0] = None
    notes = (Caution(f"{given} lacks {lacking} of the {len(ids)} samples"),) if lacking else ()
    return Covariates(matched, notes)
