import numpy as np
import pytest

from manyviews import Views, choose_k, datasets
from manyviews.recommend.cluster_numbers import without_structure
from manyviews.recommend.splits import splits_of

BLOBS = datasets.make_blobs_views(120, (6, 5), 3, view_noise=0.2, random_state=0)


@pytest.fixture(scope="module")
def blobs():
    return choose_k(BLOBS.views, range(2, 8))


@pytest.fixture
def few_clusterings(monkeypatch):
    """Where the number that is found does not matter."""
    monkeypatch.setattr("manyviews.recommend.cluster_numbers.BASE_CLUSTERINGS", 8)


def noise(seed, n=120):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, 6)), rng.uniform(size=(n, 5))]


def test_three_blobs_are_three_clusters(blobs):
    assert blobs.n_clusters == 3
    assert blobs.reason.startswith("3 clusters")
    assert str(blobs) == blobs.reason
    assert list(blobs.scores) == [2, 3, 4, 5, 6, 7]
    assert blobs.scores[3]["stability"] > 0.9 > 0.5 > blobs.scores[3]["stability_by_chance"]
    assert blobs.scores[3]["score"] == 1


def test_how_clusters_split(blobs):
    assert list(blobs.splits) == [2, 3, 4, 5, 6, 7]
    for k, clusters in blobs.splits.items():
        assert len(clusters) == k
        assert sum(own["size"] for own in clusters) == pytest.approx(1)
        if k > 2:
            assert all(len(own["parts"]) == k - 1 for own in clusters)
            assert all(sum(own["parts"]) == pytest.approx(own["size"]) for own in clusters)
    # of the two, one is a blob that stays, and one falls into the other two
    sources = [[share > 0.01 for share in own["parts"]] for own in blobs.splits[3]]
    assert sorted(map(sum, sources)) == [1, 1, 1]
    assert sorted(map(sum, zip(*sources, strict=True))) == [1, 2]


def test_clusters_stand_below_those_they_came_from():
    cuts = np.array([[0, 1, 0], [0, 1, 2], [1, 0, 1], [1, 0, 1], [1, 2, 3]])
    found = splits_of(cuts, [2, 3, 4])
    assert [own["size"] for own in found[2]] == [0.6, 0.4]
    assert [own["size"] for own in found[3]] == [0.4, 0.2, 0.4]
    assert found[3][1]["parts"] == [0.2, 0.0]
    assert [own["parts"] for own in found[4]] == [[0.4, 0, 0], [0, 0.2, 0], [0, 0, 0.2], [0, 0, 0.2]]


def test_the_tree_has_a_row_for_each_number(blobs):
    pytest.importorskip("plotly")
    figure = blobs.split_figure()
    rows = [trace for trace in figure.data if trace.mode == "markers"]
    assert [len(row.x) for row in rows] == [2, 3, 4, 5, 6, 7]
    assert [set(row.y) for row in rows] == [{k} for k in range(2, 8)]


def test_a_view_of_weight_zero_has_no_say(few_clusterings):
    rng = np.random.default_rng(0)
    a, b = (X[::3] for X in BLOBS.views.arrays)
    views = {"a": a, "b": b, "noise": rng.normal(size=(40, 9))}
    found = choose_k(views, [2, 3], view_weights={"noise": 0})
    without = choose_k({"a": a, "b": b}, [2, 3])
    assert found == without
    assert choose_k(views, [2, 3], view_weights={"noise": 2}).scores != without.scores


@pytest.mark.parametrize("k", [2, 4, 5])
def test_as_many_blobs_as_there_are(k):
    data = datasets.make_blobs_views(90, (8, 6), k, view_noise=0.15, random_state=k)
    assert choose_k(data.views, range(2, 7)).n_clusters == k


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_noise_has_no_clear_number(seed):
    found = choose_k(noise(seed))
    assert found.n_clusters is None
    assert found.reason.startswith("There is no clear number of clusters from 2 to 10")


def test_one_long_cloud_is_noise():
    rng = np.random.default_rng(4)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    cloud = rng.normal(size=(150, 6)) * [5, 2, 1, 1, 1, 1] @ turn
    assert choose_k([cloud, rng.normal(size=(150, 4))]).n_clusters is None


def test_equal_samples_have_no_clear_number(few_clusterings):
    assert choose_k([np.ones((40, 3)), np.ones((40, 2))], range(2, 6)).n_clusters is None


def test_the_same_seed_gives_the_same(few_clusterings):
    few = BLOBS.views[np.arange(0, 120, 3)]
    first = choose_k(few, [2, 3])
    assert choose_k(few, [2, 3], random_state=0) == first
    assert choose_k(few, [2, 3], random_state=1).scores != first.scores


def test_samples_may_lack_views():
    arrays = [np.array(X) for X in BLOBS.views.arrays]
    arrays[0][:15], arrays[1][20:30] = np.nan, np.nan
    assert choose_k(Views(arrays), range(2, 5)).n_clusters == 3


def test_the_figure_shows_the_scores(blobs):
    pytest.importorskip("plotly")
    figure = blobs.figure()
    assert figure.data[0].name == "score"
    assert list(figure.data[0].x) == list(blobs.scores)
    assert list(figure.data[0].y) == [own["score"] for own in blobs.scores.values()]
    assert figure.layout.shapes[0].x0 == 3


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        (range(1, 4), "2 or more"),
        (range(2, 121), "below the number of samples, 120"),
        ([], "got none"),
        ([2.5], "integ"),
    ],
)
def test_numbers_that_cannot_be(numbers, words):
    with pytest.raises(ValueError, match=words):
        choose_k(BLOBS.views, numbers)


@pytest.mark.parametrize("kind", ["columns", "components"])
def test_views_without_structure_keep_what_they_should(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 4))
    X[:5] = np.nan
    words = (rng.random((80, 300)) < 0.01).astype(float)
    views = Views([X, words])
    shuffled = without_structure(views, rng, kind)
    assert (shuffled.observed == views.observed).all()
    found, given = shuffled.arrays[0][5:], X[5:]
    np.testing.assert_allclose(found.mean(axis=0), given.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(shuffled.arrays[1].sum(axis=0), words.sum(axis=0))
    if kind == "columns":
        np.testing.assert_allclose(np.sort(found, axis=0), np.sort(given, axis=0))
    else:
        np.testing.assert_allclose(found.std(axis=0), given.std(axis=0), rtol=0.3)
        assert np.abs(np.corrcoef(found.T) - np.corrcoef(given.T)).max() < 0.5
    assert not np.allclose(found, given)
