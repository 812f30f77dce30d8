"""scikit-learn's own checks, on the one-table door, for every method of the registry."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from manyviews.cluster.registry import METHODS

# scikit-learn runs every check with warnings of its own making, which must not fail here
pytestmark = pytest.mark.filterwarnings("ignore")


@parametrize_with_checks([row.load()() for row in METHODS])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
