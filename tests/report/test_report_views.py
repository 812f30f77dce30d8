"""A report is of the views that the model was fitted on, and of no others."""

import numpy as np
import pytest

import manyviews
from manyviews import FastMICE

K = np.repeat([0, 1, 2], 20)
RNG = np.random.default_rng(0)
VIEWS = {"a": RNG.normal(size=(60, 4)) + 4 * K[:, None], "b": RNG.normal(size=(60, 3)) - 4 * K[:, None]}


@pytest.fixture(scope="module")
def model():
    return FastMICE(3, n_base_clusterings=10, random_state=0).fit(VIEWS)


@pytest.mark.parametrize(
    ("views", "match"),
    [
        ({"a": VIEWS["a"]}, r"missing here: \['b'\]"),
        ({"a": VIEWS["a"], "c": VIEWS["b"]}, r"missing here: \['b'\], unknown here: \['c'\]"),
        ([VIEWS["b"], VIEWS["a"]], "view 'a' has 3 features"),
        ([VIEWS["a"]], "fitted on 2 views, got 1"),
    ],
)
def test_other_views_are_refused(model, views, match):
    with pytest.raises(ValueError, match=match):
        manyviews.report(model, views, refit_seconds=0)


def test_views_are_matched_by_name(model):
    page = manyviews.report(model, {"b": VIEWS["b"], "a": VIEWS["a"]}, refit_seconds=0)
    assert [view["name"] for view in page.summary["data"]["views"]] == ["a", "b"]
