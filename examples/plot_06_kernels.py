"""
Kernels instead of features
===========================

Where similarity is all there is, as between strings or graphs, methods of late fusion and of multiple kernels take one
n × n kernel per view with ``base="kernel"``.
"""

import numpy as np
import plotly.express as px
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from manyviews import OPLFMVC, AverageKKM, datasets, metrics

data = datasets.make_blobs_views(400, (20, 15), 4, view_noise=0.3, random_state=0)
first, second = data.views.arrays
kernels = {"gaussian": rbf_kernel(first, gamma=1.0), "laplacian": laplacian_kernel(second, gamma=0.3)}

for method in (OPLFMVC, AverageKKM):
    model = method(4, base="kernel", random_state=0).fit(kernels)
    print(method.__name__, round(metrics.nmi_score(data.labels, model.labels_), 3))

# %%
# The second kernel, with the samples in the order of their clusters.
order = np.argsort(model.labels_)
px.imshow(kernels["laplacian"][np.ix_(order, order)], labels={"color": "similarity"})
