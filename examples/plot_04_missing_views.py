"""
Samples that some views lack
============================

A row of NaN says that a view has not seen a sample. Methods that take this use what there is; no sample is dropped.
"""

import numpy as np
import plotly.express as px

from manyviews import Consensus, datasets, metrics

shares = [0.0, 0.2, 0.4]
found = []
for share in shares:
    data = datasets.make_blobs_views(240, (20, 15, 10), 5, view_noise=0.35, missing_fraction=share, random_state=0)
    model = Consensus(5, n_base_clusterings=20, random_state=0).fit(data.views)
    found.append(metrics.nmi_score(data.labels, model.labels_))
print(np.round(found, 3))

# %%
px.line(x=shares, y=found, markers=True, labels={"x": "share of sample-view pairs not observed", "y": "NMI"})
