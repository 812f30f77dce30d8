"""Multi-view clustering: group things by all their views together.

Every public name is loaded on first use, so that ``import manyviews`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "AverageKKM": "cluster.avg_kkm",
    "BestSingleView": "cluster.best_single_view",
    "CCAClustering": "cluster.cca_clustering",
    "ConcatKMeans": "cluster.concat_kmeans",
    "ConcatSpectral": "cluster.concat_spectral",
    "FastMICE": "cluster.fastmice",
    "KCC": "cluster.kcc",
    "LFMVC": "cluster.lf_mvc",
    "MSPL": "cluster.mspl",
    "MVEC": "cluster.mvec",
    "OPLFMVC": "cluster.op_lfmvc",
    "PerView": "preprocessing",
    "RMKMC": "cluster.rmkmc",
    "RSEC": "cluster.rsec",
    "SEC": "cluster.sec",
    "SumSpectral": "cluster.sum_spectral",
    "TPLFMVC": "cluster.tp_lfmvc",
    "UDBGL": "cluster.udbgl",
    "USENC": "cluster.usenc",
    "USPEC": "cluster.uspec",
    "ViewImputer": "preprocessing",
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
