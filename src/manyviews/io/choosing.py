"""Choose columns of a table by names, ranges and patterns, and views and files likewise."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Caution", "PartOptions", "UnknownColumnError", "choose", "likely", "matches"]


class Caution(str):
    """A note about what may be wrong with the result: it is said even where notes are not wanted."""

    __slots__ = ()


class UnknownColumnError(ValueError):
    """A column that describes the samples is in no file; ``column`` is its name."""

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message)
        self.column = column


def likely(name: str, names: Sequence[str]) -> str:
    """Say which of some names was most likely meant; an empty text where none is near."""
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else ""


@dataclass(frozen=True)
class PartOptions:
    """How one file is read.

    Attributes
    ----------
    id_column, truth : str or None
        Columns of ids and of classes.
    header : bool or None
        Whether the first row of a text table holds names.
    columns : tuple of str or None
        Patterns of the columns that are features; None for all.
    drop : tuple of str
        Patterns of columns to leave out.
    missing_values : tuple of str
        What stands for a missing number, besides the usual marks.
    encode : tuple of str
        Patterns of columns of categories to make columns of 0 and 1 of.
    transpose : bool
        Whether the samples are columns.
    known : tuple of frozenset of str
        Columns of each view of a model: where a table has all those of one, its others are left out.
    has_ids : bool
        Whether a list has the ids of files that have none.
    elsewhere : frozenset of str
        Columns of other views of a model, whose absence need not be said.
    about : tuple of str
        Columns that describe the samples and are no features.
    """

    id_column: str | None = None
    truth: str | None = None
    header: bool | None = None
    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    missing_values: tuple[str, ...] = ()
    encode: tuple[str, ...] = ()
    transpose: bool = False
    known: tuple[frozenset[str], ...] = ()
    has_ids: bool = False
    elsewhere: frozenset[str] = frozenset()
    about: tuple[str, ...] = ()


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Tell whether a name is one of the patterns, or fits one with ``*``, ``?`` or ``[...]``."""
    return any(name == pattern or fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def choose(names: Sequence[str], patterns: Sequence[str], where: str, what: str = "column") -> list[str]:
    """Return the names that are asked for, in the order in which they are asked for.

    Parameters
    ----------
    names : sequence of str
        All names, in order.
    patterns : sequence of str
        Names; patterns with ``*``, ``?`` or ``[...]``; ranges ``FIRST..LAST`` of names or, where no column is called
        so, positions from 0, both ends included; or single positions.
    where : str
        File, for the message.
    what : str, default="column"
        What the names are names of.

    Returns
    -------
    list of str
        Each name once.

    Raises
    ------
    ValueError
        If a pattern fits nothing.
    """
    place = {name: i for i, name in enumerate(names)}
    chosen: dict[str, None] = {}
    for pattern in patterns:
        found = [pattern] if pattern in place else [name for name in names if fnmatch.fnmatchcase(name, pattern)]
        found = found or _range(names, place, pattern)
        if not found:
            close = difflib.get_close_matches(pattern, names, n=1)
            shown = ", ".join(map(repr, names[:6])) + (", ..." if len(names) > 6 else "")
            hint = f"did you mean {close[0]!r}?" if close else f"it has {shown}"
            raise ValueError(f"{where} has no {what} {pattern!r}; {hint}")
        chosen.update(dict.fromkeys(found))
    return list(chosen)


def _range(names: Sequence[str], place: dict[str, int], pattern: str) -> list[str]:
    first, mark, last = pattern.partition("..")
    ends = [place.get(end, int(end) if end.isascii() and end.isdigit() else -1) for end in (first, last or first)]
    if (mark and not last) or not 0 <= ends[0] <= ends[1] < len(names):
        return []
    return list(names[ends[0] : ends[1] + 1])
