"""What the user wants each view to count, in every method."""

import warnings

import numpy as np
import pytest

from few_members import quick
from manyviews.cluster.registry import METHODS, find_method
from manyviews.metrics import adjusted_rand_index

WEIGHED = [row for row in METHODS if not row.load()._weightless]
# copies of a kernel are what its regularisation is there to discount
DECIDED = [row for row in WEIGHED if row.class_name != "MKKMMiR"]
WEIGHTLESS = [row for row in METHODS if row.load()._weightless]


def names(rows):
    return [row.class_name for row in rows]


@pytest.fixture(scope="module")
def views():
    """Three views of 60 samples: two groups of a and c agree, those of b differ."""
    rng = np.random.default_rng(0)
    one, other = np.repeat([0, 1, 2], 20), np.tile([0, 1, 2], 20)
    return {
        "a": 4.0 * np.eye(5)[one] + rng.normal(size=(60, 5)),
        "b": 4.0 * np.eye(4)[other] + rng.normal(size=(60, 4)),
        "c": 3.0 * np.eye(6)[one] + rng.normal(size=(60, 6)),
    }


@pytest.fixture(scope="module")
def clear():
    """Three clear groups of unequal sizes in both views."""
    rng, one = np.random.default_rng(1), np.repeat([0, 1, 2], [40, 30, 20])
    return 6.0 * np.eye(6)[one] + rng.normal(size=(90, 6)), 6.0 * np.eye(5)[one] + rng.normal(size=(90, 5))


def fit(row, views, **changes):
    model = quick(row, random_state=0, **changes)
    if "n_base_clusterings" in model.get_params():
        model.set_params(n_base_clusterings=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(views)


@pytest.mark.parametrize("row", METHODS, ids=names(METHODS))
def test_weight_zero_is_the_fit_without_the_view(row, views):
    without = fit(row, {name: X for name, X in views.items() if name != "b"})
    broken = views | {"b": np.where(views["b"] > 3, np.nan, views["b"])}  # nobody looks into it
    model = fit(row, broken, view_weights={"b": 0})
    np.testing.assert_array_equal(model.labels_, without.labels_)
    assert list(model.view_names_in_) == ["a", "b", "c"]
    assert model.scalings_[1] is None
    if hasattr(model, "view_weights_"):
        np.testing.assert_array_equal(model.view_weights_[[0, 2]], without.view_weights_)
        assert model.view_weights_[1] == 0
    if hasattr(model, "predict"):
        expected = without.predict({name: views[name] for name in ("a", "c")})
        for new in (views, {name: views[name] for name in ("c", "a")}):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                np.testing.assert_array_equal(model.predict(new), expected)


@pytest.mark.parametrize("row", METHODS, ids=names(METHODS))
def test_equal_weights_are_none(row, views):
    plain, equal = fit(row, views), fit(row, views, view_weights=[0.3, 0.3, 0.3])
    np.testing.assert_array_equal(plain.labels_, equal.labels_)


@pytest.mark.parametrize("row", WEIGHED, ids=names(WEIGHED))
def test_a_weight_of_two_is_as_good_as_the_view_twice(row, clear):
    a, b = clear
    weighted = fit(row, {"a": a, "b": b}, view_weights={"a": 2})
    twice = fit(row, {"a": a, "again": a, "b": b})
    assert adjusted_rand_index(weighted.labels_, twice.labels_) >= 0.95
    np.testing.assert_array_equal(weighted.labels_, fit(row, [a, b], view_weights=[6.0, 3.0]).labels_)


EXACT = [
    *("OPLFMVC", "UDBGL", "AverageKKM", "MKKM", "LMKKM", "MKKMMM", "SimpleMKKM", "RMKMC", "ConcatKMeans"),
    *("ConcatSpectral", "SumSpectral", "MVSC", "AMGL", "CoRegSpectral", "RMSC", "FPMVSCAG"),
]


@pytest.mark.parametrize("name", EXACT)
def test_a_weight_of_two_and_the_view_twice_agree_where_views_contradict(name, views):
    row = find_method(name)
    weighted = fit(row, [views["a"], views["b"]], view_weights=[2, 1])
    twice = fit(row, [views["a"], views["a"], views["b"]])
    np.testing.assert_array_equal(weighted.labels_, twice.labels_)
    if hasattr(weighted, "view_weights_"):
        first, second, third = twice.view_weights_
        np.testing.assert_allclose(weighted.view_weights_, [first + second, third], atol=1e-4)


@pytest.mark.parametrize("row", DECIDED, ids=names(DECIDED))
def test_the_view_of_great_weight_decides(row, views):
    pair = {name: views[name] for name in ("a", "b")}
    groups = {"a": np.repeat([0, 1, 2], 20), "b": np.tile([0, 1, 2], 20)}
    for heavy, light in (("a", "b"), ("b", "a")):
        labels = fit(row, pair, view_weights={heavy: 20.0}).labels_
        found = adjusted_rand_index(groups[heavy], labels), adjusted_rand_index(groups[light], labels)
        assert found[0] > found[1] + 0.3, (heavy, found)


@pytest.mark.parametrize("row", WEIGHTLESS, ids=names(WEIGHTLESS))
def test_methods_without_a_place_for_weights_say_who_has_one(row, views):
    with pytest.raises(ValueError, match=r"no place for view_weights .* use Consensus, FastMICE, "):
        fit(row, views, view_weights={"a": 2})


@pytest.mark.parametrize(
    "wrong", [{"d": 1}, {"a": -1}, {"a": np.nan}, [0, 0, 0], [1, 2], {"a": "much"}, {"a": np.inf}], ids=str
)
def test_weights_that_are_none_are_refused(wrong, views):
    with pytest.raises(ValueError, match="view_weights") as caught:
        fit(METHODS[0], views, view_weights=wrong)
    assert "\n" not in str(caught.value)
