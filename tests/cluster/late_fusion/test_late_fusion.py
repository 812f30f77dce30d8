import numpy as np
import pytest

from manyviews import LFMVC, TPLFMVC, AverageKKM
from manyviews.cluster.late_fusion.fusion import fuse_partitions
from manyviews.kernels.embedding import spectral_partition
from manyviews.metrics import adjusted_rand_index
from manyviews.partitions.discretize import kmeans_rows

CASES = ["synth140", "digits300"]


def start(ref):
    m, _, k = ref["H"].shape
    return np.hstack(list(ref["H"])), np.tile(np.eye(k), (m, 1, 1))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("i", range(3))
def test_lf_mvc_as_published(reference, case, i):
    ref = reference(f"lf_mvc/{case}.npz")
    stacked, W = start(ref)
    fusion = fuse_partitions(stacked, ref["H0"], lam=ref["lambdas"][i], W=W, tol=1e-6)
    np.testing.assert_allclose(fusion.history.objective, ref[f"paper{i}_obj"], rtol=1e-9)
    np.testing.assert_allclose(fusion.beta, ref[f"paper{i}_beta"], atol=1e-8)
    np.testing.assert_allclose(fusion.F, ref[f"paper{i}_F"], atol=1e-7)
    assert fusion.history.objective[-1] >= 0


@pytest.mark.parametrize("case", CASES)
def test_the_published_form_reaches_a_higher_objective_than_the_released_accumulator(reference, case):
    ref = reference(f"lf_mvc/{case}.npz")
    for i in range(3):
        assert ref[f"paper{i}_obj"][-1] > ref[f"code{i}_obj"][-1] - 1e-6


@pytest.mark.parametrize("case", CASES)
def test_tp_lfmvc_as_stored(reference, case):
    ref = reference(f"tp_lfmvc/{case}.npz")
    stacked, W = start(ref)
    H0 = np.zeros((stacked.shape[0], W.shape[1]))
    fusion = fuse_partitions(stacked, H0, lam=0.0, W=W, tol=1e-3)
    np.testing.assert_allclose(fusion.history.objective, ref["obj"], rtol=1e-9)
    np.testing.assert_allclose(fusion.beta, ref["beta"], atol=1e-8)
    np.testing.assert_allclose(fusion.F, ref["F"], atol=1e-7)
    np.testing.assert_allclose(fusion.W, ref["W"], atol=1e-7)
    longer = fuse_partitions(stacked, H0, lam=0.0, W=W, tol=0.0, max_iter=200)
    np.testing.assert_allclose(longer.history.objective, ref["obj_200_iterations"], rtol=1e-9)
    np.testing.assert_allclose(longer.F, ref["F_200"], atol=1e-6)
    inertia = kmeans_rows(fusion.F, W.shape[1], np.random.default_rng(0), n_init=500).inertia
    assert inertia <= ref["kmeans_inertia"] + 1e-6


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("lam", [0.0, 1.0, 8.0])
def test_invariants_of_the_fusion(reference, case, lam):
    ref = reference(f"lf_mvc/{case}.npz")
    stacked, W = start(ref)
    m, k = W.shape[:2]
    fusion = fuse_partitions(stacked, ref["H0"], lam=lam, W=W)
    assert (np.diff(fusion.history.objective) >= -1e-9).all()
    np.testing.assert_allclose(fusion.F.T @ fusion.F, np.eye(k), atol=1e-9)
    assert np.linalg.norm(fusion.beta) == pytest.approx(1)
    assert fusion.history.objective[-1] <= np.sqrt(m) * k + lam * k


def test_views_that_cancel_are_fused_through_the_samples():
    rng = np.random.default_rng(0)
    H = np.linalg.qr(rng.normal(size=(30, 3)))[0]
    stacked = np.hstack([H, -H])
    fusion = fuse_partitions(stacked, H, lam=0.0, W=np.tile(np.eye(3), (2, 1, 1)))
    assert np.isfinite(fusion.F).all()
    assert fusion.history.objective[-1] == pytest.approx(np.sqrt(2) * 3)


def test_average_kernel_synth140(reference):
    stored, ref = reference("kernels/synth140_kernels.npz"), reference("avg_kkm/synth140.npz")
    n, k = int(stored["n"]), int(stored["k"])
    K = np.zeros((3, n, n))
    upper = np.triu_indices(n)
    K[:, upper[0], upper[1]] = K[:, upper[1], upper[0]] = stored["K_upper"]
    values, H = spectral_partition(K.mean(axis=0), k)
    np.testing.assert_allclose(values, ref["eigenvalues"], rtol=1e-8)
    np.testing.assert_allclose(H @ H.T, ref["H"] @ ref["H"].T, atol=1e-7)

    features = reference("kernels/synth140_features.npz")
    kernels = {"X1": "rbf_meandist", "X2": "rbf_meandist", "X3": "linear"}
    views = {name: features[name] for name in kernels}
    model = AverageKKM(k, kernel=kernels, scaling=None, n_init=500, random_state=0).fit(views)
    np.testing.assert_allclose(model.eigenvalues_, ref["eigenvalues"], rtol=1e-8)
    np.testing.assert_allclose(model.history_.objective[-1], ref["trace_objective"], rtol=1e-8)
    assert model.inertia_ <= ref["kmeans_inertia"] + 1e-6
    assert adjusted_rand_index(model.labels_, ref["kmeans_labels"]) > 0.99


def test_average_kernel_digits300(reference, shared_arrays):
    features, ref = shared_arrays("reference/kernels/digits300_features.npz"), reference("avg_kkm/digits300.npz")
    views = [features[name].astype(np.float64) for name in ("fou", "kar", "zer", "mor")]
    model = AverageKKM(10, n_init=500, random_state=0).fit(views)
    np.testing.assert_allclose(model.eigenvalues_, ref["eigenvalues"], rtol=1e-8)
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, ref["H"] @ ref["H"].T, atol=1e-7)
    assert model.inertia_ <= ref["kmeans_inertia"] + 1e-6


@pytest.mark.parametrize("method", [LFMVC, TPLFMVC, AverageKKM])
@pytest.mark.parametrize("approximation", ["exact", "nystrom"])
def test_three_clear_clusters_and_their_prediction(three_views, method, approximation):
    views, y = three_views
    model = method(3, approximation=approximation, random_state=0).fit(views)
    assert adjusted_rand_index(y, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    assert ((model.confidence_ >= 0) & (model.confidence_ <= 1)).all()


@pytest.mark.parametrize("method", [LFMVC, TPLFMVC])
def test_partitions_as_input_predict_too(three_views, method):
    views = [np.linalg.qr(X[:, :3])[0] for X in three_views[0]]
    model = method(3, base="embedding", random_state=0).fit(views)
    np.testing.assert_array_equal(model.predict(views), model.labels_)


def test_average_kernel_refuses_partitions(three_views):
    with pytest.raises(ValueError, match="base=features or kernel"):
        AverageKKM(3, base="embedding").fit(three_views[0])


def test_no_pull_is_the_two_pass_method(three_views):
    views, _ = three_views
    lf = LFMVC(3, regularization=0.0, random_state=0).fit(views)
    tp = TPLFMVC(3, random_state=0).fit(views)
    np.testing.assert_array_equal(lf.labels_, tp.labels_)
    np.testing.assert_allclose(lf.history_.objective, tp.history_.objective)
