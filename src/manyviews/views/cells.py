"""What the cells and rows of a view hold: numbers that are none, constant columns, rows that are alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = [
    "Labelled",
    "check_dense_cells",
    "check_largest",
    "check_sparse_cells",
    "check_tells",
    "column_extremes",
    "constant_columns",
    "distinct_keys",
    "distinct_samples",
    "first_equals",
    "first_text",
]

Array = NDArray[Any]
ROWS_PER_BLOCK = 16_384
# blocks of which a few copies stay in the cache
CELLS_PER_BLOCK = 1 << 17
# Sums of squares of larger float32 numbers overflow, and products of squares of larger float64 numbers.
LARGEST = {np.dtype(np.float32): 1e15, np.dtype(np.float64): 1e75}
# Squares of smaller float32 numbers vanish, and products of squares of smaller float64 numbers.
SMALLEST = {np.dtype(np.float32): 1e-18, np.dtype(np.float64): 1e-75}


class Labelled(NamedTuple):
    """A view with the names that its rows (n,) and columns (d,) have, where they have some."""

    name: str
    array: Any
    samples: Array | None = None
    columns: Sequence[str] | None = None

    def place(self, row: int, column: int) -> str:
        """Return where a cell is, by position and by name."""
        named = [] if self.samples is None else [f"sample {self.sample(row)}"]
        named += [] if self.columns is None else [f"column {self.columns[column]!r}"]
        return f"view {self.name!r}, row {row}, column {column}" + (f" ({', '.join(named)})" if named else "")

    def sample(self, row: int) -> str:
        """Return the id of a sample, or its row."""
        return f"row {row}" if self.samples is None else repr(str(self.samples[row]))

    def column(self, column: int) -> str:
        """Return the name of a column, or its number."""
        return f"column {column}" if self.columns is None else repr(self.columns[column])


def check_dense_cells(view: Labelled, observed: Array, *, gaps: bool = False, huge: bool = False) -> None:
    """Raise ValueError where an observed row of a dense view has a cell that is no usable number.

    Parameters
    ----------
    view : Labelled
        View of floats, shape (n, d).
    observed : ndarray of shape (n,) of bool
        False for rows that are all NaN.
    gaps : bool, default=False
        Let NaN cells pass.
    huge : bool, default=False
        Let numbers pass whose squares overflow.

    Raises
    ------
    ValueError
        For NaN, infinity and numbers whose squares overflow; the text names place, columns and samples.
    """
    largest = np.inf if huge else LARGEST.get(view.array.dtype, np.inf)
    for start in range(0, view.array.shape[0], ROWS_PER_BLOCK):
        rows = slice(start, start + ROWS_PER_BLOCK)
        block = view.array[rows]
        with np.errstate(all="ignore"):
            if -largest < block.min(initial=0.0) and block.max(initial=0.0) < largest:  # false for NaN too
                continue
            bad = ~(np.abs(block) < largest) & observed[rows, None]
        if gaps:
            bad &= ~np.isnan(block)
        if bad.any():
            row, column = map(int, np.argwhere(bad)[0])
            raise ValueError(_complaint(view, observed, start + row, column, largest))


def _complaint(view: Labelled, observed: Array, row: int, column: int, largest: float) -> str:
    value = view.array[row, column]
    if np.isnan(value):
        where, without = _where_nan(view, observed)
        leave = "leave out columns that are empty in every sample (--drop of manyviews cluster), " if without else ""
        return (
            f"Input contains NaN: {view.place(row, column)}{where}; {leave}fill the cells in "
            "(--impute median or knn of manyviews cluster, or ViewImputer), drop the samples, or make a whole row NaN "
            "if the sample was not observed in this view"
        )
    if np.isinf(value):
        return f"Input contains infinity: {view.place(row, column)}; replace it by a number or drop the sample"
    return (
        f"Input contains a value too large for {view.array.dtype}: {view.place(row, column)} is {float(value):.3g}, "
        f"and calculations with numbers above {largest:.0e} overflow; divide the view by a constant"
    )


def _where_nan(view: Labelled, observed: Array) -> tuple[str, bool]:
    """Return the numbers of NaN cells by column and the first samples, and whether a column has nothing else.

    Both are empty where there is one such cell.
    """
    per_column = np.zeros(view.array.shape[1], dtype=np.int64)
    for start in range(0, view.array.shape[0], ROWS_PER_BLOCK):
        rows = slice(start, start + ROWS_PER_BLOCK)
        per_column += (np.isnan(view.array[rows]) & observed[rows, None]).sum(axis=0)
    total, columns = int(per_column.sum()), np.flatnonzero(per_column)
    if total == 1:
        return "", False
    shown = []
    for column in columns[:3].tolist():
        empty = np.flatnonzero(np.isnan(view.array[:, column]) & observed)
        samples = ", ".join(map(view.sample, empty[:3].tolist())) + (", ..." if empty.size > 3 else "")
        every = "every sample" if empty.size == observed.sum() else samples
        shown.append(f"{view.column(column)} ({empty.size}: {every})")
    more = ", ..." if columns.size > 3 else ""
    return (
        f", the first of {total} empty cells in {columns.size} of {per_column.size} columns: {', '.join(shown)}{more}",
        bool((per_column == observed.sum()).any()),
    )


def check_sparse_cells(view: Labelled, *, huge: bool = False) -> None:
    """Raise ValueError where a stored entry of a CSR view is no usable number."""
    array = view.array
    largest = np.inf if huge else LARGEST.get(array.dtype, np.inf)
    bad = np.flatnonzero(~(np.abs(array.data) < largest))
    if not bad.size:
        return
    row = int(np.searchsorted(array.indptr, bad[0], side="right")) - 1
    column, value = int(array.indices[bad[0]]), float(array.data[bad[0]])
    what = "NaN or infinity" if not np.isfinite(value) else f"a value too large for {array.dtype}"
    raise ValueError(
        f"Input contains {what}: {view.place(row, column)} is {value} ({bad.size} such entries); a sparse view must "
        "hold finite numbers" + ("" if huge else f" below {largest:.0e}")
    )


def check_tells(view: Labelled, observed: Array) -> None:
    """Raise ValueError where a view can tell nothing: no sample is observed, or the squares of all numbers vanish.

    Parameters
    ----------
    view : Labelled
        View of floats, shape (n, d).
    observed : ndarray of shape (n,) of bool
        False for rows that are all NaN.

    Raises
    ------
    ValueError
        For such a view; the text says what to do. A view of zeros passes: it is constant like others.
    """
    array = view.array.data if sparse.issparse(view.array) else view.array
    low, high = 0.0, 0.0
    for start in range(0, array.shape[0], ROWS_PER_BLOCK):
        block = array[start : start + ROWS_PER_BLOCK]
        low = min(low, float(np.fmin.reduce(block, axis=None, initial=0.0)))
        high = max(high, float(np.fmax.reduce(block, axis=None, initial=0.0)))
    check_largest(view.name, int(observed.sum()), max(-low, high), view.array.dtype)


def check_largest(name: str, n_observed: int, largest: float, dtype: Any) -> None:
    """Raise ValueError as ``check_tells`` does, for a view of this type with so many rows and such a modulus."""
    if n_observed == 0:
        raise ValueError(f"view {name!r}: Input contains NaN only, no sample is observed in it; leave it out")
    if 0 < largest < SMALLEST.get(np.dtype(dtype), 0.0):
        raise ValueError(
            f"view {name!r}: the largest number is {largest:.3g}, and squares of such numbers vanish in "
            f"{dtype}; multiply the view by a constant, so that its numbers are near 1"
        )


def first_text(array: Any) -> str:
    """Return where the first cell of an array of objects is that is no number."""
    if sparse.issparse(array):
        return ""
    for row, values in enumerate(array[:1000]):
        for column, value in enumerate(values):
            if not isinstance(value, int | float | np.number):
                return f" (row {row}, column {column}: {value!r})"
    return ""


def constant_columns(array: Any, observed: Array) -> Array:
    """Return which columns hold one number for all observed rows, shape (d,) of bool; NaN cells do not count."""
    if sparse.issparse(array):
        low, high = (np.asarray(extreme.todense()).ravel() for extreme in (array.min(axis=0), array.max(axis=0)))
        return np.asarray(low == high)
    low, high = column_extremes(array, observed)
    return np.asarray(low >= high)


def column_extremes(array: Array, observed: Array | None = None) -> tuple[Array, Array]:
    """Return the least and the largest number of each column of a dense view, both (d,); NaN cells do not count.

    A column without numbers has ∞ and -∞.
    """
    low, high = np.full(array.shape[1], np.inf), np.full(array.shape[1], -np.inf)
    for start in range(0, array.shape[0], ROWS_PER_BLOCK):
        rows = slice(start, start + ROWS_PER_BLOCK)
        block = array[rows] if observed is None else array[rows][observed[rows]]
        low = np.fmin(low, np.fmin.reduce(block, axis=0, initial=np.inf))
        high = np.fmax(high, np.fmax.reduce(block, axis=0, initial=-np.inf))
    return low, high


def distinct_samples(arrays: Sequence[Any], enough: int) -> int:
    """Count the samples that differ in some view, and stop at ``enough`` of them.

    Parameters
    ----------
    arrays : sequence of ndarray or CSR of shape (n, d_v)
        The views.
    enough : int
        Where to stop, so that few rows are looked at where most of them differ.

    Returns
    -------
    int
        min(number of distinct samples, enough).
    """
    return min(len(distinct_keys(arrays, enough)), enough)


def distinct_keys(arrays: Sequence[Any], enough: int) -> set[tuple[bytes, ...]]:
    """Return keys of distinct samples, at least min(number of distinct samples, enough) of them."""
    n = arrays[0].shape[0]
    seen: set[tuple[bytes, ...]] = set()
    start, size = 0, max(enough, 16)
    while start < n and len(seen) < enough:
        rows = slice(start, start + size)
        keys = zip(*(_row_keys(array[rows]) for array in arrays), strict=True)
        seen.update(keys)
        start, size = start + size, min(2 * size, ROWS_PER_BLOCK)
    return seen


def first_equals(arrays: Sequence[Any]) -> NDArray[np.int64]:
    """Return for each sample the first one that equals it in every view: itself where none before it does.

    Parameters
    ----------
    arrays : sequence of ndarray or CSR of shape (n, d_v)
        The views; rows of NaN equal each other.

    Returns
    -------
    ndarray of shape (n,), int64
        Positions. Rows are compared by their bytes, but only those with equal hashes, so that it takes one pass over
        the views; should unequal rows share a hash, the later one counts as different from all.
    """
    n = arrays[0].shape[0]
    own = np.arange(n)
    hashes = np.zeros(n, dtype=np.uint64)
    for array in arrays:
        stored = array.nnz if sparse.issparse(array) else array.size
        size = max(1, CELLS_PER_BLOCK * n // max(1, stored))
        for start in range(0, n, size):
            rows = slice(start, start + size)
            hashes[rows] = _mixed(hashes[rows]) + _row_hashes(array[rows])
    _, place, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    first = place[inverse.reshape(n)]
    copies = np.flatnonzero(first != own)
    for start in range(0, copies.size, ROWS_PER_BLOCK):
        part = copies[start : start + ROWS_PER_BLOCK]
        for array in arrays:
            pairs = zip(_row_keys(array[part]), _row_keys(array[first[part]]), strict=True)
            same = np.fromiter((a == b for a, b in pairs), dtype=bool, count=part.size)
            first[part[~same]] = part[~same]
    return first


def _mixed(numbers: Array) -> NDArray[np.uint64]:
    """Spread the bits of 64-bit integers over the whole word (the finaliser of SplitMix64); products wrap around."""
    x = numbers + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def _row_hashes(block: Any) -> NDArray[np.uint64]:
    """Return a number for each row, equal for equal rows: a sum over columns of products, which wrap around."""
    factors = _mixed(np.arange(block.shape[1], dtype=np.uint64)) | np.uint64(1)
    if not sparse.issparse(block):
        return np.asarray(_cell_bits(block) @ factors)
    if not block.has_canonical_format:
        block = sparse.csr_array(block, copy=True)
        block.sum_duplicates()
    values = _cell_bits(block.data) * factors[block.indices]
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(values, dtype=np.uint64)])
    return np.asarray(sums[block.indptr[1:]] - sums[block.indptr[:-1]])


def _cell_bits(numbers: Array) -> NDArray[np.uint64]:
    """Return the bits of floats as integers, 0 for 0, with those of short numbers brought to both ends of the word."""
    numbers = np.ascontiguousarray(numbers + 0.0)  # -0.0 and 0.0 are equal
    bits = numbers.view(f"u{numbers.dtype.itemsize}").astype(np.uint64)
    return np.asarray(bits ^ (bits >> np.uint64(32)))


def _row_keys(block: Any) -> list[bytes]:
    """Return equal bytes for equal rows, also where one has -0.0 and the other 0.0, or stored zeros."""
    if not sparse.issparse(block):
        return [row.tobytes() for row in np.ascontiguousarray(block + 0.0)]
    block = sparse.csr_array(block, copy=True)
    block.sum_duplicates()
    block.eliminate_zeros()
    ends = zip(block.indptr, block.indptr[1:], strict=False)
    return [block.indices[a:b].tobytes() + block.data[a:b].tobytes() for a, b in ends]
