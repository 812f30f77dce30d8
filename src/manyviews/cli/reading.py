"""What was read, and what was decided about it, as it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manyviews.cli.console import Stages

if TYPE_CHECKING:
    from manyviews.io import LoadedViews

__all__ = ["say_notes"]

# Rows of the table of who is where.
MOST_COMBINATIONS = 12


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
