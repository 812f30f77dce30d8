"""The data that a command was given: read, filled, kept from being overwritten, and what was decided as it is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from manyviews.cli.console import Stages
from manyviews.cli.inputs import Reading, input_name, load_input
from manyviews.cli.output import default_folder, refuse_inputs
from manyviews.cli.preparing import Prepared, Preparing

if TYPE_CHECKING:
    from manyviews.io import LoadedViews

__all__ = ["read_data", "say_notes", "target_folder"]

# Rows of the table of who is where.
MOST_COMBINATIONS = 12


def read_data(
    source: str | None,
    view: Sequence[str] | None,
    reading: Reading,
    preparing: Preparing | None,
    out: str | None,
    stages: Stages,
) -> tuple[LoadedViews, Prepared]:
    """Read what a command was given, keep the columns asked for, and fill single empty cells.

    Parameters
    ----------
    source : str or None
        Name of a data set, or path.
    view : sequence of str or None
        ``NAME=FILE`` pairs.
    reading : Reading
        How files are read.
    preparing : Preparing or None
        Which columns are kept, and how cells are filled.
    out : str or None
        Where the output goes, which may not replace what is read here.
    stages : Stages
        Says what is going on.

    Returns
    -------
    tuple of (LoadedViews, Prepared)
        The data, and what was done to them.
    """
    with stages.stage("read", f"reading {source or ', '.join(view or ())}"):
        data, prepared = (preparing or Preparing()).applied(load_input(source, view or (), reading))
    refuse_inputs(out, data.checksums)
    return data, prepared


def target_folder(
    out: str | None, prefix: str, source: str | None, view: Sequence[str] | None, check: Callable[[str], None]
) -> str:
    """Return the output folder, once it is known that it may be written: before anything is read.

    Parameters
    ----------
    out : str or None
        Folder that was asked for; by default the prefix and the name of the data.
    prefix : str
        How the name of the folder begins.
    source : str or None
        Name of a data set, or path.
    view : sequence of str or None
        ``NAME=FILE`` pairs.
    check : callable
        Raises UsageError where something is in the way.

    Returns
    -------
    str
        The folder.
    """
    place = default_folder(prefix, input_name(source, view or ())) if out is None else out
    check(place)
    return place


def say_notes(data: LoadedViews, progress: Stages) -> None:
    """Say what was decided while reading, and who is where if the views have different ids."""
    from manyviews.io.choosing import Caution

    for note in data.notes:
        (progress.caution if isinstance(note, Caution) else progress.note)(note)
    if data.presence:
        names = data.views.names
        rows = [
            (*("yes" if name in row.views else "-" for name in names), len(row.ids), ", ".join(row.ids[:3]))
            for row in data.presence[:MOST_COMBINATIONS]
        ]
        progress.table((*names, "samples", "such as"), rows)
        if len(data.presence) > MOST_COMBINATIONS:
            progress.note(f"and {len(data.presence) - MOST_COMBINATIONS} more combinations of views")
