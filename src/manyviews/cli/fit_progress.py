"""How far many fits are: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from manyviews.cli.console import one_line
from manyviews.pages.wording import amount, duration

if TYPE_CHECKING:
    from manyviews.runs.runner import Progress

__all__ = ["shown_fits"]

_SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def shown_fits(*, quiet: bool, kept: bool = False) -> Iterator[Callable[[Progress], None] | None]:
    """Show how many fits are done and how long the rest takes.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    kept : bool, default=False
        Say after an interrupt that finished fits are kept.

    Yields
    ------
    callable or None
        What :func:`manyviews.runs.runner.run_all` calls.
    """
    try:
        if quiet or sys.stderr is None:
            yield None
        elif sys.stderr.isatty():
            with _bar() as tell:
                yield tell
        else:
            yield _Lines()
    except KeyboardInterrupt:
        if kept and not quiet:
            print("what is finished is kept; the same command goes on from there", file=sys.stderr)
        raise


class _Lines:
    """Print a line at the first call, at the last, and every ten seconds."""

    def __init__(self) -> None:
        self._next = 0.0
        self._begun = False

    def __call__(self, progress: Progress) -> None:
        if not self._begun and progress.reused:
            there = f"fit{'' if progress.total == 1 else 's'} {'is' if progress.reused == 1 else 'are'}"
            print(f"{progress.reused} of {progress.total} {there} there from an earlier start", file=sys.stderr)
        self._begun = True
        if time.monotonic() < self._next and progress.done < progress.total:
            return
        self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
        print(f"{progress.done} of {amount(progress.total, 'fit')}, {_left(progress)}", file=sys.stderr, flush=True)


@contextmanager
def _bar() -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    left, what = TextColumn("{task.fields[left]}"), TextColumn("{task.description}", markup=False)
    columns: tuple[Any, ...] = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), left, what)
    with Bar(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=None, left="")

        def tell(progress: Progress) -> None:
            latest = progress.latest
            text = "" if latest is None else one_line(f"{latest.run.method} on {latest.run.data}: {latest.status}")
            bar.update(task, completed=progress.done, total=progress.total, left=_left(progress), description=text)

        yield tell


def _left(progress: Progress) -> str:
    if progress.done == progress.total:
        return "all done"
    if progress.remaining is None:
        return "remaining time not known yet"
    return f"about {duration(progress.remaining)} left"
