"""CPU seconds of many quadratic programs over the simplex at once, and of quadprog called per row, if installed.

OMP_NUM_THREADS=1 python benchmarks/simplex_qp.py --rows 10000 --anchors 10 50 100
"""

import argparse
import time

import numpy as np

from manyviews.linalg.simplex_qp import solve_simplex_qp
from manyviews.prototypes.kmeans import kmeans


def problems(n, m, d, ridge):
    """Z-step of UDBGL: samples in [0, 1]^d around ten centres, anchors from k-means."""
    rng = np.random.default_rng(0)
    centers = rng.random((10, d))
    X = np.clip(centers[rng.integers(10, size=n)] + rng.normal(0, 0.15, (n, d)), 0, 1)
    A = kmeans(X, m, rng, n_init=1, max_iter=20).centers
    return 2 * A @ A.T + 2 * ridge * np.eye(m), -2 * X @ A.T


def seconds(function):
    start = time.process_time()
    return function(), time.process_time() - start


def per_row(H, F):
    import quadprog

    m = len(H)
    C, b = np.vstack([np.ones(m), np.eye(m)]).T, np.r_[1.0, np.zeros(m)]
    return np.array([quadprog.solve_qp(H, -f, C, b, 1)[0] for f in F])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--anchors", type=int, nargs="+", default=[10, 50, 100])
    parser.add_argument("--features", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--ridge", type=float, default=1e-3)
    options = parser.parse_args()
    for d in options.features:
        for m in options.anchors:
            H, F = problems(options.rows, m, d, options.ridge)
            solve_simplex_qp(H, F[:64])
            Z, cold = seconds(lambda H=H, F=F: solve_simplex_qp(H, F))
            nearby = F + np.random.default_rng(1).normal(0, 1e-4, F.shape)
            _, warm = seconds(lambda H=H, F=nearby, Z=Z: solve_simplex_qp(H, F, start=Z))
            g = Z @ H + F
            gap = (((g * Z).sum(axis=1) - g.min(axis=1)) / (1 + np.abs(F).max(axis=1))).max()
            line = f"n={options.rows} m={m} d={d}: {cold:.3f} s, from a near start {warm:.3f} s, gap {gap:.1e}"
            try:
                other, slow = seconds(lambda H=H, F=F: per_row(H, F))
                line += f", quadprog per row {slow:.3f} s, largest difference {np.abs(other - Z).max():.1e}"
            except ImportError:
                line += ", quadprog is not installed"
            print(f"{line}, {(Z > 0).sum(axis=1).mean():.1f} entries per row", flush=True)


if __name__ == "__main__":
    main()
