"""Fitting again: in time, on copies, and honest about what was not done."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

from manyviews import OPLFMVC, AverageKKM, ConcatKMeans, Views, datasets
from manyviews.findings.baselines import plain_baselines
from manyviews.findings.refits import Refits, refit
from manyviews.findings.trust import trust, without_each_view
from manyviews.report import summarize


class Clock:
    """Time that passes only in fits."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Slow(BaseEstimator):
    """A method whose fit takes a known time, and whose labels are the sign of the first view's first column."""

    clock = Clock()
    fits: list = []  # noqa: RUF012 (shared by the copies on purpose)

    def __init__(self, seconds=1.0, power=1, random_state=None, scaling=None):
        self.seconds, self.power, self.random_state, self.scaling = seconds, power, random_state, scaling

    def fit(self, X):
        Slow.clock.now += self.seconds * (len(X) / 8000) ** self.power
        Slow.fits.append((len(X), X.names, self.random_state, self.scaling))
        self.labels_ = (X.arrays[0][:, 0] > 0).astype(int)
        return self


@pytest.fixture
def slow():
    Slow.clock, Slow.fits = Clock(), []
    rng = np.random.default_rng(0)
    return Slow, Views({"a": rng.normal(size=(8000, 2)), "b": rng.normal(size=(8000, 2))})


def test_everything_is_done_where_there_is_time(slow):
    model, views = slow
    found = refit(model(scaling={"a": None, "b": "unit"}), views, seconds=100, fit_seconds=1.0, clock=model.clock)
    assert (len(found.seeds), len(found.parts), sorted(found.without), found.notes) == (5, 5, [0, 1], [])
    assert len({seed for n, _, seed, _ in model.fits if n == 8000 and seed is not None}) == 5
    assert [names for _, names, *_ in model.fits[-2:]] == [("b",), ("a",)]
    assert [scaling for *_, scaling in model.fits[-2:]] == [{"b": "unit"}, {"a": None}]
    assert all(rows.size == 6400 and labels.size == 6400 for rows, labels in found.parts)


def test_three_instead_of_five_where_five_would_leave_no_time(slow):
    model, views = slow
    found = refit(model(), views, seconds=9, fit_seconds=1.0, clock=model.clock)
    assert (len(found.seeds), len(found.parts), len(found.without)) == (3, 3, 2)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("seconds", [30.0, 6.0, 2.0])
def test_the_time_is_kept_also_where_the_cost_is_not_known(slow, power, seconds):
    model, views = slow
    found = refit(model(seconds=1.0, power=power), views, seconds=seconds, clock=model.clock)
    assert model.clock.now <= seconds
    if seconds < 6:
        assert any("Left out for time" in note for note in found.notes)
    else:
        assert len(found.seeds) >= 3


def test_where_time_is_short_one_fit_tells_of_seeds_and_samples_at_once(slow):
    model, views = slow
    found = refit(model(), views, seconds=1.0, fit_seconds=1.0, clock=model.clock)
    assert (found.seeds, len(found.parts), found.without, found.reseeded) == ([], 1, {}, True)
    assert model.fits[0][2] is not None
    assert model.clock.now == pytest.approx(0.8)
    assert "1.0 s were given): every view left out" in found.notes[0]
    told = trust(found, None, (views.arrays[0][:, 0] > 0).astype(int), 2)
    assert "on a random part of the samples (80\u00a0%) with another seed, it agreed" in told["sentences"][1]
    more = refit(model(), views, seconds=4.0, fit_seconds=1.0, clock=model.clock)
    assert (len(more.parts), len(more.without), more.reseeded) == (3, 1, True)
    assert len({seed for n, _, seed, _ in model.fits if n == 6400}) == 3


@pytest.mark.parametrize(
    ("n_parts", "n_seeds", "reseeded", "said"),
    [
        (1, 0, False, "Fitted again on a random part of the samples (80\u00a0%), it agreed"),
        (1, 1, True, "The same with one other seed: "),
        (3, 0, True, "on three random parts of the samples (80\u00a0% each), each time with another seed, it agreed"),
        (0, 1, False, "Fitted again with one other seed: "),
        (5, 5, False, "The same with five other seeds: "),
        (1200, 0, False, "on 1,200 random parts of the samples"),
    ],
)
def test_one_fit_is_told_as_one_and_several_as_several(n_parts, n_seeds, reseeded, said):
    rows, labels = np.arange(8), np.arange(8) % 2
    refits = Refits(seeds=[labels] * n_seeds, parts=[(rows, labels)] * n_parts, reseeded=reseeded)
    sentences = " ".join(trust(refits, None, labels, 2)["sentences"])
    assert said in sentences
    assert "each time" not in sentences or n_parts > 1


