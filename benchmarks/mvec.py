"""CPU seconds of MVEC on one thread, with the share of each step, and peak memory.

python benchmarks/mvec.py --samples 5000               synthetic views, partitions made here
python benchmarks/mvec.py --given partitions.npz       stored partitions P (m, n, r), labels y and K
python benchmarks/mvec.py --samples 20000 --max-groups 3000
"""

import argparse
import resource
import time
from collections import defaultdict

import numpy as np
from threadpoolctl import threadpool_limits

from manyviews import MVEC, datasets, metrics
from manyviews.cluster.ensemble.mvec_solver import MVECState
from manyviews.graphs.affinity_cut import AffinityCut
from manyviews.linalg.shrinkage import SingularValueShrinker
from manyviews.partitions.coassociation import Coassociation

STEPS = {
    "partitions": (MVEC, "_make_partitions"),
    "solver": (MVEC, "_solve"),
    "final rows": (MVEC, "_final_rows"),
    "J (singular values)": (MVECState, "update_low_rank_part"),
    "gradient products": (MVECState, "gradient"),
    "Z (projection)": (MVECState, "update_affinity"),
    "H (eigenvectors)": (AffinityCut, "partition"),
    "E and multipliers, with S Z": (MVECState, "_update_view"),
    "all products with S": (Coassociation, "dot"),
    "subspace iteration": (SingularValueShrinker, "_subspace"),
}


def timed(spent, name, owner, method):
    function = getattr(owner, method)

    def wrapper(*args, **kwargs):
        start = time.process_time()
        result = function(*args, **kwargs)
        spent[name] += time.process_time() - start
        return result

    setattr(owner, method, wrapper)


def load(args):
    if args.given:
        stored = np.load(args.given)
        return list(stored["P"].astype(np.float64)), stored["y"], int(stored["K"]), {"base": "labels"}
    widths = (64, 32, 16, 24)[: args.views]
    data = datasets.make_blobs_views(args.samples, widths, args.clusters, view_noise=args.noise, random_state=args.seed)
    return data.views, data.labels, args.clusters, {"n_base_clusterings": args.partitions}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--views", type=int, default=2)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--partitions", type=int, default=100)
    parser.add_argument(
        "--noise",
        type=float,
        default=0.25,
        help="standard deviation of a view, in units of the distance of the centres",
    )
    parser.add_argument("--max-groups", type=int, default=None)
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--given", help="file of stored partitions")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    views, truth, k, options = load(args)
    spent = defaultdict(float)
    for name, (owner, method) in STEPS.items():
        timed(spent, name, owner, method)
    model = MVEC(k, max_groups=args.max_groups, precision=args.precision, random_state=args.seed, **options)
    with threadpool_limits(1):
        start = time.process_time()
        model.fit(views)
        total = time.process_time() - start
    groups = model.affinity_.shape[0]
    print(f"n = {len(truth)}, groups = {groups}, {model.affinity_.dtype}, {model.n_iter_} iterations")
    for name, seconds in spent.items():
        print(f"  {name:30s} {seconds:9.2f} s  {100 * seconds / total:5.1f} %")
    print(f"total {total:.2f} CPU s, of which solver {spent['solver']:.2f}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")
    print(
        f"NMI {metrics.nmi_score(truth, model.labels_):.4f}, Rn {metrics.adjusted_rand_index(truth, model.labels_):.4f}"
    )


if __name__ == "__main__":
    main()
