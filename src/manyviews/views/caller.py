"""Warnings at the line of the user's own code, however deep in the package their cause is found."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

__all__ = ["relayed_warnings", "warn_user"]

# code that calls this package on the user's behalf, or runs its jobs: nobody wants to be sent there
_BETWEEN = ("manyviews", "sklearn", "joblib", "concurrent", "threading", "contextlib")


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Emit a warning that names the line of the user's code which called the package.

    Parameters
    ----------
    message : str
        What was found, and what to do about it.
    category : type, default=UserWarning
        Class of the warning.
    """
    frame = _user_frame()
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=frame.f_globals.get("__name__", "<unknown>"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


@contextmanager
def relayed_warnings() -> Iterator[None]:
    """Emit what other packages warn of inside at the line of the user's code instead of theirs."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        warn_user(str(warning.message), warning.category)


def _user_frame() -> FrameType:
    """Return the innermost frame outside the packages between, or the outermost of all where there is none."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_between(frame):
        frame = frame.f_back
    return frame


def _is_between(frame: FrameType) -> bool:
    """Say whether a frame runs code of a package between; by its file, since a script may be called anything."""
    package = frame.f_globals.get("__name__", "").partition(".")[0]
    if package not in _BETWEEN:
        return False
    home = getattr(sys.modules.get(package), "__file__", None)
    return home is not None and frame.f_code.co_filename.startswith(str(Path(home).parent))
