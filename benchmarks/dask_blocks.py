"""Fits over blocks: time with one worker and two, memory of a worker, and what goes between them, step by step.

    python benchmarks/dask_blocks.py scaling [--n 100000 200000 400000] [--method FastMICE]
    python benchmarks/dask_blocks.py traffic [--n 100000]

Views of 16, 32 and 64 single-precision columns are made by the workers themselves, 25 000 rows a block; every worker is
a process with one thread. ``scaling`` prints one line per number of samples and of workers: seconds by the clock, CPU
seconds of the client and of the busiest worker, the largest resident memory of a worker before and during the fit, that
of its blocks, and what workers sent. ``traffic`` prints what each step sends: to every worker, between workers, and
back to the client.
"""

import argparse
import pickle
import resource
import time
from collections import defaultdict
from pathlib import Path

import dask.array as da
import numpy as np
from dask import delayed

import manyviews
from distributed import Client, LocalCluster
from manyviews import distributed
from manyviews.distributed import anchor_cuts, parts

WIDTHS, CLUSTERS, ROWS = (16, 32, 64), 10, 25_000


def block(v, i, rows):
    """Return rows of a view of the same ten groups in every view."""
    groups = np.random.default_rng([7, i]).integers(CLUSTERS, size=rows)
    centers = np.random.default_rng([11, v]).normal(scale=1.5, size=(CLUSTERS, WIDTHS[v]))
    noise = np.random.default_rng([13, v, i]).normal(size=(rows, WIDTHS[v]))
    return (centers[groups] + noise).astype(np.float32)


def views(n):
    sizes = [min(ROWS, n - start) for start in range(0, n, ROWS)]
    make = delayed(block, pure=False)
    return [
        da.concatenate(
            [da.from_delayed(make(v, i, rows), (rows, WIDTHS[v]), np.float32) for i, rows in enumerate(sizes)]
        )
        for v in range(len(WIDTHS))
    ]


def peak():
    """Return the largest resident memory of a process; what getrusage says of a worker is that of its parent too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def sent(dask_worker):
    return dask_worker.transfer_outgoing_bytes_total


def workers(count):
    return LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=":0", memory_limit=None)


def model(method):
    more = {"approximation": "nystrom"} if method == "OPLFMVC" else {}
    return getattr(manyviews, method)(CLUSTERS, random_state=0, **more)


def scaling(sizes, method, counts):
    print("method n workers seconds cpu_client cpu_busiest rss_before_MB rss_peak_MB blocks_MB sent_MB")
    for n in sizes:
        for count in counts:
            with workers(count) as cluster, Client(cluster) as client:
                before, start, own, used = client.run(peak), time.perf_counter(), cpu(), client.run(cpu)
                fitted = distributed.fit(model(method), views(n), client)
                fitted.labels_.sum().compute()
                seconds, own = time.perf_counter() - start, cpu() - own
                used = max(now - used[worker] for worker, now in client.run(cpu).items())
                held = 4 * n * sum(WIDTHS) / count / 2**20
                total = sum(client.run(sent).values()) / 2**20
                print(
                    f"{method} {n} {count} {seconds:.1f} {own:.1f} {used:.1f} {max(before.values()):.0f} "
                    f"{max(client.run(peak).values()):.0f} {held:.0f} {total:.0f}",
                    flush=True,
                )
                del fitted


def traffic(n, method):
    """Patch the places through which all goes, so that every step says what it sends."""
    anchor_cuts.SIDE_BY_SIDE = 1
    table = defaultdict(lambda: np.zeros(4))
    step, shared = ["start"], [0]
    share, fetch, hold, calls = parts.Home.share, parts.Home.fetch, parts.Home.hold, parts.Parts._calls
    hold_with = parts.Home.hold_with
    with workers(2) as cluster, Client(cluster) as client:
        between = [0.0]

        def note(back):
            now = sum(client.run(sent).values())
            table[step[0]] += (1, shared[0], now - between[0] - back, back)
            between[0], shared[0] = now, 0

        def new_share(self, *values):
            shared[0] += len(pickle.dumps(values, protocol=5))
            return share(self, *values)

        def new_fetch(self, values, needs=None):
            found = fetch(self, values, needs)
            note(len(pickle.dumps(found, protocol=5)))
            return found

        def new_hold(self, values, needs=None):
            found = hold(self, values, needs)
            note(0)
            return found

        def new_hold_with(self, values, wanted, needs=None):
            held, found = hold_with(self, values, wanted, needs)
            note(len(pickle.dumps(found, protocol=5)))
            return held, found

        def new_calls(self, function, others, given):
            step[0] = getattr(function, "__name__", type(function).__name__)
            return calls(self, function, others, given)

        parts.Home.share, parts.Home.fetch, parts.Home.hold = new_share, new_fetch, new_hold
        parts.Home.hold_with = new_hold_with
        parts.Parts._calls = new_calls
        distributed.fit(model(method), views(n), client)
    print(f"{method}, n = {n}, two workers, {-(-n // ROWS)} blocks; kilobytes a round")
    print("step rounds to_each_worker between_workers to_client")
    for name, (rounds, given, over, back) in sorted(table.items(), key=lambda item: -item[1][1:].sum()):
        each = " ".join(f"{max(bytes_, 0) / rounds / 1e3:.1f}" for bytes_ in (given, over, back))
        print(f"{name} {int(rounds)} {each}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["scaling", "traffic"])
    parser.add_argument("--n", type=int, nargs="+", default=[100_000])
    parser.add_argument("--method", default="FastMICE")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    if given.what == "scaling":
        scaling(given.n, given.method, given.workers)
    else:
        traffic(given.n[0], given.method)
