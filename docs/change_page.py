"""The changelog as a page: what is released, and the fragments that wait for a release."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["write"]

KINDS = {"added": "Added", "changed": "Changed", "fixed": "Fixed"}


def write(folder: Path) -> None:
    """Write the page into the folder of the documentation.

    Parameters
    ----------
    folder : Path
        Where ``conf.py`` is.
    """
    root = folder.parent
    lines = ["Changelog", "=========", ""]
    waiting = {kind: sorted((root / "changes").glob(f"*.{kind}.md")) for kind in KINDS}
    if any(waiting.values()):
        lines += ["Not yet released", "----------------", ""]
    for kind, paths in waiting.items():
        lines += [KINDS[kind], "~" * len(KINDS[kind]), ""] if paths else []
        lines += [_item(path.read_text(encoding="utf-8")) for path in paths]
    released = (
        (root / "CHANGELOG.md").read_text(encoding="utf-8").partition("<!-- towncrier release notes start -->")[2]
    )
    (folder / "changelog.rst").write_text("\n".join([*lines, _released(released), ""]), encoding="utf-8")


def _item(text: str) -> str:
    return "- " + _rst(" ".join(text.split())) + "\n"


def _rst(text: str) -> str:
    """Return Markdown's marks of code as those of reStructuredText."""
    return re.sub(r"`+([^`]+)`+", r"``\1``", text.replace("\\", "\\\\"))


def _released(text: str) -> str:
    """Return the releases: titles of second level for versions, of third for kinds, and their items."""
    out = []
    for line in text.splitlines():
        level = len(line) - len(line.lstrip("#"))
        title = _rst(line.lstrip("# ").strip())
        out += ["", title, ("-" if level == 2 else "~") * len(title), ""] if level in (2, 3) else [_rst(line)]
    return "\n".join(out)