@pytest.mark.parametrize(
    "like", [Refits(), Refits(seeds=[0]), Refits(parts=[0, 0], reseeded=True), Refits(seeds=[0], parts=[0])]
)
def test_as_many_fits_as_another_had(slow, like):
    model, views = slow
    found = refit(model(), views, seconds=100, leave_views_out=False, like=like, clock=model.clock)
    assert (len(found.seeds), len(found.parts), found.reseeded) == (len(like.seeds), len(like.parts), like.reseeded)


def test_a_slow_fit_is_not_repeated(slow):
    model, views = slow
    found = refit(model(seconds=3600.0), views, seconds=10, fit_seconds=3600.0, clock=model.clock)
    assert (model.fits, found.seeds) == ([], [])
    assert found.notes == [
        "Left out for time (a fit takes about 1 h 0 min, 10 s were given): other seeds, parts of the samples and every "
        "view left out."
    ]
    unknown = refit(model(seconds=3600.0), views, seconds=10, clock=model.clock)
    assert len(model.fits) == 1
    assert model.fits[0][0] == 1000
    assert "Left out for time" in unknown.notes[0]


def test_no_time_given(slow):
    model, views = slow
    assert refit(model(), views, seconds=0, clock=model.clock).notes == [
        "No fits were repeated, because no time was given to it."
    ]
    assert model.fits == []


def test_the_model_and_the_global_state_are_untouched(three_views):
    views, _ = three_views
    model = OPLFMVC(n_clusters=3, random_state=np.random.default_rng(3), verbose=0).fit(views)
    before, state = model.labels_.copy(), model.random_state.bit_generator.state
    weights, keys = model.view_weights_.copy(), set(vars(model))
    np.random.seed(3)  # noqa: NPY002 (the very thing to leave alone)
    expected = np.random.get_state()[1].copy()  # noqa: NPY002
    assert summarize(model, views)["trust"]["number"] == 1.0
    np.testing.assert_array_equal(np.random.get_state()[1], expected)  # noqa: NPY002
    assert model.random_state.bit_generator.state == state
    assert set(vars(model)) == keys
    np.testing.assert_array_equal(model.labels_, before)
    np.testing.assert_array_equal(model.view_weights_, weights)


def test_a_table_that_the_model_cuts_is_fitted_again(three_views):
    views, _ = three_views
    table = np.hstack(views)
    model = AverageKKM(n_clusters=3, views=[5, 3, 4], random_state=0).fit(table)
    summary = summarize(model, table)
    assert len(summary["trust"]["seeds"]) == 5
    assert all(view["without"]["moved"] == 0 for view in summary["data"]["views"])


def test_input_that_cannot_be_cut_by_rows_is_said(three_views):
    kernels = [X @ X.T for X in three_views[0]]
    model = AverageKKM(n_clusters=3, base="kernel", random_state=0).fit(kernels)
    summary = summarize(model, kernels)
    assert summary["trust"]["parts"] == []
    assert len(summary["trust"]["seeds"]) == 5
    assert any(note.startswith("Not fitted on parts of the samples: ") for note in summary["trust"]["notes"])
    assert all(view["without"] is not None for view in summary["data"]["views"])


def test_what_cannot_be_fitted_again_is_said():
    X = np.array([[0.0], [0.1], [5.0]])
    notes = summarize(KMeans(2, n_init=1, random_state=0).fit(X), X)["trust"]["notes"]
    assert notes[0].startswith("Fitting again was not possible: ")


def test_samples_that_would_be_in_no_view_are_said(slow):
    model, views = slow
    arrays = [array[:20].copy() for array in views.arrays]
    arrays[0][3:5] = np.nan
    found = refit(model(), Views(dict(zip("ab", arrays, strict=True))), seconds=100, clock=model.clock)
    assert sorted(found.without) == [0]
    assert found.notes == ["Not fitted without b: 2 samples would be in no view."]


def test_leaving_out_the_one_view_that_knows_changes_the_result():
    data = datasets.make_blobs_views(150, (6, 6, 6), n_clusters=3, view_noise=0.1, noise_views=2, random_state=1)
    model = AverageKKM(n_clusters=3, random_state=0).fit(data.views)
    moved = [view["without"]["moved"] for view in summarize(model, data.views)["data"]["views"]]
    assert moved[0] > 0.3
    assert max(moved[1:]) < 0.1


def test_noise_is_not_stable_and_said_so():
    rng = np.random.default_rng(0)
    views = [rng.normal(size=(200, 10)) for _ in range(2)]
    summary = summarize(AverageKKM(n_clusters=5, random_state=0).fit(views), views)
    assert summary["trust"]["number"] < 0.5
    assert summary["trust"]["level"] == "unstable"
    assert any("The result is unstable" in text for text in summary["warnings"])
    assert any("not come back as such" in text or "comes back as such" in text for text in summary["warnings"])


