"""
How many clusters?
==================

One recommendation with its reason, and none where the data have no groups.
"""

import numpy as np

from manyviews import choose_k, datasets

data = datasets.make_blobs_views(200, (15, 10, 8), 4, view_noise=0.25, random_state=0)
found = choose_k(data.views, range(2, 9))
print(found.n_clusters)
print(found.reason)

# %%
# What speaks for each number; dotted, what the same data give when nothing is left to find in them.
found.figure()

# %%
# Noise has no number of clusters.
rng = np.random.default_rng(0)
nothing = choose_k([rng.normal(size=(200, 15)), rng.normal(size=(200, 8))], range(2, 9))
print(nothing.n_clusters)
print(nothing.reason)
