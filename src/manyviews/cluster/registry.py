"""One row per method, read from methods.toml as plain data: no method is imported before it is asked for."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.resources import files
from typing import Any

__all__ = ["DEFAULT_METHOD", "METHODS", "MethodInfo", "find_method"]


@dataclass(frozen=True)
class MethodInfo:
    """Facts about a method.

    Attributes
    ----------
    name : str
        Name on the command line.
    class_name, module : str
        Where the estimator lives.
    title : str
        Full title.
    summary : str
        What it does, in a few words.
    family : str
        Kind of method.
    cost : str
        Time in n samples, m views, k clusters.
    sparse, missing, predicts : bool
        Whether it takes CSR views, takes samples not observed in some view, labels new samples.
    base_inputs : tuple of str
        What a view may be: "features", a "kernel", the "distance" between samples, an "embedding" (eigenvectors of a
        kernel), or "labels" (of many clusterings).
    paper, doi : str
        Source; doi is empty where the paper has none.
    year : int
        Year of the paper.
    cite : str
        The source in short.
    main : bool
        Whether ``compare`` fits it where no methods are named.
    default : bool
        Whether it is the one that is taken where no method is named.
    """

    name: str
    class_name: str
    module: str
    title: str
    summary: str
    family: str
    cost: str
    sparse: bool
    missing: bool
    predicts: bool
    base_inputs: tuple[str, ...]
    paper: str
    doi: str
    year: int
    cite: str
    main: bool = False
    default: bool = False

    def load(self) -> Any:
        """Return the estimator class."""
        return getattr(import_module(self.module), self.class_name)


def _methods() -> tuple[MethodInfo, ...]:
    table = tomllib.loads(files("manyviews.cluster").joinpath("methods.toml").read_text(encoding="utf-8"))
    rows = []
    for entry in table["method"]:
        fixed = {"module": f"manyviews.cluster.{entry['module']}", "base_inputs": tuple(entry["base_inputs"])}
        rows.append(MethodInfo(**(entry | fixed)))
    return tuple(rows)


METHODS: tuple[MethodInfo, ...] = _methods()
DEFAULT_METHOD: str = next(row.name for row in METHODS if row.default)


def find_method(name: str) -> MethodInfo:
    """Return the row of a method by its command-line or class name.

    Parameters
    ----------
    name : str
        Case, hyphens and underscores do not matter.

    Returns
    -------
    MethodInfo
        The row.

    Raises
    ------
    ValueError
        If there is no such method; names the close or all ones.
    """
    rows = {_plain(key): row for row in METHODS for key in (row.name, row.class_name)}
    found = rows.get(_plain(name))
    if found is None:
        close = get_close_matches(_plain(name), rows, n=1)
        hint = f"did you mean {rows[close[0]].name!r}? " if close else ""
        raise ValueError(f"there is no method {name!r}; {hint}the methods are {', '.join(row.name for row in METHODS)}")
    return found


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
