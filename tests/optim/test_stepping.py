from typing import NamedTuple

import numpy as np
import pytest

from manyviews.optim.stepping import run_until_settled


class Step(NamedTuple):
    objective: float


def steps(*values):
    return iter([Step(value) for value in values])


@pytest.mark.parametrize(
    ("values", "settings", "n_iter", "converged"),
    [
        ([4.0, 2.0, 1.0, 1.0, 0.5], (1e-3, 1, 9), 4, True),
        ([4.0, 4.0, 2.0, 1.999], (1e-3, 3, 9), 4, True),
        ([4.0, 2.0, 1.0, 0.5], (1e-3, 1, 3), 3, False),
        ([0.0, 0.0, 0.0], (0.0, 1, 3), 2, True),
    ],
)
def test_when_it_stops(values, settings, n_iter, converged):
    tol, least, most = settings
    state, history = run_until_settled(steps(*values), tol=tol, min_iter=least, max_iter=most)
    assert (history.n_iter, history.converged) == (n_iter, converged)
    assert state.objective == values[n_iter - 1]
    np.testing.assert_array_equal(history.objective, values[:n_iter])
