"""What the report finds out: features, typical samples, each view's own story, the ensemble's mind."""

import numpy as np
import pytest
from scipy import sparse

from manyviews import Views, datasets
from manyviews.findings.agreement import ari, jaccards, moved_share
from manyviews.findings.centres import nearness
from manyviews.findings.ensemble import ensemble_support
from manyviews.findings.features import MAX_EFFECT, telling_features
from manyviews.findings.single_views import OTHER, PART, UNCLEAR, WITH, single_views


def features_of(array, labels, k=2, n_features=3, **more):
    return telling_features(Views({"v": array}, **more), np.asarray(labels), k, n_shown=k, n_features=n_features)


def cohen(inside, outside):
    pooled = ((len(inside) - 1) * inside.var(ddof=1) + (len(outside) - 1) * outside.var(ddof=1)) / (
        len(inside) + len(outside) - 2
    )
    return (inside.mean() - outside.mean()) / np.sqrt(pooled)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csr_array, lambda X: X.astype(np.float32)])
def test_effects_are_cohens_d_of_every_column_largest_first(kind):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [30, 20, 10])
    X = np.round(rng.normal(size=(60, 5)), 2) + np.array([[0, 0, 0, 0, 0], [3, 0, -1, 0, 0], [0, 5, 0, 0, 0]])[labels]
    found = features_of(kind(X), labels, k=3, n_features=5)
    for cluster in range(3):
        inside = labels == cluster
        expected = np.array([cohen(X[inside, j], X[~inside, j]) for j in range(5)])
        kept = found[cluster][0]["features"]
        assert [f["name"] for f in kept] == [
            f"column {j}" for j in np.argsort(-abs(expected)) if abs(expected[j]) >= 0.2
        ]
        for feature in kept:
            j = int(feature["name"].split()[1])
            assert feature["effect"] == pytest.approx(expected[j], rel=1e-4)
            assert feature["inside"] == pytest.approx(X[inside, j].mean(), rel=1e-4, abs=1e-6)
            assert feature["outside"] == pytest.approx(X[~inside, j].mean(), rel=1e-4, abs=1e-6)


def test_effects_do_not_change_with_origin_and_unit_of_a_column():
    rng = np.random.default_rng(1)
    labels = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + labels[:, None] * [2.0, -1.0, 0.5]
    plain, moved = features_of(X, labels), features_of(1e6 + 1e-3 * X, labels)
    for a, b in zip(plain[0][0]["features"], moved[0][0]["features"], strict=True):
        assert a["name"] == b["name"]
        assert a["effect"] == pytest.approx(b["effect"], rel=1e-4)


def test_columns_are_named_and_columns_that_separate_exactly_are_capped():
    pd = pytest.importorskip("pandas")
    labels = np.repeat([0, 1], 6)
    frame = pd.DataFrame({"same": np.full(12, 0.1), "flag <b>": labels * 0.3, "weak": np.arange(12) % 2 * 1.0})
    found = features_of(frame, labels)
    assert [(f["name"], f["effect"], f["text"]) for f in found[0][0]["features"]] == [
        ("flag <b>", -MAX_EFFECT, "over \u221299")
    ]
    assert found[1][0]["features"][0]["text"] == "over +99"


@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 0], [0, 1, 1]])
def test_effects_of_tiny_data_are_finite_or_left_out(labels):
    for array in (np.eye(3)[: len(labels)], sparse.csr_matrix(np.eye(3)[: len(labels)])):
        for parts in features_of(array, labels, k=max(labels) + 1):
            assert all(np.isfinite(f["effect"]) for part in parts for f in part["features"])


def test_unobserved_samples_do_not_count_in_features():
    X = np.arange(12.0)[:, None] + np.repeat([0.0, 50.0], 6)[:, None]
    labels = np.repeat([0, 1], 6)
    X[[0, 7]] = np.nan
    feature = features_of(X, labels)[1][0]["features"][0]
    assert feature["inside"] == pytest.approx(np.nanmean(X[6:]))


def test_large_sparse_views_are_not_made_dense():
    rng = np.random.default_rng(0)
    X = sparse.random(20_000, 200_000, density=1e-4, format="csr", random_state=rng)  # 32 GB if dense
    labels = rng.integers(4, size=20_000)
    views = Views([X])
    assert len(telling_features(views, labels, 4, n_shown=4, n_features=3)) == 4
    near = nearness(object(), views, ["unit"], labels, 4)
    assert near.own.shape == (20_000,)


def test_nearness_in_the_views_finds_the_middle_and_the_edge():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [6.4]])
    labels = np.array([0, 0, 0, 1, 1, 1])
    near = nearness(object(), Views([X]), [None], labels, 2)
    assert near.own[:3].argmin() == 1
    assert near.margin.argmin() == 5
    centres = np.array([1.0, X[3:].mean()])
    assert near.margin[0] == pytest.approx(1 - abs(X[0, 0] - centres[0]) / abs(X[0, 0] - centres[1]))


