"""
RNA, methylation and miRNA of one cohort, with survival
=======================================================

A made cohort of 240 patients with three molecular views. One subtype is seen in the RNA only, another in the
methylation only: clustering a single view would merge two of them. Whether the groups differ in survival is asked
afterwards, and is exploratory: the groups were not made for it.
"""

import numpy as np
import plotly.graph_objects as go
from lifelines import KaplanMeierFitter
from lifelines.statistics import multivariate_logrank_test

from manyviews import ConcatKMeans, Views, metrics

rng = np.random.default_rng(0)
n = 240
subtype = rng.integers(0, 3, n)
names = np.array([f"patient_{i:03d}" for i in range(n)])


def table(width, shifted, told):
    """Log-scale measurements in which some columns follow whether the subtype is one of ``told``."""
    values = rng.normal(0, 1, (n, width))
    values[:, :shifted] += 1.2 * np.isin(subtype, told)[:, None]
    return values


views = Views(
    {"rna": table(400, 40, [1]), "methylation": table(300, 30, [2]), "mirna": table(120, 6, [1, 2])}, sample_names=names
)
model = ConcatKMeans(3, scaling="standard", random_state=0).fit(views)
print(metrics.evaluate(subtype, model.labels_))

# %%
# Survival of the three groups, in months, with a third of the patients censored.
months = rng.exponential(np.array([60, 30, 14])[subtype])
censored = rng.exponential(60, n)
seen, event = np.minimum(months, censored), months <= censored

figure = go.Figure()
for cluster in range(3):
    curve = KaplanMeierFitter().fit(seen[model.labels_ == cluster], event[model.labels_ == cluster])
    share = curve.survival_function_.iloc[:, 0]
    figure.add_scatter(x=share.index, y=share, line_shape="hv", name=f"cluster {cluster}")
p = multivariate_logrank_test(seen, model.labels_, event).p_value
figure.update_layout(xaxis_title="months", yaxis_title="share alive", title=f"log-rank p = {p:.1e}")
figure
