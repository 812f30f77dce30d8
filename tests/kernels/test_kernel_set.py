import numpy as np
import pytest

from manyviews.kernels.kernel_set import ExactKernels, LandmarkKernels, leading_partition, new_rows


class Given:
    """A map whose features are the rows it is given."""

    def __init__(self, size):
        self.size = size

    def features(self, X):
        return X


@pytest.fixture
def factors():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(50, r)) for r in (4, 7, 3)]


@pytest.fixture
def both(factors):
    """The same kernels as full arrays and as features."""
    exact = ExactKernels(tuple(Z @ Z.T for Z in factors))
    return exact, LandmarkKernels.of([Given(Z.shape[1]) for Z in factors], factors)


WEIGHTS = [np.array([0.2, 0.5, 0.3]), np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 4.0])]


@pytest.mark.parametrize("weights", WEIGHTS)
def test_features_and_full_kernels_agree_in_every_operation(both, factors, weights):
    exact, landmarks = both
    one, other = exact.leading(weights, 3), landmarks.leading(weights, 3)
    np.testing.assert_allclose(one.values, other.values)
    H, H2 = exact.embedding(one.vectors), landmarks.embedding(other.vectors)
    np.testing.assert_allclose(H @ H.T, H2 @ H2.T, atol=1e-10)
    np.testing.assert_allclose(exact.traces(one.vectors), landmarks.traces(other.vectors))
    np.testing.assert_allclose(exact.products(), landmarks.products())
    np.testing.assert_allclose(exact.own_traces, landmarks.own_traces)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(exact.combination(weights))[-3:], np.linalg.eigvalsh(landmarks.combination(weights))[-3:]
    )


def test_operations_by_their_definitions(both, factors):
    exact, _ = both
    weights = WEIGHTS[0]
    K = sum(w * Z @ Z.T for w, Z in zip(weights, factors, strict=True))
    np.testing.assert_allclose(exact.combination(weights), K)
    H = exact.leading(weights, 2).vectors
    np.testing.assert_allclose(H.T @ H, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(exact.traces(H), [np.trace(H.T @ Z @ Z.T @ H) for Z in factors])
    M = [[np.trace(A @ A.T @ B @ B.T) for B in factors] for A in factors]
    np.testing.assert_allclose(exact.products(), M)


def test_columns_beyond_the_rank_are_zero(both):
    exact, landmarks = both
    weights = np.array([0.0, 0.0, 1.0])
    for kernels in (exact, landmarks):
        found = kernels.leading(weights, 5)
        H = kernels.embedding(found.vectors)
        np.testing.assert_allclose(H.T @ H, np.diag([1.0, 1, 1, 0, 0]), atol=1e-8)
        assert not H[:, 3:].any()


def test_rows_of_new_samples_are_those_of_old_ones(both, factors):
    exact, landmarks = both
    maps = tuple(Given(50) for _ in factors)
    exact = ExactKernels(exact.kernels, maps)
    weights = WEIGHTS[0]
    for kernels, rows in ((exact, exact.kernels), (landmarks, factors)):
        found = kernels.leading(weights, 3)
        projection = kernels.projection(weights, found)
        np.testing.assert_allclose(kernels.rows(rows) @ projection, kernels.embedding(found.vectors), atol=1e-10)
        np.testing.assert_allclose(
            new_rows(kernels.maps, rows, projection, size=7), kernels.embedding(found.vectors), atol=1e-10
        )


def test_a_selection_of_views_is_the_set_of_these_views(both, factors):
    views = np.array([0, 2])
    weights = np.array([0.4, 0.6])
    for kernels in both:
        part = kernels.select(views)
        assert len(part) == 2
        np.testing.assert_allclose(part.products(), kernels.products()[np.ix_(views, views)])
        whole = kernels.leading(np.array([0.4, 0.0, 0.6]), 2)
        np.testing.assert_allclose(part.leading(weights, 2).values, whole.values)


def test_a_silent_view_and_silent_samples_are_told(factors):
    factors[0][[3, 9]] = 0.0
    factors[2][:] = 0.0
    sets = (
        ExactKernels(tuple(Z @ Z.T for Z in factors)),
        LandmarkKernels.of([Given(Z.shape[1]) for Z in factors], factors),
    )
    for kernels in sets:
        np.testing.assert_array_equal(np.flatnonzero(kernels.silent[0]), [3, 9])
        assert not kernels.silent[1].any()
        assert kernels.silent[2].all()
        assert kernels.own_traces[2] == 0.0


def test_an_empty_kernel_has_an_empty_partition():
    found = leading_partition(np.zeros((700, 700)), 3)
    assert not found.values.any()
    assert not found.vectors.any()
