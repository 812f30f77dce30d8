import numpy as np
import pytest

from manyviews.optim.alm import Penalty, augmented_lagrangian
from manyviews.optim.alternating import alternate
from manyviews.optim.restarts import best_restart


def test_alternate_stops_when_the_objective_settles_but_not_before_the_third_iteration():
    state, history = alternate(lambda x: (x / 2, 1.0), 8.0, tol=1e-3, max_iter=50)
    assert (state, history.n_iter, history.converged) == (1.0, 3, True)
    _, history = alternate(lambda x: (x + 1, float(x)), 1, tol=1e-3, max_iter=5)
    np.testing.assert_array_equal(history.objective, [1, 2, 3, 4, 5])
    assert not history.converged


def test_each_restart_ends_by_itself_and_the_best_is_kept():
    goals = np.array([1.0, 5.0, 5.0, 2.0])

    def step(variables):
        x, goal = variables
        x = x + (goal - x) * 0.9
        return (x, goal), x

    best = best_restart(step, (np.zeros(4), goals), tol=1e-6, max_iter=100)
    assert best.restart == 1  # the first of the two equal ones
    assert best.variables[1] == 5.0
    assert best.history.converged
    assert best.history.objective[-1] == pytest.approx(5)
    short = best_restart(step, (np.zeros(4), goals), tol=0.0, max_iter=2)
    assert (short.history.n_iter, short.history.converged) == (2, False)


def test_the_augmented_lagrangian_records_the_residual_and_no_objective():
    seen = []

    def step(mu, following):
        seen.append((mu, following))
        return 0.5 ** len(seen)

    history = augmented_lagrangian(step, Penalty(1.0, 2.0, 3.0), tol=0.2, max_iter=9)
    assert seen == [(1.0, 2.0), (2.0, 3.0), (3.0, 3.0)]
    np.testing.assert_array_equal(history.residual, [0.5, 0.25, 0.125])
    assert (history.objective.size, history.n_iter, history.converged) == (0, 3, True)
    short = augmented_lagrangian(step, Penalty(), tol=0.0, max_iter=2)
    assert (short.residual.size, short.converged) == (2, False)
    assert augmented_lagrangian(lambda mu, _: 0.0, Penalty(), tol=1.0, max_iter=9, min_iter=4).n_iter == 4
