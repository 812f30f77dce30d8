"""The public names. Made by scripts/make_stub.py: do not edit."""

from manyviews import cluster as cluster
from manyviews import datasets as datasets
from manyviews import distributed as distributed
from manyviews import io as io
from manyviews import metrics as metrics
from manyviews import plots as plots
from manyviews import preprocessing as preprocessing
from manyviews.cluster.anchors.fastmice import FastMICE as FastMICE
from manyviews.cluster.anchors.fpmvs_cag import FPMVSCAG as FPMVSCAG
from manyviews.cluster.anchors.lmvsc import LMVSC as LMVSC
from manyviews.cluster.anchors.smvsc import SMVSC as SMVSC
from manyviews.cluster.anchors.udbgl import UDBGL as UDBGL
from manyviews.cluster.anchors.usenc import USENC as USENC
from manyviews.cluster.anchors.uspec import USPEC as USPEC
from manyviews.cluster.consensus import Consensus as Consensus
from manyviews.cluster.ensemble.kcc import KCC as KCC
from manyviews.cluster.ensemble.mvec import MVEC as MVEC
from manyviews.cluster.ensemble.rsec import RSEC as RSEC
from manyviews.cluster.ensemble.sec import SEC as SEC
from manyviews.cluster.factorization.cca_clustering import CCAClustering as CCAClustering
from manyviews.cluster.factorization.multi_nmf import MultiNMF as MultiNMF
from manyviews.cluster.kmeans.best_single_view import BestSingleView as BestSingleView
from manyviews.cluster.kmeans.bmvc import BMVC as BMVC
from manyviews.cluster.kmeans.concat_kmeans import ConcatKMeans as ConcatKMeans
from manyviews.cluster.kmeans.mspl import MSPL as MSPL
from manyviews.cluster.kmeans.rmkmc import RMKMC as RMKMC
from manyviews.cluster.late_fusion.lf_mvc import LFMVC as LFMVC
from manyviews.cluster.late_fusion.op_lfmvc import OPLFMVC as OPLFMVC
from manyviews.cluster.late_fusion.tp_lfmvc import TPLFMVC as TPLFMVC
from manyviews.cluster.multiple_kernel.average_kkm import AverageKKM as AverageKKM
from manyviews.cluster.multiple_kernel.lkam import LKAM as LKAM
from manyviews.cluster.multiple_kernel.lmkkm import LMKKM as LMKKM
from manyviews.cluster.multiple_kernel.mkkm import MKKM as MKKM
from manyviews.cluster.multiple_kernel.mkkm_mir import MKKMMiR as MKKMMiR
from manyviews.cluster.multiple_kernel.mkkm_mm import MKKMMM as MKKMMM
from manyviews.cluster.multiple_kernel.onkc import ONKC as ONKC
from manyviews.cluster.multiple_kernel.smkkm import SimpleMKKM as SimpleMKKM
from manyviews.cluster.spectral.amgl import AMGL as AMGL
from manyviews.cluster.spectral.concat_spectral import ConcatSpectral as ConcatSpectral
from manyviews.cluster.spectral.convex_sub import ConvexSub as ConvexSub
from manyviews.cluster.spectral.coreg import CoRegSpectral as CoRegSpectral
from manyviews.cluster.spectral.mvsc import MVSC as MVSC
from manyviews.cluster.spectral.rmsc import RMSC as RMSC
from manyviews.cluster.spectral.sum_spectral import SumSpectral as SumSpectral
from manyviews.cluster.spectral.swmc import SwMC as SwMC
from manyviews.recommend.choose_k import choose_k as choose_k
from manyviews.recommend.compare import compare as compare
from manyviews.recommend.sweep import sweep as sweep
from manyviews.report.notebook import report as report
from manyviews.views import Views as Views
from manyviews.views.impute import ViewImputer as ViewImputer
from manyviews.views.per_view import PerView as PerView

__all__ = [  # noqa: RUF022 (in the order of __init__.py)
    "__version__",
    "AMGL",
    "AverageKKM",
    "BMVC",
    "BestSingleView",
    "CCAClustering",
    "CoRegSpectral",
    "ConcatKMeans",
    "ConcatSpectral",
    "Consensus",
    "ConvexSub",
    "FPMVSCAG",
    "FastMICE",
    "KCC",
    "LFMVC",
    "LKAM",
    "LMKKM",
    "LMVSC",
    "MKKM",
    "MKKMMM",
    "MKKMMiR",
    "MSPL",
    "MVEC",
    "MVSC",
    "MultiNMF",
    "ONKC",
    "OPLFMVC",
    "PerView",
    "RMKMC",
    "RMSC",
    "RSEC",
    "SEC",
    "SMVSC",
    "SimpleMKKM",
    "SumSpectral",
    "SwMC",
    "TPLFMVC",
    "UDBGL",
    "USENC",
    "USPEC",
    "ViewImputer",
    "Views",
    "choose_k",
    "compare",
    "sweep",
    "cluster",
    "datasets",
    "distributed",
    "io",
    "metrics",
    "plots",
    "preprocessing",
    "report",
]

__version__: str
