"""Multi-view clustering: group things by all their views together.

Every public name is loaded on first use, so that ``import manyviews`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "AverageKKM": "cluster.avg_kkm",
    "FastMICE": "cluster.fastmice",
    "LFMVC": "cluster.lf_mvc",
    "OPLFMVC": "cluster.op_lfmvc",
    "PerView": "preprocessing",
    "TPLFMVC": "cluster.tp_lfmvc",
    "USENC": "cluster.usenc",
    "USPEC": "cluster.uspec",
    "Views": "views",
}
_SUBMODULES = ("cluster", "datasets", "metrics", "report")

__all__ = ["__version__", *sorted(_HOMES), *_SUBMODULES]  # noqa: PLE0604 (names that load lazily)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"manyviews.{_HOMES[name]}"), name)
    if name in _SUBMODULES:
        return import_module(f"manyviews.{name}")
    raise AttributeError(f"module 'manyviews' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
