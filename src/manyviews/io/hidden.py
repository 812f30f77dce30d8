"""Hidden files and folders that results are written to first, each held by a lock while its process is alive."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["hidden_name", "made_and_held", "new_empty", "remove_half_written"]


@contextmanager
def made_and_held(
    temporary: Path, make: Callable[[Path], None], refuse: Callable[[OSError], Exception]
) -> Iterator[None]:
    """Make a hidden file or folder, and hold a lock on it that tells other starts that its process is alive.

    ``refuse`` makes the error that is raised where it cannot be made.
    """
    making = temporary.with_suffix(".making")
    try:
        make(making)
    except OSError as error:
        raise refuse(error) from error
    descriptor = _locked(making)
    try:
        os.rename(making, temporary)  # under its own name only once it is locked
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def new_empty(path: Path) -> None:
    """Make an empty file."""
    path.touch(exist_ok=False)


def _locked(path: Path) -> int | None:
    """Return a descriptor with the only lock on a file or folder; None where another has it, or there are no locks."""
    try:
        import fcntl

        descriptor = os.open(path, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def remove_half_written(final: Path, remove: Callable[[Path], None]) -> None:
    """Remove what a killed process left half-written for this place; what another process is writing stays."""
    pattern = re.compile(rf"\.{re.escape(final.name[:100])}\.[0-9a-f]{{8}}\.partial")
    with suppress(OSError):
        for entry in [entry for entry in final.parent.iterdir() if pattern.fullmatch(entry.name)]:
            descriptor = None if entry.is_symlink() else _locked(entry)
            if descriptor is None:
                continue
            try:
                remove(entry) if entry.is_dir() else entry.unlink()
            finally:
                os.close(descriptor)


def hidden_name(final: Path, role: str) -> Path:
    """Return a name beside a place, with a dot in front and what it is for at the end."""
    return final.with_name(f".{final.name[:100]}.{secrets.token_hex(4)}.{role}")
