"""BMVC against the released code, and what it keeps."""

from itertools import islice

import numpy as np

from manyviews.cluster.kmeans.bmvc import CodeSettings, Features, assign_codes, iterate, signs


def features_of(K):
    grams = [X.T @ X for X in K]
    return Features(lambda rows: [X[rows] for X in K], grams, np.full(len(K), len(K[0])), len(K[0]))


def test_every_iteration_of_the_released_code(reference):
    ref = reference("bmvc/bmvc_small.npz")
    K = [ref[f"K{v}"].T for v in range(3)]
    settings = CodeSettings(
        *(float(ref[name]) for name in ("r", "beta", "gamma", "lam", "rho", "mu")), int(ref["n_inner"]), refill=False
    )
    bits = np.packbits(ref["B_init"].T > 0, axis=1)
    start = assign_codes(bits, ref["C_init"].T.astype(np.float32))
    steps = iterate(features_of(K), bits, start, settings)
    for t, step in enumerate(islice(steps, int(ref["n_outer"]))):
        np.testing.assert_allclose(step.losses, ref["h"][t], rtol=1e-10)
        np.testing.assert_allclose(step.alpha, ref["view_weights"][t], atol=1e-12)
        np.testing.assert_array_equal(step.clusters.labels, ref["labels_per_iter"][t])
    np.testing.assert_array_equal(signs(step.bits, int(ref["L"])), ref["B"].T)
    np.testing.assert_array_equal(step.clusters.centers, ref["C"].T)
    for v in range(3):
        np.testing.assert_allclose(step.maps[v], ref[f"U{v}"], atol=1e-10)
