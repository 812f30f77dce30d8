"""Results to files, all or nothing: written under a hidden name and renamed into place."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from manyviews.io.hidden import hidden_name, made_and_held, new_empty, remove_half_written

__all__ = [
    "OUTPUTS",
    "OutputError",
    "atomic_file",
    "atomic_folder",
    "check_file",
    "check_folder",
    "model_folder",
    "read_record",
    "to_plain",
    "write_json",
]

LABELS, RECORD, REPORT, MODEL = "labels.csv", "run.json", "report.html", "model"
TABLE, RUNS = "methods.csv", "runs.jsonl"
OUTPUTS = (LABELS, RECORD, REPORT, MODEL, TABLE, RUNS)
MODEL_FILES = ("model.json", "model.skops", "imputer.skops")
# what a kill leaves in a hidden folder besides
_MODEL_PARTS = ("model.part", "imputer.part")


class OutputError(ValueError):
    """The place that the results were to go to cannot be used."""


@contextmanager
def atomic_folder(target: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Give a hidden folder to write into, which takes the place of ``target`` at the end.

    Parameters
    ----------
    target : str or path-like
        The folder to make. Parent folders are made too.
    force : bool, default=False
        Replace an existing folder, if it is the output of an earlier run and holds nothing else.

    Yields
    ------
    Path
        A folder beside the target. It is removed where the body fails; a killed process leaves at most this hidden
        folder, never one under the final name, and the next start for the same place removes it.

    Raises
    ------
    OutputError
        If the target exists and may not be replaced, or its parent cannot be written to.
    """
    with _new_folder(os.fspath(target), partial(check_folder, force=force)) as temporary:
        yield temporary


