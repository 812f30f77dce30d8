"""Files to Views: picks a reader by suffix, matches rows, finds the classes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.io.choosing import Caution, PartOptions, UnknownColumnError, likely
from manyviews.io.features import shown
from manyviews.io.files import checksum, stem
from manyviews.io.joining import Joined, join_parts
from manyviews.io.matching import Presence
from manyviews.io.parts import Part, read_part, read_parts, with_ids
from manyviews.io.suspects import code_notes
from manyviews.io.tables import Frames
from manyviews.io.truth import read_truth_file
from manyviews.views import Views
from manyviews.views.cells import constant_columns
from manyviews.views.check import Accepts, check_views

__all__ = ["LoadedViews", "read_views"]

Path = str | os.PathLike[str]
Source = Path | tuple[Path, Sequence[str] | None]


@dataclass(frozen=True)
class LoadedViews:
    """Views read from files, and what belongs to them.

    Attributes
    ----------
    views : Views
        The views; ``sample_names`` holds the ids where there are some.
    labels : ndarray of shape (n,) or None
        Classes for scoring, int64 or text; objects, with None where a class is not known.
    name : str
        Short name of the data, from the file or the views.
    checksums : dict of str to str
        SHA-256 of every file, by its path as given.
    notes : tuple of str
        What was decided while reading, one sentence each; of the class ``Caution`` where the result may be wrong.
    presence : tuple of Presence
        Which samples are in which views, where the views have different ids; else empty.
    id_name : str or None
        Name of the column that the ids come from.
    about : dict of str to ndarray of shape (n,)
        Columns that describe the samples, as asked for; objects, with None where an entry is missing.
    """

    views: Views
    labels: NDArray[Any] | None
    name: str
    checksums: dict[str, str]
    notes: tuple[str, ...]
    presence: tuple[Presence, ...] = ()
    id_name: str | None = None
    about: dict[str, NDArray[Any]] = field(default_factory=dict)


def read_views(
    sources: Path | Mapping[str, Source],
    *,
    id_column: str | None = None,
    truth: str | None = None,
    missing: Literal["union", "intersection"] | None = None,
    header: bool | None = None,
    gaps: bool = False,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    transpose: Sequence[str] = (),
    missing_values: Sequence[str] | Mapping[str, Sequence[str]] = (),
    encode: Sequence[str] = (),
    ids: Path | None = None,
    known: Mapping[str, Sequence[str] | None] | None = None,
    about: Sequence[str] = (),
) -> LoadedViews:
    """Read the views of a data set from one file or from one file per view.

    Parameters
    ----------
    sources : path, or mapping of str to (path or pair)
        One file (a table, array or .h5ad is a single view; .npz, .mat, .h5mu and folders of 10x Genomics may hold all
        views), or view names and their files in order; a pair ``(path, columns)`` takes some columns of a table, one
        array of an .npz, or one matrix of an .h5ad or .h5mu (``["rna/layers/counts"]``, ``["obsm/X_pca"]``), so that
        one file may hold several views.
    id_column : str, default=None
        Column of row ids that every table has. Rows are then matched by id, in the order of the first view. Without
        it they are matched by the names of rows, where all tables have some, else by position.
    truth : str, default=None
        Where the classes are: a column of one of the tables (it is then no feature) or of obs (``obs:NAME`` too), the
        name of a labelling in an .npz, or a file with one column, and one of ids. By default the ``labels`` of an
        .npz or .mat.
    missing : {"union", "intersection"}, default=None
        What becomes of samples that some view lacks: "intersection" leaves them out, "union" keeps them as rows of
        NaN, for methods that take missing views. By default they are an error.
    header : bool, default=None
        Whether the first row of text tables holds names. By default it is told from the first rows.
    gaps : bool, default=False
        Let single NaN cells pass, to be filled in later, rather than refuse them.
    columns : sequence of str, default=None
        Columns to take, where ``sources`` is one file: names, patterns with ``*``, ranges ``FIRST..LAST``.
    drop : sequence of str, default=()
        Columns of any table to leave out: names and patterns.
    transpose : sequence of str, default=()
        Views whose files have the samples as columns; "*" for all.
    missing_values : sequence of str, or mapping of str to such, default=()
        What stands for a missing number besides the usual marks, for all views or by view.
    encode : sequence of str, default=()
        Columns of categories to make columns of 0 and 1 of: names and patterns.
    ids : path, default=None
        File that lists the ids of the samples of those views that have none.
    known : mapping of str to (sequence of str or None), default=None
        Column names of a model's views: tables that have all of them are cut to them.
    about : sequence of str, default=()
        Columns of the tables, or of obs, that describe the samples, such as a time of survival: no features.

    Returns
    -------
    LoadedViews
        Checked views, classes, name, checksums and notes.

    Raises
    ------
    ValueError
        If a file cannot be read, rows do not match, a file is given twice, or a cell is not a number. The text names
        the file and the remedy.

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
    options = PartOptions(
        id_column, truth, header, drop=tuple(drop), encode=tuple(encode), has_ids=ids is not None, about=tuple(about)
    )
    chosen = _Choices(options, columns, tuple(transpose), missing_values, known or {})
    if isinstance(sources, Mapping):
        parts = _read_several(sources, chosen)
    else:
        parts = read_parts(sources, chosen.of(None, columns))
        chosen.check_names([view for part in parts for view in part.views])
    if ids is not None:
        parts = [part if part.ids is not None else with_ids(part, ids) for part in parts]
    joined = join_parts(parts, missing)
    views = check_views(joined.views, accepts=Accepts(gaps=gaps))
    labels, truth_file = _truth(joined, parts, id_column, truth)
    _check_about(joined, parts, about)
    files = dict.fromkeys([*(file for part in parts for file in part.files), truth_file])
    checksums = {file: checksum(file) for file in files if file is not None}
    notes = dict.fromkeys((*joined.notes, *_overlaps(sources, parts), *_view_notes(views), *_partly_known(labels)))
    id_name = id_column if views.sample_names is not None else None
    name = data_name(sources)
    return LoadedViews(views, labels, name, checksums, tuple(notes), joined.presence, id_name, joined.about)


