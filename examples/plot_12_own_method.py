"""
A method of your own
====================

Everything around a method is in its base class: the forms in which views come, their checks, cluster numbers, the rule
that identical samples share a cluster, errors. What is left is the mathematics.
"""

import numpy as np
import plotly.express as px
from sklearn.cluster import KMeans

from manyviews import datasets, metrics
from manyviews.cluster.base import MultiViewClusterer
from manyviews.cluster.result import FitResult
from manyviews.linalg.scaling import apply_scaling, fit_scaling


class RankKMeans(MultiViewClusterer):
    """k-means on the ranks of every column, which no outlier can stretch."""

    _accepts_sparse = False

    def _fit(self, views, rng):
        self._choose_scalings(views)
        ranks = [np.argsort(np.argsort(X, axis=0), axis=0) / np.sqrt(X.shape[1]) for X in views.arrays]
        found = KMeans(self.n_clusters, n_init=10, random_state=int(rng.integers(2**31))).fit(np.hstack(ranks))
        return self._record(FitResult.of_one_step(found.labels_, found.inertia_))


data = datasets.make_blobs_views(300, (10, 8), 3, view_noise=0.3, random_state=0)
model = RankKMeans(3, random_state=0).fit(data.views)
print(metrics.evaluate(data.labels, model.labels_))

# %%
first = apply_scaling(data.views.arrays[0], fit_scaling(data.views.arrays[0], "standard"))
px.scatter(x=first[:, 0], y=first[:, 1], color=[f"cluster {c}" for c in model.labels_])
