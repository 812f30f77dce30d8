import numpy as np
import pytest
from scipy.linalg import eigh

from manyviews.cluster.ensemble import mvec_solver
from manyviews.cluster.ensemble.mvec_solver import MVECOptions, MVECState, solve_mvec
from manyviews.linalg.shrinkage import singular_value_threshold
from manyviews.optim.alm import Penalty
from manyviews.partitions.coassociation import Coassociation, coassociation
from manyviews.partitions.merging import merge_equal_rows

VARIANTS = {
    "paper": MVECOptions(simplex="alm", laplacian="unnormalized", step="paper"),
    "recommended": MVECOptions(simplex="alm"),
    "project": MVECOptions(),
}
GROWTH = 1.2


@pytest.fixture
def tight_steps(monkeypatch):
    """Steps as long as the bound of the curvature allows, as in the reference."""
    monkeypatch.setattr(mvec_solver, "STEP_MARGIN", 1.0)


def soft_threshold(X, tau):
    """The minimiser of ½‖Y - X‖² + τ‖Y‖₁."""
    return np.sign(X) * np.maximum(np.abs(X) - tau, 0)


def dense(J):
    return (J.U * J.values) @ J.V.T


def start(ref, options):
    operators = [Coassociation(ref[f"P{v}"].astype(np.int64)) for v in range(2)]
    return MVECState(operators, int(ref["K"]), options, np.random.default_rng(0))


def compare(state, ref, t, mu):
    """Compare all variables after iteration t; errors and multipliers follow from the two arrays kept per view."""
    following = GROWTH * mu
    found = {
        "Z": state.Z,
        "J": dense(state.J),
        "HHt": state.H @ state.H.T,
        "Lam": state.scaled_lambda * following,
        "w": state.scaled_w * following,
        "eta": state.eta,
    }
    for v in range(2):
        S = ref[f"S{v}"]
        found[f"E{v}"] = state.R[v] + state.T[v] - S @ state.Z
        found[f"Y{v}"] = (state.T[v] - S - state.H @ state.H.T) * following
    for name, value in found.items():
        np.testing.assert_allclose(value, ref[f"t{t}_{name}"], atol=1e-10, err_msg=f"{name} at {t}")


@pytest.mark.parametrize("variant", VARIANTS)
def test_reference_iteration_by_iteration(reference, variant, tight_steps):
    ref = reference(f"mvec/mvec_small_{variant}.npz")
    state, mu, residuals = start(ref, VARIANTS[variant]), float(ref["mu0"]), []
    for t in range(1, int(ref["n_iter"]) + 1):
        residuals.append(state.iterate(mu, GROWTH * mu))
        if f"t{t}_Z" in ref:
            compare(state, ref, t, mu)
        mu *= GROWTH
    np.testing.assert_allclose(residuals, ref["residuals"][:, 0], atol=1e-10)
    np.testing.assert_allclose(state.Z, ref["final_Z"], atol=1e-10)


