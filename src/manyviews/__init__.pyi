"""The public names. Made by scripts/make_stub.py: do not edit."""

from manyviews import cluster as cluster
from manyviews import datasets as datasets
from manyviews import io as io
from manyviews import metrics as metrics
from manyviews.cluster.anchors.fastmice import FastMICE as FastMICE
from manyviews.cluster.anchors.udbgl import UDBGL as UDBGL
from manyviews.cluster.anchors.usenc import USENC as USENC
from manyviews.cluster.anchors.uspec import USPEC as USPEC
from manyviews.cluster.ensemble.kcc import KCC as KCC
from manyviews.cluster.ensemble.mvec import MVEC as MVEC
from manyviews.cluster.ensemble.rsec import RSEC as RSEC
from manyviews.cluster.ensemble.sec import SEC as SEC
from manyviews.cluster.factorization.cca_clustering import CCAClustering as CCAClustering
from manyviews.cluster.kmeans.best_single_view import BestSingleView as BestSingleView
from manyviews.cluster.kmeans.concat_kmeans import ConcatKMeans as ConcatKMeans
from manyviews.cluster.kmeans.mspl import MSPL as MSPL
from manyviews.cluster.kmeans.rmkmc import RMKMC as RMKMC
from manyviews.cluster.late_fusion.lf_mvc import LFMVC as LFMVC
from manyviews.cluster.late_fusion.op_lfmvc import OPLFMVC as OPLFMVC
from manyviews.cluster.late_fusion.tp_lfmvc import TPLFMVC as TPLFMVC
from manyviews.cluster.multiple_kernel.average_kkm import AverageKKM as AverageKKM
from manyviews.cluster.spectral.concat_spectral import ConcatSpectral as ConcatSpectral
from manyviews.cluster.spectral.sum_spectral import SumSpectral as SumSpectral
from manyviews.report.notebook import report as report
from manyviews.views import Views as Views
from manyviews.views.impute import ViewImputer as ViewImputer
from manyviews.views.per_view import PerView as PerView

__all__ = [  # noqa: RUF022 (in the order of __init__.py)
    "__version__",
    "AverageKKM",
    "BestSingleView",
    "CCAClustering",
    "ConcatKMeans",
    "ConcatSpectral",
    "FastMICE",
    "KCC",
    "LFMVC",
    "MSPL",
    "MVEC",
    "OPLFMVC",
    "PerView",
    "RMKMC",
    "RSEC",
    "SEC",
    "SumSpectral",
    "TPLFMVC",
    "UDBGL",
    "USENC",
    "USPEC",
    "ViewImputer",
    "Views",
    "cluster",
    "datasets",
    "io",
    "metrics",
    "report",
]

__version__: str
