"""The file of finished fits: one JSON line each, on the disk before the next, whole after any interruption."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from manyviews.runs.outcomes import Outcome

__all__ = ["Store", "StoreInUseError"]


class StoreInUseError(ValueError):
    """Another process is writing to the file of finished fits."""


class Store:
    """Read the finished fits of a file and append to it.

    A last line that was cut off by a kill is taken off; of several lines with one key the last counts.

    Parameters
    ----------
    path : Path
        The file; it and its folder are made where they are not there.

    Raises
    ------
    StoreInUseError
        If another process has the file open as a store (told where the system has file locks).
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream: BinaryIO = path.open("a+b")
        try:
            _lock(self._stream, path)
            self.outcomes = self._read()
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was appended is there."""
        self._stream.close()

    def clear(self) -> None:
        """Forget all fits."""
        self._stream.truncate(0)
        self.outcomes = {}

    def append(self, key: str, outcome: Outcome) -> None:
        """Write an outcome and wait until it is on the disk."""
        self._stream.write(outcome.to_line(key).encode() + b"\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self.outcomes[key] = outcome

    def _read(self) -> dict[str, Outcome]:
        self._stream.seek(0)
        content = self._stream.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            self._stream.truncate(whole)
        pairs = (_parsed(line) for line in content[:whole].splitlines())
        return dict(pair for pair in pairs if pair is not None)


def _parsed(line: bytes) -> tuple[str, Outcome] | None:
    """Return key and outcome of a line, or None where it is damaged: that fit is made again."""
    try:
        fields: dict[str, Any] = json.loads(line)
        return str(fields["key"]), Outcome.from_fields(fields)
    except (ValueError, KeyError, TypeError):
        return None


def _lock(stream: BinaryIO, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # a system without these locks
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StoreInUseError(
            f"another run is writing to {path}; wait for its end, or choose another output folder"
        ) from None