def data_name(sources: str | os.PathLike[str] | Mapping[str, Any]) -> str:
    """Return the name of what ``read_views`` would read, which no file has to be there for."""
    return _joint_name(list(sources)) if isinstance(sources, Mapping) else stem(sources)


def _view_notes(views: Views) -> list[str]:
    return [*_constant_notes(views), *code_notes(views)]


def _partly_known(labels: NDArray[Any] | None) -> list[str]:
    known = [] if labels is None else [label is not None for label in labels.tolist()]
    return [] if all(known) else [f"{sum(known)} of the {len(known)} samples have a class; the scores are theirs"]


def _joint_name(names: Sequence[str]) -> str:
    return "-".join(names[:3]) + (f"-and-{len(names) - 3}-more" if len(names) > 3 else "")


class _Choices(NamedTuple):
    """What was chosen for all files and for views by name."""

    options: PartOptions
    columns: Sequence[str] | None
    transpose: tuple[str, ...]
    missing_values: Sequence[str] | Mapping[str, Sequence[str]]
    known: Mapping[str, Sequence[str] | None]

    def of(self, view: str | None, columns: Sequence[str] | None) -> PartOptions:
        """Return the options of a view's file, or of one file that may hold several."""
        codes: Any = self.missing_values
        if isinstance(codes, Mapping):
            codes = codes.get(view, ()) if view is not None else tuple(code for some in codes.values() for code in some)
        names = self.known.values() if view is None else [self.known.get(view)]
        known = tuple(frozenset(columns) for columns in names if columns is not None)
        turned = "*" in self.transpose or (bool(self.transpose) if view is None else view in self.transpose)
        return replace(
            self.options,
            columns=None if columns is None else tuple(columns),
            transpose=turned,
            missing_values=tuple(codes),
            known=known,
            elsewhere=frozenset(name for columns in self.known.values() for name in columns or ()),
        )

    def check_names(self, views: Sequence[str]) -> None:
        """Raise ValueError where a choice is for a view that there is not."""
        codes = self.missing_values
        for what, names in (
            ("--transpose", self.transpose),
            ("--missing-values", codes if isinstance(codes, Mapping) else ()),
        ):
            unknown = [name for name in names if name not in views and name != "*"]
            if unknown:
                raise ValueError(f"{what} names {unknown[0]!r}; the views are {', '.join(map(repr, views))}")


