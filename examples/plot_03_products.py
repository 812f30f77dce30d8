"""
Products: text, image and price
===============================

Three kinds of tables at once: counts of words (sparse), an embedding of the picture (dense), two columns of prices.
Each view is scaled as suits it, and sparse text stays sparse.
"""

import numpy as np
import plotly.express as px
from scipy import sparse

from manyviews import MSPL, metrics

rng = np.random.default_rng(1)
n, kinds = 300, 4
kind = rng.integers(0, kinds, n)

words = rng.dirichlet(np.full(200, 0.1), size=kinds)
text = sparse.csr_matrix(np.array([rng.multinomial(60, 0.6 * words[j] + 0.4 / 200) for j in kind], dtype=float))
centres = rng.normal(0, 1, (kinds, 64))
image = centres[kind] + rng.normal(0, 1.6, (n, 64))
price = np.exp(rng.normal(0, 0.4, (n, 2)) + np.array([1.0, 2.0, 2.0, 3.0])[kind][:, None])

model = MSPL(kinds, random_state=0).fit({"text": text, "image": image, "price": price})
print(dict(zip(model.view_names_in_, model.scalings_, strict=True)))
print(metrics.evaluate(kind, model.labels_))

# %%
# What each group costs.
px.box(x=[f"cluster {c}" for c in model.labels_], y=price[:, 0], labels={"x": "", "y": "price"})
