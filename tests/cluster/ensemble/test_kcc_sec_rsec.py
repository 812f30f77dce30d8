import numpy as np
import pytest
from scipy import sparse

from manyviews import KCC, MVEC, RSEC, SEC
from manyviews.cluster.ensemble.rsec import RSECOptions, RSECState, solve_rsec
from manyviews.cluster.ensemble.sec import association_weights, spread_rows, weighted_kmeans
from manyviews.metrics import adjusted_rand_index, nmi_score
from manyviews.partitions.coassociation import coassociation, indicator_matrix
from manyviews.partitions.low_rank import PoweredAffinity
from manyviews.partitions.utility_kmeans import block_costs, consensus_kmeans, partition_scales

UTILITIES = {"u_c": "categorical", "u_h": "entropy", "u_cos": "cosine", "u_lp": "lp"}
METHODS = [KCC, SEC, RSEC]


def some_partitions(seed, n=90, k=3, r=12, missing=0.0, noise=0.2):
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % k)
    labels = truth[:, None] * 2 + rng.integers(2, size=(n, r))
    wrong = rng.random((n, r)) < noise
    labels[wrong] = rng.integers(2 * k, size=wrong.sum())
    labels[rng.random((n, r)) < missing] = -1
    return labels, truth


@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize("kind", ["std", "norm"])
def test_kcc_toolbox(reference, utility, kind):
    ref = reference("kcc/small.npz")
    B = indicator_matrix(ref["P"].astype(np.int64))
    widths = ref["P"].astype(np.int64).max(axis=0) + 1
    scales = partition_scales(B, widths, UTILITIES[utility], 5.0)
    np.testing.assert_allclose(scales, ref[f"{utility}_{kind}_P"], atol=1e-12)
    weights = 1 / scales if kind == "norm" else np.ones(8)
    found = consensus_kmeans(
        B,
        widths,
        B[ref["seeds"]].toarray(),
        weights=weights,
        utility=UTILITIES[utility],
    )
    np.testing.assert_array_equal(found.labels, ref[f"{utility}_{kind}_labels"])
    np.testing.assert_allclose(found.history.objective, ref[f"{utility}_{kind}_obj"], rtol=1e-12)
    np.testing.assert_allclose(found.centers, ref[f"{utility}_{kind}_C"], atol=1e-12)


@pytest.mark.parametrize("utility", UTILITIES.values())
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_kcc_objective_never_increases(utility, missing):
    labels, _ = some_partitions(0, missing=missing)
    B, widths = indicator_matrix(labels), labels.max(axis=0) + 1
    found = consensus_kmeans(B, widths, B[:3].toarray(), weights=np.ones(12), utility=utility)
    assert (np.diff(found.history.objective) <= 1e-9).all()


def test_kcc_distance_is_squared_euclidean_for_the_categorical_utility():
    labels, _ = some_partitions(1)
    B, widths = indicator_matrix(labels), labels.max(axis=0) + 1
    centers = np.vstack([B[:40].toarray().mean(axis=0), B[40:].toarray().mean(axis=0)])
    plain = ((B.toarray()[:, None] - centers) ** 2).sum(axis=2)
    np.testing.assert_allclose(B @ block_costs(centers, widths, np.ones(12), "categorical", 5.0), plain, atol=1e-10)


def normalised_association(B, labels, k):
    """Sum over clusters of the association within it by that with all samples, at most k."""
    sums = np.stack([B[labels == j].sum(axis=0) for j in range(k)])
    totals = sums @ B.sum(axis=0)
    return ((sums**2).sum(axis=1) / np.where(totals > 0, totals, 1)).sum()


