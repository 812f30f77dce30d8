"""What readers of HDF5 files share: only what lies in the file itself is read, and no more than memory takes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from manyviews.io.machine import check_promise

__all__ = ["check_own", "own_item", "own_values"]


def own_item(group: Any, name: str) -> Any:
    """Return an item of a group, if it lies in the file itself: HDF5 can also point to any other file."""
    h5py: Any = import_module("h5py")
    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise ValueError(f"{name!r} is a link; only what lies in the file itself is read")
    return group[name]


def own_values(item: Any) -> Any:
    """Return the numbers of a data set, if they lie in the file itself."""
    _check_set(item)
    return np.asarray(item[()])


def check_own(item: Any, where: str) -> None:
    """Raise ValueError where part of an item lies in another file, or its header promises more than memory takes.

    Parameters
    ----------
    item : h5py.Group or h5py.Dataset
        What is to be read, with all that is in it.
    where : str
        File, for the message.
    """
    total = _promised(item)
    check_promise(total, where, f"{total:.3g} bytes in {item.name!r}")


def _promised(item: Any) -> float:
    if hasattr(item, "shape"):
        _check_set(item)
        return float(np.prod(item.shape or (0,), dtype=np.float64) * item.dtype.itemsize)
    return sum(_promised(own_item(item, name)) for name in item)


def _check_set(item: Any) -> None:
    if item.external or item.is_virtual:
        raise ValueError(f"{item.name!r} keeps its numbers in another file; only what lies in the file itself is read")
