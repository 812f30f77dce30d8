"""
How much a parameter matters
============================

Before trusting a setting, vary it. Here the number of base clusterings of an ensemble, with three seeds each.
"""

import numpy as np
import plotly.graph_objects as go

from manyviews import FastMICE, datasets, metrics

data = datasets.make_blobs_views(500, (30, 20, 10), 6, view_noise=0.45, random_state=2)
sizes = [1, 3, 5, 10, 20]
scores = np.array(
    [
        [
            metrics.nmi_score(
                data.labels, FastMICE(6, n_base_clusterings=size, random_state=seed).fit(data.views).labels_
            )
            for seed in range(3)
        ]
        for size in sizes
    ]
)

# %%
# Members of an ensemble are weak alone; ten of them are steady.
figure = go.Figure(go.Scatter(x=sizes, y=scores.mean(axis=1), error_y={"array": scores.std(axis=1)}))
figure.update_layout(xaxis_title="base clusterings", yaxis_title="NMI, mean and deviation of 3 seeds")
figure