@pytest.mark.parametrize("variant", VARIANTS)
def test_reference_end_to_end(reference, variant, tight_steps):
    ref = reference(f"mvec/mvec_small_{variant}.npz")
    state = start(ref, VARIANTS[variant])
    result = solve_mvec(state, Penalty(), tol=1e-4, max_iter=100)
    assert result.history.converged
    assert result.history.n_iter == int(ref["n_iter"])
    np.testing.assert_allclose(result.Z.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(result.H @ result.H.T, ref["final_HHt"], atol=1e-9)


class Matrix:
    """A given S in the place of one made from partitions."""

    def __init__(self, S):
        self.S, self.shape, self.dtype, self.sizes, self.n_base_clusterings = S, S.shape, S.dtype, np.ones(len(S)), 1

    def counts(self):
        return self.S

    def dot(self, X, out=None):
        return np.matmul(self.S, X, out=out)


@pytest.fixture
def one_step(reference):
    """The random state of the reference, and its numbers."""
    ref = reference("mvec/mvec_onestep.npz")
    mu = float(ref["mu"])
    options = MVECOptions(float(ref["lambda1"]), float(ref["lambda2"]), simplex="alm")
    state = MVECState([Matrix(S) for S in ref["S"]], ref["H"].shape[1], options, np.random.default_rng(0))
    state.H, state.Z = ref["H"].copy(), ref["Z"].copy()
    state.scaled_lambda, state.scaled_w = ref["Lam"] / mu, ref["w"] / mu
    HHt = state.H @ state.H.T
    state.T = [S + HHt + Y / mu for S, Y in zip(ref["S"], ref["Y"], strict=True)]
    state.R = [S @ state.Z + E - T for S, E, T in zip(ref["S"], ref["E"], state.T, strict=True)]
    return state, ref, mu


def test_gradient_and_exact_minimisers_of_one_random_state(one_step):
    state, ref, mu = one_step
    state.scaled_lambda = state.scaled_lambda - ref["J"]
    state.scaled_lambda += state.Z
    F = state.gradient_rows(state.gradient(), slice(0, 12), mu)
    np.testing.assert_allclose(F, ref["grad_Z_over_mu"], atol=1e-10)
    J = singular_value_threshold(ref["Z"] + ref["Lam"] / mu, float(ref["lambda1"]) / mu)
    np.testing.assert_allclose(dense(J), ref["J_new"], atol=1e-10)
    for S, T, expected in zip(ref["S"], state.T, ref["E_new"], strict=True):
        found = soft_threshold(T - S @ state.Z, float(ref["lambda2"]) / mu)
        np.testing.assert_allclose(found, expected, atol=1e-10)


def augmented_lagrangian(ref, mu, Z, J):
    H, one = ref["H"], np.ones(12)
    P = ((H[:, None] - H[None]) ** 2).sum(axis=2)

    def penalty(A, B):
        return (A * B).sum() + mu / 2 * (A**2).sum()

    value = 0.5 * (P * Z).sum() + float(ref["lambda1"]) * np.linalg.norm(J, "nuc")
    for S, E, Y in zip(ref["S"], ref["E"], ref["Y"], strict=True):
        value += float(ref["lambda2"]) * np.abs(E).sum() + penalty(S + H @ H.T - S @ Z - E, Y)
    return value + penalty(Z - J, ref["Lam"]) + penalty(Z @ one - 1, ref["w"])


def test_j_and_z_steps_decrease_the_augmented_lagrangian(one_step):
    state, ref, mu = one_step
    before = augmented_lagrangian(ref, mu, ref["Z"], ref["J"])
    np.testing.assert_allclose(before, ref["aug_lagrangian"], rtol=1e-10)
    state.update_low_rank_part(mu)
    J = dense(state.J)
    np.testing.assert_allclose(J, ref["J_new"], atol=1e-9)
    between = augmented_lagrangian(ref, mu, ref["Z"], J)
    assert between <= before
    state.update_affinity(state.gradient(), mu, mu)
    assert augmented_lagrangian(ref, mu, state.Z, J) < between
    assert (state.Z >= 0).all()


def solve(labels, k, sizes=None, *, dtype=np.float64, exact=False, **options):
    operators = [Coassociation(part, sizes, dtype) for part in labels]
    state = MVECState(operators, k, MVECOptions(**options), np.random.default_rng(0))
    if exact:
        state.shrink = singular_value_threshold
    return solve_mvec(state, Penalty(), tol=1e-4, max_iter=100)


def noisy_partitions(seed, n=60, k=3, r=10, m=2, noise=0.25):
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    views = []
    for _ in range(m):
        labels = np.tile(truth[:, None], (1, r)) * 2 + rng.integers(2, size=(n, r))
        wrong = rng.random((n, r)) < noise
        labels[wrong] = rng.integers(2 * k, size=wrong.sum())
        views.append(labels)
    return views, truth


@pytest.mark.parametrize("simplex", ["project", "alm"])
def test_merging_equal_samples_changes_nothing(simplex):
    labels, _ = noisy_partitions(0, n=40)
    copies = np.random.default_rng(1).integers(40, size=140)
    labels = [part[copies] for part in labels]
    groups = merge_equal_rows(np.hstack(labels))
    assert len(groups.first) <= 40
    plain = solve(labels, 3, simplex=simplex, exact=True)
    merged = solve([part[groups.first] for part in labels], 3, groups.sizes, simplex=simplex, exact=True)
    expand = np.ix_(groups.of_sample, groups.of_sample)
    np.testing.assert_allclose(merged.Z[expand], plain.Z, atol=1e-6)
    H = merged.H[groups.of_sample]
    np.testing.assert_allclose(H @ H.T, plain.H @ plain.H.T, atol=1e-6)
    np.testing.assert_allclose(H.T @ H, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(merged.history.residual, plain.history.residual, rtol=1e-5)


def test_partial_and_single_precision_equal_the_exact_path():
    labels, _ = noisy_partitions(3, n=200, r=15)
    exact = solve(labels, 3, exact=True)
    for dtype in (np.float64, np.float32):
        fast = solve(labels, 3, dtype=dtype)
        assert fast.Z.dtype == dtype
        assert np.abs(fast.Z - exact.Z).max() < 1e-4
        assert fast.history.n_iter == exact.history.n_iter


def test_first_iteration_in_closed_form(tight_steps):
    labels, _ = noisy_partitions(4, n=30)
    options = MVECOptions(simplex="alm")
    state = MVECState([Coassociation(part) for part in labels], 3, options, np.random.default_rng(0))
    state.iterate(1e-3, 1.2e-3)
    squares = sum(coassociation(part) @ coassociation(part) for part in labels)
    eta = np.linalg.norm(squares, 2) + 1 + 30
    np.testing.assert_allclose(state.eta, eta, rtol=1e-9)
    np.testing.assert_allclose(state.Z, (squares + 1) / eta, atol=1e-12)


def test_h_is_the_bottom_of_the_laplacian():
    labels, _ = noisy_partitions(5, n=90)
    for laplacian in ("normalized", "unnormalized"):
        options = MVECOptions(laplacian=laplacian)
        state = MVECState([Coassociation(part) for part in labels], 3, options, np.random.default_rng(0))
        for t in range(4):
            state.iterate(1e-3 * 1.2**t, 1e-3 * 1.2 ** (t + 1))
        W = (state.Z + state.Z.T) / 2
        d = W.sum(axis=1)
        L = np.diag(d) - W if laplacian == "unnormalized" else np.eye(90) - W / np.sqrt(np.outer(d, d))
        exact = eigh(L, subset_by_index=[0, 2])[1]
        np.testing.assert_allclose(state.H @ state.H.T, exact @ exact.T, atol=1e-5)
        np.testing.assert_allclose(state.H.T @ state.H, np.eye(3), atol=1e-9)


def test_permuted_samples_views_and_label_names():
    labels, _ = noisy_partitions(6)
    expected = solve(labels, 3, exact=True)
    order = np.random.default_rng(0).permutation(60)
    moved = solve([part[order] for part in labels[::-1]], 3, exact=True)
    np.testing.assert_allclose(moved.Z, expected.Z[np.ix_(order, order)], atol=1e-7)
    renamed = solve([(part + 1) % 6 for part in labels], 3, exact=True)
    np.testing.assert_allclose(renamed.Z, expected.Z, atol=1e-9)
