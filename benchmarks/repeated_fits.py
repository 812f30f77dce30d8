"""Fit many times in one process, and show whether memory or open files grow.

python benchmarks/repeated_fits.py --fits 300 --methods consensus fastmice mspl
"""

import argparse
import gc
import os
from pathlib import Path

from manyviews import datasets
from manyviews.cluster.registry import find_method


def held():
    """Return the resident memory in MB and the number of open files."""
    gc.collect()
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024, len(os.listdir("/proc/self/fd"))


def run():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=300)
    parser.add_argument("--methods", nargs="+", default=["fastmice"])
    parser.add_argument("--jobs", type=int, default=None)
    args = parser.parse_args()
    views = datasets.make_blobs_views(n_samples=200, n_features=(8, 5), n_clusters=4, random_state=0).views
    for name in args.methods:
        model = find_method(name).load()(4, random_state=0, n_jobs=args.jobs)
        print(f"{name}: fits, MB, open files")
        for number in range(args.fits + 1):
            if number % max(1, args.fits // 6) == 0:
                print(f"{number:6d} {held()[0]:8.1f} {held()[1]:5d}", flush=True)
            model.fit(views)


if __name__ == "__main__":
    run()