def test_sec_public_code_and_its_identity(reference):
    ref = reference("sec/small.npz")
    labels = ref["P"].astype(np.int64)
    B = indicator_matrix(labels)
    w = association_weights(B)
    np.testing.assert_allclose(w, ref["weights"])
    found = weighted_kmeans(B, (B.toarray() / w[:, None])[ref["seeds"]])
    np.testing.assert_array_equal(found.labels, ref["labels"])
    np.testing.assert_allclose(found.centers, ref["centroids"], atol=1e-14)
    np.testing.assert_allclose(found.history.objective[-1], ref["objective"], atol=1e-12)
    association = normalised_association(B, found.labels, 3)
    np.testing.assert_allclose(association, ref["normalised_association"], atol=1e-12)
    np.testing.assert_allclose(found.history.objective[-1], (labels.shape[1] / w).sum() - association, atol=1e-12)


def test_sec_normalised_association_is_that_of_the_dense_matrix():
    labels, truth = some_partitions(2, missing=0.2)
    S, Y = coassociation(labels), np.eye(3)[truth]
    d = S.sum(axis=1)
    expected = sum((y @ S @ y) / (y @ d) for y in Y.T)
    assert normalised_association(indicator_matrix(labels), truth, 3) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_sec_objective_never_increases_and_empty_clusters_start_again(seed):
    labels, _ = some_partitions(seed)
    B = indicator_matrix(labels)
    far = sparse.csr_array(np.full((1, B.shape[1]), 50.0)).toarray()
    centers = np.vstack([B[:2].toarray() / association_weights(B)[:2, None], far])
    found = weighted_kmeans(B, centers)
    assert (np.diff(found.history.objective) <= 1e-12).all()
    assert len(set(found.labels.tolist())) == 3


def test_sec_starts_that_lie_apart_end_lower():
    labels, _ = some_partitions(0, n=120, k=12, noise=0.1)
    B = indicator_matrix(labels)
    w = association_weights(B)

    def end(rows):
        return weighted_kmeans(B, B[rows].toarray() / w[rows][:, None]).history.objective[-1]

    rngs = np.random.default_rng(0).spawn(20)
    drawn = np.mean([end(rng.choice(120, 12, replace=False)) for rng in rngs])
    apart = [spread_rows(B, 12, rng) for rng in rngs]
    assert all(len(set(rows)) == 12 for rows in apart)
    assert np.mean([end(rows) for rows in apart]) < drawn
    # a sample that counts ten thousandfold is among the rows that are drawn
    counts = np.where(np.arange(120) == 17, 1e4, 1.0)
    assert 17 in spread_rows(B, 12, np.random.default_rng(0), counts)


@pytest.mark.parametrize("graph", ["released", "paper"])
def test_rsec_reference_iteration_by_iteration(reference, graph):
    ref = reference("rsec/small.npz")
    options = RSECOptions(float(ref["lambda1"]), float(ref["lambda2"]), graph)
    state = RSECState(ref["S"], int(ref["K"]), options, np.random.default_rng(0))
    mu, stop = float(ref["mu0"]), []
    for t in range(1, int(ref[f"{graph}_n_iter"]) + 1):
        stop.append(state.iterate(mu, mu * float(ref["rho"])))
        if t <= 3:
            found = {name: getattr(state, name) for name in ("Z", "E", "Y1", "Y2")}
            found |= {
                "J": (state.J.U * state.J.values) @ state.J.V.T,
                "HHt": state.H @ state.H.T,
                "d": state.degrees,
            }
            for name, value in found.items():
                np.testing.assert_allclose(value, ref[f"{graph}_t{t}_{name}"], atol=1e-10, err_msg=name)
        mu *= float(ref["rho"])
    np.testing.assert_allclose(stop, ref[f"{graph}_stop"], atol=1e-9)
    np.testing.assert_allclose(state.Z, ref[f"{graph}_final_Z"], atol=1e-9)


