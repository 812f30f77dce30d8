"""Basic partitions of wide views: made from products of rows, they are those that all columns give."""

import numpy as np
import pytest

from manyviews import KCC, MVEC, RSEC, SEC, datasets
from manyviews.cluster.ensemble import base
from manyviews.io.model import model_bytes
from manyviews.partitions.summed import SummedCenters, compared_rows


@pytest.fixture(scope="module")
def data():
    return datasets.make_blobs_views(40, (300, 400), 3, view_noise=2.0, random_state=0)


def fitted(kind, metric, arrays):
    return kind(3, n_base_clusterings=20, metric=metric, random_state=0).fit(arrays)


@pytest.mark.parametrize(
    ("kind", "metric", "dtype"),
    [(KCC, metric, dtype) for metric in ("euclidean", "cosine") for dtype in (np.float32, np.float64)]
    + [(kind, "euclidean", np.float32) for kind in (SEC, MVEC, RSEC)],
)
def test_labels_are_those_of_all_columns(data, monkeypatch, kind, metric, dtype):
    arrays = [(array + 30).astype(dtype) for array in data.views.arrays]
    short = fitted(kind, metric, arrays)
    assert all(isinstance(source.centers, SummedCenters) for _, source in short._sources)
    monkeypatch.setattr(base, "compared_rows", lambda rows, metric: None)
    whole = fitted(kind, metric, arrays)
    assert not any(isinstance(source.centers, SummedCenters) for _, source in whole._sources)
    np.testing.assert_array_equal(short.base_labels_, whole.base_labels_)
    np.testing.assert_array_equal(short.labels_, whole.labels_)
    new = [array[::-1] + dtype(0.01) for array in arrays]
    np.testing.assert_array_equal(short.predict(arrays), short.labels_)
    np.testing.assert_array_equal(short.predict(new), whole.predict(new))


@pytest.mark.parametrize("kind", [KCC, SEC])
def test_equal_distances_of_booleans_part_as_by_all_columns(monkeypatch, kind):
    rng = np.random.default_rng(0)
    groups = np.arange(60) % 4
    arrays = [rng.normal(scale=0.5, size=(4, d))[groups] + rng.normal(size=(60, d)) > 0.4 for d in (200, 300)]
    settings = {"n_base_clusterings": 15, "scaling": None, "random_state": 0}
    short = kind(4, **settings).fit(arrays)
    monkeypatch.setattr(base, "compared_rows", lambda rows, metric: None)
    np.testing.assert_array_equal(short.base_labels_, kind(4, **settings).fit(arrays).base_labels_)


def test_sample_weights_count_rows_so_often(data, monkeypatch):
    weights = np.random.default_rng(0).integers(1, 4, 40).astype(float)
    arrays = list(data.views.arrays)
    short = KCC(3, n_base_clusterings=20, random_state=0).fit(arrays, sample_weight=weights)
    monkeypatch.setattr(base, "compared_rows", lambda rows, metric: None)
    whole = KCC(3, n_base_clusterings=20, random_state=0).fit(arrays, sample_weight=weights)
    np.testing.assert_array_equal(short.base_labels_, whole.base_labels_)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("unit", [1e-60, 1e60])
def test_units_beyond_single_precision(data, metric, unit):
    arrays = [array * unit for array in data.views.arrays]
    model = KCC(3, n_base_clusterings=20, scaling=None, metric=metric, random_state=0).fit(arrays)
    np.testing.assert_array_equal(model.predict(arrays), model.labels_)


def test_new_samples_beyond_single_precision(data, monkeypatch):
    arrays = list(data.views.arrays)
    new = [array * np.logspace(-60, 60, 40)[:, None] for array in arrays]
    short = fitted(KCC, "euclidean", arrays)
    monkeypatch.setattr(base, "compared_rows", lambda rows, metric: None)
    np.testing.assert_array_equal(short.predict(new), fitted(KCC, "euclidean", arrays).predict(new))


@pytest.mark.parametrize("kind", [KCC, MVEC])
@pytest.mark.parametrize("scaling", ["standard", None])
def test_a_sample_far_off_takes_no_digits_from_the_others(data, kind, scaling):
    arrays = [array.copy() for array in data.views.arrays]
    for array in arrays:
        array[7] *= 1e7
    model = kind(3, n_base_clusterings=20, scaling=scaling, random_state=0).fit(arrays)
    assert all(isinstance(source.centers, SummedCenters) for _, source in model._sources)
    np.testing.assert_array_equal(model.predict(arrays), model.labels_)


def test_a_model_holds_a_wide_view_once():
    arrays = datasets.make_blobs_views(150, (9000, 8000), 3, random_state=0, dtype="float32").views.arrays
    model = KCC(3, n_base_clusterings=60, random_state=0).fit(list(arrays))
    assert model_bytes(model) <= 1.2 * sum(array.nbytes for array in arrays)


def test_rows_that_are_many_or_narrow_are_not_compared():
    assert compared_rows(np.ones((30, 59)), "euclidean") is None
    assert compared_rows(np.ones((1001, 2)), "euclidean") is None