@contextmanager
def model_folder(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a hidden folder to write a model into, which gets the name ``target`` at the end; see ``atomic_folder``.

    Raises
    ------
    FileExistsError
        If the target exists.
    OutputError
        If its parent cannot be written to.
    """
    with _new_folder(os.fspath(target), _check_new) as temporary:
        yield temporary


@contextmanager
def _new_folder(given: str, check: Callable[[str], None]) -> Iterator[Path]:
    check(given)
    final = Path(os.path.realpath(given))
    made = _make_parents(final.parent, given)
    temporary, refuse = hidden_name(final, "partial"), partial(_refusal, given)
    try:
        with made_and_held(temporary, Path.mkdir, refuse):
            with _space_told(given):
                yield temporary
                _sync(temporary)
            check(given)
            _put_in_place(temporary, final)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        _remove_empty(made)
        raise


def _check_new(given: str) -> None:
    if not given:
        raise OutputError("the name of the model folder is empty; give one")
    final = Path(os.path.realpath(given))
    remove_half_written(final, _remove_ours)
    if _exists(final, given):
        raise FileExistsError(f"{given} is there already; give the name of a new folder, or remove it")


@contextmanager
def atomic_file(target: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Give a hidden file name to write to, which takes the place of ``target`` at the end.

    Parameters
    ----------
    target : str or path-like
        The file to make.
    force : bool, default=False
        Replace an existing file.

    Yields
    ------
    Path
        An empty file beside the target.

    Raises
    ------
    OutputError
        If the target is a folder, exists without ``force``, or its folder cannot be written to.
    """
    given, final = os.fspath(target), Path(os.path.realpath(target))
    check_file(given, force=force)
    made = _make_parents(final.parent, given)
    temporary, refuse = hidden_name(final, "partial"), partial(_refusal, given)
    try:
        with made_and_held(temporary, new_empty, refuse):
            with _space_told(given):
                yield temporary
                _sync(temporary)
            check_file(given, force=force)
            os.replace(temporary, final)
            _sync_entry(final.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        _remove_empty(made)
        raise


@contextmanager
def _space_told(given: str) -> Iterator[None]:
    """Name the place where a disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise OutputError(f"{given} cannot be written: no space left; free some or choose another place") from error
        raise


def check_file(target: str | os.PathLike[str], *, force: bool = False) -> None:
    """Raise OutputError where something is in the way of an output file.

    Parameters
    ----------
    target : str or path-like
        The file; links are followed.
    force : bool, default=False
        Let a regular file be replaced. A folder, device or pipe never is.
    """
    given, final = os.fspath(target), Path(os.path.realpath(target))
    remove_half_written(final, _remove_ours)
    if final.is_dir():
        raise OutputError(f"{given} is a folder; give the path of a file")
    if not _exists(final, given):
        return
    if not final.is_file():
        raise OutputError(f"{given} is no regular file, so it is not replaced; choose another name")
    if not force:
        raise OutputError(f"{given} exists already; choose another name or give --force to replace it")


def read_record(folder: str | os.PathLike[str]) -> dict[str, Any] | None:
    """Return the run record of an output folder, or None where the folder is none of ours."""
    try:
        record = json.loads(Path(folder, RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and "manyviews" in record else None


def check_folder(target: str | os.PathLike[str], *, force: bool = False) -> None:
    """Raise OutputError where something is in the way of an output folder; see ``atomic_folder``."""
    given, final = os.fspath(target), Path(os.path.realpath(target))
    if not given:
        raise OutputError("the name of the output folder is empty; give one with --out")
    _put_back(final)
    remove_half_written(final, _remove_ours)
    if not _exists(final, given):
        return
    if not final.is_dir():
        raise OutputError(f"{given} exists and is a file; choose another folder")
    if not force:
        raise OutputError(f"{given} exists already; choose another folder or give --force to replace it")
    entries = sorted(entry.name for entry in final.iterdir())
    if entries and read_record(final) is None:
        raise OutputError(f"{given} is not an output folder of manyviews (no run.json of ours), so it is not replaced")
    foreign = [name for name in entries if name not in OUTPUTS] + _foreign_in_model(final)
    if foreign:
        raise OutputError(
            f"{given} holds files that manyviews did not write ({', '.join(foreign[:3])}), so it is not replaced; "
            "move them or choose another folder"
        )


def _foreign_in_model(folder: Path) -> list[str]:
    model = folder / MODEL
    inside = sorted(model.iterdir()) if model.is_dir() and not model.is_symlink() else []
    return [f"{MODEL}/{entry.name}" for entry in inside if entry.name not in MODEL_FILES or entry.is_dir()]


def _put_back(final: Path) -> None:
    """Undo what a kill between two renames left: an output that was moved aside, and no other in its place."""
    pattern = re.compile(rf"\.{re.escape(final.name[:100])}\.[0-9a-f]{{8}}\.old")
    with suppress(OSError):
        aside = [entry for entry in final.parent.iterdir() if pattern.fullmatch(entry.name)]
        if aside and not os.path.lexists(final):
            newest = max(aside, key=lambda entry: entry.stat().st_mtime)
            os.rename(newest, final)
            aside.remove(newest)
        for entry in aside:
            _remove_ours(entry)


def _remove_ours(folder: Path) -> None:
    """Remove an output or model folder, half-written or whole: what manyviews writes, and folders with nothing else."""
    names = [*(name for name in OUTPUTS if name != MODEL), *MODEL_FILES, *_MODEL_PARTS]
    remove_half_written(folder / MODEL, _remove_ours)
    for place in (folder / MODEL, folder):
        if place.is_symlink():  # what it leads to is not ours
            with suppress(OSError):
                place.unlink()
            continue
        for name in names:
            remove_half_written(place / name, _remove_ours)
            with suppress(OSError):
                (place / name).unlink()
        with suppress(OSError):
            place.rmdir()


def _exists(final: Path, given: str) -> bool:
    try:
        os.lstat(final)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:  # a name too long, a folder that may not be searched
        raise OutputError(_not_writable(given, error)) from error
    return True


def _make_parents(parent: Path, given: str) -> list[Path]:
    """Make the parent folders; return those that were made, deepest first."""
    if parent.exists() and not parent.is_dir():
        raise OutputError(f"{given} cannot be written: {parent.name} is a file, not a folder; choose another place")
    lacking = [folder for folder in (parent, *parent.parents) if not folder.exists()]
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _remove_empty(lacking)
        raise OutputError(_not_writable(given, error)) from error
    return lacking


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _refusal(given: str, error: OSError) -> OutputError:
    return OutputError(_not_writable(given, error))


def _not_writable(given: str, error: OSError) -> str:
    return f"{given} cannot be written ({error.strerror or error}); choose another place"


def _put_in_place(temporary: Path, final: Path) -> None:
    """Rename into place; an older output is moved aside first and removed last."""
    if not final.exists():
        os.rename(temporary, final)
        _sync_entry(final.parent)
        return
    aside = hidden_name(final, "old")
    os.rename(final, aside)
    try:
        os.rename(temporary, final)
    except BaseException:
        with suppress(OSError):  # another start may have put it back
            os.rename(aside, final)
        raise
    _sync_entry(final.parent)
    _remove_ours(aside)


def _sync(path: Path) -> None:
    """Bring a file, or all files of a folder, to the disk before the rename makes them visible."""
    if path.is_dir():
        for entry in path.iterdir():
            _sync(entry)
        _sync_entry(path)
    else:
        with path.open("rb+") as stream:
            os.fsync(stream.fileno())


def _sync_entry(folder: Path) -> None:
    # Not every system lets a folder be opened or synced; the rename is atomic all the same.
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
    finally:
        os.close(descriptor)


def write_json(path: str | os.PathLike[str], value: Mapping[str, Any]) -> None:
    """Write a mapping as indented JSON; see ``to_plain`` for what becomes of arrays and NaN."""
    text = json.dumps(to_plain(value), indent=2, ensure_ascii=False, allow_nan=False)
    Path(path).write_text(text + "\n", encoding="utf-8")


def to_plain(value: Any) -> Any:
    """Return a value as JSON knows it: arrays as lists, NaN and infinity as null, anything unknown as its text."""
    if isinstance(value, Mapping):
        return {to_plain(str(key)): to_plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    if isinstance(value, list | tuple | set):
        return [to_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    # Paths may hold bytes that are no text; these come as lone surrogates, which UTF-8 has no place for.
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")
