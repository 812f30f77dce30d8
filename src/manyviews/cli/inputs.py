"""What the user typed, turned into data and parameters."""

from __future__ import annotations

import difflib
import inspect
import json
import math
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from manyviews.cli.console import UsageError, user_input
from manyviews.cli.distances import check_takes_distances
from manyviews.cli.layout import Layout, split_list
from manyviews.pages.wording import amount

if TYPE_CHECKING:
    from manyviews.io import LoadedViews
    from manyviews.views import Views

__all__ = [
    "Reading",
    "check_n_clusters",
    "file_and_columns",
    "fill_cells",
    "fill_like",
    "keep_numbers",
    "load_input",
    "load_new",
    "parse_scaling",
    "parse_settings",
    "parse_views",
    "whole_number",
]

# Constructor parameters that have an option of their own, or none on the command line.
_OPTIONS = {"n_clusters": "-k", "scaling": "--scaling", "view_weights": "--weight", "random_state": "--seed"}
_HIDDEN = {"views"}
_SCALINGS = ("auto", "standard", "minmax", "unit", "tfidf", "none")
_WORDS = {"true": True, "false": False, "none": None, "null": None}


class Reading(NamedTuple):
    """How files are read: ids and classes, what becomes of gaps, header, layout, and the columns of a model.

    ``about`` are columns that describe the samples.
    """

    id_column: str | None = None
    truth: str | None = None
    missing: Literal["union", "intersection"] | None = None
    header: bool | None = None
    gaps: bool = False
    layout: Layout = Layout()
    known: dict[str, Any] | None = None
    about: tuple[str, ...] = ()

    def options(self) -> dict[str, Any]:
        """Return what ``read_views`` takes."""
        own: dict[str, Any] = self._asdict()
        del own["layout"]
        return own | self.layout.options()


def load_input(source: str | None, view: Sequence[str], reading: Reading) -> LoadedViews:
    """Load what a command was given: the name of a data set, a file, or one file per view.

    Parameters
    ----------
    source : str or None
        Name of a data set, or path.
    view : sequence of str
        ``NAME=FILE`` pairs.
    reading : Reading
        How files are read; see ``read_views``.

    Returns
    -------
    LoadedViews
        Views, classes, name, checksums, notes.

    Raises
    ------
    UsageError
        If both or neither are given, or something cannot be read.
    """
    if (source is None) == (not view):
        given = "both were given" if view else "nothing was given"
        raise UsageError(f"give the name of a data set, a file, or --view NAME=FILE for each view; {given}")
    from manyviews.io import read_views

    with user_input():
        if source is None:
            return read_views(parse_views(view), **reading.options())
        if os.path.exists(source) or _looks_like_path(source):
            return read_views(source, **reading.options())
    return _load_named(source, reading)


def input_name(source: str | None, view: Sequence[str]) -> str:
    """Return the name that ``load_input`` will give the data; "" where it will refuse what was given."""
    if (source is None) == (not view):
        return ""
    from manyviews.io.read import data_name

    if source is None:
        return data_name(parse_views(view))
    return data_name(source) if os.path.exists(source) or _looks_like_path(source) else _known_name(source)


def load_new(source: str | None, view: Sequence[str], reading: Reading) -> LoadedViews:
    """Load new samples for a model, whose columns are known.

    Parameters
    ----------
    source, view, reading
        As for ``load_input``. One table is taken for all views whose columns it has, and columns of categories that
        the model has as columns of 0 and 1 become such.

    Returns
    -------
    LoadedViews
        The new samples.
    """
    known = {name: columns for name, columns in (reading.known or {}).items() if columns is not None}
    encoded = {name.partition("=")[0] for columns in known.values() for name in columns if "=" in name}
    layout = reading.layout
    layout = replace(layout, encode=[*(layout.encode or ()), *(name.replace(",", ",,") for name in sorted(encoded))])
    reading = reading._replace(layout=layout)
    if source is not None and len(known) > 1 and os.path.isfile(source) and layout.columns is None:
        from manyviews.io.files import TABLES, file_kind

        with user_input():
            if file_kind(source) in TABLES:
                view, source = [f"{name}={source}" for name in known], None
    return load_input(source, view, reading)


def fill_cells(data: LoadedViews, strategy: str | None) -> tuple[LoadedViews, Any]:
    """Return the data with single empty cells filled in, a note of how many in which view, and the fitted imputer."""
    if strategy is None:
        return data, None
    from manyviews.views.impute import ViewImputer

    with user_input():
        imputer = ViewImputer(strategy).fit(data.views)
    return fill_like(data, imputer), imputer