def _read_several(sources: Mapping[str, Source], chosen: _Choices) -> list[Part]:
    if not sources:
        raise ValueError("no file was given; give at least one")
    if chosen.columns is not None:
        raise ValueError("columns (--columns) are those of one file; with several views write --view NAME=FILE:COLUMNS")
    chosen.check_names(list(sources))
    files = {name: source if isinstance(source, tuple) else (source, None) for name, source in sources.items()}
    _check_once(files, chosen)
    frames: Frames = {}
    return [read_part(path, chosen.of(name, columns), frames).named(name) for name, (path, columns) in files.items()]


def _check_once(files: Mapping[str, tuple[Path, Sequence[str] | None]], chosen: _Choices) -> None:
    """Raise ValueError where the same file is given for two views, as a whole for one of them."""
    seen: dict[str, str] = {}
    for name, (path, columns) in files.items():
        place = os.path.realpath(path)
        other = seen.setdefault(place, name)
        if (
            other != name
            and None in (columns, files[other][1])
            and not (chosen.known.get(name) and chosen.known.get(other))
        ):
            raise ValueError(
                f"views {other!r} and {name!r} are the same file, {os.fspath(path)}; say which of its columns "
                f"belong to which view: --view {name}={os.fspath(path)}:FIRST..LAST (names, ranges, patterns)"
            )


def _overlaps(sources: Path | Mapping[str, Source], parts: Sequence[Part]) -> list[Caution]:
    """Say that views have columns of one file in common, or come from files of equal content."""
    if not isinstance(sources, Mapping):
        return []
    notes = []
    seen: dict[str, Part] = {}
    for part in parts:
        (view, *_), digest = part.views, checksum(part.files[0])
        other = seen.setdefault(digest, part)
        if other is part:
            continue
        first = next(iter(other.views))
        if os.path.realpath(other.path) != os.path.realpath(part.path):
            notes.append(
                Caution(f"views {first!r} and {view!r} come from files of the same content: was one meant twice?")
            )
            continue
        both = sorted(set(part.names_of(view) or ()) & set(other.names_of(first) or ()))
        if both:
            shown = ", ".join(map(repr, both[:5]))
            notes.append(Caution(f"views {first!r} and {view!r} have {len(both)} column(s) in common, such as {shown}"))
    return notes


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


def _check_about(joined: Joined, parts: Sequence[Part], about: Sequence[str]) -> None:
    lacking = [name for name in about if name not in joined.about]
    if lacking:
        raise UnknownColumnError(
            f"there is no column {lacking[0]!r} that describes the samples in {_files(parts)}; "
            f"{_near(lacking[0], parts)}check its name",
            lacking[0],
        )


def _files(parts: Sequence[Part]) -> str:
    return ", ".join(dict.fromkeys(part.path for part in parts))


def _near(name: str, parts: Sequence[Part]) -> str:
    """Say which column of obs, or else of a table, was most likely meant."""
    described = list(dict.fromkeys(name for part in parts for name in part.obs))
    measured = [column for part in parts for view in part.views for column in part.names_of(view) or ()]
    meant = likely(name, [*described, *measured])
    return f"{meant} " if meant else f"obs has {shown(described)}; " if described else ""


def _truth(
    joined: Joined, parts: list[Part], id_column: str | None, truth: str | None
) -> tuple[NDArray[Any] | None, str | None]:
    """Return the classes and, where they come from a file of their own, its path."""
    if joined.truth is not None or truth is None:
        return joined.truth, None
    if not os.path.exists(truth):
        raise ValueError(
            f"there is no column, labelling or file {truth!r} to take the classes from in "
            f"{_files(parts)}; {_near(truth.removeprefix('obs:'), parts)}check the name given to --truth (truth)"
        )
    ids = joined.views.sample_names
    return read_truth_file(truth, len(joined.views), None if ids is None else ids.tolist(), id_column), truth
