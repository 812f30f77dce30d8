"""Output folders and run records: the one module of the command line that writes them."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from manyviews import __version__
from manyviews.cli.console import ARGUMENTS, UsageError, user_input

if TYPE_CHECKING:
    from manyviews.io import LoadedViews

__all__ = [
    "RECORD",
    "STANDARD_OUTPUT",
    "STORE",
    "blas_kernels",
    "check_name",
    "check_open",
    "check_target",
    "content_of",
    "default_folder",
    "new_file",
    "new_folder",
    "open_folder",
    "peak_memory",
    "printed",
    "refuse_inputs",
    "repeat_command",
    "run_record",
    "save_record",
    "save_text",
]

STORE, RECORD = "runs.jsonl", "run.json"
STANDARD_OUTPUT = "-"
_LIBRARIES = ("numpy", "scipy", "scikit-learn")
# How every run.json begins, so that one that was cut short is still known as ours.
_START = '{\n  "manyviews": "'


def default_folder(prefix: str, name: str) -> str:
    """Return the output folder where none is given: the prefix and what the name of the data leaves of itself."""
    return f"{prefix}-" + (re.sub(r"[^\w.-]+", "-", name).strip("-.") or "output")[:80]


def printed(out: str | None) -> str | None:
    """Return the output file, None for standard output, which - stands for too, as for other programs."""
    return None if out == STANDARD_OUTPUT else out


def check_name(out: str) -> None:
    """Refuse what cannot be the name of an output folder: nothing, and - for standard output."""
    if not out:
        raise UsageError("the name of the output folder is empty; give one with --out")
    if out == STANDARD_OUTPUT:
        raise UsageError(
            "--out -: a folder of files is written, which cannot go to standard output; name the folder (./- for one "
            "of that name)"
        )


def check_target(out: str | None, *, force: bool) -> None:
    """Refuse an output folder that is in the way before any work is done; see ``new_folder``."""
    from manyviews.io.write import check_folder

    if out is not None:
        check_name(out)
        with user_input():
            check_folder(out, force=force)


def content_of(data: LoadedViews, weights: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Return by what fits on the same data are known: the checksum of the views, and what each counts, if said."""
    from manyviews.datasets import Dataset
    from manyviews.runs.outcomes import data_checksum

    content: dict[str, Any] = {"checksum": data_checksum(Dataset("data", data.views, None, (), "", ""))}
    return content | {"view_weights": dict(weights or {}) or None}


@contextmanager
def new_folder(out: str, *, force: bool) -> Iterator[Path]:
    """Give a hidden folder that takes the place of ``out`` at the end; see ``atomic_folder``."""
    from manyviews.io.write import OutputError, atomic_folder

    with user_input(OutputError), atomic_folder(out, force=force) as folder:
        yield folder


@contextmanager
def new_file(out: str | None, *, force: bool) -> Iterator[TextIO]:
    """Give a stream whose file takes the place of ``out`` at the end; standard output where no file is named."""
    from manyviews.io.write import OutputError, atomic_file

    if out is None:
        yield sys.stdout
        return
    with (
        user_input(OutputError),
        atomic_file(out, force=force) as path,
        path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as stream,
    ):
        yield stream


def refuse_inputs(out: str | None, paths: Iterable[str]) -> None:
    """Refuse an output that would replace an input: the file itself, or a folder that it lies in, links followed.

    Parameters
    ----------
    out : str or None
        File or folder that is to be written; None for standard output.
    paths : iterable of str
        What is read; names that are no paths are passed over.

    Raises
    ------
    UsageError
        If one of them would be replaced.
    """
    if out is None or not os.path.exists(out):
        return
    place = Path(os.path.realpath(out))
    for path in paths:
        real = Path(os.path.realpath(path))
        same = real.exists() and (real.samefile(place) or place in real.parents)
        if same:
            raise UsageError(f"--out {out} would replace {path}, which is an input; choose another place")


def open_folder(
    out: str,
    identity: Mapping[str, Any],
    outputs: Sequence[str],
    *,
    work: str,
    content: Mapping[str, Any] | None = None,
    force: bool,
) -> Path:
    """Make an output folder, or open that of an earlier start of the same work, which then goes on.

    Parameters
    ----------
    out : str
        The folder.
    identity : mapping of str to object
        What ``run.json`` has to say for the folder to be of this kind of work, such as command and paper.
    outputs : sequence of str
        Names of all files that the command writes; the folder may hold no others.
    work : str
        The work in words, for errors.
    content : mapping of str to object, default=None
        What ``run.json`` has to say further for the work to be the same, unless it starts anew.
    force : bool
        Start anew: remove what an earlier start left. Nothing is removed from a folder that is none of ours, or in
        which another process is at work.

    Returns
    -------
    Path
        The folder, with a ``run.json`` in it.

    Raises
    ------
    UsageError
        If something else is in the way, or the folder cannot be written to.
    """
    content = content or {}
    check_open(out, identity if force else {**identity, **content}, outputs, work=work)
    folder = Path(os.path.realpath(out))
    with user_input((OSError, ValueError)):
        folder.mkdir(parents=True, exist_ok=True)
        names = sorted(entry.name for entry in folder.iterdir())
        half = [name for name in names if _is_half_written(name, outputs)]
        if half or (names and force):
            _clear(folder, half + ([name for name in names if name != STORE] if force else []), store=force)
        if force or not names:
            save_record(folder, {"manyviews": __version__, **identity, **content, "finished": False})
    return folder