def fill_like(data: LoadedViews, imputer: Any) -> LoadedViews:
    """Return the data with empty cells filled as a fitted imputer does, and a note of how many in which view."""
    from manyviews.views.impute import count_gaps

    with user_input():
        views = imputer.transform(data.views)
    median = imputer.strategy == "median"
    source = "the column's median" if median else f"the mean of the {imputer.n_neighbors} nearest samples"
    notes = [
        f"view {name!r}: {amount(number, 'empty cell')} filled with {source} (--impute {imputer.strategy})"
        for name, number in count_gaps(data.views).items()
        if number
    ]
    return replace(data, views=views, notes=(*data.notes, *notes))


def keep_numbers(data: LoadedViews, path: str | None) -> tuple[LoadedViews, dict[str, Any]]:
    """Return what makes a fit keep the cluster numbers of an earlier run, and the data with a note of it."""
    if path is None:
        return data, {}
    from manyviews.io.earlier import read_earlier_labels
    from manyviews.io.files import checksum

    with user_input():
        earlier = read_earlier_labels(path, data.views)
    known = int((earlier.labels >= 0).sum())
    note = f"clusters keep the numbers of {earlier.path}, which has {known} of the {len(data.views)} samples"
    checksums = data.checksums | {earlier.path: checksum(earlier.path)}
    return replace(data, notes=(*data.notes, note), checksums=checksums), {"match_to": earlier.labels}


def _looks_like_path(source: str) -> bool:
    return os.path.basename(source) != source or os.path.splitext(source)[1] != ""


def parse_views(view: Sequence[str]) -> dict[str, tuple[str, list[str] | None]]:
    """Return path and columns of each view given as ``NAME=FILE`` or ``NAME=FILE:COLUMNS``."""
    sources: dict[str, tuple[str, list[str] | None]] = {}
    for pair in view:
        name, mark, path = pair.partition("=")
        if not (name and mark and path):
            raise UsageError(f"--view {pair}: write --view NAME=FILE, or NAME=FILE:COLUMNS")
        if name in sources:
            raise UsageError(f"--view {pair}: there is a view {name!r} already; give every view a name of its own")
        sources[name] = file_and_columns(path)
    return sources


def file_and_columns(text: str) -> tuple[str, list[str] | None]:
    """Return a path and what stands behind its colon; a colon may be part of the path, if such a file exists."""
    places = [i for i, mark in enumerate(text) if mark == ":"]
    if os.path.exists(text) or not places:
        return text, None
    at = next((i for i in reversed(places) if os.path.exists(text[:i])), None)
    if at is None:  # neither is there: let the message name what was most likely meant
        at = next((i for i in places if os.path.splitext(text[:i])[1]), len(text))
    columns = split_list([text[at + 1 :]])
    if not columns and at < len(text):
        raise UsageError(f"--view ...={text}: name the columns behind the colon, or leave it out")
    return text[:at], columns or None


def _known_name(name: str) -> str:
    from manyviews.datasets.registry import find

    entry = find(name)
    return "" if entry is None else entry.name


def _load_named(name: str, reading: Reading) -> LoadedViews:
    from manyviews import datasets
    from manyviews.io import LoadedViews

    try:
        entry = datasets.info(name)
    except ValueError as error:
        if os.path.isdir(name):
            raise UsageError(f"{name} is a folder; give a file, or --view NAME=FILE for each view") from error
        raise UsageError(f"there is no file {name!r}, and {error}") from error
    if reading.id_column is not None or reading.truth is not None:
        raise UsageError(f"the data set {name!r} has its own ids and classes; leave --id and --truth out")
    if not entry.bundled:
        raise UsageError(f"the data set {name!r} does not come with manyviews. {entry.get} Then give the file instead")
    data = datasets.load(name)
    return LoadedViews(data.views, data.labels, data.name, {data.name: entry.sha256 or ""}, ())


