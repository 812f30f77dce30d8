import numpy as np
import pytest

from manyviews.linalg.products import add_product


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_product_is_added_in_place_to_rows_of_a_larger_array(dtype):
    rng = np.random.default_rng(0)
    whole, left, right = (rng.normal(size=shape).astype(dtype) for shape in ((9, 7), (9, 3), (3, 7)))
    expected = whole.copy()
    expected[2:5] -= 0.5 * left[2:5] @ right
    add_product(whole[2:5], left[2:5], right, -0.5)
    np.testing.assert_allclose(whole, expected, rtol=1e-5, atol=1e-6)


def test_products_without_terms_or_rows_add_nothing():
    block = np.ones((2, 3))
    add_product(block, np.zeros((2, 0)), np.zeros((0, 3)))
    add_product(block[:0], np.zeros((0, 4)), np.zeros((4, 3)))
    np.testing.assert_array_equal(block, 1)


def test_what_blas_would_copy_is_refused():
    with pytest.raises(ValueError, match="C-contiguous and of one type"):
        add_product(np.ones((4, 4))[:, :2], np.ones((4, 1)), np.ones((1, 2)))
    with pytest.raises(ValueError, match="float32"):
        add_product(np.ones((4, 4)), np.ones((4, 1), np.float32), np.ones((1, 4)))
