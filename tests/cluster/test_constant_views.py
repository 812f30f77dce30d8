"""Views that tell no samples apart are found, and named once, in one text."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from manyviews import MVEC, RMKMC, ConcatKMeans, FastMICE
from manyviews.linalg.scaling import is_constant

RNG = np.random.default_rng(0)
TELLING = RNG.normal(size=(200, 3)) + 5.0 * np.repeat([[0.0], [1.0]], 100, axis=0)


@pytest.mark.parametrize(
    ("view", "constant"),
    [
        (TELLING, False),
        (np.full((200, 2), 0.1), True),
        (np.full((200, 2), 0.1, dtype=np.float32), True),
        (np.zeros((200, 1)), True),
        (0.1 + 1e-17 * RNG.normal(size=(200, 2)), True),  # rounding
        (0.1 + 1e-12 * RNG.normal(size=(200, 2)), False),
        (1e-200 * RNG.normal(size=(200, 2)), False),
        (np.where(np.arange(200)[:, None] < 199, 1.0, 2.0), False),  # the last sample only
        (np.where(np.arange(200)[:, None] < 50, np.nan, 3.0), True),  # where it was observed
        (sparse.csr_array(np.tile([0.0, 1.0, 2.0], (200, 1))), True),
        (sparse.csr_array((200, 4)), True),
        (sparse.csr_array(np.eye(200)), False),
        (sparse.csr_array(np.tile([0.0, -1.0], (200, 1)) * (np.arange(200)[:, None] > 100)), False),
    ],
)
def test_which_views_are_constant(view, constant):
    assert is_constant(view) == constant


@pytest.mark.parametrize("method", [FastMICE, RMKMC, ConcatKMeans, MVEC])
def test_one_warning_names_all(method):
    parameters = {"n_base_clusterings": 5} if method is MVEC else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        method(2, random_state=0, **parameters).fit({"a": TELLING, "b": np.ones((200, 2)), "c": np.zeros((200, 1))})
    assert [str(w.message) for w in caught] == ["views 'b', 'c' are constant: they say nothing about the samples"]


def test_a_view_that_is_constant_once_scaled_is_named_as_such():
    rays = np.linspace(1.0, 2.0, 200)[:, None] * [[1.0, 2.0]]
    with pytest.warns(UserWarning, match=r"^view 'b' is constant once scaled: it says nothing about the samples$"):
        MVEC(2, n_base_clusterings=5, metric="cosine", scaling=None, random_state=0).fit({"a": TELLING, "b": rays})


def test_nothing_is_said_where_there_is_no_other_view():
    assert not ConcatKMeans(1).fit([np.ones((5, 2)), np.zeros((5, 1))]).labels_.any()
