import numpy as np
import pytest
from scipy import sparse

from manyviews.kernels.embedding import spectral_partition
from manyviews.kernels.kernels import (
    center_and_normalize,
    center_and_normalize_rows,
    fit_kernel,
    gram,
    kernel_block,
    kernel_diagonal,
    mean_distance,
)
from manyviews.linalg.scaling import apply_scaling, fit_scaling


def check_view(K, expected, p, k):
    """Raw, centred and normalised kernel, eigenvalues and partition against the stored ones."""
    np.testing.assert_allclose(K[:12, :12], expected["raw_block"][p], atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(K), expected["raw_fro"][p], rtol=1e-10)
    raw_diagonal = K.diagonal().copy()
    centring = center_and_normalize(K)
    np.testing.assert_allclose(K[:12, :12], expected["norm_block"][p], atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(K), expected["norm_fro"][p], rtol=1e-10)
    lengths = raw_diagonal - 2 * centring.means + centring.grand_mean
    np.testing.assert_allclose(lengths.sum(), expected["centred_trace"][p], rtol=1e-10)
    stored = expected["top_eigs"][p]
    np.testing.assert_allclose(spectral_partition(K, len(stored)).values, stored, rtol=1e-8)
    H = spectral_partition(K, k).vectors
    np.testing.assert_allclose(H @ H.T, expected["H"][p] @ expected["H"][p].T, atol=1e-7)
    np.testing.assert_allclose(H, expected["H"][p], atol=1e-6)  # same sign convention


@pytest.mark.parametrize("p", range(3))
def test_synth140_as_stored(reference, p):
    features, expected = reference("kernels/synth140_features.npz"), reference("kernels/synth140_expected.npz")
    X = features[f"X{p + 1}"]
    kernel = fit_kernel(X, "linear" if p == 2 else "rbf_meandist")
    if p < 2:
        np.testing.assert_allclose(kernel.gamma, 1 / (2 * expected["sigma"][p] ** 2), rtol=1e-10)
    check_view(gram(kernel, X), expected, p, int(features["k"]))


@pytest.mark.parametrize(("p", "view"), list(enumerate(["fou", "kar", "zer", "mor"])))
def test_digits300_as_stored(reference, shared_arrays, p, view):
    features = shared_arrays("reference/kernels/digits300_features.npz")
    X = features[view].astype(np.float64)
    X = apply_scaling(X, fit_scaling(X, "standard"))
    K = gram(fit_kernel(X, "rbf_meandist"), X)
    check_view(K, reference("kernels/digits300_expected.npz"), p, 10)


@pytest.mark.parametrize("name", ["rbf_meandist", "rbf_invdim", "cosine", "linear"])
def test_sparse_equals_dense_and_blocks_equal_the_whole(name):
    rng = np.random.default_rng(0)
    X = rng.random((40, 9)) * (rng.random((40, 9)) > 0.6)
    S = sparse.csr_array(X)
    kernel = fit_kernel(X, name)
    np.testing.assert_allclose(fit_kernel(S, name).gamma or 0, kernel.gamma or 0, rtol=1e-12)
    np.testing.assert_allclose(gram(kernel, S), gram(kernel, X), atol=1e-12)
    np.testing.assert_allclose(kernel_block(kernel, X[3:8], X), gram(kernel, X)[3:8], atol=1e-7)


@pytest.mark.parametrize("name", ["rbf_meandist", "cosine", "linear"])
def test_rows_of_training_samples_come_out_as_in_the_training_kernel(name):
    X = np.random.default_rng(1).normal(size=(30, 4))
    kernel = fit_kernel(X, name)
    K = gram(kernel, X)
    centring = center_and_normalize(K)
    rows = center_and_normalize_rows(kernel_block(kernel, X, X), kernel_diagonal(kernel, X), centring)
    np.testing.assert_allclose(rows, K, atol=1e-7)


def test_mean_distance_by_hand():
    assert mean_distance(np.array([[0.0], [3.0], [4.0]])) == pytest.approx((3 + 4 + 1) / 3)
    assert mean_distance(np.zeros((1, 2))) == 0.0


def test_the_centred_kernel_has_zero_row_sums_before_normalising():
    X = np.random.default_rng(2).normal(size=(25, 3))
    K = X @ X.T
    centring = center_and_normalize(K)
    lengths = np.sqrt(centring.lengths)
    np.testing.assert_allclose((K * np.outer(lengths, lengths)).sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(K.diagonal(), 1)


def test_a_sample_at_the_mean_gets_an_empty_row_and_no_nan():
    X = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1], [0, 0]])
    K = X @ X.T
    centring = center_and_normalize(K)
    assert centring.degenerate.tolist() == [False] * 4 + [True]
    assert np.isfinite(K).all()
    assert not K[4].any()


def test_an_indefinite_kernel_is_refused():
    with pytest.raises(ValueError, match="not positive semi-definite"):
        center_and_normalize(-np.eye(4) + 0.1)


def test_an_unknown_kernel_is_named():
    with pytest.raises(ValueError, match="'gauss'"):
        fit_kernel(np.ones((3, 2)), "gauss")


def test_distances_whose_squares_vanish_give_a_kernel_of_ones():
    X = np.zeros((10, 1))
    X[0] = 5.5e-162
    kernel = fit_kernel(X, "rbf_meandist")
    np.testing.assert_array_equal(gram(kernel, X), np.ones((10, 10)))
