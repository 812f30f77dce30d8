import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_circles, make_moons

from manyviews import USENC, USPEC, CCAClustering, FastMICE, SumSpectral, datasets
from manyviews.metrics import adjusted_rand_index, clustering_accuracy, nmi_score
from manyviews.prototypes.concatenation import Concatenation


def pendigits(shared_arrays):
    z = shared_arrays("reference/uspec_usenc/pendigits.npz")
    return z["X"].astype(np.float64), z["y"]


def test_uspec_reaches_the_published_band_on_pendigits(shared_arrays):
    X, y = pendigits(shared_arrays)
    labels = [USPEC(10, search="approximate", scaling=None, random_state=seed).fit(X).labels_ for seed in range(3)]
    nmi = np.mean([nmi_score(y, found, average_method="max") for found in labels])
    assert abs(nmi - 0.803) < 0.04
    assert abs(np.mean([clustering_accuracy(y, found) for found in labels]) - 0.8417) < 0.06


@pytest.mark.slow
def test_usenc_reaches_the_published_band_on_pendigits(shared_arrays):
    X, y = pendigits(shared_arrays)
    found = USENC(10, search="approximate", scaling=None, random_state=0).fit(X).labels_
    assert nmi_score(y, found, average_method="max") > 0.825
    assert clustering_accuracy(y, found) > 0.84


@pytest.mark.parametrize("method", [USPEC, USENC])
@pytest.mark.parametrize("maker", ["moons", "circles"])
def test_bent_clusters_are_found(method, maker):
    X, y = make_moons(1500, noise=0.05, random_state=0)
    if maker == "circles":
        X, y = make_circles(1500, noise=0.03, factor=0.5, random_state=0)
    model = method(2, n_anchors=400, random_state=0).fit(X)
    assert adjusted_rand_index(y, model.labels_) > 0.99
    assert (model.predict(X) == model.labels_).mean() >= 0.99


@pytest.mark.parametrize("method", [USPEC, USENC])
@pytest.mark.parametrize("discretization", ["kmeans", "paper"])
def test_several_views_are_put_side_by_side(method, discretization):
    data = datasets.make_blobs_views(500, (12, 9), 4, view_noise=0.2, random_state=0)
    model = method(4, discretization=discretization, random_state=0).fit(data.views)
    assert adjusted_rand_index(data.labels, model.labels_) > 0.9
    assert (model.predict(data.views) == model.labels_).mean() >= 0.99


def test_views_side_by_side_weigh_alike_and_are_never_copied_whole():
    rng = np.random.default_rng(0)
    arrays = (rng.normal(3, 5, (100, 4)), rng.normal(0, 0.1, (100, 50)))
    whole = Concatenation.fit(arrays, ("auto", "auto"), "auto").of(arrays)
    assert whole.shape == (100, 54)
    rows = whole[:]
    np.testing.assert_allclose(np.square(rows[:, :4]).sum(), np.square(rows[:, 4:]).sum())
    alone = Concatenation.fit(arrays[:1], (None,), "auto").of(arrays[:1])
    np.testing.assert_allclose(np.diff(alone[:], axis=0), np.diff(arrays[0], axis=0))
    thin = tuple(sparse.csr_array(abs(X) * (abs(X) > 5)) for X in arrays)
    assert sparse.issparse(Concatenation.fit(thin, ("auto", "auto"), "auto").of(thin)[:10])


@pytest.mark.parametrize("method", [USPEC, USENC])
@pytest.mark.filterwarnings("ignore:US.* found")
def test_an_empty_sparse_row_is_placed(method):
    rng = np.random.default_rng(0)
    topic = np.repeat([0, 1, 2], 40)
    dense = rng.poisson(0.1 + 2 * np.kron(np.eye(3), np.ones(8))[topic]).astype(float)
    dense[7] = 0
    model = method(3, random_state=0).fit(sparse.csr_matrix(dense))
    keep = np.arange(120) != 7
    assert adjusted_rand_index(topic[keep], model.labels_[keep]) > 0.95
    assert model.labels_.min() == 0
    np.testing.assert_array_equal(model.predict(sparse.csr_matrix(dense)), model.labels_)
    assert method(1, random_state=0).fit(sparse.csr_matrix((5, 3))).labels_.shape == (5,)


@pytest.mark.parametrize("method", [USPEC, USENC, FastMICE])
def test_fewer_anchors_than_clusters_are_refused(method):
    with pytest.raises(ValueError, match="n_anchors=3 is less than n_clusters=4"):
        method(4, n_anchors=3).fit(np.random.default_rng(0).normal(size=(20, 2)))


def test_small_data_get_fewer_base_clusters():
    X = np.random.default_rng(0).normal(size=(100, 2))
    assert USENC(3, random_state=0).fit(X).n_base_clusters_.max() <= 10
    big = np.random.default_rng(0).normal(size=(1200, 2))
    sizes = USENC(3, n_base_clusterings=60, n_anchors=300, random_state=0).fit(big).n_base_clusters_
    assert 20 <= sizes.min() < 25
    assert 55 < sizes.max() <= 60


@pytest.mark.parametrize("method", [USPEC, USENC])
def test_two_samples_are_two_clusters_and_copies_share_one(method):
    assert method(2, random_state=0).fit(np.array([[0.0, 1.0], [4.0, 2.0]])).labels_.tolist() == [0, 1]
    of = np.arange(40) % 3
    X = np.random.default_rng(0).normal(size=(3, 2))[of]
    for k in (2, 3):
        model = method(k, random_state=0).fit(X)
        np.testing.assert_array_equal(model.labels_, model.labels_[of])
        assert np.unique(model.labels_).size == k
        np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("method", [USPEC, USENC])
def test_units_of_columns_do_not_decide(method):
    data = datasets.make_blobs_views(300, (9,), 3, view_noise=0.1, random_state=0)
    X = np.hstack([data.views.arrays[0], np.random.default_rng(0).normal(size=(300, 2))])
    first = method(3, random_state=0).fit([X]).labels_
    assert adjusted_rand_index(data.labels, first) > 0.9
    np.testing.assert_array_equal(method(3, random_state=0).fit([X * np.r_[np.ones(9), 1000, 1000]]).labels_, first)


@pytest.mark.filterwarnings("ignore:view .* is constant")
@pytest.mark.parametrize("method", [USENC, FastMICE, SumSpectral, CCAClustering])
@pytest.mark.parametrize("seed", range(3))
def test_a_constant_view_changes_no_label(method, seed):
    data = datasets.make_blobs_views(150, (8, 6), 4, view_noise=0.2, random_state=seed)
    a, b = data.views.arrays
    few = {"n_base_clusterings": 10} if "n_base_clusterings" in method().get_params() else {}
    first = method(4, **few, random_state=seed).fit([a, b])
    for constant in (np.full((150, 3), 7.3), sparse.csr_array(np.tile([0.0, 2.0], (150, 1)))):
        again = method(4, **few, random_state=seed).fit([a, constant, b])
        np.testing.assert_array_equal(again.labels_, first.labels_)
        if hasattr(again, "predict"):
            np.testing.assert_array_equal(again.predict([a, constant, b]), first.predict([a, b]))
