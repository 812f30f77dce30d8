"""Data to try and to benchmark: a bundled real set, synthetic makers, files, and a registry of the papers' sets."""

from manyviews.datasets.dataset import Dataset
from manyviews.datasets.loading import load
from manyviews.datasets.registry import DatasetInfo, available, info, names
from manyviews.datasets.synthetic import make_blobs_views

__all__ = ["Dataset", "DatasetInfo", "available", "info", "load", "make_blobs_views", "names"]
