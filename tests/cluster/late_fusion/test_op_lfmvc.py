import numpy as np
import pytest
from scipy.stats import ortho_group

from manyviews import OPLFMVC, AverageKKM, Views
from manyviews.cluster.base_partitions import exact_partitions
from manyviews.cluster.late_fusion.fusion import aligned_rotations, aligned_start, released_start
from manyviews.cluster.late_fusion.op_lfmvc import solve_op_lfmvc, update_runs
from manyviews.cluster.view_kernels import ViewRecipe, exact_kernels
from manyviews.linalg.polar import polar
from manyviews.metrics import adjusted_rand_index, clustering_accuracy

CASES = ["synth140", "digits300"]


def stack(H):
    return np.hstack(list(H))


@pytest.mark.parametrize("case", CASES)
def test_released_code_iteration_by_iteration(reference, case):
    ref = reference(f"op_lfmvc/{case}.npz")
    stacked = stack(ref["H"])
    runs = (None, ref["C0"][None], ref["W0"][None], ref["beta0"][None])
    for t, expected in enumerate(ref["obj"]):
        runs, objective = update_runs(stacked, runs, "released")
        np.testing.assert_array_equal(runs[0][0], ref["labels_per_iter"][t])
        np.testing.assert_allclose(runs[3][0], ref["beta_per_iter"][t], atol=1e-10)
        np.testing.assert_allclose(objective[0], expected, rtol=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_released_code_end_to_end(reference, case):
    ref = reference(f"op_lfmvc/{case}.npz")
    result = solve_op_lfmvc(stack(ref["H"]), ref["C0"][None], ref["W0"], order="released", tol=1e-4)
    np.testing.assert_allclose(result.history.objective, ref["obj"], rtol=1e-10)
    np.testing.assert_array_equal(result.labels, ref["labels"])
    np.testing.assert_allclose(result.C, ref["C"], atol=1e-8)
    np.testing.assert_allclose(result.W, ref["W"], atol=1e-8)
    assert result.history.converged


@pytest.mark.parametrize("case", CASES)
def test_paper_order(reference, case):
    ref = reference(f"op_lfmvc/{case}.npz")
    result = solve_op_lfmvc(stack(ref["H"]), ref["C0"][None], ref["W0"], order="paper", tol=1e-3)
    np.testing.assert_allclose(result.history.objective, ref["paper_order_obj"], rtol=1e-10)
    np.testing.assert_allclose(result.beta, ref["paper_order_beta"], atol=1e-10)
    np.testing.assert_array_equal(result.labels, ref["paper_order_labels"])


@pytest.mark.parametrize("case", CASES)
def test_aligned_start_as_stored(reference, case):
    ref = reference(f"op_lfmvc/{case}.npz")
    stacked = stack(ref["H"])
    np.testing.assert_allclose(aligned_rotations(stacked, ref["aligned_H_avg"]), ref["aligned_W0"], atol=1e-8)
    np.testing.assert_allclose(polar(ref["aligned_centroids"]), ref["aligned_C0"], atol=1e-10)
    result = solve_op_lfmvc(stacked, ref["aligned_C0"][None], ref["aligned_W0"], order="released", tol=1e-4)
    np.testing.assert_allclose(result.history.objective, ref["aligned_obj"], rtol=1e-10)
    np.testing.assert_allclose(result.beta, ref["aligned_beta"], atol=1e-10)
    np.testing.assert_array_equal(result.labels, ref["aligned_labels"])


def some_partitions(seed, n=80, m=3, k=4):
    """Noisy indicator partitions: orthonormal columns that roughly agree."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    return [np.linalg.qr(np.eye(k)[truth] + rng.normal(0, 0.4, (n, k)))[0] for _ in range(m)], truth


@pytest.mark.parametrize("order", ["paper", "released"])
@pytest.mark.parametrize("seed", range(3))
def test_invariants_of_the_iterations(order, seed):
    H, _ = some_partitions(seed)
    rng = np.random.default_rng(seed)
    stacked, k = stack(H), 4
    start = aligned_start(stacked, H[0], 5, rng)
    runs = (None, start.C, np.tile(start.W, (5, 1, 1, 1)), np.full((5, 3), 3**-0.5))
    last = np.full(5, -np.inf)
    for _ in range(15):
        (labels, C, W, beta), objective = update_runs(stacked, runs, order)
        runs = (labels, C, W, beta)
        assert (objective >= last - 1e-9).all()
        last = objective
        np.testing.assert_allclose(C.transpose(0, 2, 1) @ C, np.tile(np.eye(k), (5, 1, 1)), atol=1e-10)
        np.testing.assert_allclose(np.linalg.norm(beta, axis=1), 1)
        assert (beta >= 0).all()
        Y = np.eye(k)[labels[0]]
        R = sum(b * Hp @ Wp for b, Hp, Wp in zip(beta[0], H, W[0], strict=True))
        assert objective[0] == pytest.approx(np.trace(C[0].T @ Y.T @ R))
        if order == "paper":
            alpha = [np.trace(C[0].T @ Y.T @ Hp @ Wp) for Hp, Wp in zip(H, W[0], strict=True)]
            assert objective[0] == pytest.approx(np.linalg.norm(alpha))


def test_a_batch_of_starts_gives_the_best_single_one():
    H, _ = some_partitions(1)
    stacked = stack(H)
    start = aligned_start(stacked, H[0], 8, np.random.default_rng(0))
    together = solve_op_lfmvc(stacked, *start)
    alone = [solve_op_lfmvc(stacked, start.C[[i]], start.W) for i in range(8)]
    best = int(np.argmax([run.history.objective[-1] for run in alone]))
    assert together.restart == best
    np.testing.assert_array_equal(together.labels, alone[best].labels)


def test_signs_and_rotations_of_the_partitions_do_not_matter():
    H, _ = some_partitions(2)
    expected = OPLFMVC(4, base="embedding", random_state=0).fit(H).labels_
    rng = np.random.default_rng(3)
    for _ in range(5):
        flipped = [Hp * rng.choice([-1, 1], 4) for Hp in H]
        turned = [Hp @ ortho_group.rvs(4, random_state=rng) for Hp in H]
        np.testing.assert_array_equal(OPLFMVC(4, base="embedding", random_state=0).fit(flipped).labels_, expected)
        np.testing.assert_array_equal(OPLFMVC(4, base="embedding", random_state=0).fit(turned).labels_, expected)


def test_one_view_with_perfect_partition_is_found(three_views):
    _, y = three_views
    H = np.eye(3)[y] / np.sqrt(20)
    model = OPLFMVC(3, base="embedding", random_state=0).fit([H])
    assert adjusted_rand_index(y, model.labels_) == 1.0
    np.testing.assert_allclose(model.confidence_, 1.0)
    np.testing.assert_allclose(model.view_weights_, [1.0])


@pytest.mark.parametrize("base", ["features", "embedding"])
def test_training_samples_predict_their_labels(three_views, base):
    views, _ = three_views
    if base == "embedding":
        views = [np.linalg.qr(X[:, :3])[0] for X in views]
    model = OPLFMVC(3, base=base, random_state=0).fit(views)
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    np.testing.assert_array_equal(model.predict([X[5:9] for X in views]), model.labels_[5:9])


def test_kernels_as_input_equal_features(three_views):
    views, _ = three_views
    features = OPLFMVC(3, kernel="linear", scaling=None, random_state=0).fit(views)
    kernels = OPLFMVC(3, base="kernel", random_state=0).fit([X @ X.T for X in views])
    np.testing.assert_array_equal(kernels.labels_, features.labels_)
    assert not hasattr(kernels, "predict")


def test_landmarks_come_close_to_the_exact_partitions():
    from manyviews import datasets

    data = datasets.make_blobs_views(600, (8, 6), 4, view_noise=0.25, random_state=0)
    exact = OPLFMVC(4, approximation="exact", random_state=0).fit(data.views)
    near = OPLFMVC(4, approximation="nystrom", n_landmarks=100, random_state=0).fit(data.views)
    assert adjusted_rand_index(exact.labels_, near.labels_) > 0.95
    np.testing.assert_array_equal(near.predict(data.views), near.labels_)
    assert (exact.approximation_, near.approximation_) == ("exact", "nystrom")


def test_a_constant_view_gets_no_weight_and_changes_nothing(three_views):
    views, y = three_views
    with pytest.warns(UserWarning, match="'view_3' is constant"):
        model = OPLFMVC(3, random_state=0).fit([*views, np.full((60, 2), 7.0)])
    assert model.view_weights_[3] == 0
    assert adjusted_rand_index(y, model.labels_) == 1.0
    # rows that differ in length only are one direction for the cosine
    with pytest.raises(ValueError, match="alike in every view"):
        OPLFMVC(3, scaling=None, kernel="cosine").fit([np.outer(np.arange(1.0, 61.0), [1.0, 2.0])])


@pytest.mark.parametrize("approximation", ["exact", "nystrom"])
def test_identical_samples_get_identical_labels(approximation):
    rows = np.random.default_rng(0).normal(size=(3, 4))
    which = np.repeat([0, 1, 2], [4, 3, 5])
    model = OPLFMVC(3, approximation=approximation, random_state=0)
    model.fit([rows[which], rows[which, :2]])
    assert adjusted_rand_index(model.labels_, which) == 1.0
    np.testing.assert_array_equal(model.predict([rows[which], rows[which, :2]]), model.labels_)


@pytest.mark.parametrize("approximation", ["exact", "nystrom"])
@pytest.mark.parametrize("kernel", ["linear", "cosine", "rbf_meandist"])
def test_a_constant_view_among_others_for_every_kernel(three_views, approximation, kernel):
    views, y = three_views
    with pytest.warns(UserWarning, match="'view_1' is constant"):
        model = OPLFMVC(3, kernel=kernel, approximation=approximation, random_state=0).fit([views[0], np.ones((60, 2))])
    assert adjusted_rand_index(y, model.labels_) == 1.0
    assert model.view_weights_[1] == 0


@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_the_size_of_a_kernel_does_not_matter(three_views, factor):
    views, _ = three_views
    expected = OPLFMVC(3, base="kernel", random_state=0).fit([X @ X.T for X in views])
    scaled = OPLFMVC(3, base="kernel", random_state=0).fit([factor * (X @ X.T) for X in views])
    np.testing.assert_array_equal(scaled.labels_, expected.labels_)
    np.testing.assert_allclose(scaled.view_weights_, expected.view_weights_, rtol=1e-6)
    small = AverageKKM(3, kernel="linear", scaling=None, random_state=0).fit([X * factor for X in views])
    np.testing.assert_array_equal(small.predict([X * factor for X in views]), small.labels_)


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan, "x"])
def test_a_gamma_that_is_no_positive_number_is_refused(three_views, gamma):
    with pytest.raises(ValueError, match="'gamma' parameter of"):
        OPLFMVC(3, gamma={"view_1": gamma}).fit(three_views[0])


def test_too_few_landmarks_are_refused(three_views):
    with pytest.raises(ValueError, match="n_landmarks=2"):
        OPLFMVC(3, approximation="nystrom", n_landmarks=2).fit(three_views[0])


def test_one_cluster_and_one_sample(three_views):
    views, _ = three_views
    assert not OPLFMVC(1).fit(views).labels_.any()
    assert OPLFMVC(1).fit([np.ones((1, 2))]).labels_.tolist() == [0]


def test_official_start_and_its_dependence_on_signs(reference):
    ref = reference("op_lfmvc/digits300.npz")
    start = released_start(4, ref["aligned_H_avg"], np.random.default_rng(0))
    np.testing.assert_allclose(start.W, np.tile(np.eye(10), (4, 1, 1)))
    np.testing.assert_allclose(start.C[0].T @ start.C[0], np.eye(10), atol=1e-10)


def test_drawn_signs_come_to_the_same_as_columns_with_these_signs(reference):
    ref = reference("op_lfmvc/digits300.npz")
    stacked = np.hstack(list(ref["H"]))
    plain = released_start(4, ref["aligned_H_avg"], np.random.default_rng(0))
    drawn = released_start(4, ref["aligned_H_avg"], np.random.default_rng(0), draw_signs=True)
    signs = np.concatenate([np.diag(W) for W in drawn.W])
    assert set(signs) == {-1.0, 1.0}
    found = solve_op_lfmvc(stacked, *drawn, order="released")
    np.testing.assert_array_equal(found.labels, solve_op_lfmvc(stacked * signs, *plain, order="released").labels)
    assert (found.labels != solve_op_lfmvc(stacked, *plain, order="released").labels).any()


def test_bad_kernels_and_partitions_are_refused(three_views):
    views, _ = three_views
    with pytest.raises(ValueError, match="takes n × n kernels"):
        OPLFMVC(3, base="kernel").fit(views)
    skewed = np.eye(60)
    skewed[0, 1] = 1
    with pytest.raises(ValueError, match="not symmetric"):
        OPLFMVC(3, base="kernel").fit([skewed])
    with pytest.raises(ValueError, match="n_clusters=3"):
        OPLFMVC(3, base="embedding").fit([np.eye(60)[:, :2]])
    with pytest.raises(ValueError, match="orthonormal columns"):
        OPLFMVC(3, base="embedding").fit([2 * np.eye(60)[:, :3]])


@pytest.mark.slow
def test_three_sources_with_the_released_start_over_random_signs(shared_data):
    views, y = shared_data("3sources")
    recipes = [ViewRecipe(name, "standard", "rbf_invdim", None) for name in views]
    base = exact_partitions(exact_kernels(tuple(views.values()), recipes, None), 6)
    rng = np.random.default_rng(0)
    scores = []
    for _ in range(50):
        stacked = base.stacked * rng.choice([-1.0, 1.0], base.stacked.shape[1])
        start = released_start(3, base.average * rng.choice([-1.0, 1.0], 6), np.random.default_rng(0))
        scores.append(clustering_accuracy(y, solve_op_lfmvc(stacked, *start, order="released", tol=1e-4).labels))
    assert 0.58 <= np.mean(scores) <= 0.64


def test_three_sources_and_digits_by_the_recommended_start(shared_data):
    views, y = shared_data("3sources")
    model = OPLFMVC(6, scaling="standard", kernel="rbf_invdim", random_state=0).fit(views)
    assert clustering_accuracy(y, model.labels_) >= 0.64
    assert adjusted_rand_index(y, model.labels_) >= 0.47
    views, y = shared_data("mfeat")
    model = OPLFMVC(10, random_state=0).fit(Views(views))
    assert clustering_accuracy(y, model.labels_) >= 0.91
    assert adjusted_rand_index(y, model.labels_) >= 0.82
