"""UDBGL's solver against the released code, and against the paper's stop of the rank search."""

from itertools import islice

import numpy as np
import pytest

from manyviews.cluster.anchors.udbgl import fusion_steps, initial_graphs, solve_udbgl
from manyviews.graphs.anchor_views import view_products
from manyviews.graphs.components import bipartite_components
from manyviews.graphs.rank_graph import rank_constrained_graph
from manyviews.linalg.scaling import Scaling, apply_scaling, fit_scaling
from manyviews.metrics import adjusted_rand_index, clustering_accuracy

UNSCALED = Scaling(None)
FILES = {"released": "udbgl/udbgl_small_cfg{}.npz", "paper": "udbgl/udbgl_small_cfg{}_paper_rule.npz"}


def products(views, anchors_concat, scaling=UNSCALED):
    cuts = np.cumsum([X.shape[1] for X in views])[:-1]
    anchors = np.split(anchors_concat, cuts, axis=1)
    return [view_products(X, scaling, A) for X, A in zip(views, anchors, strict=True)]


@pytest.mark.parametrize("rule", ["released", "paper"])
@pytest.mark.parametrize("case", [1, 2, 3, 4])
def test_every_iteration(reference, case, rule):
    released, ref = reference(FILES["released"].format(case)), reference(FILES[rule].format(case))
    views = products([released[f"Xn{v}"] for v in range(3)], ref["anchors_concat"])
    start = initial_graphs(views, 5)
    np.testing.assert_allclose(np.array(start), released["Z_init"], atol=1e-13)
    weights = {"alpha": float(ref["alpha"]), "beta": float(ref["beta"])}
    steps = fusion_steps(views, start, 3, rank_rule=rule, **weights)
    first = next(steps)
    assert first.objective == pytest.approx(ref["objective"][0], rel=1e-12)
    for t, step in enumerate(islice(steps, len(ref["gamma_trace"]))):
        gammas = ref["gamma_trace"][t]
        np.testing.assert_allclose(step.search.gammas, gammas[gammas > 0], rtol=1e-12)
        assert step.search.n_components == ref["n_components"][t]
        np.testing.assert_allclose(step.delta, ref["delta"][t + 1], atol=1e-10)
        assert step.objective == pytest.approx(ref["objective"][t + 1], rel=1e-12)
        if rule == "released":
            np.testing.assert_allclose(step.search.eigenvalue_sums, ref["topc_eigsum"][t], atol=1e-7)
        if t < len(ref["P"]):
            np.testing.assert_allclose(step.search.P.toarray(), ref["P"][t], atol=1e-10)
            np.testing.assert_allclose(np.array(step.Z), ref["Z"][t], atol=1e-10)
    last = rank_constrained_graph(step.B, 3, rank_rule=rule)
    np.testing.assert_allclose(last.P.toarray(), ref["P_final"], atol=1e-10)
    np.testing.assert_allclose(last.gammas, ref["gamma_trace_final"], rtol=1e-12)
    found = bipartite_components(last.P)
    assert found.n_found == last.n_components == ref["n_components_final"]
    assert adjusted_rand_index(ref["labels"], found.samples) == 1.0


@pytest.mark.parametrize("case", [1, 2, 3, 4])
def test_the_papers_stop_always_ends_with_three_components(reference, case):
    released = reference(FILES["released"].format(case))
    views = products([released[f"Xn{v}"] for v in range(3)], released["anchors_concat"])
    weights = {"alpha": float(released["alpha"]), "beta": float(released["beta"])}
    for projection in ("both", "rows"):
        result = solve_udbgl(views, 3, projection=projection, **weights)
        assert bipartite_components(result.graph.P).n_found == 3
        assert result.graph.gammas.size < 20


def test_the_digits_of_the_released_code(shared_arrays, shared_data):
    ref = shared_arrays("reference/udbgl/digits_official_seed5489.npz")
    views, _ = shared_data("mfeat")
    names = ["fourier", "profile_correlations", "karhunen_loeve", "pixel_averages", "zernike", "morphological"]
    scaled = [apply_scaling(views[name], fit_scaling(views[name], "minmax")) for name in names]
    digits = products(scaled, ref["anchors_concat"])
    released = solve_udbgl(digits, 10, rank_rule="released", tol=0.0, max_iter=6)
    labels = bipartite_components(released.graph.P).samples
    assert adjusted_rand_index(ref["labels"], labels) == 1.0
    np.testing.assert_allclose(released.delta, ref["delta"][-1], atol=1e-3)
    np.testing.assert_allclose(released.history.objective, ref["objective"][1:], rtol=1e-6)
    steps = islice(
        fusion_steps(digits, initial_graphs(digits, 5), 10, alpha=1e-3, beta=1e-5, rank_rule="released"), 1, 7
    )
    assert [step.search.n_components for step in steps] == list(ref["n_components"])
    paper = solve_udbgl(digits, 10, tol=0.0, max_iter=6)
    assert clustering_accuracy(ref["labels"], bipartite_components(paper.graph.P).samples) >= 1 - 2 / 2000
