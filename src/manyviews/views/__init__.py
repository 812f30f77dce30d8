"""Whatever a user may give, made into ``Views``: the container, and the checks at the one door into the package."""

from manyviews.views.container import Views

__all__ = ["Views"]
