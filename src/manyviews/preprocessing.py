"""What is done to views before a fit: transformers of scikit-learn's kind, for pipelines."""

from __future__ import annotations

from manyviews.views.impute import ViewImputer
from manyviews.views.per_view import PerView
from manyviews.views.top_variance import TopVariance

__all__ = ["PerView", "TopVariance", "ViewImputer"]