def test_trust_is_the_smaller_of_seeds_and_parts():
    positions = np.repeat([0, 1], 10)
    swapped = positions.copy()
    swapped[:2] = 1
    found = trust(Refits(seeds=[positions], parts=[(np.arange(20), swapped)]), None, positions, 2)
    assert found["seeds"] == [1.0]
    assert found["number"] == found["parts"][0] < 1.0
    assert found["clusters"] == [pytest.approx(8 / 10), pytest.approx(10 / 12)]
    assert without_each_view(Refits(without={1: swapped}), positions, 2)[0] is None
    assert without_each_view(Refits(without={1: swapped}), positions, 2)[1]["moved"] == pytest.approx(0.1)


def test_without_refits_nothing_is_measured_whatever_the_ensemble_says():
    positions = np.repeat([0, 1], 10)
    ensemble = {"n": 7, "inside": 0.8, "outside": 0.1, "separation": 0.97}
    found = trust(Refits(notes=["why"]), ensemble, positions, 2)
    assert (found["number"], found["level"]) == (None, None)
    assert found["sentences"][0] == "How stable the result is was not measured."
    assert "The 7 base clusterings put two samples of one cluster together in 80.0\u00a0%" in found["sentences"][1]
    assert found["notes"] == ["why"]


def baseline(agreement, stability):
    return {"name": "concat-kmeans", "words": "k-means", "agreement": agreement, "stability": stability, "n_used": 20}


@pytest.mark.parametrize(
    ("without", "baselines", "words"),
    [
        ({"a": 0.1}, [baseline(0.9, 1.0)], "The result is very stable: it can be relied on, as far as repetition"),
        ({"a": 0.1, "b": 0.41}, [], "it rests on single views, and without b 41.0\u00a0% of the samples move"),
        (
            {},
            [baseline(0.3, 0.99)],
            "which is not to say that it is right: k-means is as stable and finds other groups",
        ),
        ({}, [baseline(0.3, 0.9)], "The result is very stable: it can be relied on, as far as repetition"),
        ({}, [baseline(0.3, None)], "The result is very stable: it can be relied on, as far as repetition"),
    ],
)
def test_stable_is_not_right(without, baselines, words):
    positions = np.repeat([0, 1], 10)
    found = trust(Refits(seeds=[positions] * 3), None, positions, 2, without=without, baselines=baselines)
    assert words in found["sentences"][0]
    assert ("can be relied on" in found["sentences"][0]) == ("can be relied on" in words)


def test_a_plain_way_that_finds_the_groups_is_named_and_one_that_is_steadier_a_warning():
    data = datasets.make_blobs_views(150, (6, 5), n_clusters=3, view_noise=0.1, random_state=0)
    good = summarize(AverageKKM(n_clusters=3, random_state=0).fit(data.views), data.views)
    assert [round(each["agreement"], 2) for each in good["trust"]["baselines"]] == [1.0, 1.0]
    assert any("Two plain ways beside it: k-means of all views" in text for text in good["trust"]["sentences"])
    assert not any("steadier" in text for text in good["warnings"])

    class Fickle(BaseEstimator):
        def __init__(self, random_state=0):
            self.random_state = random_state

        def fit(self, X):
            self.labels_ = np.random.default_rng(self.random_state).integers(3, size=len(X))
            return self

    poor = summarize(Fickle().fit(data.views), data.views)
    assert any("K-means of all views side by side is steadier" in text for text in poor["warnings"])
    assert any("other groups" in text and "--method concat-kmeans" in text for text in poor["warnings"])


def test_baselines_on_complete_samples_only_and_not_beside_themselves():
    data = datasets.make_blobs_views(150, (6, 5), n_clusters=3, view_noise=0.1, random_state=0)
    arrays = [array.copy() for array in data.views.arrays]
    arrays[1][:40] = np.nan
    views = Views(arrays)
    model = type("Model", (), {"labels_": data.labels})()
    found = plain_baselines(model, views, data.labels, 3, seconds=0)
    assert [(each["n_used"], each["stability"]) for each in found] == [(110, None)] * 2
    arrays[1][:120] = np.nan
    assert plain_baselines(model, Views(arrays), data.labels, 3, seconds=0) == []
    kmeans = ConcatKMeans(n_clusters=3, random_state=0).fit(data.views)
    assert [each["name"] for each in plain_baselines(kmeans, data.views, data.labels, 3, seconds=0)] == [
        "concat-spectral"
    ]


def test_one_cluster_needs_no_trust():
    assert trust(Refits(), None, np.zeros(4, int), 1)["sentences"] == []
