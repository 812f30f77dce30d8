"""Load a data set by its name or from a file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.datasets.bundled import bundled_file
from manyviews.datasets.dataset import Dataset
from manyviews.datasets.registry import DatasetInfo, find, info
from manyviews.io.multiview import MultiviewFile, read_multiview_file
from manyviews.views import Views

__all__ = ["load"]

_SUFFIXES = (".npz", ".mat")


def load(name_or_path: str | os.PathLike[str]) -> Dataset:
    """Load a data set by its name or from a file.

    Parameters
    ----------
    name_or_path : str or path-like
        Name of a bundled set (see ``manyviews.datasets.available``), or the path of a file that holds all
        views: an ``.npz`` in the uniform layout (arrays ``view_0``, ``view_1``, ... or their CSR parts
        ``view_0_data``, ``view_0_indices``, ``view_0_indptr``, ``view_0_shape``; optionally ``labels``,
        ``view_names`` and a JSON text ``meta``), or a ``.mat`` of the field's usual shapes. Nothing in a file is
        ever executed: pickled arrays are refused.

    Returns
    -------
    Dataset
        Views as stored (float32 stays float32, CSR stays CSR), labels as int64 0 .. k-1 in the order of the
        stored classes, or None.

    Raises
    ------
    TypeError
        If ``name_or_path`` is neither text nor a path.
    ValueError
        If the name is unknown, the set is registered but not bundled (the message says where to get it), the
        kind of file is not supported, or the file is missing, damaged, pickled or of another layout.

    Examples
    --------
    >>> from manyviews import datasets
    >>> data = datasets.load("mfeat")
    >>> data
    Dataset('mfeat': 2000 samples, 6 views, 10 classes)
    >>> data.views.names[:2]
    ('fourier', 'profile_correlations')
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise TypeError(f"load takes the name of a data set or the path of a file; got {type(name_or_path).__name__}.")
    path = os.fspath(name_or_path)
    if not isinstance(path, str):
        raise TypeError("load takes a path of text, not of bytes; decode it with os.fsdecode.")
    if path.casefold().endswith(_SUFFIXES):
        return _from_file(path)
    # A folder or file that happens to be called like a set does not hide the set.
    registered = isinstance(name_or_path, str) and find(path) is not None
    if isinstance(name_or_path, os.PathLike) or (not registered and _looks_like_path(path)):
        raise _unsupported(path)
    return _by_name(path)


def _by_name(name: str) -> Dataset:
    entry = info(name)
    if not entry.bundled:
        raise ValueError(
            f"the data set {entry.name!r} is known but does not come with manyviews (licence: {entry.licence}). "
            f"{entry.how_to_load()}"
        )
    with bundled_file(entry) as path:
        content = read_multiview_file(path)
    return _dataset(entry.name, content, source=entry.source, licence=entry.licence)


def _from_file(path: str) -> Dataset:
    content = read_multiview_file(path)
    name = str(content.meta.get("name") or os.path.splitext(os.path.basename(path))[0])
    publisher, licence = content.meta.get("publisher"), content.meta.get("licence")
    known = _same_data(name, content)
    return _dataset(
        name,
        content,
        source=str(publisher or (known.source if known else path)),
        licence=str(licence or (known.licence if known else "unknown")),
    )


def _same_data(name: str, content: MultiviewFile) -> DatasetInfo | None:
    """Return the registered set of this name, unless the file's size shows that it is another one."""
    entry = find(name)
    n_samples = next(iter(content.views.values())).shape[0]
    if entry is None or (entry.n_samples, entry.n_views) != (n_samples, len(content.views)):
        return None
    return entry


def _dataset(name: str, content: MultiviewFile, *, source: str, licence: str) -> Dataset:
    labels, class_names = _classes(content.labels, content.meta.get("class_names"))
    return Dataset(
        name=name,
        views=Views(content.views),
        labels=labels,
        class_names=class_names,
        source=source,
        licence=licence,
    )


def _classes(values: NDArray[Any] | None, stored: Any) -> tuple[NDArray[np.int64] | None, tuple[str, ...]]:
    """Codes 0 .. k-1 in the order of the stored classes, and their names."""
    if values is None:
        return None, ()
    distinct, codes = np.unique(values, return_inverse=True)
    known = tuple(map(str, stored)) if isinstance(stored, list | tuple) else ()
    if distinct.dtype.kind in "iu" and known and distinct[0] >= 0 and distinct[-1] < len(known):
        # The labels index the names; a class without samples is left out of both.
        class_names = tuple(known[i] for i in distinct)
    elif len(known) == distinct.size and distinct.dtype.kind in "iu":
        class_names = known
    else:
        class_names = tuple(map(str, distinct))
    return codes.astype(np.int64, copy=False), class_names


def _looks_like_path(text: str) -> bool:
    separators = {os.sep, os.altsep, "/"} - {None}
    return any(mark in text for mark in separators if mark) or os.path.exists(text) or bool(os.path.splitext(text)[1])


def _unsupported(path: str) -> ValueError:
    suffix = os.path.splitext(path)[1] or "no suffix"
    return ValueError(
        f"{path} ({suffix}) is not a file that load reads; supported are {' and '.join(_SUFFIXES)}, which hold all "
        "views of a data set. Put single tables together with Views({'name': table, ...}) or manyviews.io.read_views."
    )
