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
_ENSEMBLE = {
    "family": "ensemble consensus",
    "sparse": True,
    "missing": True,
    "predicts": True,
    "base_inputs": ("features", "partition"),
}

METHODS: tuple[MethodInfo, ...] = (
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
        name="mvec",
        class_name="MVEC",
        module="manyviews.cluster.mvec",
        title="Multi-view ensemble clustering",
        cost="m r n^1.5 d for the partitions, then n² (m r + rank) per iteration and n² memory",
        paper="Tao et al., From Ensemble Clustering to Multi-View Clustering, IJCAI 2017, 2843-2849",
        doi="10.24963/ijcai.2017/396",
        year=2017,
        **_ENSEMBLE,  # type: ignore[arg-type]
    ),
    MethodInfo(
        name="kcc",
        class_name="KCC",
        module="manyviews.cluster.kcc",
        title="K-means-based consensus clustering",
        cost="m r n^1.5 d for the partitions, then n m r k per iteration",
        paper="Wu et al., K-means-based Consensus Clustering: A Unified View, TKDE 27(1), 2015, 155-169",
        doi="10.1109/TKDE.2014.2316512",
        year=2015,
        **_ENSEMBLE,  # type: ignore[arg-type]
    ),
    MethodInfo(
        name="sec",
        class_name="SEC",
        module="manyviews.cluster.sec",
        title="Spectral ensemble clustering",
        cost="m r n^1.5 d for the partitions, then n m r k per iteration",
        paper="Liu et al., Spectral Ensemble Clustering via Weighted K-Means, TKDE 29(5), 2017, 1129-1143",
        doi="10.1109/TKDE.2017.2650229",
        year=2017,
        **_ENSEMBLE,  # type: ignore[arg-type]
    ),
    MethodInfo(
        name="rsec",
        class_name="RSEC",
        module="manyviews.cluster.rsec",
        title="Robust spectral ensemble clustering",
        cost="m r n^1.5 d for the partitions, then n³ per iteration and n² memory",
        paper="Tao et al., Robust Spectral Ensemble Clustering, CIKM 2016, 367-376",
        doi="10.1145/2983323.2983745",
        year=2016,
        **_ENSEMBLE,  # type: ignore[arg-type]
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
