"""
Labels for new samples
======================

The five main methods and most others keep a rule for samples that they have not seen. The model can be kept in a folder
without pickle and read elsewhere.
"""

import tempfile
from pathlib import Path

import plotly.express as px
from sklearn.model_selection import train_test_split

from manyviews import UDBGL, datasets, metrics
from manyviews.io import load_model, save_model

data = datasets.load("mfeat")
train, test, y_train, y_test = train_test_split(data.views, data.labels, test_size=0.3, random_state=0)

model = UDBGL(10, random_state=0).fit(train)
new = model.predict(test)
print("seen  ", round(metrics.clustering_accuracy(y_train, model.labels_), 3))
print("unseen", round(metrics.clustering_accuracy(y_test, new), 3))

# %%
# The folder is what ``manyviews cluster`` writes as ``model/``, so ``manyviews predict`` reads it too. Nothing in it is
# executed, whoever it comes from.
with tempfile.TemporaryDirectory() as place:
    save_model(model, Path(place, "digits"), train)
    again = load_model(Path(place, "digits"))
print("the same labels:", bool((again.predict(test) == new).all()))

# %%
# The digits of the new samples in each cluster.
table = [[int(((new == c) & (y_test == d)).sum()) for d in range(10)] for c in range(10)]
px.imshow(table, labels={"x": "digit", "y": "cluster", "color": "samples"}, text_auto=True)
