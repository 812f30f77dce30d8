import pytest

import manyviews.cluster.base


@pytest.fixture(autouse=True)
def _samples_stay_where_they_are(monkeypatch):
    """Blocks keep their order, as views in memory do that are too large to be copied."""
    monkeypatch.setattr(manyviews.cluster.base, "MOST_MOVED", -1)
