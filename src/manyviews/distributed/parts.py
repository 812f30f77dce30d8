"""One value per block of rows, held by Dask: mapped, added up by a tree, and read row by row."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Home", "Parts", "added"]

Array = NDArray[Any]
# values that are added up at a time
FAN_IN = 8
# Dask warns of larger pieces in a graph, and sends them in one message
PIECE_BYTES = 4 << 20


class Home(NamedTuple):
    """Where values are held: with the workers of a client, or as Dask is configured where there is none."""

    client: Any = None

    def hold(self, values: Sequence[Any], needs: Any = None) -> tuple[Any, ...]:
        """Compute delayed values and keep them where they are made.

        Dask remembers how they were made, so that the loss of a worker costs time and nothing else. What is held
        already and they are made of, ``needs``, must not be let go before they are there.
        """
        import dask

        if self.client is None and not _has_workers():
            return tuple(dask.persist(*values))
        from distributed import wait

        held = self._started(values)
        wait(held)
        return held

    def hold_with(self, values: Sequence[Any], wanted: Any, needs: Any = None) -> tuple[tuple[Any, ...], Any]:
        """Do what ``hold`` does, and return also what a delayed value comes to that is made of all of them.

        It costs one way to the workers and back in place of two.
        """
        import dask

        if self.client is None and not _has_workers():
            *held, total = dask.persist(*values, wanted)
            return tuple(held), dask.compute(total)[0]
        from distributed import futures_of

        *held, total = self._started([*values, wanted])
        return tuple(held), futures_of(total)[0].result()

    def _started(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Let workers begin with delayed values."""
        import dask

        return tuple(dask.persist(*values) if self.client is None else self.client.persist(list(values)))

    def fetch(self, values: Sequence[Any], needs: Any = None) -> list[Any]:
        """Return delayed values, for which ``needs`` are kept so long."""
        import dask

        if self.client is None:
            return list(dask.compute(*values))
        found: list[Any] = self.client.gather(self.client.compute(list(values)))
        return found

    def share(self, *values: Any) -> Any:
        """Return a delayed tuple of values that all blocks need, which can be made again where a worker is lost."""
        from dask import delayed

        packed = pickle.dumps(values, protocol=pickle.HIGHEST_PROTOCOL)
        unpack = delayed(_unpacked, pure=False)
        if len(packed) <= PIECE_BYTES:
            return unpack(packed)
        pieces = [packed[start : start + PIECE_BYTES] for start in range(0, len(packed), PIECE_BYTES)]
        sent = [self.hold([delayed(bytes, pure=False)(piece)])[0] for piece in pieces]
        return self.hold([unpack(*sent)], sent)[0]


def _has_workers() -> bool:
    """Tell whether a client was made, whose workers Dask then goes to by itself."""
    distributed = sys.modules.get("distributed")
    try:
        return distributed is not None and distributed.default_client() is not None
    except ValueError:
        return False


