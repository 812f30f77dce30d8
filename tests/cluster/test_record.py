"""What the base stores of a result, and the one warning that it gives."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from manyviews.cluster.base import MultiViewClusterer
from manyviews.cluster.result import FitResult
from manyviews.optim.history import History

ROWS = np.arange(12.0).reshape(6, 2)
HALVES = np.repeat([0, 1], 3)


class Told(MultiViewClusterer):
    """Finds what it is told to find, of samples as they are given."""

    def __init__(self, result=None, n_clusters=2, tol=0.0):
        super().__init__(n_clusters)
        self.result = result
        self.tol = tol

    def _memory_estimate(self, views):
        return 0

    def _may_move_samples(self):
        return False

    def _fit(self, views, rng):
        return self._record(self.result)


def ended(converged=True):
    return History(np.array([3.0, 2.0]), 2, converged)


def test_every_word_of_a_result_becomes_an_attribute():
    found = FitResult(HALVES, ended(), weights=np.array([3.0, 1.0]), embedding=ROWS, confidence=np.ones(6))
    model = Told(found).fit(ROWS)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert model.view_weights_.tolist() == [0.75, 0.25]
    assert model.embedding_ is ROWS
    assert model.confidence_.tolist() == [1.0] * 6
    assert (model.history_, model.n_iter_, model.converged_) == (found.history, 2, True)


def test_a_dataclass_of_a_solver_needs_no_more_than_labels_and_history():
    @dataclass(frozen=True)
    class Bare:
        labels: np.ndarray
        history: History

    model = Told(Bare(HALVES, ended())).fit(ROWS)
    assert not any(hasattr(model, name) for name in ("view_weights_", "embedding_", "confidence_"))


def test_a_method_without_iterations_has_converged_in_one_step():
    model = Told(FitResult.of_one_step(HALVES, 1.5, confidence=np.ones(6))).fit(ROWS)
    assert (model.n_iter_, model.converged_, model.history_.objective.tolist()) == (1, True, [1.5])


@pytest.mark.parametrize(
    ("labels", "converged", "text"),
    [
        (HALVES, True, ""),
        (HALVES, False, "^Told stopped after 2 iterations before it converged; raise tol$"),
        (HALVES * 0, True, "^Told found 1 cluster instead of the 2 asked for; the samples may"),
        (HALVES * 0, False, r"^Told stopped after 2 iterations .*; raise tol\. It found 1 cluster instead of the 2"),
    ],
)
def test_one_warning_says_all_that_fell_short(labels, converged, text):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Told(FitResult(labels, ended(converged))).fit(ROWS)
    assert len(caught) == bool(text)
    if text:
        with pytest.warns(ConvergenceWarning, match=text):
            warnings.warn_explicit(caught[0].message, None, "", 0)


def test_a_method_that_stores_nothing_but_labels_is_taken_too():
    class Plain(Told):
        def _fit(self, views, rng):
            return self.result

    assert Plain(HALVES).fit(ROWS).labels_.tolist() == [0, 0, 0, 1, 1, 1]
