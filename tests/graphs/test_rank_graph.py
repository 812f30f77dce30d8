import numpy as np
import pytest

from manyviews.graphs.components import bipartite_components
from manyviews.graphs.rank_graph import PenaltySearch, rank_constrained_graph


def noisy_blocks(seed, n=150, m=12, c=4, noise=0.25):
    """Row-stochastic links, most of them to the anchors of the sample's own block."""
    rng = np.random.default_rng(seed)
    samples, anchors = rng.integers(c, size=n), np.arange(m) % c
    B = (samples[:, None] == anchors) * rng.random((n, m)) + noise * rng.random((n, m)) * (rng.random((n, m)) < 0.5)
    B[:, 0] += 1e-3
    return B / B.sum(axis=1, keepdims=True), samples


@pytest.mark.parametrize("projection", ["both", "rows"])
@pytest.mark.parametrize("seed", range(8))
def test_exactly_c_components_and_edges_only_where_b_has_some(seed, projection):
    B, _ = noisy_blocks(seed)
    for c in (1, 2, 3, 4, 7):
        found = rank_constrained_graph(B, c, projection=projection)
        P = found.P.toarray()
        assert found.n_components == bipartite_components(P).n_found == c
        assert (P >= 0).all()
        assert not P[B == 0].any()
        if projection == "rows":
            np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)
        else:
            assert (P.sum(axis=1) >= 0.5 - 1e-12).all()
            assert P.sum() == pytest.approx((150 + 12) / 2)
        assert (found.eigenvalue_sums <= c + 1e-9).all()
        assert found.eigenvalue_sums[-1] == pytest.approx(c, abs=1e-7)


def test_blocks_are_recovered():
    B, samples = noisy_blocks(0)
    found = bipartite_components(rank_constrained_graph(B, 4).P)
    assert len(np.unique(np.c_[samples, found.samples], axis=0)) == 4


def test_embedding_is_orthonormal_and_constant_in_a_component():
    found = rank_constrained_graph(noisy_blocks(1)[0], 4)
    F = np.vstack([found.U, found.V])
    np.testing.assert_allclose(F.T @ F, np.eye(4), atol=1e-6)
    components = bipartite_components(found.P).samples
    unit = found.U / np.linalg.norm(found.U, axis=1, keepdims=True)
    for i in range(4):
        rows = unit[components == i]
        np.testing.assert_allclose(rows, np.tile(rows[0], (len(rows), 1)), atol=1e-5)


def test_an_anchor_without_links_is_left_out():
    B, _ = noisy_blocks(2)
    B[:, 5] = 0
    B /= B.sum(axis=1, keepdims=True)
    found = rank_constrained_graph(B, 4)
    assert found.n_components == 4
    assert np.isfinite(found.U).all()
    assert bipartite_components(found.P).anchors[5] == -1


def test_more_components_than_possible_gives_the_nearest_graph():
    B = np.kron(np.eye(2), np.ones((10, 2))) / 2
    found = rank_constrained_graph(B, 1, max_passes=10)
    assert found.n_components == 2
    assert found.gammas.size == 10
    same = np.ones((20, 3)) / 3
    assert rank_constrained_graph(same, 3, max_passes=60).n_components < 3


def test_the_search_bisects_from_a_kept_embedding():
    search = PenaltySearch("start", 1.0)
    search.too_few_components("a")
    assert (search.gamma, search.embedding) == (2.0, "a")
    search.too_many_components()
    assert (search.gamma, search.embedding) == (1.0, "a")
    search.too_few_components("b")
    assert (search.gamma, search.embedding) == (pytest.approx(2**0.5), "a")
    for _ in range(10):
        if search.embedding != "a":
            break
        search.too_many_components()
    # the bracket became narrow: on from the embedding at its lower end, with free γ again
    assert (search.gamma, search.embedding) == (1.0, "b")
    search.too_few_components("c")
    assert (search.gamma, search.embedding) == (2.0, "c")


def test_full_support_gives_links_that_the_given_graph_lacks():
    B, _ = noisy_blocks(3)
    linked, full = (rank_constrained_graph(B, 4, projection="rows", support=kind) for kind in ("linked", "full"))
    assert full.n_components == linked.n_components == 4
    assert full.P.nnz > linked.P.nnz
    np.testing.assert_allclose(full.P.sum(axis=1), 1, atol=1e-12)


def test_first_pass_with_degrees_ends_with_the_same_components():
    B, _ = noisy_blocks(4)
    constant, degrees = (rank_constrained_graph(B, 4, first_scales=kind) for kind in ("constant", "degrees"))
    assert constant.n_components == degrees.n_components == 4
    assert constant.eigenvalue_sums[0] != degrees.eigenvalue_sums[0]
