"""Make many fits: in parallel, under limits, and resumable, whatever interrupts them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from manyviews.cluster.registry import find_method
from manyviews.datasets import Dataset
from manyviews.runs.outcomes import Limits, Outcome, Run, data_checksum, run_key
from manyviews.runs.pool import Worker, wait_for
from manyviews.runs.store import Store

__all__ = ["Outcome", "Progress", "Run", "run_all"]


@dataclass(frozen=True)
class Progress:
    """How far the fits are.

    Attributes
    ----------
    done, total, reused : int
        Fits that are finished, all fits, and those that an earlier start had finished.
    latest : Outcome or None
        The fit that has just ended; None at the start.
    remaining : float or None
        Estimated seconds until all are done; None while nothing is known.
    """

    done: int
    total: int
    reused: int
    latest: Outcome | None
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
) -> list[Outcome]:
    """Make all fits that the store does not hold yet; return the outcomes of all.

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
        Seconds that one fit may take, see :class:`Limits`; the fit is then ended and recorded as "timeout". Raising it
        makes such fits be tried again.
    memory_limit : int, default=None
        Bytes that a process may hold, libraries and data included; a fit over it is recorded as "memory". Watched
        on Linux; elsewhere only a refused allocation counts. Raising it makes such fits be tried again.
    keep_labels : bool, default=False
        Keep the labels in the outcomes; fits that were stored without them are made again.
    progress : callable, default=None
        Called with :class:`Progress` at the start and after each fit.

    Returns
    -------
    list of Outcome
        One per run, in the order of the runs.

    Raises
    ------
    ValueError
        If a method or data set is not known, ``n_jobs`` is neither -1 nor at least 1, or another process is writing
        to the store.
    TimeoutError
        If the machine has too much other work for a process to start.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from manyviews import datasets
    >>> from manyviews.runs.runner import Run, run_all
    >>> data = {"blobs": datasets.make_blobs_views(60, n_clusters=3, random_state=0)}
    >>> runs = [Run("concat-kmeans", "blobs", seed, {"n_init": 1}, 3) for seed in range(2)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcomes = run_all(runs, data, Path(folder) / "runs.jsonl")
    >>> [outcome.status for outcome in outcomes]
    ['ok', 'ok']
    """
    runner = Runner(
        datasets, store, n_jobs=n_jobs, memory_limit=memory_limit, keep_labels=keep_labels, progress=progress
    )
    ordered = list(runs)
    runner.keys(ordered)  # names that are not known are told before the store is made
    with runner:
        return runner.make(ordered, time_limit=time_limit)


class Runner:
    """Make fits in one batch after the other: the processes stay, and what is finished is kept.

    Parameters
    ----------
    datasets : mapping of str to Dataset
        Data sets by the names that the runs use.
    store : Path
        File of finished fits.
    n_jobs, memory_limit, keep_labels, progress
        As of :func:`run_all`.

    Raises
    ------
    ValueError
        If ``n_jobs`` is neither -1 nor at least 1, or another process is writing to the store.
    """

    def __init__(
        self,
        datasets: Mapping[str, Dataset],
        store: Path,
        *,
        n_jobs: int = 1,
        memory_limit: int | None = None,
        keep_labels: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self._datasets, self._path, self._n_jobs = datasets, store, _n_processes(n_jobs)
        self._memory, self._keep_labels = memory_limit, keep_labels
        self._checksums: dict[str, str] = {}
        self._workers: list[Worker] = []
        self._count = _Count(self._n_jobs, progress)

    def __enter__(self) -> Self:
        self._kept = Store(self._path)
        for outcome in self._kept.outcomes.values():
            self._count.learn(outcome)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.close()
        self._kept.close()

    def plan(self, runs: Iterable[Run]) -> None:
        """Announce fits that are to come, so that progress counts them from the start."""
        ordered = list(runs)
        keyed = dict(zip(self.keys(ordered), ordered, strict=True))
        self._count.expect(keyed)
        done = (key for key in keyed if key in self._kept.outcomes and self._kept.outcomes[key].status == "ok")
        self._count.reuse(done)
        self._count.begin()

    def drop(self, runs: Iterable[Run]) -> None:
        """Take back fits that were announced."""
        self._count.drop(self.keys(runs))

    def make(self, runs: Iterable[Run], *, time_limit: float | None = None) -> list[Outcome]:
        """Make all fits that the store does not hold yet; return the outcomes of all, in the order of the runs."""
        ordered, limits = list(runs), Limits(time_limit, self._memory)
        keys = self.keys(ordered)
        todo = {
            key: run
            for key, run in zip(keys, ordered, strict=True)
            if not _is_done(self._kept.outcomes.get(key), limits, self._keep_labels)
        }
        self._count.expect(dict(zip(keys, ordered, strict=True)))
        self._count.reuse(key for key in keys if key not in todo)
        self._count.begin()
        self._work(todo, limits)
        found = self._kept.outcomes
        return [Outcome(**(vars(found[key]) | {"run": run})) for key, run in zip(keys, ordered, strict=True)]

    def keys(self, runs: Iterable[Run]) -> list[str]:
        """Return the key of each run in the store; a method or data set that is not known is a ValueError."""
        runs = list(runs)
        lacking = list(dict.fromkeys(run.data for run in runs if run.data not in self._checksums))
        for method in dict.fromkeys(run.method for run in runs):
            find_method(method)
        for name in lacking:
            if name not in self._datasets:
                raise ValueError(f"there is no data set {name!r} among those given: {', '.join(self._datasets)}")
            self._checksums[name] = data_checksum(self._datasets[name])
        return [run_key(run, self._checksums[run.data]) for run in runs]

    def _work(self, todo: Mapping[str, Run], limits: Limits) -> None:
        waiting = deque(todo.items())
        making: dict[Worker, str] = {}
        lacking = min(len(todo), self._n_jobs) - len(self._workers)
        self._workers += [Worker() for _ in range(lacking)]
        while waiting or making:
            for worker in self._workers:
                outcome = worker.look()
                if outcome is not None:
                    key = making.pop(worker)
                    self._kept.append(key, outcome)
                    self._count.end(key, outcome)
                if worker.idle and waiting:
                    making[worker], run = waiting.popleft()
                    worker.assign(run, self._datasets, limits, keep_labels=self._keep_labels)
            if waiting or making:
                wait_for(self._workers, limits)


class _Count:
    """Count finished fits and estimate what the rest takes, from the mean of like ones."""

    def __init__(self, n_workers: int, tell: Callable[[Progress], None] | None) -> None:
        self._n_workers, self._tell = n_workers, tell
        self._total = self._reused = 0
        self._left: dict[str, Run] = {}
        self._known: set[str] = set()
        self._seconds: dict[tuple[str, ...], list[float]] = {}
        self._begun = False
        self._latest: Outcome | None = None

    def expect(self, runs: Mapping[str, Run]) -> None:
        fresh = {key: run for key, run in runs.items() if key not in self._known}
        self._known |= fresh.keys()
        self._left |= fresh
        self._total += len(fresh)

    def reuse(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._reused += self._left.pop(key, None) is not None

    def drop(self, keys: Iterable[str]) -> None:
        before = self._total
        for key in keys:
            self._total -= self._left.pop(key, None) is not None
        if self._begun and self._total < before:
            self._say(self._latest)

    def learn(self, outcome: Outcome) -> None:
        run = outcome.run
        for kind in ((run.method, run.data), (run.method,), ()):
            self._seconds.setdefault(kind, []).append(outcome.seconds)

    def begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._say(None)

    def end(self, key: str, outcome: Outcome) -> None:
        self._left.pop(key, None)
        self.learn(outcome)
        self._latest = outcome
        self._say(outcome)

    def _say(self, latest: Outcome | None) -> None:
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
        return sum(each) / min(self._n_workers, len(self._left))


def _is_done(outcome: Outcome | None, limits: Limits, keep_labels: bool) -> bool:
    if outcome is None or limits.allow_more_than(outcome.limits, outcome.status):
        return False
    return not (keep_labels and outcome.status == "ok" and outcome.labels is None)


def _n_processes(n_jobs: int) -> int:
    if n_jobs != -1 and n_jobs < 1:
        raise ValueError(f"n_jobs must be -1 (one process per core) or at least 1; got {n_jobs}")
    return (os.cpu_count() or 1) if n_jobs == -1 else n_jobs
