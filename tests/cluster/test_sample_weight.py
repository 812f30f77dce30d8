"""Samples that count more or less than others: a weight of 2 is a sample given twice, one of 0 a sample left out."""

import numpy as np
import pytest
from scipy import sparse

from few_members import few_votes
from manyviews import UDBGL, FastMICE, datasets
from manyviews.cluster.ensemble.sec import spectral_embedding, weighted_kmeans
from manyviews.cluster.kmeans.mspl import self_paced_kmeans
from manyviews.cluster.kmeans.rmkmc import solve_rmkmc
from manyviews.cluster.registry import METHODS
from manyviews.cluster.sample_weight import SampleWeightMixin
from manyviews.graphs.transfer_cut import cut_vectors, scaled_rows
from manyviews.linalg.balance import apply_balanced, fit_balanced
from manyviews.linalg.scaling import SCALINGS, apply_scaling, fit_scaling
from manyviews.metrics import adjusted_rand_index
from manyviews.optim.self_paced import counted_quantile
from manyviews.partitions.coassociation import indicator_matrix
from manyviews.partitions.utility_kmeans import UTILITIES, consensus_kmeans
from manyviews.prototypes.block_kmeans import block_kmeans, row_kmeans
from manyviews.prototypes.pacing import Pacing
from manyviews.prototypes.row_means import ProductSteps
from manyviews.prototypes.weighted import make_stack, stack_kmeans

WEIGHTED = [row.load() for row in METHODS if issubclass(row.load(), SampleWeightMixin)]
OTHERS = [row.load() for row in METHODS if not issubclass(row.load(), SampleWeightMixin)]
K = 3


@pytest.fixture(autouse=True)
def _few_votes(monkeypatch):
    few_votes(monkeypatch)


def made(method):
    """Return a method with as many members for any number of samples, which is what weights are held against."""
    model = method(K, random_state=0)
    return model.set_params(n_base_clusterings=20) if "n_base_clusterings" in model.get_params() else model


@pytest.fixture
def rows():
    return np.random.default_rng(3).poisson(2.0, (40, 4)).astype(np.float64)


@pytest.fixture
def counts():
    return np.random.default_rng(4).integers(1, 4, 40).astype(np.float64)


@pytest.fixture
def blobs():
    data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=K, view_noise=0.1, random_state=0)
    return list(data.views.arrays)


def repeated(X, counts):
    index = np.repeat(np.arange(counts.size), counts.astype(int))
    return X[index]


@pytest.mark.parametrize("kind", [*SCALINGS, None])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_scalings_count_a_row_as_often_as_it_weighs(rows, counts, kind, form):
    X = form(rows)
    wanted = apply_scaling(X, fit_scaling(repeated(X, counts), kind))
    found = apply_scaling(X, fit_scaling(X, kind, counts))
    np.testing.assert_allclose(dense(found), dense(wanted), atol=1e-12)
    if kind != "tfidf_plain":
        wanted = apply_balanced(X, fit_balanced(repeated(X, counts), kind))
        found = apply_balanced(X, fit_balanced(X, kind, counts=counts))
        np.testing.assert_allclose(dense(found), dense(wanted), atol=1e-12)


def test_weights_of_rows_not_observed_do_not_count(rows, counts):
    holes = rows.copy()
    holes[::5] = np.nan
    seen = ~np.isnan(holes[:, 0])
    found, wanted = (
        fit_balanced(holes, "standard", counts=counts),
        fit_balanced(rows[seen], "standard", counts=counts[seen]),
    )
    np.testing.assert_allclose(apply_balanced(holes, found)[seen], apply_balanced(rows[seen], wanted))


