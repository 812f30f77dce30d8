"""One row per method: it drives the command line, the common tests and the documentation."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

__all__ = ["METHODS", "MethodInfo", "find_method"]


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
    family : str
        Kind of method.
    cost : str
        Time in n samples, m views, k clusters.
    sparse, missing, predicts : bool
        Whether it takes CSR views, takes samples not observed in some view, labels new samples.
    base_inputs : tuple of str
        What a view may be: features, a kernel, a partition.
    paper, doi : str
        Source; doi is empty where the paper has none.
    year : int
        Year of the paper.
    """

    name: str
    class_name: str
    module: str
    title: str
    family: str
    cost: str
    sparse: bool
    missing: bool
    predicts: bool
    base_inputs: tuple[str, ...]
    paper: str
    doi: str
    year: int

    def load(self) -> Any:
        """Return the estimator class."""
        return getattr(import_module(self.module), self.class_name)


_LATE_FUSION = {
    "family": "late fusion",
    "sparse": True,
    "missing": False,
    "predicts": True,
    "base_inputs": ("features", "kernel", "partition"),
}

_ANCHOR_ENSEMBLE = {
    "family": "anchor ensemble",
    "sparse": True,
    "missing": True,
    "predicts": True,
    "base_inputs": ("features",),
}

METHODS: tuple[MethodInfo, ...] = (
    MethodInfo(
        name="fastmice",
        class_name="FastMICE",
        module="manyviews.cluster.fastmice",
        title="Fast multi-view clustering via ensembles",
        cost="n M p d (M base clusterings, p anchors, d columns per group): linear in n",
        paper="Huang, Wang and Lai, Fast Multi-view Clustering via Ensembles: Towards Scalability, Superiority, and "
        "Simplicity, IEEE TKDE 35(11), 2023, 11388-11402",
        doi="10.1109/TKDE.2023.3236698",
        year=2023,
        **_ANCHOR_ENSEMBLE,  # type: ignore[arg-type]
    ),
    MethodInfo(
        name="op-lfmvc",
        class_name="OPLFMVC",
        module="manyviews.cluster.op_lfmvc",
        title="One-pass late fusion multi-view clustering",
        cost="n² m (exact) or n s² m (s landmarks) for the partitions, then n m k² per iteration",
        paper="Liu et al., One Pass Late Fusion Multi-view Clustering, ICML 2021, PMLR 139:6850-6859",
        doi="",
        year=2021,
        **_LATE_FUSION,  # type: ignore[arg-type]
    ),
    MethodInfo(
        name="tp-lfmvc",
        class_name="TPLFMVC",
        module="manyviews.cluster.tp_lfmvc",
        title="Two-pass late fusion multi-view clustering",
        cost="n² m (exact) or n s² m (s landmarks) for the partitions, then free of n",
        paper="Liu et al., One Pass Late Fusion Multi-view Clustering (section 5.2), ICML 2021, PMLR 139:6850-6859",
        doi="",
        year=2021,
        **_LATE_FUSION,  # type: ignore[arg-type]
    ),
    MethodInfo(
        name="lf-mvc",
        class_name="LFMVC",
        module="manyviews.cluster.lf_mvc",
        title="Multi-view clustering via late fusion alignment maximization",
        cost="n² m (exact) or n s² m (s landmarks) for the partitions, then free of n",
        paper="Wang et al., Multi-view Clustering via Late Fusion Alignment Maximization, IJCAI 2019, 3778-3784",
        doi="10.24963/ijcai.2019/524",
        year=2019,
        **_LATE_FUSION,  # type: ignore[arg-type]
    ),
    MethodInfo(
        name="average-kkm",
        class_name="AverageKKM",
        module="manyviews.cluster.avg_kkm",
        title="Average kernel k-means",
        cost="n² m (exact) or n (s m)² (s landmarks)",
        paper="Schölkopf, Smola and Müller, Nonlinear Component Analysis as a Kernel Eigenvalue Problem, "
        "Neural Computation 10(5), 1998, 1299-1319 (the relaxation, on the average kernel)",
        doi="10.1162/089976698300017467",
        year=1998,
        **(_LATE_FUSION | {"family": "multiple kernel", "base_inputs": ("features", "kernel")}),  # type: ignore[arg-type]
    ),
    MethodInfo(
        name="u-spec",
        class_name="USPEC",
        module="manyviews.cluster.uspec",
        title="Ultra-scalable spectral clustering, on the views side by side",
        cost="n p d (p anchors, d columns in all): linear in n",
        paper="Huang et al., Ultra-Scalable Spectral Clustering and Ensemble Clustering, IEEE TKDE 32(6), 2020, "
        "1212-1226",
        doi="10.1109/TKDE.2019.2903410",
        year=2020,
        **(_ANCHOR_ENSEMBLE | {"family": "single view", "missing": False}),  # type: ignore[arg-type]
    ),
    MethodInfo(
        name="u-senc",
        class_name="USENC",
        module="manyviews.cluster.usenc",
        title="Ultra-scalable ensemble clustering, on the views side by side",
        cost="n M p d (M base clusterings, p anchors, d columns in all): linear in n",
        paper="Huang et al., Ultra-Scalable Spectral Clustering and Ensemble Clustering, IEEE TKDE 32(6), 2020, "
        "1212-1226",
        doi="10.1109/TKDE.2019.2903410",
        year=2020,
        **(_ANCHOR_ENSEMBLE | {"family": "single view", "missing": False}),  # type: ignore[arg-type]
    ),
)


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
