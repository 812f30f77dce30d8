"""
Which method suits the data?
============================

Nobody knows the classes of real data. What can be asked without them: do the nearest neighbours of a sample in one view
tell its group, do other seeds find the same groups, and do other methods?
"""

from manyviews import compare, datasets

data = datasets.make_blobs_views(300, (15, 10, 8), 4, view_noise=0.3, noise_views=1, random_state=0)
methods = ["concat-kmeans", "mspl", "op-lfmvc", "sum-spectral", "udbgl"]
found = compare(data.views, 4, methods=methods, seeds=3, truth=data.labels)
print(found)

# %%
# The classes had no part in the choice; here they are beside it.
table = found.table
for name, score, nmi in zip(table["method"], table["score"], table["nmi"], strict=True):
    print(f"{name:15s} score {score:.2f}   NMI {nmi:.2f}")

# %%
found.figure()
