"""Views that hold the distances between samples: the groups of the features that they were computed from."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import pairwise_distances

from manyviews.cluster.alternatives import distance_settings
from manyviews.cluster.registry import METHODS
from manyviews.metrics import adjusted_rand_index

TAKERS = [row for row in METHODS if row.class_name in distance_settings()]
# weights that all end on one view are a warning, not a fault
pytestmark = pytest.mark.filterwarnings("ignore:view .* has all the weight")


def of_distances(row):
    name, value = distance_settings()[row.class_name].split("=")
    return row.load()(3, random_state=0).set_params(**{name: value})


def of_features(row):
    model = row.load()(3, random_state=0, scaling=None)
    return model.set_params(kernel="rbf_meandist") if "kernel" in model.get_params() else model


@pytest.mark.parametrize("row", TAKERS, ids=lambda row: row.class_name)
def test_euclidean_distances_give_the_groups_of_the_features(row, three_views):
    views = three_views[0]
    given = {f"view_{v}": pairwise_distances(X) for v, X in enumerate(views)}
    wanted = of_features(row).fit(views)
    found = of_distances(row).fit(given)
    assert adjusted_rand_index(found.labels_, wanted.labels_) == 1.0
    assert found.scalings_ == (None, None, None)
    if row.predicts:
        new = [X[::7] + 0.01 for X in views]
        rows = {f"view_{v}": pairwise_distances(N, X) for v, (N, X) in enumerate(zip(new, views, strict=True))}
        np.testing.assert_array_equal(found.predict(rows), found.labels_[::7])
        np.testing.assert_array_equal(wanted.predict(new), wanted.labels_[::7])


@pytest.mark.parametrize("row", TAKERS, ids=lambda row: row.class_name)
def test_what_is_no_distance_is_refused(row, three_views):
    D = pairwise_distances(three_views[0][0])
    model = of_distances(row)
    setting = '="distance"'
    lopsided, negative, off, similar = D.copy(), D.copy(), D.copy(), np.exp(-D)
    lopsided[3, 5] += 1.0
    negative[2, 4] = negative[4, 2] = -0.5
    off[7, 7] = 2.0
    for given, words in (
        (D[:, :-1], rf"{setting} takes n × n distances, got shape \(60, 59\)"),
        (lopsided, "symmetric distances, but those of samples 3 and 5 differ by 1"),
        (negative, "some are negative, -0.5"),
        (off, "sample 7 is 2 away from itself"),
        (similar, "away from itself; give distances, not similarities"),
    ):
        with pytest.raises(ValueError, match=words):
            clone(model).fit([given])
    if model._accepts_sparse:
        with pytest.raises(TypeError, match=r"write .toarray\(\)"):
            clone(model).fit([sparse.csr_array(D)])
    with pytest.raises(ValueError, match="scaling='unit' is for features"):
        clone(model).set_params(scaling="unit").fit([D])


@pytest.mark.parametrize("row", [row for row in TAKERS if row.predicts], ids=lambda row: row.class_name)
def test_new_samples_give_their_distances_to_those_of_the_fit(row, three_views):
    X = three_views[0][0]
    model = of_distances(row).fit([pairwise_distances(X)])
    with pytest.raises(ValueError, match="takes distances, but some are negative"):
        model.predict([-pairwise_distances(X[:4], X)])
    with pytest.raises(ValueError, match="9 features, but was fitted with 60"):
        model.predict([pairwise_distances(X[:4], X[:9])])


def test_distances_of_single_precision_are_taken(three_views):
    D = pairwise_distances(three_views[0][0]).astype(np.float32)
    D[0, 1] *= 1 + 1e-6
    for row in TAKERS:
        assert of_distances(row).fit([D]).labels_.size == 60
