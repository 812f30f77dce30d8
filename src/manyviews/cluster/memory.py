"""Refuse work that would not fit in memory before it starts, and say what to do instead."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["available_memory", "require_memory"]

# what a container may use, for both versions of Linux control groups
CGROUP_FILES = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
GIB = 1 << 30


def available_memory() -> int | None:
    """Return the bytes that can be had without swapping, or None where the system does not tell."""
    known = [value for value in (_system_memory(), *map(_container_memory, CGROUP_FILES)) if value is not None]
    return min(known) if known else None


def require_memory(needed: float, what: str, advice: str) -> None:
    """Raise ``MemoryError`` where a computation needs more memory than the machine has.

    Parameters
    ----------
    needed : float
        Bytes that will be used.
    what : str
        What needs them, for the message.
    advice : str
        What to do instead.

    Raises
    ------
    MemoryError
        With both numbers and the advice.
    """
    available = available_memory()
    if available is not None and needed > available:
        raise MemoryError(
            f"{what} needs about {needed / GIB:.1f} GiB of memory, and {available / GIB:.1f} GiB are available; "
            + advice
        )


def _system_memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        fields = {line.split(":")[0]: line.split()[1] for line in lines if line}
        return int(fields["MemAvailable"]) * 1024
    except (OSError, KeyError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _container_memory(files: tuple[str, str]) -> int | None:
    try:
        limit, used = (int(Path(name).read_text(encoding="ascii")) for name in files)
    except (OSError, ValueError):
        return None
    return max(limit - used, 0)
