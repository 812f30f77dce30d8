"""Every method of the registry, one after the other."""

import pytest

from few_members import few_votes, quick
from manyviews.cluster.registry import METHODS


@pytest.fixture(params=METHODS, ids=[row.name for row in METHODS])
def row(request):
    return request.param


@pytest.fixture
def model(row):
    return quick(row, random_state=0)


@pytest.fixture(autouse=True, scope="module")
def _few_votes():
    with pytest.MonkeyPatch.context() as patch:
        few_votes(patch)
        yield


@pytest.fixture(scope="module")
def _fitted():
    return {}


@pytest.fixture
def fitted(row, three_views, _fitted):
    """The method fitted to three views named a, b and c; one fit for all tests of a file, which only read it."""
    if row.name not in _fitted:
        _fitted[row.name] = quick(row, random_state=0).fit(dict(zip("abc", three_views[0], strict=True)))
    return _fitted[row.name]
