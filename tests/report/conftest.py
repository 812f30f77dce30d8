"""Views and fitted models in small, and names that try to break out of the page."""

import pytest
from report_data import make_blobs, make_hostile


@pytest.fixture
def blobs():
    return make_blobs()


@pytest.fixture
def hostile():
    return make_hostile()
