"""What the methods of the family have in common beyond the contract of all methods."""

import numpy as np
import pytest

from manyviews import LKAM, LMKKM, MKKM, MKKMMM, ONKC, AverageKKM, MKKMMiR, SimpleMKKM, datasets
from manyviews.metrics import adjusted_rand_index

BY_LANDMARKS = [MKKM, MKKMMM, SimpleMKKM, MKKMMiR]
ALL = [*BY_LANDMARKS, ONKC, LKAM, LMKKM]


@pytest.mark.parametrize("method", BY_LANDMARKS)
def test_landmarks_at_every_sample_are_the_exact_kernels(three_views, method):
    views, _ = three_views
    exact = method(3, random_state=0).fit(views)
    landmarks = method(3, approximation="nystrom", n_landmarks=60, random_state=0).fit(views)
    assert landmarks.approximation_ == "nystrom"
    np.testing.assert_allclose(landmarks.view_weights_, exact.view_weights_, atol=1e-5)
    np.testing.assert_allclose(landmarks.history_.objective[-1], exact.history_.objective[-1], rtol=1e-5)
    np.testing.assert_allclose(
        landmarks.embedding_ @ landmarks.embedding_.T, exact.embedding_ @ exact.embedding_.T, atol=1e-4
    )


@pytest.mark.parametrize("method", BY_LANDMARKS)
@pytest.mark.parametrize("approximation", ["exact", "nystrom"])
def test_new_samples_equal_to_old_ones_join_their_clusters(three_views, method, approximation):
    views, y = three_views
    model = method(3, approximation=approximation, random_state=0).fit(views)
    assert adjusted_rand_index(y, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    np.testing.assert_allclose(
        model._consensus_rows(model._check_views(views, reset=False)), model.embedding_, atol=1e-8
    )


@pytest.mark.parametrize("method", ALL)
def test_given_kernels_are_those_of_the_features(three_views, method):
    from manyviews.kernels.kernels import fit_kernel, gram

    views = [(X - X.mean(axis=0)) / X.std(axis=0) for X in three_views[0]]
    kernels = [gram(fit_kernel(X, "rbf_meandist"), X) for X in views]
    before = [K.copy() for K in kernels]
    given = method(3, base="kernel", random_state=0).fit(kernels)
    made = method(3, random_state=0).fit(views)
    np.testing.assert_allclose(given.view_weights_, made.view_weights_, atol=1e-8)
    np.testing.assert_array_equal(given.labels_, made.labels_)
    assert not hasattr(given, "predict")
    for K, kept in zip(kernels, before, strict=True):
        np.testing.assert_array_equal(K, kept)


@pytest.mark.parametrize("method", [MKKM, SimpleMKKM, MKKMMiR, LMKKM, LKAM, ONKC])
def test_the_recorded_objective_never_rises(method):
    data = datasets.make_blobs_views(150, (6, 4, 5), 4, view_noise=0.5, random_state=1)
    objective = method(4, random_state=0).fit(data.views).history_.objective
    assert (np.diff(objective) <= 1e-9 * abs(objective[0])).all()


@pytest.mark.parametrize("method", ALL)
def test_more_iterations_than_allowed_are_told(three_views, method):
    from sklearn.exceptions import ConvergenceWarning

    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        model = method(3, max_iter=1, tol=0.0, random_state=0).fit(three_views[0])
    assert not model.converged_


@pytest.mark.parametrize("method", [ONKC, LKAM, LMKKM])
def test_what_needs_too_much_memory_is_refused_by_numbers_and_with_others_named(method, monkeypatch):
    views = [np.random.default_rng(0).normal(size=(2000, 2)) for _ in range(3)]
    monkeypatch.setattr("manyviews.cluster.memory.machine_memory", lambda: (60_000_000, 60_000_000))
    with pytest.raises(ValueError, match=r"up to about \d+ samples.*MKKM, MKKMMM, SimpleMKKM and MKKMMiR"):
        method(3).fit(views)


@pytest.mark.parametrize("method", ALL)
def test_partitions_are_no_kernels(three_views, method):
    with pytest.raises(ValueError, match="base=features or kernel"):
        method(3, base="embedding").fit(three_views[0])


def test_the_average_kernel_is_every_method_with_the_weights_equal(stored_kernels, three_views, same_subspace):
    views, _ = three_views
    average = AverageKKM(3, random_state=0).fit(views)
    # squared weights of one view alone are equal weights
    for method in (MKKM, SimpleMKKM, MKKMMiR):
        one = method(3, random_state=0).fit(views[:1])
        same_subspace(one.embedding_, AverageKKM(3, random_state=0).fit(views[:1]).embedding_)
    assert average.history_.n_iter == 1
