"""Write what follows from cluster/methods.toml: the stub files of the public names and the table in the README.

``python scripts/make_stub.py`` writes; with ``--check`` the exit code only says whether all is as it would be written.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "manyviews"
BEGIN, END = "<!-- methods: begin -->", "<!-- methods: end -->"
HEAD = '''"""{} Made by scripts/make_stub.py: do not edit."""

'''

sys.path.insert(0, str(PACKAGE.parent))  # the names of this checkout, installed or not

import manyviews  # noqa: E402
from manyviews.cluster.registry import METHODS, MethodInfo  # noqa: E402


def public_stub() -> str:
    """Return the stub of the package: every public name, from where it is defined, so that its signature is seen."""
    homes = {name: f"manyviews.{home}" for name, home in manyviews._HOMES.items()}
    homes |= {row.class_name: row.module for row in METHODS}
    # the package can be called; to a type checker it is the function that then runs
    modules = [name for name in manyviews._SUBMODULES if name != "report"]
    lines = [f"from manyviews import {name} as {name}" for name in modules]
    lines += [f"from {home} import {name} as {name}" for name, home in homes.items()]
    lines += ["from manyviews.report.notebook import report as report"]
    names = "".join(f'    "{name}",\n' for name in manyviews.__all__)
    return (
        HEAD.format("The public names.")
        + _sorted(lines)
        + f"\n__all__ = [  # noqa: RUF022 (in the order of __init__.py)\n{names}]\n\n__version__: str\n"
    )


def cluster_stub() -> str:
    """Return the stub of ``manyviews.cluster``."""
    lines = [f"from {row.module} import {row.class_name} as {row.class_name}" for row in METHODS]
    return HEAD.format("The methods.") + _sorted(lines)


def _sorted(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in sorted(lines, key=lambda line: (line.split()[1], line)))


def readme_with_table() -> str:
    """Return the README with its table of methods as it follows from the registry."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    rows = ["| name | class | what it does | | paper |", "|---|---|---|---|---|", *map(_row, METHODS)]
    return before + BEGIN + "\n\n" + "\n".join(rows) + "\n\n" + END + after


def _row(row: MethodInfo) -> str:
    facts = (("▪", not row.sparse), ("○", row.missing), ("→", row.predicts))
    marks = "".join(f"{sign} " for sign, holds in facts if holds)
    summary = f"{row.summary}; the default" if row.default else row.summary
    return f"| `{row.name}` | `{row.class_name}` | {summary} | {marks}| {row.cite} |"


def main() -> int:
    """Write the files, or compare them; return the exit code."""
    parser = argparse.ArgumentParser(description="Write the stub files and the README's table of methods.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where a file would change")
    check = parser.parse_args().check
    wanted = {
        PACKAGE / "__init__.pyi": public_stub(),
        PACKAGE / "cluster" / "__init__.pyi": cluster_stub(),
        ROOT / "README.md": readme_with_table(),
    }
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)} {'differs: run scripts/make_stub.py' if check else 'written'}")
        if not check:
            path.write_text(wanted[path], encoding="utf-8", newline="\n")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
