"""The ``manyviews`` command: one file per command, and ``output`` alone writes folders and run records.

What commands share: their options (``options``), what was typed turned into data (``inputs``, ``reading``), messages
and exit codes (``console``, ``fit_progress``), and fits with their reports (``clustering``).
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

__all__ = ["main"]

# What the extra installs. Asked for by name only, so that --help does not load them.
_EXTRA = ("cyclopts", "rich", "polars", "plotly", "jinja2", "skops")
# Below so many columns nothing can be laid out, and trying takes for ever.
_NARROWEST, _USUAL = 20, "80"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments after the program's name; by default those of the process.

    Returns
    -------
    int
        Exit code: 0 done, 2 something to change in the input or usage, 1 a fault of ours, 130 interrupted.
    """
    _open_streams()
    told = os.environ.get("COLUMNS", _USUAL)
    if not told.isdecimal() or int(told) < _NARROWEST or shutil.get_terminal_size().columns < _NARROWEST:
        os.environ["COLUMNS"] = _USUAL
    lacking = [name for name in _EXTRA if find_spec(name) is None]
    if lacking:
        print(
            f'manyviews: the command line needs {", ".join(lacking)}; run: pip install "manyviews[cli]"',
            file=sys.stderr,
        )
        return 2
    try:
        from manyviews.cli.app import run

        return run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:  # while modules were loaded; later ones are told by the command itself
        print("manyviews: interrupted", file=sys.stderr)
        return 130


def _open_streams() -> None:
    """Let a stream that the process was started without be one that swallows all.

    Otherwise the first file that is opened takes its number, and what is printed goes there.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            stream: Any = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (as long as the process)
            stream.stands_in = True
            setattr(sys, name, stream)
