"""Messages, tables, progress and exit codes: everything the command says."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, TextIO

__all__ = [
    "ARGUMENTS",
    "Stages",
    "UsageError",
    "guarded",
    "one_line",
    "print_json",
    "print_table",
    "stdout_is_closed",
    "user_input",
]

DONE, OUR_FAULT, USER_INPUT, INTERRUPTED = 0, 1, 2, 130
TRACEBACK = "MANYVIEWS_TRACEBACK"
# What follows the program's name in the command that runs, for the record of how to repeat it.
ARGUMENTS: ContextVar[tuple[str, ...]] = ContextVar("arguments", default=())
_SECONDS_BEFORE_PROGRESS = 1.0


def stdout_is_closed() -> bool:
    """Say whether the command was started without standard output, as by ``>&-``."""
    return sys.stdout is None or bool(getattr(sys.stdout, "stands_in", False))


class UsageError(Exception):
    """Something in the user's input or usage has to change; its text is the one line that is printed."""


@contextmanager
def user_input(kind: type[Exception] | tuple[type[Exception], ...] = (ValueError, TypeError)) -> Iterator[None]:
    """Take an error of the body as a remark on what the user gave.

    Parameters
    ----------
    kind : exception type or tuple of them, default=(ValueError, TypeError)
        Which errors.

    Raises
    ------
    UsageError
        In their place.
    """
    try:
        yield
    except kind as error:
        raise UsageError(str(error)) from error


def one_line(text: str) -> str:
    """Return text as one line without control characters, which names and ids from files may hold."""
    joined = " ".join(text.split())
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in joined)


def guarded(action: Callable[[], None]) -> int:
    """Run a command; return the exit code, with one line on stderr where it failed.

    Parameters
    ----------
    action : callable
        The command.

    Returns
    -------
    int
        0 done, 2 user input, 1 a fault of ours or of the machine, 130 interrupted.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show is no failure
    try:
        with _plain_warnings():
            action()
            if sys.stdout is not None:
                sys.stdout.flush()
    except UsageError as error:
        return _fail(USER_INPUT, str(error))
    except KeyboardInterrupt:
        return _fail(INTERRUPTED, "interrupted")
    except BrokenPipeError:
        # The reader, such as head, has all it wants; what is still in the buffer has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except MemoryError as error:
        detail = f" ({error})" if str(error) else ""
        return _fail(OUR_FAULT, f"not enough memory{detail}; use fewer samples or a method whose cost is linear in n")
    except OSError as error:
        return _fail(OUR_FAULT, f"the system refused: {error}")
    except Exception as error:
        return _fail(
            OUR_FAULT,
            f"{type(error).__name__}: {error} - this is a bug in manyviews, please report it "
            f"(set {TRACEBACK}=1 to see where it happened)",
        )
    return DONE


def _fail(code: int, text: str) -> int:
    if os.environ.get(TRACEBACK):
        traceback.print_exc()
    print(f"manyviews: {'' if code == INTERRUPTED else 'error: '}{one_line(text)}", file=sys.stderr)
    return code


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print each warning that concerns the user once, as one plain line."""
    seen: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = one_line(str(message))
        if text not in seen:
            seen.add(text)
            print(f"manyviews: warning: {text}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = show
        yield


class Stages:
    """Say on stderr what is going on, and keep the times.

    Parameters
    ----------
    quiet : bool, default=False
        Say nothing.

    Attributes
    ----------
    timings : dict of str to float
        Seconds of each stage.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.timings: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str, text: str, *, prints: bool = False) -> Iterator[None]:
        """Time a stage; show ``text`` while it runs, unless it ``prints`` on the same terminal meanwhile."""
        start = time.perf_counter()
        # what moves would be drawn into the lines that are printed
        mixed = prints and sys.stdout is not None and sys.stdout.isatty()
        with nullcontext() if self.quiet or mixed else _shown_if_slow(one_line(text)):
            yield
        self.timings[name] = round(time.perf_counter() - start, 4)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Say several lines as a table."""
        if not self.quiet:
            print_table(header, rows, stream=sys.stderr)

    def caution(self, text: str) -> None:
        """Say one line about what may be wrong with the result, even when quiet."""
        print(f"manyviews: warning: {one_line(text)}", file=sys.stderr)

    def note(self, text: str) -> None:
        """Say one line."""
        if not self.quiet:
            print(f"manyviews: note: {one_line(text)}", file=sys.stderr)


@contextmanager
def _shown_if_slow(text: str) -> Iterator[None]:
    """Show text once the body has run for a second: with the elapsed time on a terminal, else as a line."""
    if sys.stderr is not None and sys.stderr.isatty():
        show, hide = _spinner(text)
    else:
        show, hide = lambda: print(f"{text} ...", file=sys.stderr, flush=True), lambda: None
    timer = threading.Timer(_SECONDS_BEFORE_PROGRESS, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        hide()


def _spinner(text: str) -> tuple[Callable[[], None], Callable[[], None]]:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    # It starts in a thread of its own, while stdout may be redirected; putting that back at the end would lose stdout.
    console = Console(stderr=True)
    bar = Bar(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
    bar.add_task(text, total=None)
    return bar.start, bar.stop


def print_table(header: Sequence[str], rows: Sequence[Sequence[object]], *, stream: TextIO | None = None) -> None:
    """Print a table, on stdout by default: drawn on a terminal, else columns aligned with spaces."""
    stream = stream or sys.stdout
    cells = [[one_line(str(cell)) for cell in row] for row in rows]
    if stream is not None and stream.isatty():
        _draw_table(header, cells, stream)
        return
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    for row in (list(header), *cells):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip(), file=stream)


def _draw_table(header: Sequence[str], cells: Sequence[Sequence[str]], stream: TextIO) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*header, box=box.SIMPLE_HEAD)
    for row in cells:
        table.add_row(*map(Text, row))  # Text, because a name may look like markup
    Console(file=stream, highlight=False).print(table)


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout."""
    from manyviews.io.write import to_plain

    print(json.dumps(to_plain(value), indent=2, ensure_ascii=False, allow_nan=False))
