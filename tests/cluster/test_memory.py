"""Estimates of memory: what they are, and what is said where they exceed the machine."""

import numpy as np
import pytest

from manyviews import OPLFMVC, AverageKKM, Views
from manyviews.cluster import memory
from manyviews.cluster.registry import METHODS


def of(n_gb, free_gb=None):
    return lambda: (int(n_gb * 1e9), int((n_gb if free_gb is None else free_gb) * 1e9))


@pytest.fixture
def many():
    """Views of 20 000 samples that take next to no memory."""
    return Views([np.broadcast_to(np.arange(20_000.0)[:, None], (20_000, 3))] * 2)


def test_estimates_of_late_fusion(many):
    exact = OPLFMVC(5, approximation="exact")._memory_estimate(many)
    assert exact == 8 * (3 * 20_000**2 + 3 * 20_000 * 2 * 5)
    assert OPLFMVC(5, approximation="exact", n_jobs=2)._memory_estimate(many) == exact + 8 * 20_000**2
    assert OPLFMVC(5)._memory_estimate(many) < exact / 50
    assert OPLFMVC(5, base="partition")._memory_estimate(many) == 8 * 3 * 20_000 * 2 * 5
    assert OPLFMVC(5)._memory_estimate(many[:3000]) == 8 * (3 * 3000**2 + 3 * 3000 * 2 * 5)


def test_more_than_the_machine_has_is_refused_with_what_would_fit(many, monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", of(4))
    with pytest.raises(
        ValueError, match=r"AverageKKM needs about 9\.6 GB .* 20000 samples, more than the 4\.0 GB"
    ) as caught:
        AverageKKM(5, approximation="exact").fit(many)
    assert "AverageKKM (average-kkm) with default parameters needs about" in str(caught.value)
    assert "OPLFMVC (op-lfmvc)" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_where_nothing_would_fit(many, monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", of(0.00001))
    for row in METHODS:
        monkeypatch.setattr(row.load(), "_memory_estimate", lambda self, views: 10**9)
    with pytest.raises(ValueError, match="use fewer samples"):
        OPLFMVC(5).fit(many)


def test_more_than_is_free_is_a_warning(three_views, monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", of(1, free_gb=0.00001))
    with pytest.warns(UserWarning, match=r"OPLFMVC needs about 0\.1 MB of memory and 0\.0 MB are free"):
        OPLFMVC(3).fit(three_views[0])


def test_unknown_memory_refuses_nothing(three_views, monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", lambda: (None, None))
    OPLFMVC(3).fit(three_views[0])


def test_this_machine():
    total, free = memory.machine_memory()
    assert total is None or total > 10**8
    assert free is None or 0 < free <= total


def test_a_container_may_have_less(monkeypatch):
    real = memory.machine_memory()[0]
    monkeypatch.setattr(memory, "_read", lambda place: "1000000\n" if "memory.max" in place else "")
    assert memory.machine_memory() == (None if real is None else 1_000_000, None)
    monkeypatch.setattr(memory, "_read", lambda place: "max\n" if "memory.max" in place else "MemAvailable: 3 kB\n")
    assert memory.machine_memory()[1] == 3072
