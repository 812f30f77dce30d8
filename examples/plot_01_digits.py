"""
Handwritten digits in six views
===============================

The bundled data: 2000 digits, each described by Fourier coefficients, profile correlations, Karhunen-Loève
coefficients, pixel averages, Zernike moments and six morphological features. No view is enough; together they are.
"""

import plotly.express as px

from manyviews import BestSingleView, ConcatKMeans, Consensus, datasets, metrics

data = datasets.load("mfeat")
models = [BestSingleView(10, random_state=0), ConcatKMeans(10, random_state=0), Consensus(10, random_state=0)]
scores = {}
for model in models:
    model.fit(data.views)
    scores[type(model).__name__] = metrics.evaluate(data.labels, model.labels_)

# %%
# Agreement with the ten digits, which no model has seen.
rows = [(name, score, value[score]) for name, value in scores.items() for score in ("acc", "nmi", "ari")]
names, kinds, values = zip(*rows, strict=True)
px.bar(x=names, y=values, color=kinds, barmode="group", labels={"x": "", "y": "score", "color": ""})
