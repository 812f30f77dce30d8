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

_CENTROIDS = {
    "family": "k-means",
    "sparse": True,
    "missing": True,
    "predicts": True,
    "base_inputs": ("features",),
}

_SPECTRAL = _CENTROIDS | {"family": "spectral", "missing": False, "predicts": False}

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
        name="udbgl",
        class_name="UDBGL",
        module="manyviews.cluster.udbgl",
        title="Unified and discrete bipartite graph learning",
        family="anchor graph",
        cost="n a (d + m a) per iteration with a anchors (a = k) and d columns in all: linear in n",
        sparse=True,
        missing=False,
        predicts=True,
        base_inputs=("features",),
        paper="Fang et al., Efficient Multi-view Clustering via Unified and Discrete Bipartite Graph Learning, "
        "IEEE TNNLS, 2023",
        doi="10.1109/TNNLS.2023.3261460",
        year=2023,
    ),
    MethodInfo(
        name="mspl",
        class_name="MSPL",
        module="manyviews.cluster.mspl",
        title="Multi-view self-paced learning for clustering",
        cost="n k Σd per sweep, about 30 sweeps per start",
        paper="Xu, Tao and Xu, Multi-view Self-Paced Learning for Clustering, IJCAI 2015, 3974-3980",
        doi="",
        year=2015,
        **_CENTROIDS,  # type: ignore[arg-type]
    ),
    MethodInfo(
        name="rmkmc",
        class_name="RMKMC",
        module="manyviews.cluster.rmkmc",
        title="Robust multi-view k-means",
        cost="n k Σd per iteration",
        paper="Cai, Nie and Huang, Multi-View K-Means Clustering on Big Data, IJCAI 2013, 2598-2604",
        doi="",
        year=2013,
        **_CENTROIDS,  # type: ignore[arg-type]
    ),
    MethodInfo(
        name="concat-kmeans",
        class_name="ConcatKMeans",
        module="manyviews.cluster.concat_kmeans",
        title="k-means on the concatenated views",
        cost="n k Σd per iteration",
        paper="Lloyd, Least squares quantization in PCM, IEEE Transactions on Information Theory 28(2), 1982, 129-137",
        doi="10.1109/TIT.1982.1056489",
        year=1982,
        **(_CENTROIDS | {"missing": False}),  # type: ignore[arg-type]
    ),
    MethodInfo(
        name="best-single-view",
        class_name="BestSingleView",
        module="manyviews.cluster.best_single_view",
        title="k-means on the best single view, chosen without labels",
        cost="n k Σd per iteration",
        paper="Lange, Roth, Braun and Buhmann, Stability-Based Validation of Clustering Solutions, "
        "Neural Computation 16(6), 2004, 1299-1323 (the choice of the view)",
        doi="10.1162/089976604773717621",
        year=2004,
        **(_CENTROIDS | {"missing": False}),  # type: ignore[arg-type]
    ),
    MethodInfo(
        name="concat-spectral",
        class_name="ConcatSpectral",
        module="manyviews.cluster.concat_spectral",
        title="Spectral clustering of the concatenated views",
        cost="n² Σd at worst for the neighbours, then n k² per step of the eigensolver",
        paper="Ng, Jordan and Weiss, On Spectral Clustering: Analysis and an Algorithm, NIPS 2001, 849-856",
        doi="",
        year=2001,
        **_SPECTRAL,  # type: ignore[arg-type]
    ),
    MethodInfo(
        name="sum-spectral",
        class_name="SumSpectral",
        module="manyviews.cluster.sum_spectral",
        title="Spectral clustering of the summed affinities of the views",
        cost="n² Σd at worst for the neighbours, then n k² per step of the eigensolver",
        paper="Ng, Jordan and Weiss, On Spectral Clustering: Analysis and an Algorithm, NIPS 2001, 849-856",
        doi="",
        year=2001,
        **_SPECTRAL,  # type: ignore[arg-type]
    ),
    MethodInfo(
        name="cca",
        class_name="CCAClustering",
        module="manyviews.cluster.cca_clustering",
        title="Multi-view clustering via canonical correlation analysis",
        cost="n (Σd)² + (Σd)³",
        paper="Chaudhuri, Kakade, Livescu and Sridharan, Multi-View Clustering via Canonical Correlation Analysis, "
        "ICML 2009, 129-136",
        doi="10.1145/1553374.1553391",
        year=2009,
        **(_CENTROIDS | {"missing": False, "family": "subspace"}),  # type: ignore[arg-type]
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