def parse_settings(settings: Sequence[str], method: type) -> dict[str, Any]:
    """Return constructor parameters from ``PARAM=VALUE`` pairs.

    Parameters
    ----------
    settings : sequence of str
        Values are numbers, true, false, none, JSON lists, or else text.
    method : type
        The estimator class.

    Returns
    -------
    dict of str to object
        Parameters by name.

    Raises
    ------
    UsageError
        If a pair is malformed, repeated, or names no parameter of the method.
    """
    known = [name for name in inspect.signature(method).parameters if name not in _HIDDEN and name not in _OPTIONS]
    parsed: dict[str, Any] = {}
    for pair in settings:
        name, mark, value = pair.partition("=")
        name = name.replace("-", "_")
        if not (name and mark):
            raise UsageError(f"--set {pair}: write --set PARAM=VALUE")
        if name in _OPTIONS:
            raise UsageError(f"--set {pair}: {name} has an option of its own, {_OPTIONS[name]}")
        if (name, value) in (("affinity", "distance"), ("base", "distance")):
            check_takes_distances(method.__name__, name)
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise UsageError(
                f"--set {pair}: {method.__name__} has no parameter {name!r}; {hint}it has {', '.join(known)}"
            )
        if name in parsed:
            raise UsageError(f"--set {pair}: {name} was set already; set it once")
        parsed[name] = _literal(value)
    return parsed


def _literal(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return json.loads(text)
    except ValueError:
        return text


def whole_number(_: Any, tokens: Sequence[Any]) -> int:
    """Return an option's value as an integer; 2.5 is refused, where int() of a float would cut it to 2.

    Raises
    ------
    ValueError
        If it is no whole number.
    """
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a whole number") from None


def parse_scaling(scaling: Sequence[str], names: Sequence[str]) -> Any:
    """Return the ``scaling`` parameter from one word, or from ``VIEW=WORD`` pairs.

    Parameters
    ----------
    scaling : sequence of str
        What --scaling was given; empty for the default.
    names : sequence of str
        Names of the views.

    Returns
    -------
    str, None or dict
        As the estimators take it.

    Raises
    ------
    UsageError
        If a word or a view is unknown.
    """
    if not scaling:
        return "auto"
    if len(scaling) == 1 and "=" not in scaling[0]:
        return _scaling_word(scaling[0])
    chosen: dict[str, str | None] = {}
    for pair in scaling:
        name, _, word = pair.rpartition("=")
        if name not in names or name in chosen:
            raise UsageError(
                f"--scaling {pair}: write one of {', '.join(_SCALINGS)}, or VIEW=WORD once per view; "
                f"the views are {', '.join(names)}"
            )
        chosen[name] = _scaling_word(word)
    return {name: chosen.get(name, "auto") for name in names}


def parse_weights(given: Sequence[str], names: Sequence[str]) -> dict[str, float] | None:
    """Return what each view counts from NAME=W.

    Parameters
    ----------
    given : sequence of str
        Pairs.
    names : sequence of str
        Names of the views.

    Returns
    -------
    dict of str to float or None
        Of the views named; None where none was.

    Raises
    ------
    UsageError
        If a view is unknown or named twice, or a weight is no number of 0 or more, or all are 0.
    """
    weights: dict[str, float] = {}
    for pair in given:
        name, _, text = pair.rpartition("=")
        if not name:
            raise UsageError(f"--weight {pair}: write --weight NAME=NUMBER, such as --weight {names[0]}=2")
        if name not in names:
            raise UsageError(f"--weight {pair}: there is no view {name!r}; the views are {', '.join(names)}")
        if name in weights:
            raise UsageError(f"--weight {pair}: view {name!r} was given a weight already")
        try:
            weights[name] = float(text)
        except ValueError:
            weights[name] = math.nan
        if not 0 <= weights[name] < math.inf:
            raise UsageError(f"--weight {pair}: {text!r} is no number of 0 or more; 1 is usual, 0 leaves the view out")
    if weights and not any(weights.get(name, 1.0) for name in names):
        raise UsageError("--weight leaves all views out; give at least one a weight above 0")
    return weights or None


def _scaling_word(word: str) -> str | None:
    if word not in _SCALINGS:
        raise UsageError(f"--scaling {word}: choose one of {', '.join(_SCALINGS)}, or VIEW=WORD once per view")
    return None if word == "none" else word


def check_n_clusters(n_clusters: int, views: Views) -> None:
    """Raise UsageError unless there are 1 to as many clusters as distinct samples."""
    from manyviews.views.cells import distinct_samples

    n_samples = len(views)
    if not 1 <= n_clusters <= n_samples:
        raise UsageError(
            f"-k {n_clusters}: the number of clusters must be between 1 and the number of samples, {n_samples}"
        )
    distinct = distinct_samples(views.arrays, n_clusters)
    if distinct < n_clusters:
        raise UsageError(
            f"-k {n_clusters}: only {distinct} of the {n_samples} samples are distinct, and identical ones share a "
            f"cluster; give -k {distinct} at most, or check that the right columns were given"
        )
