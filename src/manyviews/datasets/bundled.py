"""Open the real data sets that ship with the package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from manyviews.datasets.registry import DatasetInfo

__all__ = ["bundled_file"]


@contextmanager
def bundled_file(entry: DatasetInfo) -> Iterator[Path]:
    """Give the path of a bundled data file, unpacked for a moment if the package is imported from a zip.

    Parameters
    ----------
    entry : DatasetInfo
        A set whose ``bundled`` is true.

    Yields
    ------
    Path
        The ``.npz`` file, valid inside the ``with`` block.
    """
    with resources.as_file(resources.files("manyviews.datasets").joinpath("data", entry.file)) as path:
        yield path
