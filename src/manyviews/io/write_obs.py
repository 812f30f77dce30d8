"""Labels into the obs of an .h5ad or .h5mu file: a new file beside it, in which nothing else changes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manyviews.io.annotated import Annotations, list_samples, opened, read_element, sample_ids
from manyviews.io.files import ANNOTATED
from manyviews.io.write import atomic_file, check_file

__all__ = ["check_obs", "write_obs"]


def check_obs(
    source: str | os.PathLike[str], target: str | os.PathLike[str], column: str = "cluster", *, force: bool = False
) -> None:
    """Raise ValueError where ``write_obs`` could not write, before any work is done.

    Parameters
    ----------
    source, target, column, force
        As for ``write_obs``.
    """
    given, kinds = os.fspath(target), [Path(path).suffix.lower() for path in (source, target)]
    if kinds[0] not in ANNOTATED or kinds[0] != kinds[1]:
        raise ValueError(f"{given}: labels are written to a copy of {os.fspath(source)}; give it the same ending")
    if Path(given).exists() and Path(given).samefile(source) and not force:
        raise ValueError(f"{given} is the input itself; choose another file, or give --force (force) to write into it")
    check_file(given, force=force)
    taken = [name for name in _names(column) if name in list_samples(source)[1]]
    if taken:
        raise ValueError(
            f"{os.fspath(source)}: obs has a column {taken[0]!r} already, which is not replaced; choose another name: "
            f"--write-obs {given}:NAME (column)"
        )


def write_obs(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    labels: ArrayLike,
    *,
    samples: Sequence[Any],
    column: str = "cluster",
    confidence: ArrayLike | None = None,
    id_column: str | None = None,
    force: bool = False,
) -> None:
    """Write a copy of an .h5ad or .h5mu file whose obs has the clusters.

    Parameters
    ----------
    source : path-like
        The file that was clustered; it stays as it is.
    target : path-like
        The new file, of the same kind.
    labels : array-like of shape (n,)
        Clusters.
    samples : sequence of length n
        Names of the samples, ``views.sample_names``; samples of the file that are not among them get no cluster.
    column : str, default="cluster"
        Name of the new column, a categorical one.
    confidence : array-like of shape (n,), default=None
        Confidence of each assignment; it becomes the column ``{column}_confidence``.
    id_column : str, default=None
        Column of obs that holds the names; by default they are its index.
    force : bool, default=False
        Replace an existing file, which may be ``source`` itself.

    Raises
    ------
    ValueError
        If a file is in the way, obs has such a column, or no sample of the file is among those given.

    Examples
    --------
    >>> from manyviews.io import write_obs
    >>> write_obs("cells.h5mu", "cells-labelled.h5mu", model.labels_, samples=views.sample_names)  # doctest: +SKIP
    """
    check_obs(source, target, column, force=force)
    pd: Any = import_module("pandas")
    clusters = np.asarray(labels)
    place = {str(key): row for row, key in enumerate(samples)}
    with opened(source) as file:
        obs = read_element(file, "obs", os.fspath(source))
    keys = sample_ids(obs.index, Annotations(obs), id_column, os.fspath(source))
    rows = np.array([place.get(key, -1) for key in keys], dtype=np.intp)
    if (rows < 0).all():
        raise ValueError(f"{os.fspath(source)}: none of its samples has a label; check that the names are the same")
    names = [str(cluster) for cluster in np.unique(clusters)]
    # texts, as other programs of the field expect of groups
    values = [str(clusters[row]) if row >= 0 else None for row in rows]
    obs[column] = pd.Categorical(values, categories=names)
    if confidence is not None:
        obs[_names(column)[1]] = np.where(rows >= 0, np.asarray(confidence, dtype=np.float64)[rows], np.nan)
    h5py: Any = import_module("h5py")
    with atomic_file(target, force=force) as hidden:
        shutil.copyfile(source, hidden)
        with h5py.File(hidden, "r+", locking=False) as copy:  # the hidden file is locked already
            import_module("anndata.io").write_elem(copy, "obs", obs)


def _names(column: str) -> tuple[str, str]:
    return column, f"{column}_confidence"
