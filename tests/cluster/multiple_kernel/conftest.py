"""The kernels that the stored results of the multiple-kernel methods belong to."""

import numpy as np
import pytest

from manyviews.kernels.kernel_set import ExactKernels
from manyviews.kernels.kernels import center_and_normalize, fit_kernel, gram
from manyviews.linalg.scaling import apply_scaling, fit_scaling


@pytest.fixture
def stored_kernels(reference, shared_arrays):
    """Makes the centred, unit-diagonal kernels of one of the two inputs, anew each time."""

    def make(case):
        if case == "synth140":
            stored = reference("kernels/synth140_kernels.npz")
            n = int(stored["n"])
            K = np.zeros((3, n, n))
            upper = np.triu_indices(n)
            K[:, upper[0], upper[1]] = K[:, upper[1], upper[0]] = stored["K_upper"]
            return ExactKernels(list(K))
        features = shared_arrays("reference/kernels/digits300_features.npz")
        kernels = []
        for name in ("fou", "kar", "zer", "mor"):
            X = features[name].astype(np.float64)
            X = apply_scaling(X, fit_scaling(X, "standard"))
            K = gram(fit_kernel(X, "rbf_meandist"), X)
            center_and_normalize(K)
            kernels.append(K)
        return ExactKernels(kernels)

    return make


@pytest.fixture
def same_subspace():
    """Compares two partitions by their projectors: eigenvectors have free signs."""

    def check(H, expected, atol=1e-7):
        np.testing.assert_allclose(H @ H.T, expected @ expected.T, atol=atol)

    return check


@pytest.fixture
def same_directions():
    """Compares two partitions of which one is stored with rows of length 1."""

    def check(H, expected, atol=1e-6):
        H = H / np.maximum(np.linalg.norm(H, axis=1, keepdims=True), 1e-300)
        np.testing.assert_allclose(H @ H.T, expected @ expected.T, atol=atol)

    return check
