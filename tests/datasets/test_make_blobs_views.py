import math
import tracemalloc
from itertools import combinations

import numpy as np
import pytest

from manyviews.datasets import make_blobs_views
from manyviews.metrics import adjusted_rand_index


def centres_of(array, labels):
    return np.stack([array[labels == j].mean(axis=0) for j in np.unique(labels)])


def rms_distance(centres):
    return math.sqrt(np.mean([((a - b) ** 2).sum() for a, b in combinations(centres, 2)]))


def nearest_centre(array, labels):
    centres = centres_of(array, labels)
    return ((array[:, None, :] - centres) ** 2).sum(axis=2).argmin(axis=1)


def test_defaults():
    data = make_blobs_views(random_state=0)
    assert data.views.names == ("view_0", "view_1", "view_2")
    assert [array.shape for array in data.views.arrays] == [(1000, 64), (1000, 32), (1000, 16)]
    assert {array.dtype for array in data.views.arrays} == {np.dtype("float64")}
    assert data.labels.dtype == np.int64
    np.testing.assert_array_equal(np.bincount(data.labels), np.full(10, 100))
    assert data.class_names == tuple("0123456789")
    assert data.views.observed.all()
    assert np.any(np.diff(data.labels) < 0)


@pytest.mark.parametrize("seed", [0, np.int64(7)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_same_seed_same_data(seed, dtype):
    one, two = (make_blobs_views(90, (5, 3), 3, missing_fraction=0.2, dtype=dtype, random_state=seed) for _ in range(2))
    np.testing.assert_array_equal(one.labels, two.labels)
    for a, b in zip(one.views.arrays, two.views.arrays, strict=True):
        assert a.dtype == dtype
        np.testing.assert_array_equal(a, b)


def test_sources_of_randomness():
    def first(state):
        return make_blobs_views(50, (4, 2), 3, random_state=state).views.arrays[0]

    np.testing.assert_array_equal(first(np.random.default_rng(1)), first(np.random.default_rng(1)))
    np.testing.assert_array_equal(first(np.random.RandomState(1)), first(np.random.RandomState(1)))
    np.testing.assert_array_equal(first(5), first(np.random.default_rng(5)))
    shared = np.random.default_rng(1)
    assert not np.array_equal(first(shared), first(shared))
    assert not np.array_equal(first(None), first(None))
    assert not np.array_equal(first(1), first(2))


def test_global_random_state_is_left_alone():
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    make_blobs_views(50, (4, 2), 3)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_a_view_does_not_depend_on_the_width_of_the_others():
    narrow = make_blobs_views(80, (5, 3), 4, random_state=2)
    wide = make_blobs_views(80, (50, 3), 4, random_state=2)
    np.testing.assert_array_equal(narrow.views.arrays[1], wide.views.arrays[1])
    np.testing.assert_array_equal(narrow.labels, wide.labels)


def test_blocks_do_not_show(monkeypatch):
    whole = make_blobs_views(500, (7, 3), 4, random_state=3)
    monkeypatch.setattr("manyviews.datasets.blobs._BLOCK", 40)
    parts = make_blobs_views(500, (7, 3), 4, random_state=3)
    for a, b in zip(whole.views.arrays, parts.views.arrays, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("width", [1, 3, 80])
def test_distance_between_centres_is_one(width):
    data = make_blobs_views(60, (width, 2), 6, view_noise=0, random_state=0)
    centres = centres_of(data.views.arrays[0], data.labels)
    assert rms_distance(centres) == pytest.approx(1)
    np.testing.assert_allclose(data.views.arrays[0], centres[data.labels], atol=1e-12)


def test_noise_is_in_units_of_the_distance():
    data = make_blobs_views(20_000, (30, 4), 5, view_noise=(0.1, 2.0), random_state=0)
    for array, noise in zip(data.views.arrays, (0.1, 2.0), strict=True):
        rest = array - centres_of(array, data.labels)[data.labels]
        assert rest.std() == pytest.approx(noise, rel=0.01)


def test_noise_of_each_cluster_in_each_view():
    noise = ((0.1, 2.0), (0.5, 0.5))
    data = make_blobs_views(20_000, (30, 4), 2, view_noise=noise, random_state=0)
    for array, levels in zip(data.views.arrays, noise, strict=True):
        for cluster, level in enumerate(levels):
            assert array[data.labels == cluster].std(axis=0).mean() == pytest.approx(level, rel=0.02)
    same = make_blobs_views(50, (3,), 2, view_noise=((0.3, 0.3),), random_state=0)
    np.testing.assert_array_equal(
        same.views.arrays[0], make_blobs_views(50, (3,), 2, view_noise=0.3, random_state=0).views.arrays[0]
    )


@pytest.mark.parametrize("noise", [0.25, 0.5, 1.0])
def test_two_clusters_are_confused_as_documented(noise):
    data = make_blobs_views(40_000, (20,), 2, view_noise=noise, random_state=0)
    confused = np.mean(nearest_centre(data.views.arrays[0], data.labels) != data.labels)
    assert confused == pytest.approx(0.5 * math.erfc(1 / (2 * noise) / math.sqrt(2)), abs=0.01)


def test_more_noise_is_harder():
    scores = [
        adjusted_rand_index(data.labels, nearest_centre(data.views.arrays[0], data.labels))
        for data in (make_blobs_views(2000, (10,), 5, view_noise=noise, random_state=0) for noise in (0.1, 0.4, 1.5))
    ]
    assert scores[0] > scores[1] > scores[2]
    assert scores[0] > 0.95


@pytest.mark.parametrize("chosen", [1, [2], ["view_2"], [-1], np.array([2])])
def test_noise_views(chosen):
    data = make_blobs_views(6000, (8, 8, 8), 4, noise_views=chosen, random_state=0)
    informative, noise = data.views.arrays[1:]
    assert rms_distance(centres_of(informative, data.labels)) == pytest.approx(1, abs=0.05)
    assert rms_distance(centres_of(noise, data.labels)) < 0.1
    # Scale alone does not tell a noise view from the others.
    assert noise.std() == pytest.approx(informative.std(), rel=0.03)


def test_conflicting_views_follow_one_other_partition():
    data = make_blobs_views(3000, (8, 8, 8), 3, view_noise=0, conflicting_views=[0, "view_2"], random_state=0)
    codes = [np.unique(array, axis=0, return_inverse=True)[1].ravel() for array in data.views.arrays]
    assert adjusted_rand_index(data.labels, codes[1]) == 1
    assert adjusted_rand_index(codes[0], codes[2]) == 1
    assert abs(adjusted_rand_index(data.labels, codes[0])) < 0.01
    np.testing.assert_array_equal(np.sort(np.bincount(codes[0])), np.sort(np.bincount(data.labels)))


def test_counted_views_are_the_last_free_ones():
    data = make_blobs_views(
        400, (3, 3, 3), 2, view_noise=0, noise_views=["view_2"], conflicting_views=1, random_state=0
    )
    values = [np.unique(array, axis=0).shape[0] for array in data.views.arrays]
    assert values == [2, 2, 400]
    scores = [adjusted_rand_index(data.labels, array[:, 0].round(9)) for array in data.views.arrays[:2]]
    assert scores[0] == 1
    assert scores[1] < 0.1


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.5, 2 / 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_missing_rows(fraction, dtype):
    data = make_blobs_views(300, (4, 3, 2), 3, missing_fraction=fraction, dtype=dtype, random_state=0)
    observed = data.views.observed
    assert np.count_nonzero(~observed) == round(fraction * 900)
    assert observed.any(axis=1).all()
    for array, seen in zip(data.views.arrays, observed.T, strict=True):
        assert np.isnan(array[~seen]).all()
        assert np.isfinite(array[seen]).all()
    assert np.ptp(observed.sum(axis=0)) < 60


def test_missing_rows_leave_the_other_values_alone():
    full = make_blobs_views(100, (4, 3), 3, random_state=0)
    holes = make_blobs_views(100, (4, 3), 3, missing_fraction=0.3, random_state=0)
    np.testing.assert_array_equal(full.labels, holes.labels)
    for a, b in zip(full.views.arrays, holes.views.arrays, strict=True):
        np.testing.assert_array_equal(a[~np.isnan(b)], b[~np.isnan(b)])


@pytest.mark.parametrize(
    ("n", "weights", "sizes"),
    [
        (100, [7, 2, 1], [70, 20, 10]),
        (10, [1, 1, 1], [4, 3, 3]),
        (5, [1000, 1, 1], [3, 1, 1]),
        (3, [1, 1e-9, 1e-9], [1, 1, 1]),
    ],
)
def test_cluster_sizes(n, weights, sizes):
    data = make_blobs_views(n, (2, 2), 3, weights=weights, random_state=0)
    np.testing.assert_array_equal(np.bincount(data.labels), sizes)


def test_sizes_differ_by_at_most_one_without_weights():
    assert np.ptp(np.bincount(make_blobs_views(103, (2,), 10, random_state=0).labels)) == 1


def test_one_cluster_and_one_sample_per_cluster():
    assert not make_blobs_views(5, (2, 2), 1, random_state=0).labels.any()
    assert sorted(make_blobs_views(4, (2, 2), 4, random_state=0).labels) == [0, 1, 2, 3]


def test_memory_stays_near_the_size_of_the_result():
    tracemalloc.start()
    data = make_blobs_views(100_000, (50, 100), 10, dtype="float32", random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.25 * sum(array.nbytes for array in data.views.arrays)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"n_samples": 2}, ValueError, "n_samples=2 is less than n_clusters=3"),
        ({"n_samples": 0}, ValueError, "n_samples must be at least 1"),
        ({"n_samples": 10.0}, TypeError, "n_samples must be an int"),
        ({"n_clusters": 0}, ValueError, "n_clusters must be at least 1"),
        ({"n_clusters": True}, TypeError, "n_clusters must be an int"),
        ({"n_features": 5}, TypeError, "one int per view"),
        ({"n_features": "53"}, TypeError, "one int per view"),
        ({"n_features": ()}, ValueError, "n_features is empty"),
        ({"n_features": (5, 0)}, ValueError, r"n_features\[1\] must be at least 1"),
        ({"n_features": (5, 2.5)}, TypeError, r"n_features\[1\] must be an int"),
        ({"view_noise": (0.1,)}, ValueError, "view_noise has 1 values for 2 views"),
        ({"view_noise": -1}, ValueError, "not negative"),
        ({"view_noise": (0.1, float("nan"))}, ValueError, "finite"),
        ({"view_noise": None}, TypeError, "view_noise must be a number"),
        ({"view_noise": (0.1, "b")}, TypeError, "view_noise must be a number"),
        ({"view_noise": (0.1, (0.1, 0.2))}, ValueError, "view_noise has 2 values for a view of 3 clusters"),
        ({"view_noise": (0.1, (0.1, 0.2, -1))}, ValueError, "not negative"),
        ({"view_noise": (0.1, (0.1, 0.2, "b"))}, TypeError, "view_noise must be a number"),
        ({"noise_views": 2}, ValueError, "noise_views=2 leaves no view"),
        ({"noise_views": -1}, ValueError, "at most 1"),
        ({"noise_views": [0, 1]}, ValueError, "all views are noise"),
        ({"noise_views": [2]}, ValueError, "which is no view"),
        ({"noise_views": ["text"]}, ValueError, "'text', which is no view"),
        ({"noise_views": "view_1"}, TypeError, "noise_views must be a number of views or a list"),
        ({"noise_views": True}, TypeError, "noise_views must be"),
        ({"noise_views": [1], "conflicting_views": ["view_1"]}, ValueError, "named twice"),
        ({"noise_views": 1, "conflicting_views": 1}, ValueError, "conflicting_views=1 leaves no view"),
        ({"missing_fraction": 0.51}, ValueError, "between 0 and 0.5"),
        ({"missing_fraction": -0.1}, ValueError, "between 0 and 0.5"),
        ({"missing_fraction": float("nan")}, ValueError, "between 0 and 0.5"),
        ({"missing_fraction": "half"}, TypeError, "missing_fraction must be a number"),
        ({"n_features": (5,), "missing_fraction": 0.1}, ValueError, "between 0 and 0, so that"),
        ({"weights": [1, 2]}, ValueError, "weights has shape"),
        ({"weights": [1, 2, 0]}, ValueError, "weights must be positive"),
        ({"dtype": "int32"}, ValueError, "'float32' or 'float64'"),
        ({"random_state": -1}, ValueError, "not be negative"),
        ({"random_state": "seed"}, TypeError, "random_state must be"),
    ],
)
def test_bad_parameters(arguments, error, words):
    with pytest.raises(error, match=words):
        make_blobs_views(**({"n_samples": 30, "n_features": (4, 3), "n_clusters": 3} | arguments))
