"""SMVSC against the released code, and what it keeps."""

from itertools import islice

import numpy as np
import pytest

from manyviews.cluster.anchors.smvsc import coordinate_rows, iterate, solve_smvsc
from manyviews.graphs.anchor_views import AnchorViews
from manyviews.linalg.scaling import Scaling

CASES = [1, 2, 3, 4, 5]


def plain(views, observed=None):
    return AnchorViews(tuple(views), (Scaling(None),) * len(views), observed)


def standardised(views):
    """As in the released code: the standard deviation that divides by n - 1."""
    return [(X - X.mean(axis=0)) / X.std(axis=0, ddof=1) for X in views]


def released_start(n, m):
    return np.eye(n, m)


@pytest.fixture
def small(reference):
    z = reference("small_3view/small_3view.npz")
    return standardised([z[f"view{v}"] for v in range(3)])


@pytest.mark.parametrize("case", CASES)
def test_every_iteration_of_the_released_code(reference, small, case):
    ref = reference(f"smvsc/smvsc_small_cfg{case}.npz")
    d, m, ridge = int(ref["d"]), int(ref["m"]), float(ref["lam"])
    steps = iterate(plain(small), released_start(90, m), None, d=d, ridge=ridge, linear="released")
    for t, step in enumerate(islice(steps, int(ref["n_iter"]))):
        print(
            case,
            t,
            abs(step.Z - ref["Z"][t]).max(),
            step.objective / ref["objective"][t] - 1,
            abs(step.alpha - ref["view_weights"][t]).max(),
        )
    print(
        abs(step.A - ref["A"]).max(),
        [abs(step.W[v] - ref[f"W{v}"]).max() for v in range(3)],
        [abs(step.W[v] @ step.A - ref[f"W{v}"] @ ref["A"]).max() for v in range(3)],
    )
    assert 0
