import numpy as np
import pytest
from scipy import sparse

from manyviews.linalg.scaling import apply_scaling, fit_scaling

COUNTS = np.array([[2.0, 1, 0, 0], [0, 1, 3, 0], [1, 1, 0, 0]])


def test_terms_of_all_samples_do_not_count():
    weights = np.log(3 / np.array([2, 3, 1, 1]))  # a term of no sample is treated as one of a single sample
    expected = COUNTS * weights
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(apply_scaling(COUNTS, fit_scaling(COUNTS, "tfidf_plain")), expected)
    assert (expected[:, 1] == 0).all()


def test_negative_counts_are_refused_by_name():
    with pytest.raises(ValueError, match="scaling='tfidf_plain' needs counts"):
        fit_scaling(-COUNTS, "tfidf_plain")


def test_new_rows_of_common_terms_become_zero():
    scaling = fit_scaling(COUNTS, "tfidf_plain")
    np.testing.assert_array_equal(apply_scaling(np.array([[0.0, 5, 0, 0]]), scaling), np.zeros((1, 4)))
    assert sparse.issparse(apply_scaling(sparse.csr_array(COUNTS), scaling))
