"""The one place where work is done side by side: members of an ensemble, starts or views, in threads."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import Any, TypeVar

from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from threadpoolctl import ThreadpoolController

__all__ = ["in_threads", "jobs_at_a_time", "one_blas_thread", "over_blocks", "threads"]

Result = TypeVar("Result")


def jobs_at_a_time(n_jobs: int | None, n_items: int) -> int:
    """Return how many of so many items ``n_jobs`` works on at a time, 1 at least."""
    return max(1, min(int(effective_n_jobs(n_jobs)), n_items))


_found: tuple[int, ThreadpoolController] | None = None  # modules there when the libraries were looked for, and these


def _limited(n_threads: int) -> Any:
    """Return a context in which BLAS and OpenMP use so many threads.

    Their libraries are looked for among all files of the process, which takes as long as a small fit: once, and again
    after an import, which may have brought another library.
    """
    global _found  # noqa: PLW0603 (of the process, as the libraries are)
    known = len(sys.modules)
    if _found is None or _found[0] != known:
        _found = known, ThreadpoolController()
    return _found[1].limit(limits=n_threads)


def one_blas_thread() -> Any:
    """Return a context in which BLAS keeps to one thread, so that results are the same bits on any number of cores."""
    return _limited(1)


def threads(n_jobs: int | None) -> Any:
    """Return a context in which libraries use so many threads of their own; None leaves it to them, -1 is all cores.

    More threads than cores would only be started and wait.
    """
    return nullcontext() if n_jobs is None else _limited(min(int(effective_n_jobs(n_jobs)), cpu_count()))


def in_threads(
    function: Callable[..., Result], items: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[Result]:
    """Yield ``function(*item)`` for every item, in order, while later ones are computed.

    BLAS keeps to one thread inside, whatever ``n_jobs`` is: the results do not depend on it. What is random takes a
    generator of its own as part of the item, spawned beforehand.

    Parameters
    ----------
    function : callable
        Called with the parts of an item; releases the lock of the interpreter most of the time, as array functions do.
    items : iterable of tuple
        Arguments of each call.
    n_jobs : int or None
        Items worked on at a time; None is 1 outside a joblib context, -1 uses all cores. Not many more results than
        that are held at a time where the caller keeps none.

    Yields
    ------
    object
        Results, in the order of the items.
    """
    items = list(items)
    jobs = jobs_at_a_time(n_jobs, len(items))

    def alone(*item: Any) -> Result:
        # the limit of BLAS holds in all threads, that of OpenMP only in the thread that sets it
        with one_blas_thread():
            return function(*item)

    with one_blas_thread():
        if jobs == 1:
            for item in items:
                yield function(*item)
            return
        yield from Parallel(n_jobs=jobs, prefer="threads", return_as="generator", pre_dispatch="n_jobs")(
            delayed(alone)(*item) for item in items
        )


def over_blocks(n_jobs: int | None) -> Callable[[Callable[[slice], Any], Iterable[slice]], Iterable[Any]]:
    """Return a ``map`` over blocks of rows, for solvers that know nothing of threads; see ``in_threads``."""
    return lambda function, blocks: in_threads(function, ((rows,) for rows in blocks), n_jobs)
