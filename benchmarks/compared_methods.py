"""Scores and cost of the methods that FastMICE, MVEC and MSPL are compared with, on many real sets.

    python benchmarks/compared_methods.py --data FOLDER --limit 120
    python benchmarks/compared_methods.py --data FOLDER --limit 120 --done --table docs/compared_methods.csv

One fit per method and set with default parameters, in a process of its own with one thread and a limit of CPU time: NMI
(geometric mean), CPU seconds, and why a method refused or did not end. What is finished stands in a file, one line per
fit, so that a start that was interrupted, or asks for further sets, goes on where it was; ``--done`` fits nothing and
shows what stands there. M2VEC, which the tables of MVEC also have, is left out: neither equations nor code can be had.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import csv
from pathlib import Path

import numpy as np

from manyviews import datasets
from manyviews.cluster.registry import find_method
from manyviews.runs.outcomes import data_checksum, run_key
from manyviews.runs.runner import Run, run_all
from manyviews.runs.store import Store

COMPARED = {
    "LMVSC": ("LMVSC", {}),
    "SMVSC": ("SMVSC", {}),
    "FPMVSCAG": ("FPMVSCAG", {}),
    "BMVC": ("BMVC", {}),
    "MVSC": ("MVSC", {}),
    "AMGL": ("AMGL", {}),
    "SwMC": ("SwMC", {}),
    "CoReg pairwise": ("CoRegSpectral", {"scheme": "pairwise"}),
    "CoReg centroid": ("CoRegSpectral", {"scheme": "centroid"}),
    "RMSC": ("RMSC", {}),
    "ConvexSub": ("ConvexSub", {}),
    "MultiNMF": ("MultiNMF", {}),
}


def run_of(name, data, n_clusters, seed):
    """The fit of one row on one set."""
    method, parameters = COMPARED[name]
    return Run(find_method(method).name, data, seed, parameters, n_clusters)


def stored(runs, loaded, path):
    """The outcomes of these fits that stand in the file, None for the others."""
    with Store(path) as store:
        return [store.outcomes.get(run_key(run, data_checksum(loaded[run.data]))) for run in runs]


def reason(found):
    """Why a fit has no score, or what it warned of; empty where there is nothing to say, or no fit."""
    if found is None:
        return ""
    if found.status == "timeout":
        return f"not done after {found.limits.time:.0f} CPU seconds"
    return " ".join(found.message.split())


def cell(found):
    """NMI and CPU seconds; a dash where the method refused or did not end, nothing where it was not run."""
    if found is None:
        return ""
    if found.status != "ok":
        return "-"
    return f"{found.scores['nmi']:.3f} ({found.cpu_seconds:.1f})"


def rows_of(table):
    """One line per set, and the mean NMI over the sets on which every method was done."""
    for data, row in table.items():
        yield [data, *map(cell, row.values())]
    complete = [
        row for row in table.values() if all(found is not None and found.status == "ok" for found in row.values())
    ]
    if complete:
        means = np.mean([[found.scores["nmi"] for found in row.values()] for row in complete], axis=0)
        yield [f"mean of {len(complete)}", *(f"{mean:.3f}" for mean in means)]


def reasons_of(table):
    """What refused, did not end or warned: set, method and why."""
    for data, row in table.items():
        yield from ([data, name, reason(found)] for name, found in row.items() if reason(found))


def save(path, header, rows):
    """Write a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])


def arguments():
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--sets", nargs="+", help="names of files; all by default")
    parser.add_argument("--methods", nargs="+", choices=COMPARED, default=list(COMPARED))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=300, help="CPU seconds after which a fit is ended")
    parser.add_argument("--store", type=Path, default=Path("compared_methods.jsonl"), help="file of finished fits")
    parser.add_argument("--done", action="store_true", help="fit nothing: show what the file has")
    parser.add_argument("--table", type=Path, help="also write the table here, and NAME_reasons.csv beside it")
    return parser.parse_args()


def main():
    """Make what is not done yet, set by set; print the table, then what refused or complained."""
    args = arguments()
    sets = args.sets or sorted(path.stem for path in args.data.glob("*.npz"))
    header = ["set", *args.methods]
    print("NMI (CPU seconds)")
    print(f"{header[0]:16s}" + "".join(f"{name:>16s}" for name in args.methods), flush=True)
    table = {}
    for name in sets:
        loaded = {name: datasets.load(args.data / f"{name}.npz")}
        k = len(loaded[name].class_names)
        runs = [run_of(method, name, k, args.seed) for method in args.methods]
        if args.done:
            found = stored(runs, loaded, args.store)
        else:
            found = run_all(runs, loaded, args.store, time_limit=args.limit)
        if not any(found):
            print(f"{name:16s} not run", flush=True)
            continue
        table[name] = dict(zip(args.methods, found, strict=True))
        print(f"{name:16s}" + "".join(f"{cell(each):>16s}" for each in found), flush=True)
    print(*(f"{method} on {name}: {text}" for name, method, text in reasons_of(table)), sep="\n")
    if args.table:
        save(args.table, header, rows_of(table))
        save(args.table.with_name(f"{args.table.stem}_reasons.csv"), ["set", "method", "why"], reasons_of(table))


if __name__ == "__main__":
    main()
