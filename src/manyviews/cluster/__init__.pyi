"""The methods. Made by scripts/make_stub.py: do not edit."""

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
