import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from manyviews import UDBGL, Views
from manyviews.graphs.components import bipartite_components
from manyviews.graphs.graph_fusion import update_view_weights
from manyviews.metrics import adjusted_rand_index, nmi_score


def noise(seed, n=300, columns=(5, 5, 5)):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, d)) for d in columns]


def test_clusters_are_the_components_of_the_graph(three_views):
    views, y = three_views
    model = UDBGL(3, random_state=0).fit(views)
    assert adjusted_rand_index(y, model.labels_) == 1.0
    found = bipartite_components(model.graph_)
    assert found.n_found == model.n_components_ == 3
    assert adjusted_rand_index(found.samples, model.labels_) == 1.0
    rows, anchors = model.graph_.nonzero()
    np.testing.assert_array_equal(model.labels_[rows], model.anchor_labels_[anchors])
    assert model.converged_
    assert model.view_weights_.sum() == pytest.approx(1)
    assert (model.confidence_ <= 1 + 1e-12).all()
    assert (model.confidence_ >= 0).all()
    assert model.history_.objective.size == model.n_iter_


@pytest.mark.parametrize("projection", ["both", "rows"])
@pytest.mark.parametrize("n_anchors", [None, 20, 60])
def test_k_components_even_in_noise(n_anchors, projection):
    for seed in range(3):
        model = UDBGL(
            10, n_anchors=n_anchors, projection=projection, n_init=1, tol=1e-3, max_iter=100, random_state=seed
        )
        model.fit(noise(seed))
        assert model.n_components_ == np.unique(model.labels_).size == 10


def test_the_order_of_samples_and_views_does_not_matter(three_views):
    views, _ = three_views
    labels = UDBGL(3, random_state=0).fit(views).labels_
    order = np.random.default_rng(0).permutation(60)
    moved = UDBGL(3, random_state=0).fit([X[order] for X in views[::-1]])
    assert adjusted_rand_index(labels[order], moved.labels_) == 1.0


def test_training_samples_predict_their_labels(three_views):
    views, _ = three_views
    model = UDBGL(3, n_anchors=6, random_state=0).fit(Views(dict(zip("abc", views, strict=True))))
    new = Views({"c": views[2][5:9], "a": views[0][5:9], "b": views[1][5:9]})
    np.testing.assert_array_equal(model.predict(new), model.labels_[5:9])
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(new), model.predict(new))
    with pytest.raises(ValueError, match="missing here"):
        model.predict(new.select(["a"]))


def test_sparse_and_dense_views_give_the_same(three_views):
    views, y = three_views
    counts = [np.round(np.abs(X)) for X in views]
    for scaling in ("unit", "tfidf", None):
        dense = UDBGL(3, scaling=scaling, anchor_space="concatenated", random_state=0).fit(counts)
        csr = UDBGL(3, scaling=scaling, anchor_space="concatenated", random_state=0).fit(
            [sparse.csr_matrix(X) for X in counts]
        )
        np.testing.assert_array_equal(dense.labels_, csr.labels_)
        np.testing.assert_allclose(dense.history_.objective, csr.history_.objective)
    mixed = UDBGL(3, random_state=0).fit([views[0], sparse.csr_matrix(counts[1])])
    assert adjusted_rand_index(y, mixed.labels_) > 0.9


def test_single_precision_and_read_only_memory_maps(three_views, tmp_path):
    views, _ = three_views
    expected = UDBGL(3, random_state=0).fit(views)
    single = UDBGL(3, random_state=0).fit([X.astype(np.float32) for X in views])
    np.testing.assert_array_equal(single.labels_, expected.labels_)
    for i, X in enumerate(views):
        np.save(tmp_path / f"{i}.npy", X)
    mapped = UDBGL(3, random_state=0).fit([np.load(tmp_path / f"{i}.npy", mmap_mode="r") for i in range(3)])
    np.testing.assert_array_equal(mapped.labels_, expected.labels_)


