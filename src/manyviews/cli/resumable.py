"""An output folder that a later start goes on with, and the progress of many fits."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyviews.cli.console import UsageError, one_line, user_input

if TYPE_CHECKING:
    from manyviews.bench.runner import Progress

__all__ = ["RECORD", "STORE", "open_folder", "progress_shown", "write_text"]

STORE, RECORD = "runs.jsonl", "run.json"
_SECONDS_BETWEEN_LINES = 10.0


def open_folder(out: str, identity: Mapping[str, str], outputs: Sequence[str], *, force: bool) -> Path:
    """Make an output folder, or open that of an earlier start of the same work.

    Parameters
    ----------
    out : str
        The folder.
    identity : mapping of str to str
        What ``run.json`` has to say for the folder to be of the same work, such as command and paper.
    outputs : sequence of str
        Names of all files that the command writes; the folder may hold no others.
    force : bool
        Start anew: remove what an earlier start left. Nothing is removed from a folder that is none of ours.

    Returns
    -------
    Path
        The folder, with a ``run.json`` in it.

    Raises
    ------
    UsageError
        If something else is in the way, or the folder cannot be written to.
    """
    from manyviews import __version__
    from manyviews.io.write import read_record, write_json

    if not out:
        raise UsageError("the name of the output folder is empty; give one with --out")
    folder = Path(os.path.realpath(out))
    with user_input(OSError):
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{out} exists and is a file; choose another folder with --out")
        folder.mkdir(parents=True, exist_ok=True)
        names = sorted(entry.name for entry in folder.iterdir())
    if names:
        record = read_record(folder) or {}
        if any(record.get(key) != value for key, value in identity.items()):
            work = " ".join(identity.values())
            raise UsageError(f"{out} exists and is not the output of {work}; choose another folder with --out")
        foreign = [name for name in names if name not in outputs]
        if foreign:
            raise UsageError(f"{out} holds {foreign[0]}, which manyviews did not write; choose another folder")
    with user_input(OSError):
        for name in names if force else ():
            (folder / name).unlink()
        if force or not names:
            write_json(folder / RECORD, {"manyviews": __version__, **identity, "finished": False})
    return folder


def write_text(path: Path, text: str) -> None:
    """Write a file of the folder: all of it, or the earlier one stays."""
    from manyviews.io.write import atomic_file

    with atomic_file(path, force=True) as hidden:
        hidden.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def progress_shown(*, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """Show how many fits are done and how long the rest takes: a bar on a terminal, else a line now and then.

    Parameters
    ----------
    quiet : bool
        Show nothing.

    Yields
    ------
    callable
        What :func:`manyviews.bench.runner.run_all` calls.
    """
    try:
        if quiet or sys.stderr is None:
            yield lambda progress: None
        elif sys.stderr.isatty():
            with _bar() as tell:
                yield tell
        else:
            yield _Lines()
    except KeyboardInterrupt:
        if not quiet:
            print("what is finished is kept; the same command goes on from there", file=sys.stderr)
        raise


class _Lines:
    """Print a line at the first call, at the last, and every ten seconds."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        if progress.latest is None and progress.reused:
            print(f"{progress.reused} of {progress.total} fits are there from an earlier start", file=sys.stderr)
        if time.monotonic() < self._next and progress.done < progress.total:
            return
        self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
        print(f"{progress.done} of {progress.total} fits, {_left(progress)}", file=sys.stderr, flush=True)


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
    if progress.remaining is None:
        return "remaining time not known yet"
    minutes, seconds = divmod(round(progress.remaining), 60)
    hours, minutes = divmod(minutes, 60)
    return f"about {hours} h {minutes} min left" if hours else f"about {minutes} min {seconds} s left"
