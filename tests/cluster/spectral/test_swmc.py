"""SwMC against the released code, and what its searches keep."""

import numpy as np
import pytest
from scipy import sparse

from manyviews.cluster.spectral.swmc import solve_swmc
from manyviews.metrics import adjusted_rand_index


@pytest.mark.parametrize("case", [1, 2])
@pytest.mark.parametrize("rule", ["released", "components"])
def test_every_iteration_of_the_released_code(reference, case, rule):
    ref = reference(f"swmc/swmc_small_cfg{case}.npz")
    graphs = [sparse.csr_array(ref[f"W{v}"]) for v in range(3)]
    k, n_iter = int(ref["n_clusters"]), len(ref["objective"])
    found = solve_swmc(graphs, k, alpha=ref["alpha_init"], rank_rule=rule, tol=0.0, max_iter=n_iter)
    np.testing.assert_allclose(found.history.objective, ref["objective"], rtol=1e-10)
    np.testing.assert_allclose(found.alpha, ref["view_weights"][-1], rtol=1e-8)
    np.testing.assert_allclose(found.graph.S.toarray(), ref["S"], atol=1e-9)
    assert adjusted_rand_index(ref["labels"], found.graph.components) == 1.0
    assert found.graph.n_components == k
