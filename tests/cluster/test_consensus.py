import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine

from manyviews import Consensus, Views, datasets
from manyviews.cluster.consensus_members import SYSTEMS, treatments_of, votes
from manyviews.metrics import adjusted_rand_index, clustering_accuracy

# what other methods add is tested where it matters; without them a fit takes a fifth of the time
QUICK = {"n_base_clusterings": 20, "system_weight": 0.0}


@pytest.fixture
def blobs():
    return datasets.make_blobs_views(200, (8, 6), 4, view_noise=0.15, random_state=0)


def test_members_are_told_with_weights_views_and_agreement(blobs):
    model = Consensus(4, n_base_clusterings=20, random_state=0).fit(blobs.views)
    assert adjusted_rand_index(blobs.labels, model.labels_) > 0.9
    assert len(model.members_) == model.base_labels_.shape[1] == model.n_base_clusters_.size
    assert sum(member.weight for member in model.members_) == pytest.approx(1)
    others = [member for member in model.members_ if member.method != "anchor cut"]
    assert {member.method for member in others} == {system.method for system in SYSTEMS}
    assert sum(member.weight for member in others) == pytest.approx(model.system_weight)
    assert all(0 <= member.agreement <= 1 for member in model.members_)
    assert {name for member in model.members_ for name in member.views} == set(blobs.views.names)
    assert {member.treatment for member in model.members_ if member.method == "anchor cut"} == {
        "standardised",
        "standardised, cosine",
        "as given",
        "as given, cosine",
    }


def test_systems_stay_away_above_their_size(blobs):
    few = Consensus(4, **QUICK, random_state=0).fit(blobs.views)
    assert {member.method for member in few.members_} == {"anchor cut"}
    big = Views([np.random.default_rng(0).normal(size=(900, 3))])
    found = {method for method, *_ in votes(big, 2, ["auto"], np.random.default_rng(0), np.ones(1))}
    assert "mvec" not in found
    assert "concat-kmeans" in found


def test_systems_take_part_with_the_weights_of_the_views(blobs):
    even, uneven = (
        Consensus(4, n_base_clusterings=20, view_weights=weights, random_state=0).fit(blobs.views).members_
        for weights in ([2, 2], [1, 3])
    )
    assert [member.method for member in even] == [member.method for member in uneven]
    assert len({member.method for member in uneven}) > 5


@pytest.mark.parametrize("seed", range(3))
def test_wine_in_three_views(seed):
    X, y = load_wine(return_X_y=True)
    model = Consensus(3, n_base_clusterings=40, random_state=seed).fit([X[:, :5], X[:, 5:9], X[:, 9:]])
    assert adjusted_rand_index(y, model.labels_) > 0.83


@pytest.mark.parametrize("seed", range(2))
def test_columns_of_noise_in_large_units_do_not_decide(seed):
    rng = np.random.default_rng(seed)
    y, units = rng.integers(3, size=200), np.where(np.arange(20) < 15, 1.0, 1000.0)
    groups = [np.hstack([rng.normal(size=(200, 15)) + 2.5 * y[:, None], rng.normal(size=(200, 5))]) for _ in "ab"]
    settings = QUICK if seed else {"n_base_clusterings": 20}  # once with the votes of other methods
    model = Consensus(3, **settings, random_state=seed).fit([X * units for X in groups])
    assert adjusted_rand_index(y, model.labels_) > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_groups_that_only_both_views_together_tell_apart(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=240)
    a, b = rng.normal(size=(240, 6)), rng.normal(size=(240, 6))
    a[y == 0, :3] += 4
    b[y == 2, :3] += 4
    model = Consensus(3, n_base_clusterings=40, random_state=seed).fit({"a": a, "b": b})
    assert adjusted_rand_index(y, model.labels_) > 0.95
    assert model.view_weights_.min() > 0.2


def test_ten_clear_groups():
    rng = np.random.default_rng(2)
    y = rng.integers(10, size=2000)
    views = [rng.normal(size=(2000, d)) + rng.normal(scale=3, size=(10, d))[y] for d in (10, 8)]
    assert adjusted_rand_index(y, Consensus(10, **QUICK, random_state=0).fit(views).labels_) > 0.99


def test_a_view_of_noise_changes_little_and_the_telling_one_much(blobs):
    rng = np.random.default_rng(0)
    y = blobs.labels
    views = {"tells": 4.0 * np.eye(4)[y] + rng.normal(size=(200, 4)), "noise": rng.normal(size=(200, 4))}
    model = Consensus(4, **QUICK, random_state=0).fit(views)
    assert adjusted_rand_index(y, model.labels_) > 0.7
    assert model.view_weights_[0] > 3 * model.view_weights_[1]


def test_weights_of_views_that_the_user_wants(blobs):
    a, b = blobs.views.arrays
    noise = np.random.default_rng(0).normal(size=a.shape)
    alone = Consensus(4, **QUICK, random_state=0).fit({"a": a, "b": b}).labels_
    left_out = Consensus(4, **QUICK, view_weights={"noise": 0}, random_state=0).fit({"a": a, "noise": noise, "b": b})
    np.testing.assert_array_equal(left_out.labels_, alone)
    assert left_out.view_weights_[1] == 0
    mostly = Consensus(4, **QUICK, view_weights=[1, 1e-6], random_state=0).fit([a, noise])
    single = [member for member in mostly.members_ if len(member.views) == 1]
    assert single
    assert all(member.views == ("view_0",) for member in single)
    for bad in ([1, -1], [0, 0], [np.nan, 1]):
        with pytest.raises(ValueError, match="view_weights"):
            Consensus(4, view_weights=bad).fit([a, b])


def test_texts_have_two_treatments_and_a_stated_scaling_one():
    rng = np.random.default_rng(0)
    topic = np.repeat([0, 1, 2], 40)
    texts = [
        sparse.csr_matrix(rng.poisson(0.1 + 2 * np.kron(np.eye(3), np.ones(8))[topic]).astype(float)) for _ in "ab"
    ]
    assert len(treatments_of(texts, ["auto", "auto"])) == 2
    assert len(treatments_of(texts, ["tfidf", "unit"])) == 1
    dense = [X.toarray() for X in texts]
    assert len(treatments_of(dense, ["auto", "auto"])) == 4
    assert len(treatments_of(dense, ["standard", "minmax"])) == 2
    model = Consensus(3, n_base_clusterings=20, random_state=0).fit(texts)
    assert adjusted_rand_index(topic, model.labels_) == 1.0


def test_missing_samples_and_new_ones(blobs):
    holes = datasets.make_blobs_views(300, (12, 9, 7), 4, view_noise=0.12, missing_fraction=0.3, random_state=3)
    model = Consensus(4, **QUICK, random_state=0).fit(holes.views)
    assert adjusted_rand_index(holes.labels, model.labels_) > 0.75
    assert (model.predict(holes.views) == model.labels_).mean() > 0.9
    assert ((model.confidence_ >= 0) & (model.confidence_ <= 1 + 1e-12)).all()
    whole = Consensus(4, **QUICK, random_state=0).fit(blobs.views[:150])
    assert adjusted_rand_index(blobs.labels[150:], whole.predict(blobs.views[150:])) > 0.85


def test_digits(shared_data):
    views, y = shared_data("mfeat")
    model = Consensus(10, random_state=0).fit(views)
    assert clustering_accuracy(y, model.labels_) >= 0.97
    assert (model.predict(views) == model.labels_).mean() > 0.97
