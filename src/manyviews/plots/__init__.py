"""Figures of a result for notebooks, drawn by plotly (extra ``cli``): what the report shows, one by one.

``co_association``, ``silhouettes``, ``features``, ``contingency``, ``sample_map`` and ``view_weights`` take a fitted
model and the views that it was fitted on, and return ``plotly.graph_objects.Figure``. Of large data a seeded random
part is drawn.
"""

from manyviews.plots.public import co_association, contingency, features, sample_map, silhouettes, view_weights
from manyviews.plots.survival import survival

__all__ = ["co_association", "contingency", "features", "sample_map", "silhouettes", "survival", "view_weights"]
