"""External scores: how well a clustering agrees with known classes; and cluster numbers that stay the same."""

from manyviews.metrics.accuracy import clustering_accuracy
from manyviews.metrics.information import nmi_score
from manyviews.metrics.pairs import adjusted_rand_index, pairwise_f_score, rand_index
from manyviews.metrics.purity import purity_score
from manyviews.metrics.renumbering import match_labels
from manyviews.metrics.report import evaluate

__all__ = [
    "adjusted_rand_index",
    "clustering_accuracy",
    "evaluate",
    "match_labels",
    "nmi_score",
    "pairwise_f_score",
    "purity_score",
    "rand_index",
]
