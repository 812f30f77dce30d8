"""Pages made from what ``methods.toml`` says of each method: the reference and the table of the user guide."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import manyviews
from manyviews.cluster.registry import METHODS, MethodInfo

__all__ = ["write"]

ROOMS = {
    "consensus": "Consensus of everything",
    "anchors": "Anchor graphs",
    "late_fusion": "Late fusion",
    "multiple_kernel": "Multiple kernels",
    "ensemble": "Ensembles of partitions",
    "kmeans": "k-means over several views",
    "spectral": "Spectral clustering",
    "factorization": "Common directions and factors",
}
OTHERS = ("Views", "PerView", "ViewImputer")


def write(folder: Path) -> None:
    """Write the pages into the folder of the documentation.

    Parameters
    ----------
    folder : Path
        Where ``conf.py`` is.
    """
    reference = folder / "api"
    reference.mkdir(exist_ok=True)
    (reference / "methods.rst").write_text(_reference(), encoding="utf-8")
    (folder / "guide" / "table.inc").write_text(_table(), encoding="utf-8")


def _room(row: MethodInfo) -> str:
    return row.module.removeprefix("manyviews.cluster.").split(".")[0]


def _by_room() -> list[tuple[str, list[MethodInfo]]]:
    order = list(ROOMS)
    rows = sorted(METHODS, key=lambda row: (order.index(_room(row)), row.class_name.lower()))
    return [(room, list(members)) for room, members in groupby(rows, key=_room)]


def _reference() -> str:
    lines = ["Methods", "=======", "", ".. currentmodule:: manyviews", ""]
    for room, rows in _by_room():
        lines += [ROOMS[room], "-" * len(ROOMS[room]), ""]
        lines += [".. autosummary::", "   :toctree: generated", ""]
        lines += [f"   {row.class_name}" for row in rows] + [""]
    lines += ["Views and what is done to them", "-" * 30, "", ".. autosummary::", "   :toctree: generated", ""]
    return "\n".join(lines + [f"   {name}" for name in OTHERS if name in manyviews.__all__] + [""])


def _table() -> str:
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 16 44 8 8 24", ""]
    lines += ["   * - method", "     - what it is", "     - missing views", "     - new samples", "     - paper"]
    for _, rows in _by_room():
        for row in rows:
            paper = f"`{row.year} <https://doi.org/{row.doi}>`__" if row.doi else str(row.year)
            lines += [f"   * - :class:`~manyviews.{row.class_name}`", f"     - {row.title}"]
            lines += [f"     - {'yes' if row.missing else ''}", f"     - {'yes' if row.predicts else ''}"]
            lines += [f"     - {paper}"]
    return "\n".join([*lines, ""])