def test_nearness_is_the_same_sparse_dense_and_whatever_the_width_of_a_copied_view():
    rng = np.random.default_rng(0)
    labels = np.arange(50) % 3
    A, B = rng.normal(size=(50, 4)) + labels[:, None], rng.normal(size=(50, 3))
    dense = nearness(object(), Views([A, B]), [None, None], labels, 3)
    mixed = nearness(object(), Views([sparse.csr_matrix(A), B]), [None, None], labels, 3)
    wide = nearness(object(), Views([np.hstack([A] * 5), B]), [None, None], labels, 3)
    for other in (mixed, wide):
        np.testing.assert_allclose(other.own, dense.own)
        np.testing.assert_allclose(other.margin, dense.margin, atol=1e-9)


def test_views_that_tell_another_story_and_views_that_tell_none():
    data = datasets.make_blobs_views(
        600, (10, 10, 10, 10), n_clusters=4, view_noise=0.2, noise_views=["view_3"], conflicting_views=["view_2"],
        random_state=0,
    )  # fmt: skip
    order = np.random.default_rng(0).permutation(600)
    alone = single_views(data.views, ["standard"] * 4, data.labels, 4, order, 0)
    assert [story["story"] for story in alone] == [WITH, WITH, OTHER, UNCLEAR]
    assert alone[2]["certainty"] > 0.9
    assert abs(alone[2]["agreement"]) < 0.1


def test_noise_in_few_columns_is_cut_the_same_way_each_time_but_has_no_groups():
    labels = np.arange(600) % 3
    (story,) = single_views(
        Views([np.random.default_rng(2).normal(size=(600, 1))]), ["standard"], labels, 3, np.arange(600), 0
    )
    assert story["certainty"] > 0.5
    assert story["story"] == UNCLEAR


@pytest.mark.parametrize("array", [np.ones((30, 3)), np.ones((30, 80)), sparse.csr_matrix((30, 60))])
def test_a_constant_view_has_no_clear_groups(array):
    labels = np.arange(30) % 3
    (story,) = single_views(Views([array]), [None], labels, 3, np.arange(30), 0)
    assert (story["story"], story["agreement"]) == (UNCLEAR, 0.0)


def test_too_few_samples_for_a_story_of_their_own():
    (story,) = single_views(Views([np.eye(5)]), [None], np.arange(5) % 3, 3, np.arange(5), 0)
    assert story == {"agreement": None, "certainty": None, "story": None, "n_used": 5, "flows": None}


def test_ensembles_of_one_mind_and_of_none():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=400)
    finer = np.column_stack([labels * 4 + rng.integers(4, size=400) for _ in range(20)])
    found = ensemble_support(finer, labels, 3, 0)
    assert found["n"] == 20
    assert found["inside"] == pytest.approx(0.25, abs=0.02)
    assert found["outside"] == 0.0
    assert found["separation"] > 0.99
    nothing = ensemble_support(rng.integers(3, size=(400, 20)), labels, 3, 0)
    assert nothing["separation"] == pytest.approx(0.5, abs=0.02)
    assert nothing["inside"] == pytest.approx(1 / 3, abs=0.03)


def test_what_an_ensemble_left_out_does_not_count():
    labels = np.repeat([0, 1], 50)
    base = np.column_stack([labels.astype(float)] * 4)
    base[::3, 1] = np.nan
    base[::7, 2] = -1
    assert ensemble_support(base, labels, 2, 0)["inside"] == 1.0


@pytest.mark.parametrize("base", [None, np.zeros(10), np.zeros((9, 3)), np.zeros((10, 1)), np.full((10, 2), "a")])
def test_what_is_no_ensemble(base):
    assert ensemble_support(base, np.arange(10) % 2, 2, 0) is None


def test_pairs_need_two_clusters_and_two_samples():
    assert ensemble_support(np.zeros((4, 3), int), np.zeros(4, int), 1, 0) is None
    assert ensemble_support(np.zeros((4, 3), int), np.arange(4), 4, 0) is None


def test_overlaps_by_hand():
    positions = np.array([0, 0, 0, 0, 1, 1, 3])
    other = np.array([7, 7, 7, 5, 5, 5, 2])
    found = jaccards(positions, 4, other)
    np.testing.assert_allclose(found, [3 / 4, 2 / 3, np.nan, 1.0])
    assert moved_share(positions, other) == pytest.approx(1 / 7)
    assert ari(positions, positions + 5) == 1.0


def test_a_view_that_tells_some_clusters_apart_tells_a_part_of_the_groups():
    rng = np.random.default_rng(0)
    labels = np.arange(240) % 3
    first, third = 8.0 * (labels == 0)[:, None], 8.0 * (labels == 2)[:, None]
    views = Views({"a": rng.normal(size=(240, 3)) + first, "b": rng.normal(size=(240, 3)) + third})
    order = rng.permutation(240)
    stories = [view["story"] for view in single_views(views, ["standard"] * 2, labels, 3, order, 0)]
    assert set(stories) <= {PART, WITH}
    assert OTHER not in stories
    four = labels + 3 * (np.arange(240) // 3 % 2)
    alone = single_views(views, ["standard"] * 2, four, 6, order, 0)
    assert {view["story"] for view in alone} == {PART}
