"""An output folder that a later start goes on with."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from manyviews.cli.console import UsageError, user_input

__all__ = ["RECORD", "STORE", "open_folder", "write_text"]

STORE, RECORD = "runs.jsonl", "run.json"


def open_folder(out: str, identity: Mapping[str, str], outputs: Sequence[str], *, force: bool) -> Path:
    """Make an output folder, or open that of an earlier start of the same work.

    Parameters
    ----------
    out : str
        The folder.
    identity : mapping of str to str
        What ``run.json`` has to say for the folder to be of the same work, such as command and paper.
    outputs : sequence of str
        Names of all files that the command writes; the folder may hold no others.
    force : bool
        Start anew: remove what an earlier start left. Nothing is removed from a folder that is none of ours.

    Returns
    -------
    Path
        The folder, with a ``run.json`` in it.

    Raises
    ------
    UsageError
        If something else is in the way, or the folder cannot be written to.
    """
    from manyviews import __version__
    from manyviews.io.write import read_record, write_json

    if not out:
        raise UsageError("the name of the output folder is empty; give one with --out")
    folder = Path(os.path.realpath(out))
    with user_input(OSError):
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{out} exists and is a file; choose another folder with --out")
        folder.mkdir(parents=True, exist_ok=True)
        names = sorted(entry.name for entry in folder.iterdir())
    if names:
        record = read_record(folder) or {}
        if any(record.get(key) != value for key, value in identity.items()):
            work = " ".join(identity.values())
            raise UsageError(f"{out} exists and is not the output of {work}; choose another folder with --out")
        foreign = [name for name in names if name not in outputs]
        if foreign:
            raise UsageError(f"{out} holds {foreign[0]}, which manyviews did not write; choose another folder")
    with user_input(OSError):
        for name in names if force else ():
            (folder / name).unlink()
        if force or not names:
            write_json(folder / RECORD, {"manyviews": __version__, **identity, "finished": False})
    return folder


def write_text(path: Path, text: str) -> None:
    """Write a file of the folder: all of it, or the earlier one stays."""
    from manyviews.io.write import atomic_file

    with atomic_file(path, force=True) as hidden:
        hidden.write_text(text, encoding="utf-8", newline="\n")
