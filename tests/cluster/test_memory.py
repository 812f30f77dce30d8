"""Estimates of memory: what they are, and what is said where they exceed the machine."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from manyviews import (
    BMVC,
    FPMVSCAG,
    KCC,
    LFMVC,
    LMVSC,
    MVEC,
    OPLFMVC,
    RMKMC,
    RSEC,
    SMVSC,
    UDBGL,
    USENC,
    USPEC,
    AverageKKM,
    BestSingleView,
    CCAClustering,
    ConcatKMeans,
    ConcatSpectral,
    FastMICE,
    SumSpectral,
    Views,
)
from manyviews.cluster import memory
from manyviews.cluster.registry import METHODS


def of(n_gb, free_gb=None):
    return lambda: (int(n_gb * 1e9), int((n_gb if free_gb is None else free_gb) * 1e9))


@pytest.fixture
def many():
    """Views of 20 000 samples that take next to no memory."""
    return Views([np.broadcast_to(np.arange(20_000.0)[:, None], (20_000, 3))] * 2)


def test_estimates_of_late_fusion(many):
    partitions, scaled = 20_000 * 5 * (3 * 2 + 3), 20_000 * 3 * 2
    exact = OPLFMVC(5, approximation="exact")._memory_estimate(many)
    assert exact == 8 * (3 * 20_000**2 + scaled + partitions)
    assert OPLFMVC(5, base="kernel")._memory_estimate(many) == 8 * (3 * 20_000**2 + partitions)
    assert OPLFMVC(5, approximation="exact", n_jobs=2)._memory_estimate(many) == exact + 8 * 20_000**2
    assert OPLFMVC(5)._memory_estimate(many) < exact / 50
    assert OPLFMVC(5, base="embedding")._memory_estimate(many) == 8 * (partitions + 4 * 20_000 * 20)
    assert LFMVC(5, base="embedding")._memory_estimate(many) == 8 * partitions
    assert OPLFMVC(5, n_init=1000)._memory_estimate(many) > 4 * OPLFMVC(5)._memory_estimate(many)
    assert OPLFMVC(5)._memory_estimate(many[:3000]) == 8 * 3000 * (3 * 3000 + 3 * 2 + 5 * 9)


@pytest.mark.parametrize("row", METHODS, ids=[row.name for row in METHODS])
def test_every_method_has_an_estimate_that_grows_with_the_data(row, many):
    def of_rows(n, **parameters):
        return row.load()(n_clusters=5, **parameters)._memory_estimate(many[:n])

    few, some, all_of_them = of_rows(4_000), of_rows(10_000), of_rows(20_000)
    assert 4_000 * 2 * 3 * 8 < few < some < all_of_them
    assert isinstance(all_of_them, int)
    if row.sparse:
        text = Views([sparse.random(4_000, 500, 0.01, format="csr", random_state=0)] * 2)
        assert 0 < row.load()(n_clusters=5)._memory_estimate(text) < 10**10


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        (ConcatSpectral, {"affinity": "gaussian"}),
        (SumSpectral, {"affinity": "gaussian"}),
        (UDBGL, {"n_anchors": 1000}),
        (RMKMC, {"n_jobs": 4}),
        (BestSingleView, {"n_jobs": 2}),
        (FastMICE, {"n_base_clusterings": 500}),
        (USENC, {"n_base_clusterings": 500}),
        (USPEC, {"n_anchors": 5000}),
        (KCC, {"n_base_clusterings": 500}),
        (CCAClustering, {"n_clusters": 500}),
        (LMVSC, {"n_anchors": 100}),
        (SMVSC, {"n_anchors": 100}),
        (FPMVSCAG, {"n_clusters": 100}),
        (BMVC, {"n_anchors": 3000}),
    ],
)
def test_parameters_that_take_more_memory_are_counted(method, parameters, many):
    assert method(**parameters)._memory_estimate(many) > 1.2 * method()._memory_estimate(many)


@pytest.mark.parametrize("method", [ConcatKMeans, BestSingleView, ConcatSpectral])
@pytest.mark.parametrize(("n", "widths"), [(600, (240, 76)), (300, (2_000, 800)), (2_000, (60, 40))])
def test_what_plain_methods_need_is_near_what_they_take(method, n, widths):
    """Also for few samples, of which the copy in the order of the fit counts, and for few rows of many columns."""
    rng = np.random.default_rng(0)
    views = Views([rng.normal(size=(n, d)) for d in widths])
    model = method(3, random_state=0)
    model.fit(views[:50])  # loads what is loaded on first use
    tracemalloc.start()
    try:
        model.fit(views)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.6 < model._needed_bytes(views) / peak < 1.6


def test_quadratic_methods_are_refused_with_the_linear_ones(many, monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", of(2))
    for method in (MVEC, RSEC):
        with pytest.raises(ValueError, match="use a method that would fit; with default parameters ") as caught:
            method(5).fit(many)
        assert "(mvec)" not in str(caught.value)
        assert "(rsec)" not in str(caught.value)
        assert " about " in str(caught.value)
    # labels of partitions are no features for other methods
    with pytest.raises(ValueError, match="; use fewer samples"):
        RSEC(3, base="labels").fit(many)


def test_more_than_the_machine_has_is_refused_with_what_would_fit(many, monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", of(4))
    with pytest.raises(
        ValueError, match=r"AverageKKM needs about 9\.6 GB .* 20000 samples, more than the 4\.0 GB"
    ) as caught:
        AverageKKM(5, approximation="exact").fit(many)
    assert "with default parameters AverageKKM (average-kkm) about 0." in str(caught.value)
    assert str(caught.value).count(" about ") >= 4
    assert "\n" not in str(caught.value)


def test_where_nothing_would_fit(many, monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", of(0.00001))
    for row in METHODS:
        monkeypatch.setattr(row.load(), "_memory_estimate", lambda self, views: 10**9)
    with pytest.raises(ValueError, match="use fewer samples"):
        OPLFMVC(5).fit(many)


def test_more_than_is_free_is_a_warning(three_views, monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", of(1, free_gb=0.00001))
    with pytest.warns(UserWarning, match=r"OPLFMVC needs about 0\.6 MB of memory and 0\.0 MB are free"):
        OPLFMVC(3).fit(three_views[0])


def test_unknown_memory_refuses_nothing(three_views, monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", lambda: (None, None))
    OPLFMVC(3).fit(three_views[0])


def test_this_machine():
    total, free = memory.machine_memory()
    assert total is None or total > 10**8
    assert free is None or 0 < free <= total
