"""Files to Views: picks a reader by suffix, matches rows, finds the classes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from manyviews.io.files import checksum, stem
from manyviews.io.joining import Joined, join_parts
from manyviews.io.matching import Presence
from manyviews.io.parts import Part, read_part
from manyviews.io.truth import read_truth_file
from manyviews.views import Views
from manyviews.views.cells import constant_columns
from manyviews.views.check import Accepts, check_views

__all__ = ["LoadedViews", "read_views"]

Path = str | os.PathLike[str]


@dataclass(frozen=True)
class LoadedViews:
    """Views read from files, and what belongs to them.

    Attributes
    ----------
    views : Views
        The views; ``sample_names`` holds the ids where there are some.
    labels : ndarray of shape (n,) or None
        Classes for scoring, int64 or text.
    name : str
        Short name of the data, from the file or the views.
    checksums : dict of str to str
        SHA-256 of every file, by its path as given.
    notes : tuple of str
        What was decided while reading, one sentence each.
    presence : tuple of Presence
        Which samples are in which views, where the views have different ids; else empty.
    """

    views: Views
    labels: NDArray[Any] | None
    name: str
    checksums: dict[str, str]
    notes: tuple[str, ...]
    presence: tuple[Presence, ...] = ()


def read_views(
    sources: Path | Mapping[str, Path],
    *,
    id_column: str | None = None,
    truth: str | None = None,
    missing: Literal["union", "intersection"] | None = None,
    header: bool | None = None,
    gaps: bool = False,
) -> LoadedViews:
    """Read the views of a data set from one file or from one file per view.

    Parameters
    ----------
    sources : path, or mapping of str to path
        One file (a table or array is a single view; .npz and .mat may hold all views), or view names and their
        files in order.
    id_column : str, default=None
        Column of row ids that every table has. Rows are then matched by id, in the order of the first view. Without
        it rows are matched by position.
    truth : str, default=None
        Where the classes are: a column of one of the tables (it is then no feature), the name of a labelling in an
        .npz, or a file with one column. By default the ``labels`` of an .npz or .mat.
    missing : {"union", "intersection"}, default=None
        What becomes of samples that some view lacks: "intersection" leaves them out, "union" keeps them as rows of
        NaN, for methods that take missing views. By default they are an error.
    header : bool, default=None
        Whether the first row of csv and tsv files holds names. By default it is told from the first rows.
    gaps : bool, default=False
        Let single NaN cells pass, to be filled in later, rather than refuse them.

    Returns
    -------
    LoadedViews
        Checked views, classes, name, checksums and notes.

    Raises
    ------
    ValueError
        If a file cannot be read, rows do not match, or a cell is not a number. The text names the file and the remedy.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from manyviews.io import read_views
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = {name: os.path.join(folder, f"{name}.npy") for name in ("image", "text")}
    ...     np.save(paths["image"], np.eye(3))
    ...     np.save(paths["text"], np.ones((3, 2)))
    ...     read_views(paths).views
    Views(3 samples; image: 3, text: 2)
    """
    if missing not in (None, "union", "intersection"):
        raise ValueError(f"missing must be 'union', 'intersection' or None, got {missing!r}")
    if isinstance(sources, Mapping):
        if not sources:
            raise ValueError("no file was given; give at least one")
        parts = [read_part(path, id_column, truth, header).named(name) for name, path in sources.items()]
        name = "-".join(list(sources)[:3]) + (f"-and-{len(sources) - 3}-more" if len(sources) > 3 else "")
    else:
        parts, name = [read_part(sources, id_column, truth, header)], stem(sources)
    joined = join_parts(parts, missing)
    views = check_views(joined.views, accepts=Accepts(gaps=gaps))
    labels, truth_file = _truth(joined, parts, id_column, truth)
    paths = [part.path for part in parts] + ([] if truth_file is None else [truth_file])
    notes = (*joined.notes, *_constant_notes(views))
    return LoadedViews(views, labels, name, {path: checksum(path) for path in paths}, notes, joined.presence)


def _constant_notes(views: Views) -> list[str]:
    """Say which columns, or whole views, hold the same number for every sample."""
    notes: list[str] = []
    if len(views) < 2:
        return notes
    for i, (name, array) in enumerate(views.items()):
        constant = np.flatnonzero(constant_columns(array, views.observed[:, i]))
        if constant.size == array.shape[1]:
            notes.append(f"view {name!r} is constant: every sample has the same numbers, so it says nothing about them")
        elif constant.size:
            columns = views.feature_names[i]
            shown = ", ".join(repr(columns[j]) if columns else str(j) for j in constant[:5].tolist())
            more = ", ..." if constant.size > 5 else ""
            notes.append(
                f"view {name!r}: {constant.size} of {array.shape[1]} columns hold one number for all samples and say "
                f"nothing about them: {shown}{more}"
            )
    return notes


def _truth(
    joined: Joined, parts: list[Part], id_column: str | None, truth: str | None
) -> tuple[NDArray[Any] | None, str | None]:
    """Return the classes and, where they come from a file of their own, its path."""
    if joined.truth is not None or truth is None:
        return joined.truth, None
    if not os.path.exists(truth):
        raise ValueError(
            f"there is no column, labelling or file {truth!r} to take the classes from in "
            f"{', '.join(part.path for part in parts)}; check the name given to --truth (truth)"
        )
    ids = joined.views.sample_names
    return read_truth_file(truth, len(joined.views), None if ids is None else ids.tolist(), id_column), truth