@pytest.mark.parametrize("gaps", [False, True])
def test_k_means_over_views_is_that_of_repeated_samples(rows, counts, gaps):
    views, start = (rows, rows[:, ::-1] ** 2), [rows[:K], rows[:K, ::-1] ** 2]
    observed = np.random.default_rng(0).random((2, 40)) < 0.8 if gaps else np.ones((2, 40), dtype=bool)
    observed[0] |= ~observed[1]
    views = tuple(np.where(seen[:, None], X, 0.0) for X, seen in zip(views, observed, strict=True))
    once = make_stack(views, observed, None, counts)
    often = make_stack(tuple(repeated(X, counts) for X in views), repeated(observed.T, counts).T)
    found, wanted = stack_kmeans(once, start), stack_kmeans(often, start)
    np.testing.assert_allclose(found.objective, wanted.objective)
    paced, repeats = self_paced_kmeans(once, start, Pacing()), self_paced_kmeans(often, start, Pacing())
    np.testing.assert_allclose(paced.history.objective, repeats.history.objective)
    np.testing.assert_allclose(paced.history.mean_weight, repeats.history.mean_weight)
    for C, D in zip([*found.centers, *paced.centers], [*wanted.centers, *repeats.centers], strict=True):
        np.testing.assert_allclose(C, D, atol=1e-9)
    labels, used = np.arange(40) % K, np.ones(2, dtype=bool)
    found = solve_rmkmc(once, labels, K, 5.0, used, tol=1e-9, max_iter=50)
    wanted = solve_rmkmc(often, repeated(labels, counts), K, 5.0, used, tol=1e-9, max_iter=50)
    np.testing.assert_allclose(found.history.objective, wanted.history.objective)
    np.testing.assert_allclose(found.state.alpha, wanted.state.alpha)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.55, 1.0])
def test_quantile_of_values_that_count_differently(counts, share):
    values = np.random.default_rng(1).random(40)
    assert counted_quantile(values, counts, share) == pytest.approx(np.quantile(repeated(values, counts), share))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_k_means_of_rows_is_that_of_repeated_rows(rows, counts, metric):
    X = rows + 0.1
    if metric == "cosine":
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    found, wanted = row_kmeans(X, X[:K], metric, weights=counts), row_kmeans(repeated(X, counts), X[:K], metric)
    np.testing.assert_allclose(found.centers, wanted.centers)
    rng = np.random.default_rng(0)
    once = block_kmeans(X, K, rng, metric=metric, start=X[:K], weights=counts)
    often = block_kmeans(repeated(X, counts), K, rng, metric=metric, start=X[:K])
    np.testing.assert_allclose(once.score, often.score)
    labels = np.arange(40) % K
    means = ProductSteps(X @ X.T, metric, counts).update(labels, np.zeros((K, 40))) @ X
    np.testing.assert_allclose(means, mean_of(X, labels, counts, metric))


def mean_of(X, labels, counts, metric):
    means = np.stack([np.average(X[labels == j], axis=0, weights=counts[labels == j]) for j in range(K)])
    return means / np.linalg.norm(means, axis=1, keepdims=True) if metric == "cosine" else means


@pytest.mark.parametrize("utility", UTILITIES)
def test_consensus_of_partitions_is_that_of_repeated_samples(counts, utility):
    labels = np.random.default_rng(2).integers(0, 4, (40, 6))
    widths = np.full(6, 4)
    B, C = (indicator_matrix(part, n_columns=widths) for part in (labels, repeated(labels, counts)))
    start = B[:K].toarray()
    options = {"weights": np.ones(6), "utility": utility}
    found, wanted = (
        consensus_kmeans(B, widths, start, counts=counts, **options),
        consensus_kmeans(C, widths, start, **options),
    )
    np.testing.assert_allclose(found.history.objective, wanted.history.objective)
    np.testing.assert_allclose(found.centers, wanted.centers)
    found, wanted = weighted_kmeans(B, start / 6, counts=counts), weighted_kmeans(C, start / 6)
    np.testing.assert_allclose(found.history.objective, wanted.history.objective)
    rng = np.random.default_rng
    once, _ = spectral_embedding(labels, K, rng(0), counts)
    often, _ = spectral_embedding(repeated(labels, counts), K, rng(0))
    np.testing.assert_allclose(repeated(once @ once.T, counts)[:, 0], (often @ often[0]), atol=1e-8)


