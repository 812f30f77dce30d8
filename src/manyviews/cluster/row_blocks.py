"""Blocks of rows worked on side by side, with results that do not depend on how many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

__all__ = ["over_blocks"]


def over_blocks(n_jobs: int | None) -> Callable[[Callable[[slice], Any], Iterable[slice]], Iterable[Any]]:
    """Return a ``map`` over blocks of rows that works on ``n_jobs`` of them at a time and keeps their order."""
    jobs = int(effective_n_jobs(n_jobs))
    if jobs == 1:
        return map

    def over(call: Callable[[slice], Any], blocks: Iterable[slice]) -> Iterator[Any]:
        todo = list(blocks)
        if len(todo) == 1:
            yield call(todo[0])
            return
        with threadpool_limits(limits=1):
            pool = Parallel(
                n_jobs=min(jobs, len(todo)), prefer="threads", return_as="generator", pre_dispatch="2*n_jobs"
            )
            yield from pool(delayed(call)(rows) for rows in todo)

    return over
