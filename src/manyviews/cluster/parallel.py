"""Jobs that share the cores, with results in the order in which the jobs were given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from joblib import Parallel, effective_n_jobs
from threadpoolctl import threadpool_limits

__all__ = ["in_order"]


def in_order(jobs: list[Any], n_jobs: int | None) -> Iterator[Any]:
    """Yield the results in order while later ones are computed; BLAS keeps to one thread where jobs share the cores."""
    n_jobs = min(effective_n_jobs(n_jobs), len(jobs))
    if n_jobs == 1:
        for function, args, kwargs in jobs:
            yield function(*args, **kwargs)
        return
    with threadpool_limits(1):
        yield from Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator", pre_dispatch="n_jobs")(jobs)
