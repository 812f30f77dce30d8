import numpy as np
import pytest
from scipy import sparse

from manyviews import FastMICE, Views, datasets
from manyviews.cluster.anchors.groups import draw_groups, sample_group
from manyviews.metrics import adjusted_rand_index, clustering_accuracy, nmi_score
from manyviews.partitions import view_links
from manyviews.partitions.discretize import EmbeddingRule
from manyviews.partitions.ensemble_cut import cluster_reliability, fit_ensemble_cut
from manyviews.prototypes.view_treatment import as_sparse_if_so, fit_treatment


@pytest.fixture
def blobs():
    return datasets.make_blobs_views(300, (12, 9, 7), 4, view_noise=0.22, random_state=0)


def texts(seed=0, n=300, words=200, length=6):
    """Short texts of three topics, so short that a random part of the columns often leaves nothing."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(3, size=n)
    rows = np.repeat(np.arange(n), length)
    columns = rng.integers(words // 3, size=n * length) + (words // 3) * topic[rows]
    X = sparse.csr_matrix((np.ones(n * length), (rows, columns)), shape=(n, words))
    return X, topic


def test_mfeat_raw_with_the_published_settings(shared_data):
    views, y = shared_data("mfeat")
    settings = {"n_base_clusterings": 20, "n_anchors": 1000, "n_neighbors": 5, "scaling": None, "final": "released"}
    labels = [FastMICE(10, random_state=seed, **settings).fit(views).labels_ for seed in range(5)]
    assert np.mean([nmi_score(y, found, average_method="geometric") for found in labels]) >= 0.86
    assert np.mean([clustering_accuracy(y, found) for found in labels]) >= 0.82


def test_draws_have_their_distributions():
    draws = draw_groups(4000, 3, (4, 8), (1, 3), (0.2, 0.8), np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(draws.n_clusters)[4:] / 4000, 0.2, atol=0.03)
    np.testing.assert_allclose(np.bincount(draws.n_views)[1:] / 4000, 1 / 3, atol=0.03)
    assert 0.2 <= draws.fractions.min() < 0.201 < 0.799 < draws.fractions.max() <= 0.8
    rng = np.random.default_rng(1)
    treatments = [fit_treatment(rng.normal(size=(50, d)), "standard", "auto") for d in (10, 5, 1)]
    members = sample_group(treatments, 2, np.array([0.5, 0.41, 0.2]), rng)
    assert len({view for view, _ in members}) == 2
    for view, treatment in members:
        assert treatment.width == treatment.treatment().width == (5, 3, 1)[view]


def test_base_clusterings_have_the_sizes_drawn(blobs):
    model = FastMICE(4, n_base_clusterings=12, random_state=0).fit(blobs.views)
    assert model.base_labels_.shape == (300, 12)
    np.testing.assert_array_equal(model.base_labels_.max(axis=0) + 1, model.n_base_clusters_)
    assert model.n_base_clusters_.min() >= 4
    assert model.n_base_clusters_.max() <= 8
    assert adjusted_rand_index(blobs.labels, model.labels_) > 0.9


@pytest.mark.parametrize("search", ["exact", "approximate"])
@pytest.mark.parametrize("discretization", ["cosine", "paper"])
def test_training_samples_predict_their_labels(blobs, search, discretization):
    model = FastMICE(4, search=search, discretization=discretization, n_anchors=200, random_state=0)
    model.set_params(n_base_clusterings=20).fit(blobs.views)
    assert (model.predict(blobs.views) == model.labels_).mean() >= 0.99
    assert (model.predict(blobs.views[50:60]) == model.labels_[50:60]).mean() >= 0.9


def test_new_samples_join_their_clusters(blobs):
    train, test = np.arange(0, 300, 2), np.arange(1, 300, 2)
    model = FastMICE(4, n_base_clusterings=20, random_state=0).fit(blobs.views[train])
    assert adjusted_rand_index(blobs.labels[test], model.predict(blobs.views[test])) > 0.85


def test_approximate_and_exact_search_agree():
    data = datasets.make_blobs_views(3000, (30, 20), 5, view_noise=0.3, random_state=1)
    found = [
        FastMICE(5, search=search, n_base_clusterings=10, n_anchors=300, random_state=0).fit(data.views).labels_
        for search in ("exact", "approximate")
    ]
    scores = [adjusted_rand_index(data.labels, labels) for labels in found]
    assert abs(scores[0] - scores[1]) < 0.03


def test_the_approximate_search_is_taken_only_where_it_finds_the_neighbours(monkeypatch):
    monkeypatch.setattr(view_links, "cheaper_search", lambda *args: "approximate")
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(2000, 60))
    curve = np.tanh(rng.normal(size=(2000, 2)) @ rng.normal(size=(2, 60)))
    for X, search in ((noise, "exact"), (curve, "approximate")):
        model = FastMICE(3, n_base_clusterings=3, n_anchors=400, random_state=0).fit([X])
        assert {link.search for cut in model._cuts for link in cut.links} == {search}


def test_confidence_is_high_where_the_ensemble_agrees(blobs):
    model = FastMICE(4, n_base_clusterings=20, random_state=0).fit(blobs.views)
    wrong = np.ones(300, dtype=bool)
    for cluster in range(4):
        members = model.labels_ == cluster
        wrong[members] = blobs.labels[members] != np.bincount(blobs.labels[members]).argmax()
    assert 0 < wrong.sum() < 30
    assert model.confidence_[~wrong].mean() > model.confidence_[wrong].mean() + 0.1
    clear = datasets.make_blobs_views(200, (5, 5), 3, view_noise=0.05, random_state=0)
    sure = FastMICE(3, base_cluster_range=(3, 3), random_state=0).fit(clear.views)
    assert sure.confidence_.mean() > 0.95


def test_rows_that_say_nothing_get_no_base_label():
    (X, topic), (Z, _) = texts(0), texts(0)
    model = FastMICE(3, n_base_clusterings=20, random_state=0).fit([X, Z])
    silent = model.base_labels_ < 0
    assert silent.any()
    assert silent.mean() < 0.3
    assert np.isfinite(model.confidence_).all()
    assert adjusted_rand_index(topic, model.labels_) > 0.9
    assert (model.predict([X, Z]) == model.labels_).mean() >= 0.99


def test_an_empty_text_is_placed_and_not_lost():
    X, topic = texts(1)
    empty = X.tolil()
    empty[5] = 0
    empty = empty.tocsr()
    for views in ([empty], [empty, np.random.default_rng(0).normal(size=(300, 3)) + 3 * topic[:, None]]):
        model = FastMICE(3, n_base_clusterings=20, random_state=0).fit(views)
        assert model.labels_.shape == (300,)
        assert model.labels_.min() == 0
        assert (model.predict(views) == model.labels_).mean() >= 0.99
    assert model.labels_[5] == np.bincount(model.labels_[topic == topic[5]]).argmax()
    alone = FastMICE(3, random_state=0).fit([empty])
    assert (alone.base_labels_[5] == -1).all()
    assert alone.confidence_[5] == 0


def test_missing_samples_cost_little():
    gone = {"view_noise": 0.12, "random_state": 3}
    full = datasets.make_blobs_views(400, (12, 9, 7), 4, **gone)
    holes = datasets.make_blobs_views(400, (12, 9, 7), 4, missing_fraction=0.3, **gone)
    assert not holes.views.observed.all()
    complete = FastMICE(4, n_base_clusterings=20, random_state=0).fit(full.views)
    model = FastMICE(4, n_base_clusterings=20, random_state=0).fit(holes.views)
    assert model.labels_.min() == 0
    lost = adjusted_rand_index(full.labels, complete.labels_) - adjusted_rand_index(holes.labels, model.labels_)
    assert lost < 0.12
    assert (model.predict(holes.views) == model.labels_).mean() >= 0.99


def test_a_part_of_the_views_is_enough_to_predict(blobs):
    named = dict(blobs.views.items())
    model = FastMICE(4, n_base_clusterings=20, random_state=0).fit(named)
    for name in named:
        with pytest.warns(UserWarning, match="are not given"):
            found = model.predict({name: named[name]})
        assert adjusted_rand_index(blobs.labels, found) > 0.4
    with pytest.warns(UserWarning, match="are not given"):
        found = model.predict({n: named[n] for n in list(named)[:2]})
    assert adjusted_rand_index(blobs.labels, found) > 0.7


def test_a_view_no_base_clustering_uses_still_places_its_samples(blobs):
    views = [X.copy() for X in blobs.views.arrays]
    views[0][:40] = np.nan
    views[1][:40] = np.nan
    model = FastMICE(4, n_base_clusterings=1, view_range=(1, 1), random_state=2).fit(views)
    labelled = model.base_labels_[:, 0] >= 0
    assert model.labels_.min() == 0
    np.testing.assert_array_equal(model.confidence_[~labelled], 0)
    np.testing.assert_array_equal(model.predict(views), model.labels_)


def test_a_noise_view_does_not_sink_the_rest():
    shape = {"view_noise": (0.25, 0.4, 0.27), "random_state": 0}
    data = datasets.make_blobs_views(1000, (64, 32, 16), 6, noise_views=[0], **shape)
    without = data.views.select(data.views.names[1:])
    scores = [
        np.mean(
            [
                adjusted_rand_index(
                    data.labels, FastMICE(6, n_base_clusterings=20, n_anchors=500, random_state=s).fit(X).labels_
                )
                for s in range(2)
            ]
        )
        for X in (without, data.views)
    ]
    assert scores[0] - scores[1] < 0.07


def test_reliability_weighs_noise_down():
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=2000)
    good = [np.where(rng.random(2000) < 0.9, truth, rng.integers(4, size=2000)) for _ in range(6)]
    base = np.column_stack([*good, *(rng.integers(4, size=2000) for _ in range(6))]).astype(np.int32)
    sizes = np.full(12, 4)
    B = sparse.csr_array(np.eye(48)[base + 4 * np.arange(12)].sum(axis=1))
    weights = cluster_reliability((B.T @ B).tocsr(), sizes)
    assert weights[:24].min() > 3 * weights[24:].max()
    rule = EmbeddingRule("cosine", 20, 5)
    labels, _ = fit_ensemble_cut(base, sizes, 4, np.random.default_rng(0), rule=rule, weighting="reliability")
    assert adjusted_rand_index(truth, labels) > 0.9


def test_the_look_of_a_view_decides_on_scaling_and_metric():
    rng = np.random.default_rng(0)
    even, uneven = rng.normal(size=(100, 8)), rng.normal(size=(100, 8)) * [1e4, 1, 1, 1, 1, 1, 1, 1]
    counts = sparse.csr_matrix(rng.poisson(0.3, size=(100, 40)).astype(float))
    assert fit_treatment(even, "auto", "auto").scaling.kind == "standard"
    assert fit_treatment(uneven, "auto", "auto").scaling.kind == "standard"
    assert fit_treatment(counts, "auto", "auto").scaling.kind == "tfidf"
    assert fit_treatment((counts > 0).astype(float), "auto", "auto").scaling.kind == "unit"
    assert fit_treatment(counts, "auto", "auto").metric == "cosine"
    assert fit_treatment(even, "auto", "auto").metric == "euclidean"
    assert fit_treatment(counts * -1, "auto", "auto").metric == "euclidean"
    rare = np.zeros((100, 100))
    rare[np.arange(100), np.arange(100)] = 1
    assert sparse.issparse(as_sparse_if_so(rare))
    assert not sparse.issparse(as_sparse_if_so(rare - 0.1))


@pytest.mark.parametrize("scaling", ["standard", "minmax", "unit", None])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_every_scaling_and_metric_works(blobs, scaling, metric):
    model = FastMICE(4, scaling=scaling, metric=metric, n_base_clusterings=20, random_state=0).fit(blobs.views)
    assert adjusted_rand_index(blobs.labels, model.labels_) > 0.7
    assert (model.predict(blobs.views) == model.labels_).mean() >= 0.99


@pytest.mark.parametrize(
    "views",
    [
        [np.ones((30, 4)), np.random.default_rng(0).normal(size=(30, 3))],
        [np.repeat(np.random.default_rng(0).normal(size=(5, 3)), 8, axis=0)],
        [np.random.default_rng(0).integers(3, size=(200, 3)).astype(float)],
        [np.arange(7.0)[:, None]],
    ],
    ids=["constant view", "few distinct rows", "three levels", "one column, n < 2k"],
)
@pytest.mark.filterwarnings("ignore:FastMICE found", "ignore:view 'view_0' is constant")
def test_odd_data_lose_no_sample(views):
    for search in ("exact", "approximate"):
        model = FastMICE(4, n_base_clusterings=20, search=search, random_state=0).fit(views)
        assert model.labels_.shape == (views[0].shape[0],)
        assert model.labels_.min() == 0
        assert np.isfinite(model.confidence_).all()
        assert model.predict(views).shape == model.labels_.shape


@pytest.mark.parametrize(("k", "distinct"), [(2, 3), (3, 3), (4, 7), (7, 7)])
def test_copies_share_a_cluster_and_predict_their_labels(k, distinct):
    rng = np.random.default_rng(0)
    of = np.arange(40) % distinct
    X, Z = rng.normal(size=(distinct, 3))[of], rng.normal(size=(distinct, 2))[of]
    model = FastMICE(k, n_base_clusterings=10, random_state=0).fit([X, Z])
    np.testing.assert_array_equal(model.labels_, model.labels_[of])
    assert np.unique(model.labels_).size == k
    np.testing.assert_array_equal(model.predict([X, Z]), model.labels_)


def test_two_samples_are_two_clusters():
    X = np.array([[0.0, 1.0], [4.0, 2.0]])
    assert FastMICE(2, random_state=0).fit([X, X]).labels_.tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore:FastMICE found")
def test_one_cluster_one_sample_and_as_many_clusters_as_samples():
    X = np.random.default_rng(0).normal(size=(9, 3))
    assert not FastMICE(1, random_state=0).fit([X]).labels_.any()
    assert FastMICE(1, random_state=0).fit([X[:1]]).labels_.tolist() == [0]
    assert FastMICE(9, random_state=0).fit([X]).labels_.shape == (9,)


def test_ranges_are_kept_and_bad_ones_refused(blobs):
    model = FastMICE(4, base_cluster_range=(9, 11), view_range=(2, 2), n_base_clusterings=8, random_state=0)
    model.fit(blobs.views)
    assert set(model.n_base_clusters_) <= {9, 10, 11}
    for name, bad in [
        ("base_cluster_range", (5, 3)),
        ("base_cluster_range", (5,)),
        ("view_range", (0, 2)),
        ("view_range", [1, 2, 3]),
        ("column_fraction", (0.0, 0.5)),
        ("column_fraction", (0.5,)),
    ]:
        with pytest.raises(ValueError, match=name):
            FastMICE(4, **{name: bad}).fit(blobs.views)
    with pytest.raises(ValueError, match="column_fraction"):
        FastMICE(4, column_fraction=(0.8, 0.2)).fit(blobs.views)
    with pytest.raises(ValueError, match="metric"):
        FastMICE(4, metric={"nowhere": "cosine"}).fit(blobs.views)
    with pytest.raises(ValueError, match="metric"):
        FastMICE(4, metric=["euclid", "cosine", "auto"]).fit(blobs.views)


def test_single_precision_stays_single(blobs):
    views = Views([X.astype(np.float32) for X in blobs.views.arrays])
    model = FastMICE(4, n_base_clusterings=20, random_state=0).fit(views)
    for cut in model._cuts:
        assert cut.centers.dtype == np.float32
        assert all(link.index.points.dtype == np.float32 for link in cut.links)
    assert adjusted_rand_index(blobs.labels, model.labels_) > 0.9


@pytest.mark.parametrize(("n_views", "anchors"), [(1, 90), (3, 30)])
def test_the_views_of_a_group_share_as_many_anchors_as_there_are_samples(n_views, anchors):
    X = np.random.default_rng(0).normal(size=(90, 12))
    for n_anchors in (90, 1000):
        model = FastMICE(3, n_base_clusterings=4, n_anchors=n_anchors, view_range=(n_views, n_views), random_state=0)
        model.fit([X[:, :4], X[:, 4:8], X[:, 8:]])
        assert {link.index.points.shape[0] for cut in model._cuts for link in cut.links} == {anchors}


def test_msrcv1_with_the_published_settings_comes_near_the_released_code(shared_data):
    views, y = shared_data("msrcv1")
    settings = {"n_base_clusterings": 20, "n_anchors": 1000, "n_neighbors": 5, "scaling": None, "final": "released"}
    found = [FastMICE(7, random_state=seed, **settings).fit(views).labels_ for seed in range(5)]
    assert np.mean([nmi_score(y, labels, average_method="geometric") for labels in found]) >= 0.80
    together = FastMICE(7, view_range=(6, 6), random_state=0, **settings).fit(views)
    assert nmi_score(y, together.labels_, average_method="geometric") >= 0.75


def test_units_of_columns_do_not_decide():
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    wine = [X[:, :5], X[:, 5:9], X[:, 9:]]
    few = {"n_base_clusterings": 20}
    scores = [adjusted_rand_index(y, FastMICE(3, **few, random_state=seed).fit(wine).labels_) for seed in range(3)]
    assert np.mean(scores) > 0.8
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = rng.integers(3, size=200)
        views = [np.hstack([rng.normal(size=(200, 15)) + 2.5 * y[:, None], rng.normal(size=(200, 5))]) for _ in "ab"]
        first = FastMICE(3, **few, random_state=seed).fit(views)
        assert adjusted_rand_index(y, first.labels_) > 0.95
        units = np.where(np.arange(20) < 15, 1.0, 1000.0)
        again = FastMICE(3, **few, random_state=seed).fit([X * units for X in views])
        np.testing.assert_array_equal(again.labels_, first.labels_)


def ten_groups(seed, n=2000):
    rng = np.random.default_rng(seed)
    y = rng.integers(10, size=n)
    return [rng.normal(size=(n, d)) + rng.normal(scale=3, size=(10, d))[y] for d in (10, 8)], y


@pytest.mark.parametrize("seed", [2, 4])
def test_the_last_cut_loses_no_clear_group(seed):
    views, y = ten_groups(seed)
    model = FastMICE(10, n_base_clusterings=20, random_state=seed).fit(views)
    assert adjusted_rand_index(y, model.labels_) > 0.99
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    released = fit_ensemble_cut(
        model.base_labels_,
        model.n_base_clusters_,
        10,
        np.random.default_rng(0),
        rule=EmbeddingRule("cosine", 20, 5),
        weighting="equal",
    )[0]
    # the same base clusterings: what the published cut loses was there
    assert adjusted_rand_index(y, released) <= adjusted_rand_index(y, model.labels_)