@dataclass(frozen=True)
class Parts:
    """Values of the blocks of rows, one after the other, each a delayed object.

    ``sizes`` are the numbers of rows in each, where values have rows of their own to be read.
    """

    values: tuple[Any, ...]
    home: Home
    sizes: NDArray[np.int64] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows of all blocks."""
        assert self.sizes is not None
        return int(self.sizes.sum())

    def map(self, function: Callable[..., Any], *others: Parts, shared: tuple[Any, ...] = ()) -> Parts:
        """Call a function of the module level on every block.

        Parameters
        ----------
        function : callable
            Takes the value of a block, those of the same block in ``others``, and all that is ``shared``. It must not
            change any of them.
        *others : Parts
            Other values of the same blocks.
        shared : tuple, default=()
            What all calls get.

        Returns
        -------
        Parts
            What it returns, held where it was made; of as many rows.
        """
        given, calls = self._calls(function, others, shared)
        return replace(self, values=self.home.hold(calls, given))

    def mapped(
        self,
        function: Callable[..., Any],
        *others: Parts,
        shared: tuple[Any, ...] = (),
        sums: Callable[..., Any],
        combine: Callable[[list[Any]], Any] | None = None,
        beside: tuple[Parts, ...] = (),
    ) -> tuple[Parts, Any]:
        """Do what ``map`` does, and return also the ``total`` of what ``sums`` makes of blocks and new values.

        It is given the value of a block, the new one, and those of the same block ``beside`` them.
        """
        from dask import delayed

        given, calls = self._calls(function, others, shared)
        columns = zip(self.values, calls, *(other.values for other in beside), strict=True)
        total = _tree([delayed(sums, pure=False)(*column) for column in columns], combine or added)
        held, found = self.home.hold_with(calls, total, given)
        return replace(self, values=held), found

    def gather(self, function: Callable[..., Any], *others: Parts, shared: tuple[Any, ...] = ()) -> list[Any]:
        """Return what a function makes of every block, as ``map`` calls it."""
        given, calls = self._calls(function, others, shared)
        return self.home.fetch(calls, given)

    def total(
        self,
        function: Callable[..., Any],
        *others: Parts,
        shared: tuple[Any, ...] = (),
        combine: Callable[[list[Any]], Any] | None = None,
    ) -> Any:
        """Return the sum over all blocks of what a function makes of each, as ``map`` calls it.

        The sum is taken in an order that depends on the number of blocks alone, so it does not depend on the workers;
        ``combine`` takes a list in place of adding it up.
        """
        given, calls = self._calls(function, others, shared)
        return self.home.fetch([_tree(calls, combine or added)], given)[0]

    def read(
        self, rows: NDArray[np.int64], function: Callable[..., Any] | None = None, shared: tuple[Any, ...] = ()
    ) -> Any:
        """Return some rows, by number, in the order given; ``function`` takes a block and numbers in it to rows."""
        from dask import delayed

        assert self.sizes is not None
        order = np.argsort(rows, kind="stable")
        ends = np.cumsum(self.sizes)
        block = np.searchsorted(ends, rows[order], side="right")
        local = rows[order] - (ends - self.sizes)[block]
        # where no rows are asked for, the first block says what they would look like
        used, starts = np.unique(block, return_index=True) if rows.size else (np.zeros(1, dtype=np.int64),) * 2
        call = delayed(partial(_called, function or _rows), pure=False)
        given = self.home.share(*shared)
        wanted = zip(used, np.split(local, starts[1:]), strict=True)
        found = self.home.fetch([call(given, self.values[b], places) for b, places in wanted], given)
        stacked = np.concatenate(found)
        back = np.empty_like(order)
        back[order] = np.arange(order.size)
        return stacked[back]

    def _calls(
        self, function: Callable[..., Any], others: tuple[Parts, ...], shared: tuple[Any, ...]
    ) -> tuple[Any, list[Any]]:
        """Return what the calls share, and the calls."""
        from dask import delayed

        call = delayed(partial(_called, function), pure=False)
        given = self.home.share(*shared)
        columns = zip(self.values, *(other.values for other in others), strict=True)
        return given, [call(given, *values) for values in columns]


def _tree(values: list[Any], combine: Callable[[list[Any]], Any]) -> Any:
    from dask import delayed

    add = delayed(combine, pure=False)
    while len(values) > 1:
        values = [add(values[start : start + FAN_IN]) for start in range(0, len(values), FAN_IN)]
    return values[0]


def _called(function: Callable[..., Any], shared: tuple[Any, ...], *values: Any) -> Any:
    return function(*values, *shared)


def _unpacked(*pieces: bytes) -> Any:
    return pickle.loads(b"".join(pieces))


def _rows(value: Array, places: Array) -> Array:
    return value[places]


def added(values: list[Any]) -> Any:
    """Return the sum of values of one form: numbers, arrays, sparse matrices, or tuples and lists of such."""
    first = values[0]
    if isinstance(first, tuple | list):
        sums = [added(list(column)) for column in zip(*values, strict=True)]
        return type(first)(*sums) if hasattr(first, "_fields") else type(first)(sums)
    total = first
    for value in values[1:]:
        total = total + value
    return total