def test_the_cut_of_a_graph_is_that_of_repeated_samples(counts):
    rng = np.random.default_rng(0)
    B = sparse.csr_array(rng.random((40, 8)) * (rng.random((40, 8)) < 0.5))
    found = cut_vectors(scaled_rows(B, counts), K, np.random.default_rng(0))
    wanted = cut_vectors(repeated(B, counts), K, np.random.default_rng(0))
    np.testing.assert_allclose(found.values, wanted.values, atol=1e-10)


@pytest.mark.parametrize("method", WEIGHTED)
def test_a_weight_of_two_is_a_sample_given_twice(method, blobs):
    counts = np.random.default_rng(0).integers(0, 4, 90)
    found = made(method).fit(blobs, sample_weight=counts)
    wanted = made(method).fit([repeated(X, counts) for X in blobs])
    assert adjusted_rand_index(found.predict(blobs), wanted.predict(blobs)) > 0.9


@pytest.mark.parametrize("method", WEIGHTED)
def test_a_sample_of_weight_zero_shapes_nothing_and_has_a_cluster(method, blobs):
    views = [np.vstack([X, 50.0 + np.arange(6)[:, None] + 0 * X[:6]]) for X in blobs]
    weights = np.append(np.ones(90), np.zeros(6))
    found = made(method).fit(views, sample_weight=weights)
    wanted = made(method).fit(blobs, sample_weight=np.ones(90))
    assert adjusted_rand_index(found.labels_[:90], wanted.labels_) == 1.0
    assert found.labels_.shape == found.confidence_.shape == (96,)
    np.testing.assert_array_equal(found.labels_[90:], found.predict([X[90:] for X in views]))
    for name in ("base_labels_", "embedding_"):
        assert len(getattr(found, name, found.labels_)) == 96
    if hasattr(found, "sample_weights_"):
        assert found.sample_weights_.shape == found.selection_order_.shape == (2, 96)
        np.testing.assert_array_equal(found.selection_order_[:, 90:], 0)


def test_equal_samples_share_a_cluster_whatever_they_weigh(blobs):
    views = [np.vstack([X[:1], X]) for X in blobs]
    labels = FastMICE(K, random_state=0).fit(views, sample_weight=[0.0, *np.ones(90)]).labels_
    assert labels[0] == labels[1]


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_weights_of_any_size(blobs, scale):
    weights = np.random.default_rng(0).random(90)
    for method in WEIGHTED[:4]:
        small = made(method).fit(blobs, sample_weight=weights * scale)
        assert adjusted_rand_index(small.labels_, made(method).fit(blobs, sample_weight=weights).labels_) > 0.95


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(3), r"shape \(90,\), got shape \(3,\)"),
        (np.ones((90, 1)), r"got shape \(90, 1\)"),
        (np.append(np.ones(89), np.nan), "finite and not negative, got nan for sample 89"),
        (np.append(-1.0, np.ones(89)), "got -1 for sample 0"),
        (np.zeros(90), "zero for all samples"),
        (["a"] * 90, "must be 90 numbers"),
        (np.append(np.ones(2), np.zeros(88)), "distinct samples: 2 of the 2 of n_samples=90 that count"),
        (np.append(1e31, np.ones(89)), "a weight below 1e-30 of the largest counts as 0"),
        (np.ones(90) + 1j, "complex"),
    ],
)
def test_weights_that_are_none(blobs, weights, words):
    with pytest.raises(ValueError, match=words):
        FastMICE(K).fit(blobs, sample_weight=weights)


@pytest.mark.parametrize("method", OTHERS)
def test_methods_without_a_weighted_form_name_those_with_one(method, blobs):
    names = ", ".join(taker.__name__ for taker in WEIGHTED)
    with pytest.raises(TypeError, match=f"{method.__name__} has no form .* no sample_weight; .* use {names}$"):
        method(K).fit(blobs, sample_weight=np.ones(90))


def test_any_other_argument_of_fit_is_refused(blobs):
    for method in (UDBGL, FastMICE):
        with pytest.raises(TypeError, match="unexpected keyword argument 'groups'"):
            method(K).fit(blobs, groups=np.ones(90))


def dense(X):
    return X.toarray() if sparse.issparse(X) else X
