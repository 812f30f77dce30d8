"""
RNA, methylation and miRNA of one cohort, with survival
=======================================================

A made cohort of 240 patients with three molecular views. One subtype is seen in the RNA only, another in the
methylation only: clustering a single view would merge two of them. Whether the groups differ in survival is asked
afterwards, and is exploratory: the groups were not made for it.
"""

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

import manyviews
from manyviews import ConcatKMeans, PerView, metrics, plots
from manyviews.preprocessing import TopVariance

rng = np.random.default_rng(0)
n = 240
subtype = rng.integers(0, 3, n)
patients = [f"patient_{i:03d}" for i in range(n)]


def table(width, shifted, told, prefix):
    """Log-scale measurements in which some columns follow whether the subtype is one of ``told``."""
    values = rng.normal(0, 1, (n, width)) * rng.uniform(0.2, 1, width)
    values[:, :shifted] += 1.5 * np.isin(subtype, told)[:, None]
    return pd.DataFrame(values, index=patients, columns=[f"{prefix}{j}" for j in range(width)])


views = {
    "rna": table(4000, 80, [1], "gene"),
    "methylation": table(3000, 60, [2], "cg"),
    "mirna": table(300, 12, [1, 2], "mir"),
}

# %%
# Most of thousands of columns hardly vary between patients. ``TopVariance`` keeps those that do, of each view, and
# knows them for new patients. On the command line it is ``--top-variance 400``.
model = make_pipeline(PerView(TopVariance(400)), ConcatKMeans(3, scaling="standard", random_state=0)).fit(views)
kept, clusterer = model[0].transform(views), model[-1]
print(kept)
print(metrics.evaluate(subtype, clusterer.labels_))

# %%
# What is known of the patients besides: survival in months, with about a third of them censored, two clinical columns
# and the hospital. The index says who is who, so the order does not matter.
months, censored = rng.exponential(np.array([60, 30, 14])[subtype]), rng.exponential(60, n)
clinic = pd.DataFrame(
    {
        "time": np.minimum(months, censored),
        "event": months <= censored,
        "age": rng.normal(60, 9, n) + 4 * subtype,
        "stage": rng.choice(["I", "II", "III"], n),
        "hospital": rng.choice(["Gent", "Leiden", "Oslo"], n),
    },
    index=patients,
).sample(frac=1, random_state=0)

page = manyviews.report(
    clusterer,
    kept,
    outcome=clinic[["time", "event"]],
    covariates=clinic[["age", "stage"]],
    batch=clinic["hospital"],
    refit_seconds=2,
)
clinical = page.summary["clinical"]
print(*clinical["survival"]["sentences"], clinical["batch"]["sentence"], sep="\n")
for row in clinical["associations"]["rows"]:
    print(f"{row['name']}: {row['test']}, adjusted p {row['adjusted_text']}")

# %%
# The curves of the page as a figure. On the command line, where the tables lie in one MuData file:
#
# .. code-block:: console
#
#    $ manyviews cluster cohort.h5mu -k 3 --top-variance 400 --outcome time=months,event=died \
#          --covariates clinic.csv:age,stage --batch hospital --write-obs labelled.h5mu
plots.survival(clusterer, kept, clinic[["time", "event"]])
