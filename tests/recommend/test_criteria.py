"""Criteria without classes: cases worked out by hand, chance, invariances."""

import numpy as np
import pytest
from scipy import sparse

from manyviews import Views, datasets
from manyviews.cluster.view_graphs import MOST_SAMPLES, ViewGraph, predictability, silhouette, view_graphs
from manyviews.recommend.criteria import Groupings, criteria_of

TRIANGLES = np.array([0, 0, 0, 1, 1, 1])


@pytest.fixture
def triangles():
    """Two triangles; the last sample of the second looks into the first."""
    neighbours = {0: (1, 2), 1: (0, 2), 2: (0, 1), 3: (4, 5), 4: (3, 5), 5: (0, 1)}
    graph = np.zeros((6, 6))
    for i, others in neighbours.items():
        graph[i, list(others)] = 1.0
    return ViewGraph("triangles", np.arange(6), None, sparse.csr_array(graph))


@pytest.fixture(scope="module")
def blobs():
    return datasets.make_blobs_views(150, (8, 6, 5), 3, view_noise=0.15, noise_views=["view_2"], random_state=4)


def test_predictability_by_hand(triangles):
    # guesses 0 0 0 1 1 0: of the 3 + 3 pairs inside, 3 + 1 stay, of 15 in all 6 + 1 are together in the guesses
    expected = 6 * 7 / 15
    assert predictability(triangles, TRIANGLES) == pytest.approx((4 - expected) / ((6 + 7) / 2 - expected))


def test_predictability_of_degenerate_groupings(triangles):
    assert predictability(triangles, np.zeros(6, dtype=int)) == 0.0
    assert predictability(triangles, np.array([0, 0, 0, 0, 0, 1])) == pytest.approx(0.0)


def test_predictability_knows_no_names(triangles):
    expected = predictability(triangles, TRIANGLES)
    assert predictability(triangles, np.array(list("bbbaaa"))) == pytest.approx(expected)


def test_random_groupings_have_no_structure(blobs):
    rng = np.random.default_rng(0)
    view = view_graphs(blobs.views)[0]
    values = [predictability(view, rng.integers(3, size=150)) for _ in range(20)]
    assert abs(np.mean(values)) < 0.03


def test_every_sample_has_five_neighbours_other_than_itself(blobs):
    for view in view_graphs(blobs.views):
        assert not view.graph.diagonal().any()
        assert set(view.graph.sum(axis=1)) == {5.0}


def test_samples_at_the_same_distance_share_a_place():
    line = np.array([[0.0], [1.0], [2.0], [3.0], [10.0], [11.0]])
    (view,) = view_graphs(Views({"line": line}), n_neighbors=1)
    assert view.graph.toarray()[1].tolist() == [0.5, 0, 0.5, 0, 0, 0]
    assert view.graph.toarray()[5].tolist() == [0, 0, 0, 0, 1, 0]


def test_the_order_of_the_samples_does_not_matter():
    rng = np.random.default_rng(3)
    X, labels, order = rng.integers(3, size=(80, 3)).astype(float), rng.integers(2, size=80), rng.permutation(80)
    labels[:50] = X[:50, 0] > 0
    (view,), (again,) = view_graphs(Views({"a": X})), view_graphs(Views({"a": X[order]}))
    assert predictability(again, labels[order]) == pytest.approx(predictability(view, labels))


def test_units_of_a_column_do_not_matter(blobs):
    arrays = {name: array.copy() for name, array in blobs.views.items()}
    arrays["view_0"][:, 0] *= 1e5
    first, second = view_graphs(blobs.views)[0], view_graphs(Views(arrays))[0]
    assert (first.graph != second.graph).nnz == 0


def test_unobserved_and_empty_rows_are_left_out():
    rng = np.random.default_rng(1)
    dense = rng.normal(size=(30, 3))
    dense[[2, 7]] = np.nan
    words = sparse.csr_array(np.vstack([np.zeros((1, 40)), rng.poisson(0.3, size=(29, 40)) + np.eye(29, 40)]))
    one, two = view_graphs(Views({"numbers": dense, "words": words}))
    assert one.rows.tolist() == [i for i in range(30) if i not in (2, 7)]
    assert two.rows.tolist() == list(range(1, 30))
    assert one.graph.shape == (28, 28)
    assert np.isfinite(silhouette(two, np.arange(29) % 2))


def test_large_data_are_sampled_the_same_every_time():
    views = Views({"a": np.random.default_rng(0).normal(size=(MOST_SAMPLES + 50, 2)).astype(np.float32)})
    first, second = view_graphs(views)[0], view_graphs(views)[0]
    assert first.rows.size == MOST_SAMPLES
    assert np.array_equal(first.rows, second.rows)


def test_criteria_of_true_and_random_groupings(blobs):
    rng = np.random.default_rng(0)
    true, noise = blobs.labels, [rng.integers(3, size=150) for _ in range(3)]
    rows = [np.sort(rng.choice(150, 120, replace=False)) for _ in range(2)]
    found = criteria_of(
        {
            "true": Groupings([true, (true + 1) % 3], [(part, true[part]) for part in rows]),
            "random": Groupings(noise, [(part, rng.integers(3, size=120)) for part in rows]),
        },
        view_graphs(blobs.views),
    )
    good, bad = found["true"], found["random"]
    assert good.structures["view_0"] > 0.5
    assert abs(good.structures["view_2"]) < 0.05
    assert good.structure == pytest.approx(np.mean(list(good.structures.values())))
    assert good.silhouettes["view_0"] > 0.3 > 0.05 > abs(good.silhouettes["view_2"])
    assert good.seeds == good.parts == pytest.approx(1.0)
    assert good.view_balance == pytest.approx(np.log(2) / np.log(3), abs=0.06)
    assert good.size_balance == pytest.approx(1.0)
    assert (good.n_clusters, good.smallest, good.largest) == (3, 50, 50)
    assert max(abs(bad.structure), abs(bad.seeds), abs(bad.parts), abs(bad.agreement)) < 0.05


def test_what_cannot_be_known_is_nan(blobs):
    found = criteria_of({"only": Groupings([np.zeros(150, dtype=int)])}, view_graphs(blobs.views))["only"]
    assert np.isnan([found.agreement, found.seeds, found.parts, found.silhouette]).all()
    assert found.structure == pytest.approx(0.0)
    assert (found.size_balance, found.n_clusters) == (0.0, 1)
