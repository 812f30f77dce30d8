"""Processes for fits that outlive a test: each takes two seconds to start, all of them imports.

How processes start, end and are killed is for tests/runs, which uses those of the package as they are.
"""

import time

from manyviews.runs import pool

_kept = []


class KeptWorker(pool.Worker):
    """A worker that hands its process on to the next one where it has done all that it was given."""

    _sound = True

    def _start(self):
        self._sound = True
        while _kept:
            process, connection = _kept.pop()
            if process.is_alive():
                self._process, self._connection = process, connection
                self._ready, self._data, self._born = True, None, time.perf_counter()
                return
        super()._start()

    def _ended(self, status, message):
        self._sound = False  # over a limit, or dead
        return super()._ended(status, message)

    def close(self):
        if self._process is not None and self._sound and self._ready and self.idle:
            _kept.append((self._process, self._connection))
            self._process = None
        super().close()


def end_all():
    """End the processes that are kept."""
    while _kept:
        process, connection = _kept.pop()
        process.kill()
        process.join()
        connection.close()
        process.close()
