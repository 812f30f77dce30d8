"""The columns of a table as numbers: lists become several columns, categories where asked for columns of 0 and 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from manyviews.io.choosing import matches
from manyviews.io.text import is_number
from manyviews.views.encoding import dummy_columns, stack_cells

__all__ = ["as_features", "shown"]


def as_features(frame: Any, encode: Sequence[str], where: str) -> Any:
    """Return the columns of a table as floats; float32 is kept where every column that is not empty has it.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    encode : sequence of str
        Patterns of the columns of categories.
    where : str
        File, for messages.

    Returns
    -------
    polars.DataFrame
        Floats.

    Raises
    ------
    ValueError
        If no column is left, or one is text and not to be encoded.
    """
    import polars as pl

    if frame.width == 0:
        raise ValueError(f"{where} has no column left for features; a view needs at least one column of numbers")
    parts = []
    for column in frame.get_columns():
        if matches(column.name, encode):
            array, names = dummy_columns(column.name, column.to_list(), where)
            parts.append(pl.DataFrame(array, schema=list(names)))
        elif column.null_count() == len(column) > 0:
            # without a value it has no type either: Null in Arrow, text in some csv files, and all are told alike
            parts.append(pl.DataFrame({column.name: pl.repeat(None, len(column), dtype=pl.Float32, eager=True)}))
        elif column.dtype in (pl.List, pl.Array):
            array = stack_cells(column.to_list(), f"{where}, column {column.name!r}", str(column.dtype))
            parts.append(pl.DataFrame(array, schema=[f"{column.name}[{j}]" for j in range(array.shape[1])]))
        else:
            parts.append(column.to_frame())
    features = pl.concat(parts, how="horizontal")
    _check_numbers(features, where)
    single = all(dtype == pl.Float32 for dtype in features.dtypes)
    return features if single else features.cast(pl.Float64)


def _check_numbers(features: Any, where: str) -> None:
    import polars as pl

    text = [
        name
        for name in features.columns
        if not (features[name].dtype.is_numeric() or features[name].dtype == pl.Boolean)
    ]
    if not text:
        return
    values = features[text[0]].to_list()
    row, value = next(((i, cell) for i, cell in enumerate(values) if not is_number(str(cell))), (0, values[0]))
    numbers = sum(is_number(str(cell)) for cell in values)
    what = "column" if len(text) == 1 else f"{len(text)} columns"
    if numbers == len(values):
        advice = (
            "its numbers are text: name it with --id if it holds ids, leave it out with --drop, or save it as numbers"
        )
    elif 2 * numbers > len(values):
        advice = (
            f"if it stands for a missing number, give --missing-values {str(value)[:40]!r} (missing_values), else "
            "write numbers with a decimal point and no thousands marks"
        )
    else:
        few = len(Counter(map(str, values))) <= max(2, len(values) // 4)
        encode = f"make columns of 0 and 1 of it with --encode {text[0]!r} (encode)" if few else "encode it as numbers"
        advice = (
            f"name it with --id or --truth if it holds ids or classes, leave it out with --drop (drop), or {encode}; "
            "numbers have a decimal point and no thousands marks"
        )
    raise ValueError(
        f"{where}: {what} {shown(text)} cannot be used as numbers ({text[0]!r} holds {str(value)[:40]!r} in row "
        f"{row}); {advice}"
    )


def shown(names: Sequence[str]) -> str:
    """Return the first names of many, for messages."""
    return ", ".join(map(repr, names[:6])) + (", ..." if len(names) > 6 else "")
