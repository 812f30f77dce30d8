"""Views that are memory maps: the same labels as in memory, and no copy of a whole view on the way."""

import tracemalloc

import numpy as np
import pytest

from few_members import few_votes
from manyviews import KCC, LMVSC, MSPL, OPLFMVC, UDBGL, ConcatKMeans, Consensus, FastMICE
from manyviews.cluster.sample_weight import SampleWeightMixin
from manyviews.linalg.scaled_rows import ScaledRows
from manyviews.linalg.scaling import fit_scaling
from manyviews.views.check import check_views
from manyviews.views.mapped import MappedRows

METHODS = [
    FastMICE(3, n_base_clusterings=4, n_anchors=30, random_state=0),
    MSPL(3, n_init=2, random_state=0),
    KCC(3, n_base_clusterings=5, random_state=0),
    LMVSC(3, random_state=0),
    UDBGL(3, random_state=0),
    OPLFMVC(3, approximation="nystrom", n_landmarks=40, random_state=0),
    ConcatKMeans(3, random_state=0),
    Consensus(3, n_base_clusterings=12, random_state=0),
]


@pytest.fixture(autouse=True)
def _few_votes(monkeypatch):
    few_votes(monkeypatch)


def on_disk(folder, arrays):
    for name, X in arrays.items():
        np.save(folder / f"{name}.npy", X)
    return {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in arrays}


def blobs(n=240, widths=(6, 9), seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return {f"view {d}": (2 * rng.normal(size=(3, d))[y] + rng.normal(size=(n, d))).astype(np.float32) for d in widths}


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_labels_are_those_of_the_same_numbers_in_memory(method, tmp_path):
    arrays = blobs()
    mapped = on_disk(tmp_path, arrays)
    expected = method.fit(arrays).labels_.copy()
    assert np.array_equal(method.fit(mapped).labels_, expected)
    if hasattr(method, "predict"):
        assert np.array_equal(method.predict(mapped), method.predict(arrays))


@pytest.mark.parametrize("method", [METHODS[0], METHODS[1], METHODS[2]], ids=lambda method: type(method).__name__)
def test_rows_of_nan_on_disk_are_unobserved(method, tmp_path):
    arrays = blobs()
    arrays["view 6"][5:20] = np.nan
    assert np.array_equal(method.fit(on_disk(tmp_path, arrays)).labels_, method.fit(arrays).labels_)


WEIGHTED = [method for method in METHODS if isinstance(method, SampleWeightMixin)]


@pytest.mark.parametrize("method", WEIGHTED, ids=lambda method: type(method).__name__)
@pytest.mark.parametrize("least", [0.0, 0.5])
def test_samples_on_disk_weigh_as_in_memory(method, least, tmp_path, monkeypatch):
    monkeypatch.setattr("manyviews.linalg.blocks.ROWS_PER_BLOCK", 32)  # of what counts nothing
    arrays = blobs()
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.0], size=240) + least
    expected = method.fit(arrays, sample_weight=weights).labels_.copy()
    assert np.array_equal(method.fit(on_disk(tmp_path, arrays), sample_weight=weights).labels_, expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_no_view_on_disk_is_copied_whole(weighted, tmp_path):
    arrays = blobs(n=60_000, widths=(300,))
    size = arrays["view 300"].nbytes
    mapped = on_disk(tmp_path, arrays)
    del arrays
    model = FastMICE(3, n_base_clusterings=2, n_anchors=50, search="exact", final="released", random_state=0)
    model.fit(blobs())  # what is imported does not count
    weights = (np.random.default_rng(0).random(60_000) > 0.05).astype(float) if weighted else None
    tracemalloc.start()
    try:
        model.fit(mapped, sample_weight=weights)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.75 * size


def test_views_on_disk_are_scaled_when_they_are_read(tmp_path):
    arrays = blobs()
    model = MSPL(3, n_init=1, random_state=0).fit(arrays)
    in_memory = model._scaled(check_views(arrays))
    for X, scaled in zip(in_memory, model._scaled(check_views(on_disk(tmp_path, arrays))), strict=True):
        assert isinstance(scaled, ScaledRows)
        assert np.array_equal(scaled[5:90], X[5:90])


def test_a_checked_memory_map_gives_copies_and_lets_go_of_its_pages(tmp_path):
    X = np.arange(40_000.0).reshape(10_000, 4)
    array = check_views(on_disk(tmp_path, {"a": X})).view("a")
    assert isinstance(array, MappedRows)
    assert isinstance(array, np.memmap)
    rows = np.array([9_000, 3, 700])
    for key in (slice(5, 50), rows, slice(None, None, 7), (slice(None), 2), (slice(3, 9), 1), 4):
        part = array[key]
        assert np.array_equal(part, X[key])
        assert part.flags.owndata
        assert type(part) is np.ndarray
    assert array[:] is not X
    assert type(array.mean(axis=0)) is np.ndarray
    assert array[3, 1] == 13.0
    assert array.sum() == X.sum()


def test_a_map_that_may_be_written_to_stays_as_it_is(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((6, 2)))
    array = np.load(tmp_path / "a.npy", mmap_mode="c")
    array[0] = 5.0
    seen = check_views([array]).view("view_0")
    assert not isinstance(seen, MappedRows)
    assert seen[0, 0] == 5.0


@pytest.mark.parametrize("kind", ["standard", "minmax", "tfidf"])
def test_a_scaling_is_learned_by_blocks(kind, tmp_path):
    X = np.random.default_rng(0).uniform(0, 9, size=(20_000, 3))
    X[4] = np.nan
    mapped = check_views(on_disk(tmp_path, {"a": X, "b": np.ones((20_000, 1))})).view("a")
    for given, found in zip(fit_scaling(X, kind), fit_scaling(mapped, kind), strict=True):
        assert np.array_equal(given, found)
    kept = np.delete(X, 4, axis=0)
    if kind == "standard":
        np.testing.assert_allclose(fit_scaling(X, kind).shift, kept.mean(axis=0))
        np.testing.assert_allclose(fit_scaling(X, kind).scale, kept.std(axis=0))


def test_scaled_rows_are_made_when_they_are_read():
    seen = []

    def double(rows):
        seen.append(len(rows))
        return 2 * rows

    scaled = ScaledRows(np.arange(12.0).reshape(6, 2), double)
    assert (scaled.shape, scaled.dtype, len(scaled)) == ((6, 2), np.float64, 6)
    assert np.array_equal(scaled[2:4], [[8, 10], [12, 14]])
    assert seen == [1, 2]
