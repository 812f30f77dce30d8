"""The memory that a process may use: what is free, what limits there are, and what a file may take of it."""

from __future__ import annotations

import ctypes
import gc
import gzip
import io
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = [
    "MOST_OF_FREE",
    "check_promise",
    "give_back",
    "largest_input",
    "machine_memory",
    "read_bounded",
    "readable_size",
]

# What one file may unpack to, as a share of the memory that is free: reading takes a few copies of it.
MOST_OF_FREE = 0.25
_UNKNOWN = 4 << 30
_LONGEST_LINE = 1 << 28
_LARGE_DATA = 1 << 24
_BLOCK = 1 << 24
_GROUPS = Path("/proc/self/cgroup")
_MOUNT = Path("/sys/fs/cgroup")


def machine_memory() -> tuple[int | None, int | None]:
    """Return the bytes of memory that this process may use in all, and those free now; None where they are unknown.

    Limits of control groups, nested ones too, and of the address space (``ulimit -v``) count.
    """
    total = None
    if hasattr(os, "sysconf") and {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= os.sysconf_names.keys():
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    lines = (line.split() for line in _read(Path("/proc/meminfo")).splitlines())
    free = next((int(words[1]) * 1024 for words in lines if words[0] == "MemAvailable:"), None)
    limits = [*_group_limits(), *_address_space()]
    for limit, left in limits:
        total = limit if total is None else min(total, limit)
        free = left if free is None else min(free, left)
    return total, free if free is None or total is None else min(free, total)


def _group_limits() -> list[tuple[int, int]]:
    """Return limit and rest of every control group of this process, of both versions, up to the root."""
    found: list[tuple[int, int]] = []
    for line in _read(_GROUPS).splitlines() or ["0::/"]:
        number, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if number == "0" and not controllers:
            root, names = _MOUNT, ("memory.max", "memory.current", "memory.stat")
        elif "memory" in controllers.split(","):
            root, names = _MOUNT / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat")
        else:
            continue
        place = root / group.lstrip("/")
        # a container sees its own group as the root, whatever its path outside is
        for folder in dict.fromkeys([place, *place.parents, root]):
            if folder != root and root not in folder.parents:
                continue
            limit, used = (_read(folder / name).strip() for name in names[:2])
            if limit.isdigit() and int(limit) < 1 << 60:
                taken = int(used) - _reclaimable(folder / names[2]) if used.isdigit() else 0
                found.append((int(limit), max(int(limit) - max(taken, 0), 0)))
    return found


def _reclaimable(stat: Path) -> int:
    """Return the bytes of files in memory that the system would give up."""
    entries = dict(line.split()[:2] for line in _read(stat).splitlines() if len(line.split()) == 2)
    return sum(
        int(entries[name]) for name in ("inactive_file", "total_inactive_file") if entries.get(name, "").isdigit()
    )


def _address_space() -> list[tuple[int, int]]:
    try:
        import resource
    except ImportError:
        return []
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    pages = _read(Path("/proc/self/statm")).split()
    if limit == resource.RLIM_INFINITY or not pages:
        return []
    used = int(pages[0]) * os.sysconf("SC_PAGE_SIZE")
    return [(limit, max(limit - used, 0))]


def _read(place: Path) -> str:
    try:
        return place.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


def largest_input() -> int:
    """Return how many bytes the content of one file may have."""
    free = machine_memory()[1]
    return int(MOST_OF_FREE * (_UNKNOWN if free is None else free))


def give_back(arrays: Iterable[Any]) -> None:
    """Hand memory that is free back to the system, where what was worked on is large enough to tell.

    Python keeps what refers to itself until it is looked for, and the C library keeps pages between others: after work
    with arrays of some MB both add up to a multiple of these.

    Parameters
    ----------
    arrays : iterable of (ndarray or CSR)
        The data; where they take less than 16 MB, nothing is done.
    """
    if sum(array.data.nbytes for array in arrays) < _LARGE_DATA:
        return
    gc.collect()
    with suppress(OSError, TypeError):  # there is none of this name on other systems
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def readable_size(number: float) -> str:
    """Return a number of bytes as people write it."""
    return f"{number / 1e9:.1f} GB" if number >= 1e8 else f"{number / 1e6:.1f} MB"


def check_promise(n_bytes: float, where: str, what: str) -> None:
    """Raise ValueError where a file's header promises more than memory may take, before it is allocated.

    Parameters
    ----------
    n_bytes : float
        What it would take.
    where : str
        File, for the message.
    what : str
        What is promised, as ``"1000000000000 rows"``.
    """
    bound = largest_input()
    if n_bytes > bound:
        raise ValueError(
            f"{where} says that it has {what}, which would take {readable_size(n_bytes)}, more than the "
            f"{readable_size(bound)} that one file may take of the free memory ({MOST_OF_FREE:.0%}); it is damaged, or "
            "has to be cut into parts"
        )


def read_bounded(file: Path, where: str) -> bytes:
    """Return the content of a file, unpacked if its name ends with .gz, within bounds that memory can take.

    Raises
    ------
    ValueError
        If it is larger than a share of the free memory, or its first line is endless.
    """
    bound = largest_input()
    kept = io.BytesIO()
    line_ended = False
    with gzip.open(file, "rb") if file.suffix.lower() == ".gz" else file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            kept.write(block)
            line_ended = line_ended or b"\n" in block or b"\r" in block
            if kept.tell() > bound:
                raise ValueError(
                    f"{where} holds more than {readable_size(bound)}, the part of the free memory that one file may "
                    f"take ({MOST_OF_FREE:.0%}); cut it into parts, or save it as .npy or .parquet"
                )
            if not line_ended and kept.tell() > _LONGEST_LINE:
                raise ValueError(
                    f"{where} has no end of line in its first {readable_size(_LONGEST_LINE)}, so that it is no table"
                )
    return kept.getvalue()
