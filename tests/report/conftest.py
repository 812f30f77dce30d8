"""Views and fitted models in small, and names that try to break out of the page."""

import pytest
from report_data import make_blobs, make_hostile


@pytest.fixture
def quick_baselines(monkeypatch):
    """Fit the plain ways on few samples, where only the size of the page is looked at."""
    monkeypatch.setattr("manyviews.findings.baselines.MOST", 1000)


@pytest.fixture
def blobs():
    return make_blobs()


@pytest.fixture
def hostile():
    return make_hostile()
