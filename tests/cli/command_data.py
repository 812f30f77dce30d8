"""Small data for the commands: 36 samples in three clear groups, seen in two tables."""

import numpy as np
import polars as pl

CLASSES = np.repeat([0, 1, 2], 12)
TWO_VIEWS = ("--view", "a=a.csv", "--view", "b=b.parquet", "--id", "id", "--truth", "kind")


def table(seed, order=None, **extra):
    """Return one view as a table, with ids that need to stay text."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(36, 4)) + 8 * np.eye(4)[CLASSES]
    frame = pl.DataFrame({"id": [f"{i:03d}" for i in range(36)], **{f"f{j}": values[:, j] for j in range(4)}, **extra})
    return frame if order is None else frame[order]
