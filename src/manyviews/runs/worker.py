"""The process that fits: it lives through many fits, so that libraries are imported and data are read once."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
import warnings
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.registry import find_method
from manyviews.datasets import Dataset
from manyviews.metrics import evaluate
from manyviews.runs.outcomes import Outcome, Run, Status, resampled_rows
from manyviews.views import Views

__all__ = ["READY", "STARTED", "Task", "fit_once", "held_bytes", "serve", "used_seconds"]

READY, STARTED = "ready", "started"
_MOST_MESSAGE = 500


@dataclass(frozen=True)
class Task:
    """A fit, its data set where the worker does not hold it yet, and whether labels are wanted."""

    run: Run
    data: Dataset | None
    keep_labels: bool


def serve(connection: Connection) -> None:
    """Fit what comes through the connection until it is closed.

    Parameters
    ----------
    connection : Connection
        Gives a :class:`Task`; takes ``READY`` once, then for each task ``STARTED`` when the clock of the fit starts
        and the :class:`Outcome`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(OSError):
        os.dup2(2, 1)  # stdout is for the result of the command; verbose estimators print
    data: Dataset | None = None
    with contextlib.suppress(EOFError, BrokenPipeError):
        connection.send(READY)
        while True:
            task: Task = connection.recv()
            data = task.data or data
            assert data is not None
            find_method(task.run.method).load()  # imports are not part of the fit's time
            connection.send(STARTED)
            connection.send(fit_once(task.run, data, keep_labels=task.keep_labels))


def fit_once(run: Run, data: Dataset, *, keep_labels: bool = False) -> Outcome:
    """Make one fit in this process.

    Parameters
    ----------
    run : Run
        The fit.
    data : Dataset
        Its data set.
    keep_labels : bool, default=False
        Put the labels into the outcome.

    Returns
    -------
    Outcome
        An error of the estimator is an outcome too, with ``status`` "failed", or "memory" for a refused allocation.
    """
    rows = resampled_rows(len(data.views), run.rows)
    views, truth = data.views, data.labels
    if rows is not None:
        views, truth = views[rows], None if truth is None else truth[rows]
    _reset_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    status, message, labels = _fitted(run, views)
    seconds, cpu_seconds, peak = time.perf_counter() - wall, time.process_time() - cpu, _peak()
    return Outcome(
        run=run,
        status=status,
        seconds=round(seconds, 6),
        cpu_seconds=round(cpu_seconds, 6),
        peak_bytes=peak,
        scores={} if labels is None or truth is None else evaluate(truth, labels),
        labels=labels.tolist() if keep_labels and labels is not None else None,
        message=" ".join(message.split())[:_MOST_MESSAGE],
    )


def _fitted(run: Run, views: Views) -> tuple[Status, str, NDArray[np.int64] | None]:
    """Return how the fit ended, what it said, and its labels."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = find_method(run.method).load()(n_clusters=run.n_clusters, random_state=run.seed, **run.parameters)
            labels = model.fit(views).labels_
        except MemoryError as error:
            return "memory", f"not enough memory: {error}", None
        except Exception as error:
            return "failed", f"{type(error).__name__}: {error}", None
    told = (str(item.message) for item in caught if issubclass(item.category, UserWarning | RuntimeWarning))
    return "ok", "; ".join(dict.fromkeys(told)), labels


def _end_with_parent() -> None:
    """End at once when the parent is gone, also in the middle of a fit, whose result nobody would read."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _reset_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _peak() -> int:
    """Return the most memory held since the reset; where the system knows no reset, since the start of the process."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return 1024 * int(status.partition("VmHWM:")[2].split()[0])
    with contextlib.suppress(ImportError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else 1024 * peak
    return 0


def held_bytes(process_id: int | None) -> int:
    """Return the memory that a process holds now; 0 where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = Path(f"/proc/{process_id}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0


def used_seconds(process_id: int | None) -> float | None:
    """Return the processor time that a process has used so far; None where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        # the name in brackets, which may hold anything, comes second
        fields = (
            Path(f"/proc/{process_id}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        )
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return None