def test_a_few_eigenvectors_give_the_affinity_of_all():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(200, 200)))[0]
    values = np.concatenate([np.linspace(1, 0.2, 8), [-0.3], np.full(191, 1e-6)])
    warm = PoweredAffinity(np.random.default_rng(1))
    for step in range(4):
        A = (Q * (values + 0.02 * step * (values > 1e-3))) @ Q.T
        found, exact = warm(A), PoweredAffinity(np.random.default_rng(1))(A)
        np.testing.assert_allclose(found, exact, atol=1e-6)
    more = (Q * np.where(np.arange(200) < 60, 1.0, 1e-6)) @ Q.T  # more of them than were known
    np.testing.assert_allclose(warm(more), PoweredAffinity(np.random.default_rng(1))(more), atol=1e-6)


def test_rsec_constraints_hold_at_the_end_and_samples_may_be_permuted():
    labels, _ = some_partitions(4)
    S, order = coassociation(labels), np.random.default_rng(0).permutation(90)
    result = solve_rsec(S, 3, options=RSECOptions(), rng=np.random.default_rng(0))
    assert result.history.converged
    assert np.abs(result.Z - (result.J.U * result.J.values) @ result.J.V.T).max() < 1e-6
    moved = solve_rsec(S[np.ix_(order, order)], 3, options=RSECOptions(), rng=np.random.default_rng(0))
    np.testing.assert_allclose(moved.Z, result.Z[np.ix_(order, order)], atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_partitions_as_input_and_new_samples(method, missing):
    labels, truth = some_partitions(5, n=120, missing=missing, noise=0.1)
    views = [labels[:, :6].astype(float), labels[:, 6:].astype(float)]
    model = method(3, base="labels", random_state=0).fit([part[:90] for part in views])
    assert adjusted_rand_index(truth[:90], model.labels_) > 0.9
    np.testing.assert_array_equal(model.predict([part[:90] for part in views]), model.labels_)
    assert adjusted_rand_index(truth[90:], model.predict([part[90:] for part in views])) > 0.85


@pytest.mark.parametrize("method", METHODS)
def test_label_names_and_order_of_views_do_not_matter(method):
    labels, truth = some_partitions(6, noise=0.1)
    views = [labels[:, :6].astype(float), labels[:, 6:].astype(float)]
    first = method(3, base="labels", random_state=0).fit(views).labels_
    renamed = method(3, base="labels", random_state=0).fit([100 - part for part in views[::-1]]).labels_
    assert adjusted_rand_index(first, renamed) == 1.0
    assert adjusted_rand_index(first, truth) > 0.9


def test_variants_of_the_estimators(three_views):
    views, y = three_views
    for utility in UTILITIES.values():
        model = KCC(3, utility=utility, normalize_utility=True, n_base_clusterings=30, random_state=0).fit(views)
        assert adjusted_rand_index(y, model.labels_) == 1.0
    apart = SEC(3, init="k-means++", n_init=1, random_state=0).fit(views)
    assert adjusted_rand_index(y, apart.labels_) == 1.0
    spectral = SEC(3, solver="spectral", random_state=0).fit(views)
    assert adjusted_rand_index(y, spectral.labels_) == 1.0
    np.testing.assert_array_equal(spectral.predict(views), spectral.labels_)
    assert adjusted_rand_index(y, RSEC(3, final="lrr", random_state=0).fit(views).labels_) == 1.0
    euclidean = KCC(3, metric="euclidean", random_state=0).fit(views)
    assert adjusted_rand_index(y, euclidean.labels_) == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_rows_without_direction_are_left_to_the_other_views(method, three_views):
    views, y = three_views
    blank = [np.where(np.arange(60)[:, None] % 2 == 0, 0, views[0]), *views[1:]]
    model = method(3, n_base_clusterings=30, metric="cosine", scaling=None, random_state=0).fit(blank)
    assert adjusted_rand_index(y, model.labels_) > 0.9
    assert (model.base_labels_[::2, :30] == -1).all()
    np.testing.assert_array_equal(model.predict(blank), model.labels_)


@pytest.mark.parametrize("method", [*METHODS, MVEC])
@pytest.mark.parametrize("seed", range(3))
def test_groups_that_differ_in_size_and_not_in_direction_are_found(method, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=150)
    line = 10.0 * y[:, None] + rng.normal(size=(150, 1))
    few = {"n_base_clusterings": 30, "random_state": seed}
    assert adjusted_rand_index(y, method(3, **few).fit([line]).labels_) > 0.95
    corners = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])[y] + rng.normal(size=(150, 2))
    shifted = rng.normal(size=(150, 3)) + 2 * y[:, None]
    assert adjusted_rand_index(y, method(3, **few).fit([corners, shifted]).labels_) > 0.9


