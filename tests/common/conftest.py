"""Every method of the registry, one after the other."""

import pytest
from few_members import quick

from manyviews.cluster.registry import METHODS


@pytest.fixture(params=METHODS, ids=[row.name for row in METHODS])
def row(request):
    return request.param


@pytest.fixture
def model(row):
    return quick(row, random_state=0)
