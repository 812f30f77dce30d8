"""
How much a parameter matters
============================

Before trusting a setting, vary it. Here the number of base clusterings of an ensemble, with three seeds each;
``manyviews sweep`` does the same on the command line, and goes on where it was interrupted.
"""

from manyviews import FastMICE, datasets, sweep

data = datasets.make_blobs_views(500, (30, 20, 10), 6, view_noise=0.3, random_state=2)
grid = {"n_base_clusterings": [1, 3, 5, 10, 20]}
found = sweep(FastMICE(6), data.views, grid, seeds=3, truth=data.labels)
for size, nmi, stability in zip(*(found.table[name] for name in ("n_base_clusterings", "nmi", "stability"))):
    print(f"{size:3d} base clusterings: NMI {nmi:.3f}, stability {stability:.3f}")

# %%
# Members of an ensemble are weak alone; together they are steady.
found.figure("nmi")