@pytest.mark.parametrize("method", [*METHODS, MVEC])
def test_units_of_columns_do_not_decide(method):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    views = [np.hstack([rng.normal(size=(120, 15)) + 2.5 * y[:, None], rng.normal(size=(120, 5))]) for _ in range(2)]
    units = np.where(np.arange(20) < 15, 1.0, 1000.0)
    few = {"n_base_clusterings": 30, "random_state": 0}
    first = method(3, **few).fit(views)
    assert adjusted_rand_index(y, first.labels_) > 0.95
    np.testing.assert_array_equal(method(3, **few).fit([X * units for X in views]).labels_, first.labels_)


def test_sparse_views_without_zeros_are_not_taken_for_counts(three_views):
    views, y = three_views
    full = [sparse.csr_array(X - X.min() + 1) for X in views]
    assert adjusted_rand_index(y, SEC(3, random_state=0).fit(full).labels_) > 0.5


@pytest.mark.parametrize("method", [KCC, SEC, RSEC])
def test_equal_columns_of_labels_count_as_one_sample(method):
    labels = np.repeat([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 2.0]], 5, axis=0)
    model = method(3, base="labels", random_state=0).fit([labels])
    assert adjusted_rand_index(np.repeat([0, 1, 2], 5), model.labels_) == 1.0
    with pytest.raises(ValueError, match="more than there are distinct samples: 3 of n_samples=15"):
        method(4, base="labels").fit([labels])


@pytest.mark.parametrize("method", [KCC, SEC, RSEC])
def test_new_samples_that_no_partition_knows_are_refused(method, three_views):
    labels, _ = some_partitions(5)
    model = method(3, base="labels", random_state=0).fit([labels.astype(float)])
    for unknown in (-1.0, 99.0):
        new = labels[:4].astype(float)
        new[2] = unknown
        with pytest.raises(ValueError, match=r"1 sample\(s\) are in no partition of the fit, first row 2"):
            model.predict([new])
    with pytest.warns(UserWarning, match="'b' is constant"):
        model = method(3, n_base_clusterings=5, random_state=0).fit({"a": three_views[0][0], "b": np.ones((60, 2))})
    with (
        pytest.warns(UserWarning, match=r"views \['a'\] are not given"),
        pytest.raises(ValueError, match=r"60 sample\(s\) are in no partition"),
    ):
        model.predict({"b": np.ones((60, 2))})


def test_weights_of_partitions(three_views):
    labels, truth = some_partitions(7, noise=0.05)
    labels[:, 6:] = np.random.default_rng(0).integers(4, size=(90, 6))
    weights = np.repeat([1.0, 0.0], 6)
    model = KCC(3, base="labels", base_weights=weights, random_state=0).fit([labels.astype(float)])
    assert adjusted_rand_index(truth, model.labels_) > 0.9
    with pytest.raises(ValueError, match="12 non-negative numbers"):
        KCC(3, base="labels", base_weights=[1.0, 2.0]).fit([labels.astype(float)])


@pytest.mark.parametrize(("method", "least"), [(KCC, 0.55), (SEC, 0.55), (RSEC, 0.65)])
def test_stored_partitions_of_3sources(reference, method, least):
    ref = reference("mvec/mvec_3sources.npz")
    views = list(ref["P"].astype(float))
    scores = [nmi_score(ref["y"], method(6, base="labels", random_state=s).fit(views).labels_) for s in range(2)]
    assert np.mean(scores) > least
