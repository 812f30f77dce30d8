"""Data beyond one machine: fits and labels of new samples over the blocks of Dask collections."""

from __future__ import annotations

from manyviews.distributed.fitting import fit
from manyviews.distributed.labelling import predict

__all__ = ["fit", "predict"]
