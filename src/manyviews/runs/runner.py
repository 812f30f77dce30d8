"""Make many fits: in parallel, under limits, and resumable, whatever interrupts them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from manyviews.cluster.registry import find_method
from manyviews.datasets import Dataset
from manyviews.runs.pool import Worker, wait_for
from manyviews.runs.records import Limits, Record, Run, data_checksum, run_key
from manyviews.runs.store import Store

__all__ = ["Progress", "Record", "Run", "run_all"]


@dataclass(frozen=True)
class Progress:
    """How far the fits are.

    Attributes
    ----------
    done, total, reused : int
        Fits that are finished, all fits, and those that an earlier start had finished.
    latest : Record or None
        The fit that has just ended; None at the start.
    remaining : float or None
        Estimated seconds until all are done; None while nothing is known.
    """

    done: int
    total: int
    reused: int
    latest: Record | None
    remaining: float | None


def run_all(
    runs: Iterable[Run],
    datasets: Mapping[str, Dataset],
    store: Path,
    *,
    n_jobs: int = 1,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    keep_labels: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> list[Record]:
    """Make all fits that the store does not hold yet; return the records of all.

    Parameters
    ----------
    runs : iterable of Run
        The fits. Equal ones are made once. Those of one data set are best given in a row.
    datasets : mapping of str to Dataset
        Data sets by the names that the runs use; each is asked for when needed and may be made then.
    store : Path
        File of finished fits, one JSON line each; made where it is not there. A fit is found in it again by method,
        parameters, content of the data, clusters, seed, rows and version of the library.
    n_jobs : int, default=1
        Processes; -1 for one per core. Each uses one thread for linear algebra. Scores do not depend on it.
    time_limit : float, default=None
        Seconds of wall time that one fit may take; the fit is then ended and recorded as "timeout". Raising it makes
        such fits be tried again.
    memory_limit : int, default=None
        Bytes that a process may hold, libraries and data included; a fit over it is recorded as "memory". Watched
        on Linux; elsewhere only a refused allocation counts. Raising it makes such fits be tried again.
    keep_labels : bool, default=False
        Keep the labels in the records; fits that were stored without them are made again.
    progress : callable, default=None
        Called with :class:`Progress` at the start and after each fit.

    Returns
    -------
    list of Record
        One per run, in the order of the runs.

    Raises
    ------
    ValueError
        If a method or data set is not known, ``n_jobs`` is neither -1 nor at least 1, or another process is writing
        to the store.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from manyviews import datasets
    >>> from manyviews.runs.runner import Run, run_all
    >>> data = {"blobs": datasets.make_blobs_views(60, n_clusters=3, random_state=0)}
    >>> runs = [Run("concat-kmeans", "blobs", seed, {"n_init": 1}, 3) for seed in range(2)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     records = run_all(runs, data, Path(folder) / "runs.jsonl")
    >>> [record.status for record in records]
    ['ok', 'ok']
    """
    ordered, limits = list(runs), Limits(time_limit, memory_limit)
    checksums = _checked(ordered, datasets)
    keys = [run_key(run, checksums[run.data]) for run in ordered]
    with Store(store) as kept:
        todo = {
            key: run
            for key, run in zip(keys, ordered, strict=True)
            if not _is_done(kept.records.get(key), limits, keep_labels)
        }
        count = _Count(len(dict.fromkeys(keys)), todo, _workers(n_jobs, len(todo)), progress)
        for record in kept.records.values():
            count.learn(record)
        count.tell(None)
        _work(todo, datasets, kept, limits, count, keep_labels)
        found = kept.records
        return [Record(**(vars(found[key]) | {"run": run})) for key, run in zip(keys, ordered, strict=True)]


class _Count:
    """Count finished fits and estimate what the rest takes, from the mean of like ones."""

    def __init__(
        self, total: int, todo: Mapping[str, Run], n_workers: int, tell: Callable[[Progress], None] | None
    ) -> None:
        self.n_workers, self._total, self._tell = n_workers, total, tell
        self._left, self._reused = dict(todo), total - len(todo)
        self._seconds: dict[tuple[str, ...], list[float]] = {}

    def learn(self, record: Record) -> None:
        run = record.run
        for kind in ((run.method, run.data), (run.method,), ()):
            self._seconds.setdefault(kind, []).append(record.seconds)

    def end(self, key: str, record: Record) -> None:
        del self._left[key]
        self.learn(record)
        self.tell(record)

    def tell(self, latest: Record | None) -> None:
        if self._tell is not None:
            done = self._total - len(self._left)
            self._tell(Progress(done, self._total, self._reused, latest, self._remaining()))

    def _remaining(self) -> float | None:
        if not self._left:
            return 0.0
        means = {kind: sum(values) / len(values) for kind, values in self._seconds.items()}
        if not means:
            return None
        each = (means.get((run.method, run.data), means.get((run.method,), means[()])) for run in self._left.values())
        return sum(each) / self.n_workers


def _work(
    todo: Mapping[str, Run],
    datasets: Mapping[str, Dataset],
    kept: Store,
    limits: Limits,
    count: _Count,
    keep_labels: bool,
) -> None:
    waiting = deque(todo.items())
    making: dict[Worker, str] = {}
    workers = [Worker(limits) for _ in range(count.n_workers)]
    try:
        while waiting or making:
            for worker in workers:
                record = worker.look()
                if record is not None:
                    key = making.pop(worker)
                    kept.append(key, record)
                    count.end(key, record)
                if worker.idle and waiting:
                    making[worker], run = waiting.popleft()
                    worker.assign(run, datasets, keep_labels=keep_labels)
            if waiting or making:
                wait_for(workers, limits)
    finally:
        for worker in workers:
            worker.close()


def _is_done(record: Record | None, limits: Limits, keep_labels: bool) -> bool:
    if record is None or limits.allow_more_than(record.limits, record.status):
        return False
    return not (keep_labels and record.status == "ok" and record.labels is None)


def _checked(runs: list[Run], datasets: Mapping[str, Dataset]) -> dict[str, str]:
    """Return the checksum of each data set that the runs name."""
    for method in dict.fromkeys(run.method for run in runs):
        find_method(method)
    names = list(dict.fromkeys(run.data for run in runs))
    lacking = [name for name in names if name not in datasets]
    if lacking:
        raise ValueError(f"there is no data set {lacking[0]!r} among those given: {', '.join(datasets)}")
    return {name: data_checksum(datasets[name]) for name in names}


def _workers(n_jobs: int, n_runs: int) -> int:
    if n_jobs != -1 and n_jobs < 1:
        raise ValueError(f"n_jobs must be -1 (one process per core) or at least 1; got {n_jobs}")
    return min(n_runs, (os.cpu_count() or 1) if n_jobs == -1 else n_jobs)