def test_constant_views_and_columns_change_nothing(three_views):
    views, y = three_views
    with pytest.warns(UserWarning, match="'view_3' is constant"):
        model = UDBGL(3, random_state=0).fit([*views, np.full((60, 2), 7.0)])
    assert adjusted_rand_index(y, model.labels_) == 1.0
    with_column = [np.c_[X, np.ones(60)] for X in views]
    np.testing.assert_array_equal(
        UDBGL(3, random_state=0).fit(with_column).labels_, UDBGL(3, random_state=0).fit(views).labels_
    )


def test_the_extremes_of_n_clusters(three_views):
    views, _ = three_views
    assert not UDBGL(1).fit(views).labels_.any()
    assert UDBGL(1).fit([np.ones((1, 2))]).labels_.tolist() == [0]
    for k, n in ((60, 60), (59, 60), (4, 6)):
        model = UDBGL(k, random_state=0, max_iter=100).fit([X[:n] for X in views])
        assert np.unique(model.labels_).size == k


def test_equal_views_share_the_weight(three_views):
    views, _ = three_views
    np.testing.assert_allclose(UDBGL(3, random_state=0).fit([views[0]] * 2).view_weights_, [0.5, 0.5], atol=1e-6)


def test_view_weights_are_the_least_squares_shares():
    rng = np.random.default_rng(0)
    Z = [rng.dirichlet(np.ones(4), 30) for _ in range(3)]
    np.testing.assert_allclose(update_view_weights(Z, 0.2 * Z[0] + 0.8 * Z[2]), [0.2, 0.0, 0.8], atol=1e-10)


def test_failing_search_still_gives_k_labels_and_says_so(three_views):
    views, _ = three_views
    with pytest.warns(ConvergenceWarning, match="k-means on its embedding"):
        model = UDBGL(3, max_passes=1, random_state=0, max_iter=50).fit(views)
    assert not model.converged_
    assert model.n_components_ < 3
    assert np.unique(model.labels_).size == 3
    assert (model.predict(views) == model.labels_).mean() > 0.8


def test_bad_numbers_of_anchors_are_refused(three_views):
    views, _ = three_views
    with pytest.raises(ValueError, match="n_anchors=2 must lie between n_clusters=3"):
        UDBGL(3, n_anchors=2).fit(views)
    with pytest.raises(ValueError, match="n_samples=60"):
        UDBGL(3, n_anchors=61).fit(views)
    with pytest.raises(ValueError, match="'projection' parameter"):
        UDBGL(3, projection="columns").fit(views)


def test_anchors_come_from_a_sample_of_many_rows():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=12_000)
    views = [rng.normal(0, 4, (3, d))[y] + rng.normal(0, 1, (12_000, d)) for d in (3, 2)]
    model = UDBGL(3, n_init=2, random_state=0).fit(views)
    assert adjusted_rand_index(y, model.labels_) > 0.9
    assert (model.predict(views) == model.labels_).mean() > 0.98


def test_digits_end_with_ten_components_at_least_as_good_as_published(shared_data):
    views, y = shared_data("mfeat")
    for seed in range(3):
        model = UDBGL(10, random_state=seed).fit(Views(views))
        assert model.n_components_ == 10
        assert nmi_score(y, model.labels_) >= 0.87
        assert (model.predict(Views(views)) == model.labels_).mean() >= 0.98


@pytest.mark.slow
def test_digits_with_the_anchors_of_the_paper_over_twenty_seeds(shared_data):
    views, y = shared_data("mfeat")
    models = [
        UDBGL(10, anchor_space="concatenated", n_init=2, random_state=seed).fit(Views(views)) for seed in range(20)
    ]
    assert all(model.n_components_ == 10 for model in models)
    assert np.mean([nmi_score(y, model.labels_) for model in models]) >= 0.77


@pytest.mark.parametrize(
    ("name", "k", "least"), [("3sources", 6, 0.5), ("bbcsport", 5, 0.6), ("newsgroups_ngs", 5, 0.9)]
)
def test_text_by_the_defaults(shared_data, name, k, least):
    views, y = shared_data(name)
    scores = [nmi_score(y, UDBGL(k, random_state=seed).fit(Views(views)).labels_) for seed in range(3)]
    assert np.mean(scores) >= least
