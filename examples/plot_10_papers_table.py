"""
A paper's table, made again
===========================

Two rows of Table 1 of multi-view self-paced learning (Xu, Tao and Xu, IJCAI 2015) on handwritten digits, beside what
is printed. ``manyviews bench mspl --datasets mfeat`` makes all rows and gives every cell a verdict; here it is done by
hand, with five random starts as the runs.
"""

import numpy as np
import plotly.graph_objects as go

from manyviews import MSPL, RMKMC, datasets, metrics

data = datasets.load("mfeat")
printed = {"RMKMC": (0.807, 0.033), "MSPL": (0.868, 0.020)}  # NMI: mean and deviation

ours = {}
for method in (RMKMC, MSPL):
    runs = [method(10, scaling="minmax", n_init=1, random_state=seed).fit(data.views).labels_ for seed in range(5)]
    scores = [metrics.nmi_score(data.labels, labels) for labels in runs]
    ours[method.__name__] = (np.mean(scores), np.std(scores))

for name, (mean, deviation) in ours.items():
    print(f"{name:6s} printed {printed[name][0]:.3f} ± {printed[name][1]:.3f}   here {mean:.3f} ± {deviation:.3f}")

# %%
figure = go.Figure()
for label, table in (("printed", printed), ("here", ours)):
    means, deviations = zip(*table.values(), strict=True)
    figure.add_bar(name=label, x=list(table), y=means, error_y={"array": deviations})
figure.update_layout(yaxis_title="NMI", height=360)
figure
