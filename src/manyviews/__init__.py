"""Multi-view clustering: group things by all their views together.

Every public name is loaded on first use, so that ``import manyviews`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "AverageKKM": "cluster.multiple_kernel.average_kkm",
    "BestSingleView": "cluster.kmeans.best_single_view",
    "CCAClustering": "cluster.factorization.cca_clustering",
    "ConcatKMeans": "cluster.kmeans.concat_kmeans",
    "ConcatSpectral": "cluster.spectral.concat_spectral",
    "FastMICE": "cluster.anchors.fastmice",
    "KCC": "cluster.ensemble.kcc",
    "LFMVC": "cluster.late_fusion.lf_mvc",
    "LKAM": "cluster.multiple_kernel.lkam",
    "LMKKM": "cluster.multiple_kernel.lmkkm",
    "MKKM": "cluster.multiple_kernel.mkkm",
    "MKKMMM": "cluster.multiple_kernel.mkkm_mm",
    "MKKMMiR": "cluster.multiple_kernel.mkkm_mir",
    "MSPL": "cluster.kmeans.mspl",
    "MVEC": "cluster.ensemble.mvec",
    "ONKC": "cluster.multiple_kernel.onkc",
    "OPLFMVC": "cluster.late_fusion.op_lfmvc",
    "PerView": "views.per_view",
    "RMKMC": "cluster.kmeans.rmkmc",
    "RSEC": "cluster.ensemble.rsec",
    "SEC": "cluster.ensemble.sec",
    "SimpleMKKM": "cluster.multiple_kernel.smkkm",
    "SumSpectral": "cluster.spectral.sum_spectral",
    "TPLFMVC": "cluster.late_fusion.tp_lfmvc",
    "UDBGL": "cluster.anchors.udbgl",
    "USENC": "cluster.anchors.usenc",
    "USPEC": "cluster.anchors.uspec",
    "ViewImputer": "views.impute",
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
