"""How far many fits are: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from manyviews.bench.runner import Progress

__all__ = ["shown_fits"]

SECONDS_BETWEEN_LINES = 20.0


@contextmanager
def shown_fits(*, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Give a callable for ``run_all`` that says on stderr how far the fits are; None where nothing is to be said.

    Parameters
    ----------
    quiet : bool
        Say nothing.

    Yields
    ------
    callable or None
        Takes the progress of the runner.
    """
    if quiet or sys.stderr is None:
        yield None
    elif sys.stderr.isatty():
        with _bar() as tell:
            yield tell
    else:
        yield _Lines()


class _Lines:
    """Says a line at most every twenty seconds."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        if time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            print(_text(progress), file=sys.stderr, flush=True)


@contextmanager
def _bar() -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    console = Console(stderr=True)
    with Bar(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda progress: bar.update(
            task, completed=progress.done, total=progress.total, description=_text(progress)
        )


def _text(progress: Progress) -> str:
    latest = "" if progress.latest is None else f", last {progress.latest.run.method}"
    left = "" if not progress.remaining else f", about {_duration(progress.remaining)} left"
    return f"{progress.done} of {progress.total} fits{latest}{left}"


def _duration(seconds: float) -> str:
    from manyviews.report.wording import duration

    return duration(max(1.0, seconds))
