"""The one container for multi-view data: the same samples seen through several feature sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from manyviews.views.alignment import align_rows
from manyviews.views.markup import html_table
from manyviews.views.structure import (
    annotated_orders,
    as_2d,
    check_observed,
    check_same_index,
    check_sample_names,
    common_length,
    named_2d,
    names_and_items,
    observed_rows,
    telling_index,
)

__all__ = ["Views"]

Array = NDArray[Any]


class Views:
    """Hold the same samples as seen through several feature sets.

    A frozen container with rows and a length, as scikit-learn's ``train_test_split`` and ``GridSearchCV`` need them.
    Arrays are kept as given, never copied.

    Parameters
    ----------
    data : mapping of str to 2-D, or sequence of 2-D
        One array (NumPy, torch, xarray, ...), sparse matrix, frame (pandas, polars, pyarrow) or AnnData of shape
        (n, d_v) per view, samples first. Frames are
        turned into arrays, a column of lists into as many columns; sparse matrices of other formats into CSR. Of an
        AnnData it is ``X``; the rows of several follow the first by ``obs_names``.
    names : sequence of str, default=None
        Names of the views when ``data`` is a sequence. By default ``view_0``, ``view_1``, ...
    sample_names : array-like of shape (n,), default=None
        Unique ids of the samples. By default the index of the pandas frames, where it says more than 0..n-1.
    observed : array-like of shape (n, V) of bool, default=None
        False where a sample was not observed in a view. By default the rows that are all NaN.
    encode : sequence of str, default=()
        Columns of frames, by name or with ``*``, that become one column of 0 and 1 per value they hold, called
        ``column=value``; all of the values count, so that rare ones make the view wider.

    Attributes
    ----------
    names : tuple of str
        Names of the views.
    arrays : tuple of ndarray or CSR
        One array of shape (n, d_v) per view.
    feature_names : tuple of (tuple of str or None)
        Column names of each view where it came as a frame.
    sample_names : ndarray of shape (n,) or None
        Ids of the samples.
    shape : tuple of int
        (n, total number of columns).

    Raises
    ------
    TypeError
        If a view is not a two-dimensional array, sparse matrix or frame.
    ValueError
        If there is no view, the numbers of rows differ, the indexes of frames or the samples of AnnData differ, a
        column of two frames holds the same ids in another order, a sparse matrix is damaged, or names or ids repeat.

    Examples
    --------
    >>> import numpy as np
    >>> from manyviews import Views
    >>> X = Views({"image": np.zeros((4, 3)), "text": np.ones((4, 2))})
    >>> X
    Views(4 samples; image: 3, text: 2)
    """

    __slots__ = ("_observed", "arrays", "feature_names", "has_names", "names", "sample_names")

    names: tuple[str, ...]
    arrays: tuple[Any, ...]
    feature_names: tuple[tuple[str, ...] | None, ...]
    sample_names: Array | None
    has_names: bool
    _observed: Array | None

    def __init__(
        self,
        data: Mapping[str, Any] | Sequence[Any],
        *,
        names: Sequence[str] | None = None,
        sample_names: ArrayLike | None = None,
        observed: ArrayLike | None = None,
        encode: Sequence[str] = (),
    ) -> None:
        view_names, items = names_and_items(data, names)
        check_same_index(view_names, items, stated=sample_names is not None)
        contents = [named_2d(item, name, encode) for name, item in zip(view_names, items, strict=True)]
        orders = annotated_orders(view_names, items)
        arrays = tuple(
            array[orders[name]] if name in orders else array
            for name, (array, _) in zip(view_names, contents, strict=True)
        )
        n = common_length(view_names, arrays)
        if sample_names is None:
            sample_names = next((i for i in map(telling_index, items) if i is not None), None)
        self._set(
            names=view_names,
            arrays=arrays,
            feature_names=tuple(columns for _, columns in contents),
            sample_names=None if sample_names is None else check_sample_names(sample_names, n),
            has_names=isinstance(data, Mapping) or names is not None,
            _observed=None if observed is None else check_observed(observed, n, len(arrays)),
        )

    def _set(self, **values: Any) -> None:
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def _derive(self, **values: Any) -> Views:
        new = object.__new__(Views)
        new._set(**{key: getattr(self, key) for key in Views.__slots__} | values)
        return new

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"Views is frozen; make a new one instead of setting {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Views is frozen; {name!r} cannot be deleted")

    def __getstate__(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in Views.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)

    def __len__(self) -> int:
        return int(self.arrays[0].shape[0])

    def __repr__(self) -> str:
        widths = ", ".join(f"{name}: {array.shape[1]}" for name, array in self.items())
        return f"Views({len(self)} samples; {widths})"

    def _repr_html_(self) -> str:
        missing = (~self.observed).sum(axis=0).tolist()
        kinds = [f"{'sparse ' if sparse.issparse(array) else ''}{array.dtype}" for array in self.arrays]
        rows = zip(self.names, (array.shape[1] for array in self.arrays), kinds, missing, strict=True)
        header = ("view", "columns", "stored as", "samples missing")
        return html_table(f"Views of {len(self)} samples", header, rows)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and total number of columns."""
        return len(self), sum(array.shape[1] for array in self.arrays)

    @property
    def observed(self) -> Array:
        """Booleans of shape (n, V): False where a sample was not observed in a view."""
        if self._observed is None:
            self._set(_observed=np.column_stack([observed_rows(array) for array in self.arrays]))
            assert self._observed is not None
            self._observed.setflags(write=False)
        return self._observed

    def __getitem__(self, rows: Any) -> Views:
        """Take the same rows of every view."""
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            rows = rows[0]
        if isinstance(rows, str | tuple) or (not isinstance(rows, slice) and np.ndim(rows) != 1):
            raise TypeError(
                f"Views takes rows only, got {rows!r}; write X[[0, 1]] for samples, "
                "X.view('name') for one view's array, X.select(['name']) for some of the views"
            )
        rows = rows if isinstance(rows, slice) else np.asarray(rows)
        if isinstance(rows, np.ndarray) and rows.size == 0:
            rows = rows.astype(np.intp)
        return self._derive(
            arrays=tuple(array[rows] for array in self.arrays),
            sample_names=None if self.sample_names is None else self.sample_names[rows],
            _observed=None if self._observed is None else self._observed[rows],
        )

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            "Views is not a list of views: loop over X.items() for (name, array) pairs or X.arrays for the arrays"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError("Views cannot become one array by itself; write X.concatenate() to put the views side by side")

    def items(self) -> Iterator[tuple[str, Any]]:
        """Loop over (name, array) pairs.

        Yields
        ------
        tuple of (str, ndarray or CSR)
            One per view.
        """
        yield from zip(self.names, self.arrays, strict=True)

    def view(self, name: str) -> Any:
        """Return the array of one view.

        Parameters
        ----------
        name : str
            Name of the view.

        Returns
        -------
        ndarray or CSR of shape (n, d_v)
            The array as it is held.

        Raises
        ------
        ValueError
            If there is no view of this name.
        """
        return self.arrays[self._position(name)]

    def select(self, names: Iterable[str]) -> Views:
        """Return the views of these names, in this order.

        Parameters
        ----------
        names : iterable of str
            Names of views to keep.

        Returns
        -------
        Views
            The same samples, fewer views.

        Raises
        ------
        ValueError
            If a name is unknown or repeated, or none is given.
        """
        positions = [self._position(name) for name in ([names] if isinstance(names, str) else names)]
        if not positions or len(set(positions)) < len(positions):
            raise ValueError("select at least one view, and each view once")
        return self._derive(
            names=tuple(self.names[i] for i in positions),
            arrays=tuple(self.arrays[i] for i in positions),
            feature_names=tuple(self.feature_names[i] for i in positions),
            _observed=None if self._observed is None else self._observed[:, positions],
        )

    def map(self, function: Callable[[str, Any], Any]) -> Views:
        """Replace every view's array by ``function(name, array)``.

        Parameters
        ----------
        function : callable
            Gets the name and the array of a view; returns a 2-D array or CSR with the same rows.

        Returns
        -------
        Views
            The same samples and names; feature names are kept where the width is unchanged.
        """
        arrays = tuple(as_2d(function(name, array), name) for name, array in self.items())
        common_length((*self.names, "input"), (*arrays, self.arrays[0]))
        kept = tuple(
            names if new.shape[1] == old.shape[1] else None
            for names, new, old in zip(self.feature_names, arrays, self.arrays, strict=True)
        )
        return self._derive(arrays=arrays, feature_names=kept)

    def renamed(self, names: Sequence[str]) -> Views:
        """Return the same views under other names, one per view; where the number differs, as they are."""
        return self._derive(names=tuple(names), has_names=True) if len(names) == len(self.names) else self

    def replace_arrays(self, arrays: Sequence[Any], feature_names: Sequence[tuple[str, ...] | None]) -> Views:
        """Return the same samples and views with other numbers.

        Parameters
        ----------
        arrays : sequence of (ndarray or CSR)
            One array of shape (n, d_v) per view, in order.
        feature_names : sequence of (tuple of str or None)
            Names of its columns.

        Returns
        -------
        Views
            Names, ids and which sample is observed where are kept.
        """
        return self._derive(arrays=tuple(arrays), feature_names=tuple(feature_names), _observed=self.observed)

    def concatenate(self) -> Any:
        """Put the views side by side.

        Returns
        -------
        ndarray or CSR of shape (n, total columns)
            CSR if any view is sparse.
        """
        if any(sparse.issparse(array) for array in self.arrays):
            return sparse.hstack(self.arrays, format="csr")
        return np.hstack(self.arrays)

    @classmethod
    def align(
        cls,
        data: Mapping[str, Any],
        *,
        how: Literal["inner", "outer"] = "inner",
        transpose: Sequence[str] = (),
        encode: Sequence[str] = (),
    ) -> Views:
        """Match the rows of several tables by their ids.

        Parameters
        ----------
        data : mapping of str to (pair or frame)
            Name of each view and a pair ``(ids, 2-D array or CSR)`` or a pandas frame, whose index holds the ids.
        how : {"inner", "outer"}, default="inner"
            "inner" keeps the samples that every view has, in the order of the first view. "outer" keeps all, in order
            of first appearance; where a view lacks one, its row is all NaN (sparse: empty) and not observed.
        transpose : sequence of str, default=()
            Names of views that have the samples as columns: the column names of frames are then the ids, or the ids
            of a pair those of its columns.
        encode : sequence of str, default=()
            Columns of categories, as in ``Views``.

        Returns
        -------
        Views
            Views with ``sample_names``.

        Raises
        ------
        ValueError
            If ids repeat within a view, no sample is left, or none is in two views.
        TypeError
            If a view has no ids.

        Warns
        -----
        UserWarning
            If fewer than a tenth of the samples are in two views.
        """
        aligned = align_rows(data, how, transpose, encode)
        return cls(aligned.arrays, sample_names=aligned.ids, observed=aligned.observed)._derive(
            feature_names=aligned.feature_names
        )

    def _position(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(f"there is no view {name!r}; the views are {list(self.names)}")
        return self.names.index(name)