def check_open(out: str, identity: Mapping[str, Any], outputs: Sequence[str], *, work: str = "") -> None:
    """Raise UsageError where ``open_folder`` would find something else in the way; nothing is made or removed.

    ``work`` says what the folder should be the output of, by default the command.
    """
    check_name(out)
    folder = Path(os.path.realpath(out))
    with user_input(OSError):
        if not folder.exists():
            return
        if not folder.is_dir():
            raise UsageError(f"{out} exists and is a file; choose another folder with --out")
        names = sorted(entry.name for entry in folder.iterdir())
    foreign = [name for name in names if name not in outputs and not _is_half_written(name, outputs)]
    if names and not _is_of(folder, identity):
        raise UsageError(
            f"{out} exists and is not the output of {work or identity['command']}; choose another folder with --out"
        )
    if foreign:
        raise UsageError(f"{out} holds {foreign[0]}, which manyviews did not write; choose another folder")


def _is_half_written(name: str, outputs: Sequence[str]) -> bool:
    """Say whether a file is one that a killed process left under a hidden name."""
    found = re.fullmatch(r"\.(.+)\.[0-9a-f]{8}\.partial", name)
    return found is not None and found[1] in outputs


def _is_of(folder: Path, identity: Mapping[str, Any]) -> bool:
    """Say whether ``run.json`` is of this work; one that was cut short is, unless what is left says otherwise."""
    from manyviews.io.write import read_record

    record = read_record(folder)
    if record is not None:
        return all(record.get(key) == value for key, value in identity.items())
    try:
        text = (folder / RECORD).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    left = dict(re.findall(r'^  "(\w+)": "?([^"\n]*?)"?,$', text, flags=re.MULTILINE))
    begins = text.startswith(_START) or _START.startswith(text)
    return begins and all(left.get(key, str(value)) == str(value) for key, value in identity.items())


def _clear(folder: Path, names: Iterable[str], *, store: bool) -> None:
    """Remove files of ours, and empty the store, unless another process is writing to it."""
    from manyviews.runs.store import Store

    with Store(folder / STORE) as kept:
        if store:
            kept.clear()
        for name in dict.fromkeys(names):
            (folder / name).unlink()


def save_text(path: Path, text: str) -> None:
    """Write a file of an output folder: all of it, or the earlier one stays."""
    from manyviews.io.write import OutputError, atomic_file

    with user_input(OutputError), atomic_file(path, force=True) as hidden:
        hidden.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def save_record(folder: Path, record: Mapping[str, Any]) -> None:
    """Write ``run.json``."""
    from manyviews.io.write import OutputError, atomic_file, write_json

    with user_input(OutputError), atomic_file(folder / RECORD, force=True) as hidden:
        write_json(hidden, record)


def run_record(command: str, data: LoadedViews | None = None, *, repeat: str | None = None) -> dict[str, Any]:
    """Return what every ``run.json`` says first: program, command, time, libraries and what was read.

    Parameters
    ----------
    command : str
        Name of the command.
    data : LoadedViews, default=None
        What it was given, where that is one data set.
    repeat : str, default=None
        The command that does the same again; by default the one that was given.

    Returns
    -------
    dict
        ``manyviews`` comes first in it.
    """
    record: dict[str, Any] = {
        "manyviews": __version__,
        "command": command,
        "repeat": repeat or repeat_command(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version()} | {name: version(name) for name in _LIBRARIES},
        "blas": blas_kernels(),
    }
    if data is None:
        return record
    views = data.views
    shape = {"n_samples": len(views), "views": {name: array.shape[1] for name, array in views.items()}}
    return record | {"data": {"name": data.name, **shape, "notes": list(data.notes)}, "inputs": data.checksums}


def blas_kernels() -> list[str]:
    """Return the libraries of linear algebra with version and kernel, on which the last bits of a result depend."""
    from threadpoolctl import threadpool_info

    found = (info for info in threadpool_info() if info["user_api"] == "blas")
    words = ((info["internal_api"], info.get("version"), info.get("architecture")) for info in found)
    return sorted({" ".join(filter(None, parts)) for parts in words})


def repeat_command(pinned: Mapping[str, str] | None = None, *, force: bool = False) -> str:
    """Return the command that was given, with options that it leaves to defaults, which may change some day."""
    given = list(ARGUMENTS.get())
    for option, value in (pinned or {}).items():
        if not any(word == option or word.startswith(f"{option}=") for word in given):
            given += [option, value]
    given += ["--force"] if force and "--force" not in given else []
    return shlex.join(["manyviews", *given])


def peak_memory() -> int | None:
    """Return the most memory that the process has held so far, in bytes; None where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        # Not getrusage, whose peak a process inherits from the one that started it.
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return 1024 * int(status.partition("VmHWM:")[2].split()[0])
    with contextlib.suppress(ImportError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else 1024 * peak
    return None
