"""What every reader needs: a file that is there, its kind, its checksum, and one-line errors."""

from __future__ import annotations

import csv
import hashlib
import os
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = [
    "ANNOTATED",
    "ARRAYS",
    "MULTIVIEW",
    "STORE",
    "TABLES",
    "TEXTS",
    "checksum",
    "file_kind",
    "readable",
    "require_file",
    "stem",
    "table_kind",
]

MULTIVIEW = (".npz", ".mat")
ANNOTATED = (".h5ad", ".h5mu")
STORE = ".zarr"
# files in the folder of a zarr array or group, of both formats
_STORE_MARKS = ("zarr.json", ".zarray", ".zgroup")
ARRAYS = (".npy", ".mtx", ".mtx.gz")
TEXTS = (".csv", ".tsv", ".txt", ".tab", ".dat", ".data", ".gct")
TABLES = (*TEXTS, *(f"{kind}.gz" for kind in TEXTS), ".xlsx", ".parquet", ".arrow", ".feather", ".ipc")

# What a damaged or foreign file makes the parsers of numpy, scipy and the standard library raise; headers of .npy are
# read as Python literals.
_PARSER_ERRORS = (
    OSError,
    EOFError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RuntimeError,
    MemoryError,
    SyntaxError,
    csv.Error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def require_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of an existing, non-empty regular file.

    Parameters
    ----------
    path : str or path-like
        Path as the user gave it.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    ValueError
        If there is no such file, it is a folder, cannot be read, or is empty.
    """
    given = os.fspath(path)
    file = Path(path)
    try:
        if file.is_dir():
            raise ValueError(f"{given} is a folder; give the path of a file")
        if not file.exists():
            raise ValueError(f"{given}: there is no such file; check the path")
        if not file.is_file():
            raise ValueError(f"{given} is not a regular file but a pipe or device; save it to a file first")
        with file.open("rb") as stream:
            if not stream.read(1):
                raise ValueError(f"{given} is empty; write the data again")
    except OSError as error:
        raise ValueError(f"{given} cannot be read: {error.strerror or error}; check the path and its rights") from error
    return file


def file_kind(path: str | os.PathLike[str]) -> str:
    """Return the suffix that decides the reader, such as ``".csv"`` or ``".csv.gz"``, in lower case.

    Raises
    ------
    ValueError
        If no reader takes this suffix.
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    kind = "".join(suffixes[-2:]) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])
    known = (*MULTIVIEW, *ANNOTATED, *ARRAYS, STORE, *TABLES)
    if kind not in known:
        given = os.fspath(path)
        if ":" in given and os.path.exists(given.partition(":")[0]):
            raise ValueError(f"{given}: columns or a matrix of a file belong to a view, as --view NAME={given}")
        raise ValueError(
            f"{given}: files of the kind {kind or 'without a suffix'!r} cannot be read; "
            f"convert it to one of {', '.join(known)}"
        )
    return kind


def table_kind(path: str | os.PathLike[str]) -> str:
    """Return ``file_kind``; of a folder ``".zarr"`` or ``".parquet"`` if it holds nothing else unhidden, or ``""``."""
    if os.path.isdir(path):
        if Path(path).suffix.lower() == STORE or any((Path(path) / mark).exists() for mark in _STORE_MARKS):
            return STORE
        kinds = {place.suffix.lower() for place in Path(path).iterdir() if place.name[0] not in "._"}
        return ".parquet" if kinds == {".parquet"} else ""
    return file_kind(path)


def stem(path: str | os.PathLike[str]) -> str:
    """Return the file name without the suffixes that decide the reader."""
    name = Path(path).name
    kind = next((k for k in (*TABLES, *ARRAYS, *MULTIVIEW) if k.endswith(".gz") and name.lower().endswith(k)), None)
    return name[: -len(kind)] if kind else Path(path).stem


def checksum(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits; of a folder that of the names and sums of its files."""
    if os.path.isdir(path):
        inside = sorted(place for place in Path(path).rglob("*") if place.is_file())
        lines = (f"{place.relative_to(path).as_posix()} {checksum(place)}\n" for place in inside)
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def readable(path: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Turn whatever a parser raises on a damaged or foreign file into a one-line ValueError.

    Parameters
    ----------
    path : str or path-like
        Path as the user gave it, for the message.
    what : str
        What the file was taken for, with its article: ``"an .npz file"``.

    Raises
    ------
    ValueError
        If the body raises what parsers raise.
    """
    try:
        yield
    except _PARSER_ERRORS as error:
        given = os.fspath(path)
        if isinstance(error, ValueError) and str(error).startswith(given):
            raise  # it is said already
        detail = " ".join(str(error).split()) or type(error).__name__
        if "pickle" in detail or "Python objects" in detail:
            raise ValueError(
                f"{given} is not {what} of plain numbers: it is damaged, or holds pickled Python objects, which are "
                "never loaded because they can run code; save it again as a numeric array"
            ) from error
        raise ValueError(
            f"{given} cannot be read as {what} ({detail[:160]}); "
            "it may be damaged, cut short or of another kind: write it again"
        ) from error
