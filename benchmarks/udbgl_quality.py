"""Scores, CPU seconds and agreement of predict of UDBGL on real sets, under several settings.

OMP_NUM_THREADS=1 python benchmarks/udbgl_quality.py --data ../shared/data --datasets mfeat --seeds 20
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from manyviews import UDBGL
from manyviews.metrics import clustering_accuracy, nmi_score

SETTINGS = {
    "default": {},
    "one start": {"n_init": 1},
    "anchors of the paper": {"anchor_space": "concatenated", "n_init": 2},
    "released rank rule": {"anchor_space": "concatenated", "n_init": 2, "rank_rule": "released"},
}


def load(path):
    z = np.load(path, allow_pickle=False)
    views = {}
    for i, name in enumerate(map(str, z["view_names"])):
        if f"view_{i}" in z:
            views[name] = z[f"view_{i}"]
        else:
            parts = (z[f"view_{i}_data"], z[f"view_{i}_indices"], z[f"view_{i}_indptr"])
            views[name] = sparse.csr_matrix(parts, shape=tuple(z[f"view_{i}_shape"]))
    return views, z["labels"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--datasets", nargs="+", default=["mfeat", "msrcv1", "3sources", "bbcsport", "newsgroups_ngs"])
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.datasets:
        views, y = load(options.data / f"{name}.npz")
        k = np.unique(y).size
        for setting in options.settings:
            rows = []
            for seed in range(options.seeds):
                start = time.process_time()
                model = UDBGL(k, random_state=seed, **SETTINGS[setting]).fit(views)
                seconds = time.process_time() - start
                agree = (model.predict(views) == model.labels_).mean()
                scores = nmi_score(y, model.labels_), clustering_accuracy(y, model.labels_)
                rows.append((*scores, model.n_components_ == k, agree, seconds))
            nmi, acc, exact, agree, seconds = np.array(rows).T
            print(
                f"{name}, {setting}: NMI {nmi.mean():.3f} ± {nmi.std():.3f}, ACC {acc.mean():.3f} ± {acc.std():.3f}, "
                f"exactly {k} components {int(exact.sum())} of {options.seeds}, predict agrees {agree.mean():.4f} "
                f"(least {agree.min():.4f}), {seconds.mean():.2f} CPU s",
                flush=True,
            )


if __name__ == "__main__":
    main()
