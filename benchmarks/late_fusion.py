"""Late fusion: the fusion alone, the pipeline on mfeat exact and by landmarks, growth with n, 3Sources.

Usage: python benchmarks/late_fusion.py [fusion] [digits] [large] [threesources] [--data DIR]
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from manyviews import LFMVC, OPLFMVC, TPLFMVC, AverageKKM, datasets
from manyviews.cluster.base_partitions import exact_partitions
from manyviews.cluster.late_fusion.fusion import aligned_start, released_start
from manyviews.cluster.late_fusion.op_lfmvc import solve_op_lfmvc
from manyviews.cluster.view_kernels import ViewRecipe, exact_kernels
from manyviews.metrics import evaluate


def cpu(function, repeats=1):
    """CPU seconds of the fastest of some calls, and the last result."""
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        best = min(best, time.process_time() - start)
    return best, result


def scores(labels_true, labels):
    found = evaluate(labels_true, labels)
    return "  ".join(f"{name} {found[name]:.3f}" for name in ("acc", "nmi", "ari"))


def fusion(args):
    """One start of the fusion with the partitions given."""
    print("fusion alone, partitions given, one start, m = 6, k = 10 (released code under Octave: 0.43 s at 10 000)")
    for n in (2_000, 10_000, 50_000):
        rng = np.random.default_rng(0)
        truth = rng.integers(10, size=n)
        H = [np.linalg.qr(np.eye(10)[truth] + rng.normal(0, 0.7, (n, 10)))[0] for _ in range(6)]
        stacked = np.hstack(H)
        start = aligned_start(stacked, H[0], 1, rng)
        seconds, result = cpu(lambda s=stacked, a=start: solve_op_lfmvc(s, *a, tol=1e-4), 5)
        print(f"  n = {n:6d}: {seconds:.4f} s, {result.history.n_iter} iterations, {scores(truth, result.labels)}")


def digits(args):
    """The whole pipeline on the 2000 digits."""
    data = datasets.load("mfeat")
    print("mfeat (n = 2000, six views), whole pipeline, mean of 5 seeds")
    for method in (OPLFMVC, LFMVC, TPLFMVC, AverageKKM):
        for approximation in ("exact", "nystrom"):
            rows = []
            for seed in range(5):
                model = method(10, approximation=approximation, random_state=seed)
                seconds, _ = cpu(lambda m=model: m.fit(data.views))
                found = evaluate(data.labels, model.labels_)
                rows.append((seconds, found["acc"], found["nmi"], found["ari"]))
            mean = np.mean(rows, axis=0)
            print(
                f"  {method.__name__:10s} {approximation:8s} {mean[0]:.2f} s  "
                f"acc {mean[1]:.3f}  nmi {mean[2]:.3f}  ari {mean[3]:.3f}"
            )


def large(args):
    """Growth with n, each size in a process of its own so that peak memory is its own."""
    print("landmarks, views of 64/32/16 columns, k = 10, default restarts")
    times = {}
    for n in (50_000, 200_000):
        run = subprocess.run(
            [sys.executable, __file__, "one", str(n)], capture_output=True, text=True, check=True
        ).stdout.split()
        times[n] = float(run[0])
        print(f"  n = {n}: {run[0]} s, peak {run[1]} GB, data {run[2]} GB, ari {run[3]}")
    print(f"  growth exponent {np.log(times[200_000] / times[50_000]) / np.log(4):.2f}")


def one_size(n):
    data = datasets.make_blobs_views(n, (64, 32, 16), 10, view_noise=0.4, dtype="float32", random_state=0)
    seconds, model = cpu(lambda: OPLFMVC(10, random_state=0).fit(data.views))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    size = sum(array.nbytes for array in data.views.arrays) / 2**30
    print(f"{seconds:.1f} {peak:.2f} {size:.2f} {evaluate(data.labels, model.labels_)['ari']:.3f}")


def threesources(args):
    """The paper's 3Sources row: the released start over random signs, and the recommended start."""
    path = Path(args.data) / "3sources.npz"
    if not path.exists():
        print(f"3Sources: {path} is not there; give --data")
        return
    data = datasets.load(path)
    recipes = [ViewRecipe(name, "standard", "rbf_invdim", None) for name in data.views.names]
    base = exact_partitions(exact_kernels(data.views.arrays, recipes, None), 6)
    rng, rows = np.random.default_rng(0), []
    for _ in range(50):
        stacked = base.stacked * rng.choice([-1.0, 1.0], base.stacked.shape[1])
        start = released_start(3, base.average, np.random.default_rng(0))
        found = evaluate(data.labels, solve_op_lfmvc(stacked, *start, order="released", tol=1e-4).labels)
        rows.append((found["acc"], found["nmi_max"], found["purity"], found["ari"]))
    print("3Sources, kernel rbf_invdim; acc / nmi (max) / purity / ari in %")
    print("  paper                                60.8±5.3 / 52.9±4.3 / 72.4±3.2 / 44.2±6.0")
    print("  released start, 50 random signs     ", percent(rows))
    rows = []
    for seed in range(10):
        model = OPLFMVC(6, scaling="standard", kernel="rbf_invdim", random_state=seed).fit(data.views)
        found = evaluate(data.labels, model.labels_)
        rows.append((found["acc"], found["nmi_max"], found["purity"], found["ari"]))
    print("  recommended start, 10 seeds         ", percent(rows))


def percent(rows):
    mean, deviation = 100 * np.mean(rows, axis=0), 100 * np.std(rows, axis=0)
    return " / ".join(f"{a:.1f}±{b:.1f}" for a, b in zip(mean, deviation, strict=True))


PARTS = {"fusion": fusion, "digits": digits, "large": large, "threesources": threesources}

if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        one_size(int(sys.argv[2]))
    else:
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument("parts", nargs="*", help=f"any of {list(PARTS)}; default all")
        parser.add_argument("--data", default="../shared/data", help="folder with 3sources.npz")
        chosen = parser.parse_args()
        for part in chosen.parts or PARTS:
            PARTS[part](chosen)
