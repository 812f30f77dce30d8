"""The rule that chooses a method, and what it says."""

import math

import pytest

from manyviews.recommend.criteria import Criteria
from manyviews.recommend.rule import recommend, score_of

NAN = float("nan")


def criteria(structure, seeds=1.0, agreements=None, **changes):
    values = {
        "structure": structure,
        "agreements": agreements or {},
        "seeds": seeds,
        "parts": NAN,
        "silhouettes": {"a": 0.1, "b": 0.1},
        "structures": {"a": structure, "b": structure},
        "view_balance": 1.0,
        "size_balance": 0.9,
        "n_clusters": 3,
        "smallest": 10,
        "largest": 20,
    }
    return Criteria(**values | changes)


def test_score_by_hand():
    own = criteria(0.6, seeds=0.49, agreements={"x": 0.9, "y": 0.3, "z": 0.0162})
    assert own.support == pytest.approx(0.6)
    assert own.agreement == pytest.approx((0.9 + 0.3 + 0.0162) / 3)
    assert score_of(own) == pytest.approx(0.6 * 0.7 * 0.6**0.25)


@pytest.mark.parametrize("own", [criteria(-0.1), criteria(0.5, seeds=-0.02), criteria(0.5, agreements={"x": -0.01})])
def test_nothing_by_chance(own):
    assert score_of(own) == 0.0


def test_what_is_not_known_is_no_discount():
    assert score_of(criteria(0.5, seeds=NAN)) == pytest.approx(0.5)


def test_the_stable_method_wins_among_equals():
    found = recommend({"shaky": criteria(0.5, 0.4, {"steady": 0.5}), "steady": criteria(0.48, 0.98, {"shaky": 0.5})})
    assert (found.method, found.runner_up) == ("steady", "shaky")
    assert "shaky has more (0.50)" in found.reasons[0]


def test_a_majority_does_not_outvote_two_methods_with_plain_structure():
    round_ones = {"k-means": 0.99, "mspl": 0.99, "udbgl": 0.99, "kkm": 0.99}
    spectral = {"sum": 1.0, "fastmice": 1.0}
    found = recommend(
        {
            **{name: criteria(0.93, agreements=round_ones | dict.fromkeys(spectral, 0.3)) for name in round_ones},
            **{name: criteria(1.0, agreements=spectral | dict.fromkeys(round_ones, 0.3)) for name in spectral},
        }
    )
    assert found.method in spectral


@pytest.mark.parametrize(
    ("structure", "certainty"), [(0.9, "fairly sure"), (0.41, "fairly sure"), (0.3, "a hint"), (0.1, "unsure")]
)
def test_certainty_follows_the_score(structure, certainty):
    one, two = criteria(structure, 1.0, {"two": 1.0}), criteria(structure / 2, 1.0, {"one": 1.0})
    found = recommend({"one": one, "two": two})
    assert found.certainty == certainty
    assert ("No method finds clear groups" in found.headline) == (certainty == "unsure")


def test_reasons_in_words():
    other = {"b": 0.95, "c": 0.85, "d": 0.1}
    found = recommend(
        {
            "a": criteria(0.5, 0.97, other, parts=0.6, structures={"text": 0.96, "noise": 0.01}),
            "b": criteria(0.49, 0.97, {"a": 0.95, "c": 0.9, "d": 0.1}),
            "c": criteria(0.3, 0.5, {"a": 0.85, "b": 0.9, "d": 0.1}),
            "d": criteria(0.2, 0.2, {"a": 0.1, "b": 0.1, "c": 0.1}),
        }
    )
    text = " ".join(found.reasons)
    assert found.headline == "a suits these data as well as any of 4 methods, as far as can be told without classes."
    assert "more than with any other method (b comes next with 0.49)" in text
    assert "The view 'noise' tells nothing of them." in text
    assert (
        "Other seeds find the same groups (0.97), fits on parts of the samples find partly the same groups (0.60)."
        in text
    )
    assert "Of the other methods, b and c find the same groups (adjusted Rand index 0.90)." in text
    assert "b is as good as equal and finds the same groups (adjusted Rand index 0.95)." in text


def test_among_equals_the_simplest_wins():
    found = recommend(
        {
            "fastmice": criteria(0.62, 1.0, {"concat-kmeans": 0.97, "mspl": 0.9}),
            "mspl": criteria(0.61, 1.0, {"fastmice": 0.9, "concat-kmeans": 0.9}),
            "concat-kmeans": criteria(0.6, 1.0, {"fastmice": 0.97, "mspl": 0.9}),
        }
    )
    assert (found.method, found.as_good, found.certainty) == ("concat-kmeans", ("fastmice", "mspl"), "fairly sure")
    assert "concat-kmeans is the simplest of them." in " ".join(found.reasons)
    far = recommend({"fastmice": criteria(0.7, 1.0, {"concat-kmeans": 0.9}), "concat-kmeans": criteria(0.6)})
    assert (far.method, far.as_good) == ("fastmice", ())


def test_not_sure_where_a_method_that_is_as_good_finds_other_groups():
    found = recommend({"a": criteria(0.604, 1.0, {"b": 0.52}), "b": criteria(0.6, 1.0, {"a": 0.52})})
    assert found.certainty == "a hint"
    assert "b is as good as equal but finds partly the same groups (adjusted Rand index 0.52)" in found.certainty_reason
    sure = recommend({"a": criteria(0.604, 1.0, {"b": 0.52}), "b": criteria(0.4, 1.0, {"a": 0.52})})
    assert sure.certainty == "fairly sure"


def test_degenerate_groupings_are_named():
    uneven = criteria(0.5, 1.0, {"b": 0.5}, size_balance=0.1, smallest=1, largest=98)
    found = recommend({"a": uneven, "b": criteria(0.1, 1.0, {"a": 0.5})})
    assert found.reasons[-1] == "Its clusters are very uneven: 1 to 98 samples."


def test_a_single_method():
    found = recommend({"only": criteria(0.5, seeds=NAN)})
    assert found.runner_up is None
    assert found.headline == "only is the only method with a result."
    assert found.certainty == "no choice"
    assert not math.isnan(score_of(criteria(0.5, seeds=NAN)))
