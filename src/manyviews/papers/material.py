"""Data sets of a paper: found by name, checked against the registry, and derived as the protocol says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manyviews import datasets
from manyviews.cluster.parallel import one_blas_thread
from manyviews.datasets import Dataset, DatasetInfo
from manyviews.datasets.registry import find
from manyviews.kernels.kernels import fit_kernel, gram
from manyviews.linalg.scaling import apply_scaling, fit_scaling
from manyviews.papers.setup import Given, Protocol
from manyviews.views import Views

__all__ = ["DataAbsentError", "Material", "dense_data", "find_data", "material_name"]

_SUFFIXES = (".npz", ".mat")


class DataAbsentError(ValueError):
    """The file of a data set that does not come with the package is not there."""


def find_data(name: str, folder: Path | None) -> Dataset:
    """Load a registered data set, from the package or from a folder.

    Parameters
    ----------
    name : str
        Name or alias in the registry.
    folder : Path or None
        Where ``NAME.npz`` or ``NAME.mat`` of the sets lie that the package does not bring; name or alias, in any case.

    Returns
    -------
    Dataset
        The data.

    Raises
    ------
    DataAbsentError
        If the file is not there; says what to get from where.
    ValueError
        If the file cannot be read, or has other samples, views or classes than the registry knows of the set.
    """
    entry = datasets.info(name)
    if entry.bundled:
        return datasets.load(entry.name)
    path = None if folder is None else _file_of(entry, folder)
    if path is None:
        names = f"{entry.file} or {entry.name}.mat"
        where = "no folder of data is given" if folder is None else f"{folder} has no {names}"
        raise DataAbsentError(
            f"the data set {entry.name!r} does not come with manyviews and {where}. {entry.get} Put it into a folder "
            f"as {names} (see: manyviews data show {entry.name}) and give that with --data"
        )
    data = datasets.load(path)
    found = (len(data.views), len(data.views.names), len(data.class_names))
    expected = (entry.n_samples, entry.n_views, entry.n_clusters)
    if data.labels is None or found != expected:
        raise ValueError(
            f"{path} has {found[0]} samples, {found[1]} views and {found[2]} classes, but {entry.name} has "
            f"{expected[0]}, {expected[1]} and {expected[2]}: it is not the set of the papers; put that in its place"
        )
    return replace(data, name=entry.name)


def dense_data(folder: Path) -> dict[str, Dataset]:
    """Load all data sets of a folder with classes and nothing but dense views, in the order of their names.

    Files that cannot be read as a data set are passed over. Sets that the registry knows have the name they have there.
    """
    found = {}
    for path in sorted(path for path in folder.iterdir() if path.suffix.casefold() in _SUFFIXES):
        try:
            data = datasets.load(path)
        except (ValueError, TypeError):
            continue
        if data.labels is None or any(map(sparse.issparse, data.views.arrays)) or not data.views.observed.all():
            continue
        known = find(path.stem)
        name = path.stem if known is None else known.name
        found[name] = replace(data, name=name)
    return found


def _file_of(entry: DatasetInfo, folder: Path) -> Path | None:
    files = sorted(path for path in folder.iterdir() if path.suffix.casefold() in _SUFFIXES)
    found = {path.suffix.casefold(): path for path in files if find(path.stem) == entry}
    return next((found[suffix] for suffix in _SUFFIXES if suffix in found), None)


def material_name(dataset: str, given: Given, view: str | None) -> str:
    """Return the name under which :class:`Material` has a data set in some form."""
    return ":".join([dataset, given, *([] if view is None else [view])])


class Material(Mapping[str, Dataset]):
    """Data sets in the forms that the setups of a protocol are given, made when asked for.

    Parameters
    ----------
    found : mapping of str to Dataset
        The data sets.
    protocol : Protocol
        Says which views and which kernel.
    """

    def __init__(self, found: Mapping[str, Dataset], protocol: Protocol) -> None:
        self._protocol = protocol
        self._found = {name: _of_paper(data, protocol) for name, data in found.items()}
        self._made: dict[str, Dataset] = {}

    def __getitem__(self, name: str) -> Dataset:
        if name not in self._made:
            dataset, given, *view = name.split(":", 2)
            data = self._found[dataset]
            views = data.views.select(view) if view else data.views
            self._made[name] = replace(data, name=name, views=_given(views, given, dataset, self._protocol))
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.split(":", 1)[0] in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def view_names(self, dataset: str) -> tuple[str, ...]:
        """Return the names of the views that the paper uses."""
        return self._found[dataset].views.names

    def n_samples(self, dataset: str) -> int:
        """Return the number of samples."""
        return len(self._found[dataset].views)

    def n_clusters(self, dataset: str) -> int:
        """Return the number of classes, which is the number of clusters in all papers."""
        return len(self._found[dataset].class_names)


def _of_paper(data: Dataset, protocol: Protocol) -> Dataset:
    used = protocol.views.get(data.name)
    return data if used is None else replace(data, views=data.views.select(used))


def _given(views: Views, given: str, dataset: str, protocol: Protocol) -> Views:
    if given == "dense":
        return views.map(lambda _, X: X.toarray() if sparse.issparse(X) else X)
    if given == "weighted" and dataset in protocol.weighted:
        return views.map(lambda _, X: apply_scaling(X, fit_scaling(X, "tfidf_plain")))
    if given == "kernels":
        with one_blas_thread():  # the same bits, and so the same checksum, on any number of cores
            return views.map(lambda _, X: _kernel(X, protocol.kernel))
    return views


def _kernel(X: Any, name: str) -> Any:
    dense = (X.toarray() if sparse.issparse(X) else X).astype(np.float64)
    scaled = apply_scaling(dense, fit_scaling(dense, "standard"))
    return gram(fit_kernel(scaled, name), scaled)
