"""Files to Views and results to files; nothing in a file is ever executed."""

from __future__ import annotations

from manyviews.io.model import load_model, save_model
from manyviews.io.multiview import MultiviewFile, read_multiview_file
from manyviews.io.read import LoadedViews, read_views
from manyviews.io.write_obs import write_obs

__all__ = ["LoadedViews", "MultiviewFile", "load_model", "read_multiview_file", "read_views", "save_model", "write_obs"]
