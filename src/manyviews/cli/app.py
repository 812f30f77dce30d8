"""The command app: its commands, its version, and the way from arguments to an exit code."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from cyclopts import App, CycloptsError

from manyviews import __version__
from manyviews.cli import bench, cluster, compare, data, demo, methods, predict, sweep
from manyviews.cli.console import ARGUMENTS, UsageError, guarded
from manyviews.cli.output import STANDARD_OUTPUT

__all__ = ["app", "run"]

app = App(
    name="manyviews",
    help="Multi-view clustering: group things by all their views together.",
    version=f"manyviews {__version__}",
    help_format="plaintext",
)
app.command(demo.demo)
app.command(cluster.cluster, usage="Usage: manyviews cluster (NAME | FILE | --view NAME=FILE ...) -k N [OPTIONS]")
app.command(predict.predict, usage="Usage: manyviews predict DIR (FILE | --view NAME=FILE ...) [OPTIONS]")
app.command(compare.compare, usage="Usage: manyviews compare (NAME | FILE | --view NAME=FILE ...) -k N [OPTIONS]")
app.command(
    sweep.sweep, usage="Usage: manyviews sweep (NAME | FILE | --view NAME=FILE ...) -k N --vary PARAM=V,V [OPTIONS]"
)
app.command(bench.bench)
app.command(methods.methods)
app.command(data.app)

_COMMANDS = ("demo", "cluster", "predict", "compare", "sweep", "bench", "methods", "data")


def run(argv: Sequence[str]) -> int:
    """Run the command that the arguments ask for; return its exit code."""
    ARGUMENTS.set(tuple(argv))
    with _termination_as_exit():
        return guarded(lambda: _dispatch(list(argv)))


def _dispatch(argv: list[str]) -> None:
    try:
        command, bound, *_ = app.parse_args(_with_dashes(argv), print_error=False, exit_on_error=False)
    except CycloptsError as error:
        text = " ".join(str(error).split()).rstrip(".")
        raise UsageError(f"{text} (see: manyviews {_named_command(argv)}--help)") from error
    command(*bound.args, **bound.kwargs)


def _with_dashes(argv: list[str]) -> list[str]:
    """Return the arguments with ``--out -`` as ``--out=-``: a lone - is no value to the parser."""
    joined: list[str] = []
    for word in argv:
        if word == STANDARD_OUTPUT and joined and joined[-1] == "--out":
            joined[-1] = f"--out={STANDARD_OUTPUT}"
        else:
            joined.append(word)
    return joined


def _named_command(argv: list[str]) -> str:
    return f"{argv[0]} " if argv and argv[0] in _COMMANDS else ""


@contextmanager
def _termination_as_exit() -> Iterator[None]:
    """Let a polite kill, as of a job queue or of a terminal that closes, unwind, so that hidden folders are removed."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ends = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # what was told to go on after the terminal has closed, as by nohup, goes on
    before = {number: signal.getsignal(number) for number in ends if signal.getsignal(number) != signal.SIG_IGN}
    for number in before:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
