"""Processes that fit under limits: one that goes over a limit is killed, and the next fit gets another."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

from manyviews.datasets import Dataset
from manyviews.runs.outcomes import Limits, Outcome, Run, Status
from manyviews.runs.worker import READY, STARTED, Task, held_bytes, serve, used_seconds

__all__ = ["Worker", "wait_for"]

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_BETWEEN_LOOKS = 0.02
# far more than imports take, as a machine with much other work may need minutes for them
_FOR_A_START = 900.0
# A fit that waits, for whatever reason, may take so many times its limit.
MOST_WAITING = 10.0
_KILLED = -9  # by a signal that not every system has a name for


class Worker:
    """One process, its fit if it has one, and the limits of that."""

    def __init__(self) -> None:
        self._limits = Limits()
        self._process: Any = None
        self._connection: Any = None
        self._run: Run | None = None
        self._task: Task | None = None
        self._data: str | None = None
        self._ready, self._born, self._most = False, 0.0, 0
        self._started: float | None = None
        self._used_before: float | None = None

    @property
    def idle(self) -> bool:
        """Whether it has no fit."""
        return self._run is None

    @property
    def waitable(self) -> tuple[Any, ...]:
        """What changes when there is something to see."""
        return () if self._run is None else (self._connection, self._process.sentinel)

    def assign(self, run: Run, datasets: Mapping[str, Dataset], limits: Limits, *, keep_labels: bool) -> None:
        """Let an idle worker make a fit under these limits."""
        self._limits = limits
        if self._process is not None and not self._process.is_alive():
            self.close()  # it has died while it had nothing to do
        if self._process is None:
            self._start()
        self._run, self._started, self._most = run, None, 0
        given = None if self._data == run.data else datasets[run.data]
        self._task, self._data = Task(run, given, keep_labels), run.data
        self._send()

    def look(self) -> Outcome | None:
        """Return the outcome of its fit if that has ended or gone over a limit."""
        if self._run is None:
            return None
        try:
            while self._connection.poll():
                message = self._connection.recv()
                if isinstance(message, Outcome):
                    self._run = None
                    return Outcome(**(vars(message) | {"limits": self._limits}))
                self._ready = self._ready or message == READY
                self._started = time.perf_counter() if message == STARTED else None
                self._used_before = used_seconds(self._process.pid)
                self._send()
        except (EOFError, OSError):
            return self._ended(*self._death())
        if not self._ready and time.perf_counter() - self._born > _FOR_A_START:
            raise TimeoutError(
                f"no process for the fits started within {_FOR_A_START:.0f} seconds, as the machine has too much other "
                "work; start again when it has less: finished fits are kept"
            )
        return None if self._started is None else self._over_limit()

    def close(self) -> None:
        """End the process, also in the middle of a fit."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process.close()
            self._process = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, there = context.Pipe()
        process = context.Process(target=serve, args=(there,), daemon=True)
        with _one_thread(), _interrupts_later(), _without_callers_script():
            process.start()
        self._process = process  # only one that runs has anything to end
        there.close()
        self._ready, self._data, self._born = False, None, time.perf_counter()

    def _send(self) -> None:
        # Not before the process reads, because large data would block here until then.
        if self._ready and self._task is not None:
            task, self._task = self._task, None
            with suppress(OSError):  # it has died meanwhile; the next look says how
                self._connection.send(task)

    def _over_limit(self) -> Outcome | None:
        assert self._started is not None
        wall, used = self._spent()
        if self._limits.time is not None and max(used, wall / MOST_WAITING) > self._limits.time:
            return self._ended("timeout", f"not done after {self._limits.time:g} s")
        if self._limits.memory is not None:
            held = held_bytes(self._process.pid)
            self._most = max(self._most, held)
            if held > self._limits.memory:
                return self._ended("memory", f"took more than {self._limits.memory / 2**20:.0f} MiB of memory")
        return None

    def _spent(self) -> tuple[float, float]:
        """Return wall and processor time of the fit so far; the first for both where the second is not told."""
        if self._started is None:
            return 0.0, 0.0
        wall, now = time.perf_counter() - self._started, used_seconds(self._process.pid)
        known = now is not None and self._used_before is not None
        return wall, max(now - self._used_before, 0.0) if known else wall  # type: ignore[operator]

    def _death(self) -> tuple[Status, str]:
        self._process.join()
        if not self._ready:
            raise RuntimeError(
                f"a process for the fits did not start (exit code {self._process.exitcode}); is there memory for "
                "it, and may this program start processes?"
            )
        if self._process.exitcode == _KILLED:
            return "memory", "the system killed the process, most likely for want of memory"
        return "failed", f"the process ended by itself (exit code {self._process.exitcode})"

    def _ended(self, status: Status, message: str) -> Outcome:
        """End a fit together with its process; the next fit gets another one."""
        assert self._run is not None
        run, self._run = self._run, None
        spent, used = self._spent()
        most = self._most or held_bytes(self._process.pid)
        self.close()
        return Outcome(run, status, round(spent, 6), round(used, 6), most, {}, None, message, self._limits)


def wait_for(workers: list[Worker], limits: Limits) -> None:
    """Wait until a worker has something to say, or it is time to look at the limits."""
    objects = [item for worker in workers for item in worker.waitable]
    watched = limits.time is not None or limits.memory is not None
    multiprocessing.connection.wait(objects, timeout=_BETWEEN_LOOKS if watched else 1.0)


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Keep Ctrl-C from a process until it ignores it, and from this one until the other has started.

    A process inherits what is held back; see ``serve``. On systems without such masks nothing is.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let a process that is started here use one thread for its linear algebra."""
    before = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _without_callers_script() -> Iterator[None]:
    """Keep a process that is started here from running the script that asked for it, which needs no guard then."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
