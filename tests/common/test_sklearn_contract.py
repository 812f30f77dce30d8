"""scikit-learn's own checks, on the one-table door, for every method of the registry."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from few_members import quick
from manyviews.cluster.registry import METHODS
from manyviews.cluster.sample_weight import SampleWeightMixin

# scikit-learn runs every check with warnings of its own making, which must not fail here
pytestmark = pytest.mark.filterwarnings("ignore")


FEW_STEPS = 10  # none of the checks asks for the end of the iterations


def estimators():
    for row in METHODS:
        # the tables of the checks of weights have four distinct samples
        model = quick(row, 4 if issubclass(row.load(), SampleWeightMixin) else 8)
        yield model.set_params(max_iter=FEW_STEPS) if "max_iter" in model.get_params() else model


# that repeated rows give just the groups of weighted ones holds for no method whose starts are drawn from the rows, nor
# for scikit-learn's own k-means; tests/cluster/test_sample_weight.py holds what can be exact
NOT_EXACT = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def checks():
    """Yield every estimator with every check that it can meet, and an id for each."""
    for estimator in estimators():
        for own, check in estimator_checks_generator(estimator):
            if check.func.__name__ not in NOT_EXACT:
                yield pytest.param(own, check, id=f"{estimator}-{check.func.__name__}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_contract(estimator, check):
    check(estimator)
