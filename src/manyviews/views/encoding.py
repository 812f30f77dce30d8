"""Columns that are no plain numbers: categories as columns of 0 and 1, lists of numbers as several columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["dummy_columns", "stack_cells"]

Array = NDArray[Any]
# More values than this, and than half of the samples, are rather names of the samples than categories.
_MANY_VALUES = 50


def dummy_columns(name: str, values: Sequence[Any], where: str) -> tuple[Array, tuple[str, ...]]:
    """Return one column of 0 and 1 per value of a column of categories.

    Parameters
    ----------
    name : str
        Name of the column.
    values : sequence of length n
        Its cells; None and NaN where they are empty.
    where : str
        Table, for the message.

    Returns
    -------
    array : ndarray of shape (n, m)
        Zeros and ones; NaN in the whole row where the cell is empty.
    names : tuple of str
        ``name=value``, in the order of the values as text.

    Raises
    ------
    ValueError
        If the column has so many values that it rather names the samples, or no value.
    """
    texts = [None if value is None or value != value else str(value) for value in values]
    distinct = sorted({text for text in texts if text is not None})
    if not distinct:
        raise ValueError(f"{where}: column {name!r}, to be encoded, is empty; leave it out")
    if len(distinct) > max(_MANY_VALUES, len(texts) // 2):
        raise ValueError(
            f"{where}: column {name!r}, to be encoded, has {len(distinct)} values in {len(texts)} rows, so that it "
            "tells the samples by name; leave it out, or name it as the column of ids"
        )
    position = {text: place for place, text in enumerate(distinct)}
    array = np.zeros((len(texts), len(distinct)))
    for row, text in enumerate(texts):
        if text is None:
            array[row] = np.nan
        else:
            array[row, position[text]] = 1.0
    return array, tuple(f"{name}={text}" for text in distinct)


def stack_cells(cells: Sequence[Any], where: str, kind: str) -> Array:
    """Return a column of lists of numbers as an array (n, m); empty cells become rows of NaN.

    Raises
    ------
    ValueError
        If the lists have different lengths or hold other things than numbers.
    """
    lengths = {len(cell) for cell in cells if cell is not None}
    if len(lengths) != 1:
        shown = ", ".join(map(str, sorted(lengths)[:4]))
        raise ValueError(f"{where} holds lists of different lengths ({shown}); a view needs as many numbers per sample")
    width = lengths.pop()
    single = "f32" in kind or "Float32" in kind or "<element: float>" in kind or "<item: float>" in kind
    single = single or getattr(cells[0], "dtype", None) == np.float32
    out = np.full((len(cells), width), np.nan, dtype=np.float32 if single else np.float64)
    try:
        for row, cell in enumerate(cells):
            if cell is not None:
                out[row] = [np.nan if value is None else value for value in cell]
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where} holds lists of other things than numbers ({error})") from error
    return out
