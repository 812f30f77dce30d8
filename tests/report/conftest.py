"""Views and fitted models in small, and names that try to break out of the page."""

import pytest
from report_data import make_blobs, make_hostile


@pytest.fixture
def quick_baselines(monkeypatch):
    """Fit the plain ways on few samples and leave out t-SNE, where only the size of the page or its words matter."""
    monkeypatch.setattr("manyviews.findings.baselines.LEAST", 100)
    monkeypatch.setattr("manyviews.findings.baselines.MOST", 100)
    monkeypatch.setattr("manyviews.findings.maps._tsne", lambda table, random_state: table[:, [0, -1]])


@pytest.fixture
def blobs():
    return make_blobs()


@pytest.fixture
def hostile():
    return make_hostile()
