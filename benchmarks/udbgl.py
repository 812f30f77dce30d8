"""CPU seconds (one thread) and peak memory of UDBGL over numbers of samples, with the growth exponent.

python benchmarks/udbgl.py --sizes 20000 50000 100000 --anchors 10 50
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time

THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
COLUMNS = (64, 32, 16)


def blobs(n, k):
    import numpy as np

    rng = np.random.default_rng(0)
    labels = rng.integers(k, size=n)
    return [rng.normal(0, 1, (k, d))[labels] + rng.normal(0, 2, (n, d)) for d in COLUMNS], labels


def measure(n, k, m):
    from manyviews import UDBGL
    from manyviews.metrics import nmi_score

    views, labels = blobs(n, k)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    model = UDBGL(k, n_anchors=m, random_state=0).fit(views)
    seconds = time.process_time() - start
    start = time.process_time()
    agree = float((model.predict(views) == model.labels_).mean())
    return {
        "cpu_s": seconds,
        "predict_s": time.process_time() - start,
        "data_mb": before / 1024,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "components": model.n_components_,
        "iterations": model.n_iter_,
        "nmi": nmi_score(labels, model.labels_),
        "predict_agrees": agree,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20_000, 50_000, 100_000])
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--anchors", type=int, nargs="+", default=[10, 50])
    parser.add_argument("--one", type=int, nargs=3, metavar=("N", "K", "M"), help="measure one case in this process")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*options.one)))
        return
    for m in options.anchors:
        seconds = []
        for n in options.sizes:
            command = [sys.executable, __file__, "--one", str(n), str(options.clusters), str(m)]
            output = subprocess.run(
                command, env=os.environ | THREADS, check=True, capture_output=True, text=True
            ).stdout
            found = json.loads(output)
            seconds.append(found["cpu_s"])
            print(f"m={m} n={n}: " + ", ".join(f"{key} {round(value, 3)}" for key, value in found.items()), flush=True)
        exponent = math.log(seconds[-1] / seconds[0]) / math.log(options.sizes[-1] / options.sizes[0])
        print(f"m={m}: growth exponent {exponent:.3f} from {options.sizes[0]} to {options.sizes[-1]}", flush=True)


if __name__ == "__main__":
    main()
