"""Scores and cost of the methods that FastMICE, MVEC and MSPL are compared with, on many real sets.

One fit per method and set with default parameters, in a process of its own with one thread and a limit of CPU time: NMI
(geometric mean), CPU seconds, and why a method refused or did not end. A method that this version lacks is left out.
M2VEC, which the tables of MVEC also have, is left out: neither equations nor code can be had.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import multiprocessing
import resource
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from manyviews.cluster.registry import METHODS, find_method
from manyviews.metrics import nmi_score

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


def load(path):
    """Views and labels of one file."""
    z = np.load(path, allow_pickle=False)
    views = {}
    for i, view in enumerate(z["view_names"]):
        if f"view_{i}" in z:
            views[str(view)] = z[f"view_{i}"]
        else:
            parts = (z[f"view_{i}_data"], z[f"view_{i}_indices"], z[f"view_{i}_indptr"])
            views[str(view)] = sparse.csr_matrix(parts, shape=tuple(z[f"view_{i}_shape"]))
    return views, z["labels"]


def fit(name, views, labels, seed):
    """The score and the seconds of one fit with what it warned of, or the reason of a refusal."""
    class_name, parameters = COMPARED[name]
    model = find_method(class_name).load()(len(np.unique(labels)), random_state=seed, **parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.process_time()
        try:
            model.fit(views)
        except (ValueError, TypeError) as error:
            return {"refused": str(error)}
        seconds = time.process_time() - start
    notes = sorted({str(warning.message).split(";")[0] for warning in caught})
    return {"nmi": nmi_score(labels, model.labels_), "seconds": seconds, "notes": notes}


def limited(name, views, labels, seed, limit):
    """The same in a process of its own, ended after ``limit`` CPU seconds."""

    def alone():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        sender.send(fit(name, views, labels, seed))

    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=alone)
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        return {"refused": f"not done after {limit} CPU seconds"}
    finally:
        process.join()


def cell(found):
    """A cell of the table."""
    return "      -      " if "refused" in found else f"{found['nmi']:.3f}{found['seconds']:8.1f}"


def main():
    """Print the table, then what refused or complained."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--sets", nargs="+", help="names of files; all by default")
    parser.add_argument("--methods", nargs="+", choices=COMPARED, default=list(COMPARED))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=300, help="CPU seconds after which a fit is ended")
    args = parser.parse_args()
    here = {row.class_name for row in METHODS}
    names = [name for name in args.methods if COMPARED[name][0] in here]
    sets = args.sets or sorted(path.stem for path in args.data.glob("*.npz"))
    print("NMI and CPU seconds;", "absent here:", ", ".join(sorted(set(args.methods) - set(names))) or "none")
    print(f"{'set':16s}" + "".join(f"{name:>15s}" for name in names), flush=True)
    remarks, scores = [], []
    for data in sets:
        views, labels = load(args.data / f"{data}.npz")
        row = {name: limited(name, views, labels, args.seed, args.limit) for name in names}
        print(f"{data:16s}" + "".join(f"{cell(found):>15s}" for found in row.values()), flush=True)
        scores.append([found.get("nmi", np.nan) for found in row.values()])
        for name, found in row.items():
            remarks += [f"{name} on {data}: {text}" for text in [*found.get("notes", []), found.get("refused")] if text]
    print(f"{'mean':16s}" + "".join(f"{score:.3f}        ".rjust(15) for score in np.nanmean(scores, axis=0)))
    print(*remarks, sep="\n")


if __name__ == "__main__":
    main()
