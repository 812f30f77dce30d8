"""Small views stand for large ones: fits, in memory and over blocks, take the samples as they are given."""

import pytest


@pytest.fixture(autouse=True)
def samples_stay(monkeypatch):
    monkeypatch.setattr("manyviews.cluster.base.MOST_MOVED", 0)
