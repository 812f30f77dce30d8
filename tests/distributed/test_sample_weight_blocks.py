"""Weights of samples over blocks: as in memory, in whatever form they come."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

from manyviews import KCC, MSPL, OPLFMVC, UDBGL, ConcatKMeans, Consensus, FastMICE, distributed
from manyviews.cluster import consensus_members

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

K = 3
CUTS = (0, 31, 31, 32, 90, 120)
MODELS = {
    "ConcatKMeans": lambda: ConcatKMeans(K, n_init=2, random_state=0),
    "Consensus": lambda: Consensus(K, n_base_clusterings=4, n_anchors=20, system_weight=0.0, random_state=0),
    "FastMICE": lambda: FastMICE(K, n_base_clusterings=3, n_anchors=25, weighting="reliability", random_state=0),
    "KCC": lambda: KCC(K, n_base_clusterings=3, n_init=2, normalize_utility=True, random_state=0),
    "MSPL": lambda: MSPL(K, n_init=1, growth=2.0, random_state=0),
}


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture
def views():
    rng = np.random.default_rng(0)
    groups = rng.integers(K, size=120)
    first, second = (rng.normal(scale=2.0, size=(K, d))[groups] + rng.normal(size=(120, d)) for d in (4, 3))
    second[100:] = np.nan  # a block of its own, and more
    first[40:50] = first[20:30]
    return [first, second]


@pytest.fixture
def weights():
    return np.random.default_rng(1).choice([0.5, 1.0, 2.0, 3.5], size=120)


@pytest.fixture
def whole(views):
    """Return views that every sample has, as ConcatKMeans wants them."""
    return [np.nan_to_num(X) for X in views]


def blocks(X, cuts=CUTS, *, known=True):
    pieces = [X[start:end] for start, end in pairwise(cuts)]
    shapes = [(len(piece) if known else np.nan, *X.shape[1:]) for piece in pieces]
    parts = [
        da.from_delayed(dask.delayed(np.array)(piece), shape, X.dtype)
        for piece, shape in zip(pieces, shapes, strict=True)
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def same(own, theirs, views):
    assert np.array_equal(theirs.labels_.compute(), own.labels_)
    for name in ("base_labels_", "selection_order_"):
        if hasattr(own, name):
            assert np.array_equal(getattr(theirs, name).compute(), getattr(own, name))
    for name in ("confidence_", "sample_weights_"):
        if hasattr(own, name):
            np.testing.assert_allclose(getattr(theirs, name).compute(), getattr(own, name), atol=1e-6)
    np.testing.assert_allclose(theirs.history_.objective, own.history_.objective, atol=1e-9)
    assert np.array_equal(theirs.predict(views), own.predict(views))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("zeros", ["none", "scattered", "a block and more"])
def test_labels_are_those_in_memory(name, zeros, views, whole, weights):
    views = whole if name == "ConcatKMeans" else views
    if zeros == "scattered":
        weights[::4] = 0
    if zeros == "a block and more":
        weights[25:90] = 0  # of equal rows, those that count lead
    own = MODELS[name]().fit(views, sample_weight=weights)
    theirs = distributed.fit(MODELS[name](), [blocks(X) for X in views], sample_weight=weights)
    same(own, theirs, views)


@pytest.mark.parametrize("name", ["ConcatKMeans", "FastMICE"])
def test_small_views_in_an_order_of_their_own(name, views, whole, weights, monkeypatch):
    views = whole if name == "ConcatKMeans" else views
    monkeypatch.setattr("manyviews.cluster.base.MOST_MOVED", 1 << 26)
    weights[:45] = 0
    own = MODELS[name]().fit(views, sample_weight=weights)
    same(own, distributed.fit(MODELS[name](), [blocks(X) for X in views], sample_weight=weights), views)


def test_methods_in_a_consensus_weigh_samples_too(whole, weights, monkeypatch):
    system = consensus_members.SYSTEMS[0]._replace(scalings=("auto",))
    for place in ("cluster.consensus_members", "distributed.consensus"):
        monkeypatch.setattr(f"manyviews.{place}.SYSTEMS", (system,))
    model = MODELS["Consensus"]().set_params(system_weight=0.3)
    own = clone(model).fit(whole, sample_weight=weights)
    same(own, distributed.fit(model, [blocks(X) for X in whole], sample_weight=weights), whole)
    assert "concat-kmeans" in {member.method for member in model.members_}


def test_more_samples_than_starts_look_at(views, whole, weights, monkeypatch):
    for place in ("prototypes.sampled_kmeans", "distributed.kmeans"):
        monkeypatch.setattr(f"manyviews.{place}.START_ROWS", 50)
    for place in ("partitions.agreement_cut", "distributed.agreement"):
        monkeypatch.setattr(f"manyviews.{place}.SAMPLE_ROWS", 50)
    for name, given in (("ConcatKMeans", whole), ("FastMICE", views)):
        own = MODELS[name]().fit(given, sample_weight=weights)
        theirs = distributed.fit(MODELS[name](), [blocks(X) for X in given], sample_weight=weights)
        same(own, theirs, given)
        assert name == "FastMICE" or theirs.inertia_ == pytest.approx(own.inertia_)


def series(weights):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"weight": weights})
    pieces = [dask.delayed(frame.iloc[a:b].copy)() for a, b in pairwise(CUTS)]
    return dd.from_delayed(pieces, meta=frame.iloc[:0])["weight"]


@pytest.mark.parametrize(
    "form",
    [list, lambda w: da.from_array(w, chunks=47), lambda w: blocks(w, (0, 0, 9, 120), known=False), series],
    ids=["list", "other blocks", "other blocks, lengths unknown", "column of a frame"],
)
def test_forms_of_weights(form, whole, weights):
    weights[3:40] = 0
    own = MODELS["ConcatKMeans"]().fit(whole, sample_weight=weights)
    parts = [blocks(X, known=False) for X in whole]
    theirs = distributed.fit(MODELS["ConcatKMeans"](), parts, sample_weight=form(weights))
    assert np.array_equal(theirs.labels_.compute(), own.labels_)


@pytest.mark.parametrize("model", [OPLFMVC(K, approximation="nystrom"), UDBGL(K)], ids=["OPLFMVC", "UDBGL"])
def test_methods_without_weights_name_those_that_have_them(model, views, weights):
    words = rf"{type(model).__name__} has no form .* use {', '.join(MODELS)}$"
    with pytest.raises(TypeError, match=words):
        distributed.fit(model, [blocks(views[0])], sample_weight=weights)


def negative(weights):
    weights[95] = -1
    return weights


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (lambda w: w[:-1], r"shape \(120,\), got shape \(119,\)"),
        (lambda w: da.from_array(w[:-1], chunks=40), r"shape \(120,\), got shape \(119,\)"),
        (lambda w: da.from_array(w[:, None], chunks=40), "a Dask array of one dimension, or a series"),
        (lambda w: blocks(negative(w)), r"block 4 of the rows: .* got -1 for sample 5"),
        (negative, "got -1 for sample 95"),
        (lambda w: np.zeros(120), "zero for all samples"),
        (lambda w: blocks(np.zeros(120)), "zero for all samples"),
        (lambda w: blocks(w[1:], known=False), r"shape \(120,\), got shape \(119,\)"),
        (lambda w: "weight", "must be 120 numbers|one number per sample"),
        (lambda w: (np.arange(120) < K - 1).astype(float), "2 of n_samples=120"),
    ],
)
def test_weights_that_are_none(form, words, whole, weights):
    with pytest.raises(ValueError, match=words):
        distributed.fit(MODELS["ConcatKMeans"](), [blocks(X, known=False) for X in whole], sample_weight=form(weights))
