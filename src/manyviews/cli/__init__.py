"""The ``manyviews`` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

__all__ = ["main"]

# What the extra installs. Asked for by name only, so that --help does not load them.
_EXTRA = ("cyclopts", "rich", "polars", "plotly", "jinja2", "skops")


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
    lacking = [name for name in _EXTRA if find_spec(name) is None]
    if lacking:
        print(
            f'manyviews: the command line needs {", ".join(lacking)}; run: pip install "manyviews[cli]"',
            file=sys.stderr,
        )
        return 2
    from manyviews.cli.app import run

    return run(sys.argv[1:] if argv is None else list(argv))
