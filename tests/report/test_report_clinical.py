"""Outcome, covariates and batch on the page: against scipy, hand-made cases, wrong input."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import manyviews
from manyviews import Views
from manyviews.findings.associations import cramers_v
from manyviews.report import summarize

pd = pytest.importorskip("pandas")
pytest.importorskip("lifelines")

# Freireich's trial of 6-mercaptopurine (1963), which every course on survival uses: weeks of remission.
TREATED = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
RELAPSE = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
PLACEBO = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23]
TRIAL = {"time": TREATED + PLACEBO, "event": RELAPSE + [1] * 21}


def clinical(labels, *, names=None, **known):
    labels = np.asarray(labels)
    views = Views([np.random.default_rng(0).normal(size=(len(labels), 3))], sample_names=names)
    summary = summarize(SimpleNamespace(labels_=labels), views, refit_seconds=0, **known)
    return summary["clinical"], summary


def test_the_curves_and_the_test_are_those_of_the_textbook():
    found = clinical([0] * 21 + [1] * 21, outcome=TRIAL)[0]["survival"]
    assert [curve["median"] for curve in found["clusters"]] == ["23", "8"]
    assert [curve["events"] for curve in found["clusters"]] == [9, 21]
    # chi-square 16.79 with one degree of freedom, as printed by the survival package of R
    assert found["p"] == pytest.approx(stats.chi2.sf(16.793, 1), rel=1e-3)
    assert found["clusters"][0]["at_risk"][:2] == [21, 15]
    curve = found["clusters"][0]
    drops = [y for x, y in zip(curve["x"], curve["y"], strict=True) if x == 6.0]
    assert drops[-1] == pytest.approx(6 / 7)
    assert "exploratory" in clinical([0] * 21 + [1] * 21, outcome=TRIAL)[0]["caution"].lower()


def test_pairs_of_clusters_are_tested_and_adjusted_together():
    # a third cluster that is the second once more
    outcome = {"time": TREATED + PLACEBO + PLACEBO, "event": RELAPSE + [1] * 42}
    found = clinical(np.repeat([0, 1, 2], 21), outcome=outcome)[0]["survival"]
    pairs = {(pair["first"], pair["second"]): pair for pair in found["pairs"]}
    assert list(pairs) == [(0, 1), (0, 2), (1, 2)]
    textbook = stats.chi2.sf(16.793, 1)
    assert [pair["p"] for pair in pairs.values()] == pytest.approx([textbook, textbook, 1], rel=1e-3)
    assert [pair["adjusted"] for pair in pairs.values()] == pytest.approx([1.5 * textbook, 1.5 * textbook, 1], rel=1e-3)
    # of two clusters the test of all is that of the pair; of very many no table of pairs could be read
    assert clinical([0] * 21 + [1] * 21, outcome=TRIAL)[0]["survival"]["pairs"] == []
    assert clinical(np.arange(42) % 14, outcome=TRIAL)[0]["survival"]["pairs"] == []


def test_pairs_of_clusters_without_events_are_left_out():
    outcome = {"time": TRIAL["time"], "event": [0] * 28 + [1] * 14}
    found = clinical(np.repeat([0, 1, 2], 14), outcome=outcome)[0]["survival"]
    assert {(pair["first"], pair["second"]) for pair in found["pairs"]} == {(0, 2), (1, 2)}
    # all events at times that only one of two clusters has seen: no variance, so no test
    apart = clinical([0, 0, 1, 1, 2, 2], outcome=([1, 1, 5, 6, 7, 8], [0, 0, 1, 1, 1, 0]))[0]["survival"]
    assert all(math.isfinite(pair["p"]) for pair in apart["pairs"])
    assert {(pair["first"], pair["second"]) for pair in apart["pairs"]} == {(1, 2)}


@pytest.mark.parametrize(
    ("time", "event"),
    [
        ([5.0] * 12, [1] * 12),  # all at one time
        ([3.0] * 6 + [5.0] * 6, [0] * 6 + [1] * 6),  # those who could outlive it were censored before
        ([1.0, 1.0, 1.0, 5.0] * 3, [0, 0, 0, 1] * 3),
        ([2.0, 1.0, 1.0] * 4, [1, 0, 0] * 4),  # only the first cluster was seen at an event
    ],
)
def test_clusters_that_no_event_tells_apart_are_not_testable(time, event):
    """Packages give a p of 1 there, as the numbers of events that are expected have no variance."""
    found = clinical([0, 1, 2] * 4, outcome=(time, event))[0]["survival"]
    assert (found["p"], found["p_text"], found["pairs"]) == (None, None, [])
    assert found["n_untested"] == 3
    assert "not testable" in found["sentences"][0]


def test_a_cluster_that_no_event_met_is_no_degree_of_freedom():
    outcome = {"time": TRIAL["time"] + [0.5] * 5, "event": TRIAL["event"] + [0] * 5}
    found = clinical([0] * 21 + [1] * 21 + [2] * 5, outcome=outcome)[0]["survival"]
    assert found["p"] == pytest.approx(stats.chi2.sf(16.793, 1), rel=1e-3)  # that of the two alone
    assert found["sentences"][0].startswith("Log-rank test of 2 clusters")
    assert (len(found["pairs"]), found["n_untested"]) == (1, 2)


def test_the_band_is_the_interval_around_the_curve():
    lifelines = pytest.importorskip("lifelines")
    curve = clinical([0] * 21 + [1] * 21, outcome=TRIAL)[0]["survival"]["clusters"][0]
    fitted = lifelines.KaplanMeierFitter().fit(TREATED, RELAPSE)
    low, high = (fitted.confidence_interval_.iloc[:, i] for i in (0, 1))
    x, y = (np.array(curve["band"][axis]) for axis in "xy")
    half = len(x) // 2
    np.testing.assert_array_equal(x[:half], x[half:][::-1])
    for at in (3.0, 6.5, 12.0, 21.0, 30.0):
        step = np.flatnonzero(x[:half] <= at)[-1]
        assert y[step] == pytest.approx(high[:at].iloc[-1])
        assert y[half:][::-1][step] == pytest.approx(low[:at].iloc[-1])


def test_samples_without_an_outcome_are_left_out_and_said():
    time = [1.0, 2.0, None, 4.0, 5.0, math.nan, 7.0]
    found = clinical([0, 0, 0, 1, 1, 1, 2], outcome=(time, [1, "", 1, True, "0", 1, 1.0]))[0]["survival"]
    assert [curve["n"] for curve in found["clusters"]] == [1, 2, 1]
    said = " ".join(found["sentences"])
    assert "3 samples without a time or an event left out" in said
    assert "A single sample stands behind the curve of clusters C0 and C2" in said


def test_one_cluster_and_no_event_are_said_and_not_tested():
    assert "nothing to compare" in clinical([0] * 42, outcome=TRIAL)[0]["survival"]["sentences"][0]
    censored = clinical([0] * 21 + [1] * 21, outcome=TRIAL | {"event": [0] * 42})[0]["survival"]
    assert censored["p"] is None
    assert censored["sentences"][0].startswith("No event was seen")
    empty = clinical([0, 0, 1, 1], outcome=([1, 2, None, None], [1, 1, 1, 0]))[0]["survival"]
    assert any("No outcome is known in cluster C1" in text for text in empty["sentences"])


def test_outcomes_of_frames_are_matched_by_name():
    names = [f"p{i}" for i in range(42)]
    frame = pd.DataFrame(TRIAL, index=names)
    mixed = frame.sample(frac=1, random_state=0)
    one, other = (clinical([0] * 21 + [1] * 21, names=names, outcome=each)[0] for each in (frame, mixed))
    assert one == other
    with pytest.raises(ValueError, match="outcome: its index has none of the samples, such as 'p0'"):
        clinical([0, 1] * 21, names=names, outcome=frame.set_axis([f"q{i}" for i in range(42)]))
    with pytest.raises(ValueError, match="more than once in its index"):
        clinical([0, 1] * 21, names=names, outcome=frame.set_axis(["p0", *names[:-1]]))


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ({"time": [1, 2, 3, 4]}, "outcome has no column 'event'"),
        ([1, 2, 3, 4], "must have the columns 'time' and 'event', or be a pair"),
        (([1, 2, 3], [1, 1, 1]), r"other numbers of entries .* than there are samples, 4"),
        (([1, -2, 3, 4], [1, 1, 1, 0]), "column 'time' has '-2' for row 1; a time is a number of 0 or more"),
        (([1, math.inf, 3, 4], [1, 1, 1, 0]), "'inf' for row 1; a time is a number"),
        ((["1", "long", "3", "4"], [1, 1, 1, 0]), "'long' for row 1; a time is a number"),
        (([1, 2, 3, 4], [1, 1, 2, 0]), "column 'event' has '2' for row 2; write 1 where the event was seen"),
        (([1, 2, 3, 4], ["alive", "dead", "dead", "alive"]), "'alive' for row 0; write 1"),
        (([1, None, 3, None], [None, 1, None, 0]), "no sample has both 'time' and 'event'"),
    ],
)
def test_an_outcome_that_is_none_is_refused_in_a_sentence(outcome, said):
    with pytest.raises(ValueError, match=said):
        clinical([0, 0, 1, 1], outcome=outcome)


@pytest.fixture
def cohort():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [40, 35, 25])
    frame = pd.DataFrame(
        {
            "age": 50 + 8 * labels + rng.normal(size=100),
            "stage": pd.Categorical(np.where(labels == 1, "III", rng.choice(["I", "II"], 100))),
            "noise": rng.normal(size=100),
            "male": rng.integers(0, 2, 100).astype(bool),
            "patient": [f"id {i}" for i in range(100)],
            "country": "x",
        }
    )
    frame.loc[:9, "age"] = np.nan
    return labels, frame


def test_covariates_are_tested_as_scipy_does_and_adjusted_together(cohort):
    labels, frame = cohort
    found = clinical(labels, covariates=frame)[0]["associations"]
    rows = {row["name"]: row for row in found["rows"]}
    assert {name: row["test"] for name, row in rows.items()} == {
        "age": "Kruskal-Wallis",
        "stage": "χ²",
        "noise": "Kruskal-Wallis",
        "male": "χ²",
    }
    age = frame["age"].to_numpy()
    known = ~np.isnan(age)
    expected = stats.kruskal(*(age[known & (labels == i)] for i in range(3))).pvalue
    assert rows["age"]["p"] == pytest.approx(expected)
    assert rows["age"]["n"] == 90
    assert rows["male"]["p"] == pytest.approx(stats.chi2_contingency(pd.crosstab(labels, frame["male"])).pvalue)
    order = sorted(rows.values(), key=lambda row: row["p"])
    adjusted = stats.false_discovery_control([row["p"] for row in order])
    np.testing.assert_allclose([row["adjusted"] for row in order], adjusted)
    assert [row["name"] for row in found["rows"]][:2] in (["age", "stage"], ["stage", "age"])
    assert rows["stage"]["cells"][1].startswith("III 100")
    said = " ".join(found["left_out"])
    assert "patient has 100 values" in said
    assert "country has one value only" in said


@pytest.mark.parametrize("kind", ["mapping", "polars", "pandas"])
def test_covariates_come_in_any_kind_of_table(cohort, kind):
    labels, frame = cohort
    frame = frame.drop(columns=["stage"])
    given = {"mapping": frame.to_dict("list"), "pandas": frame}.get(kind)
    if kind == "polars":
        given = pytest.importorskip("polars").DataFrame(frame.to_dict("list"))
    found = clinical(labels, covariates=given)[0]["associations"]
    assert sorted(row["name"] for row in found["rows"]) == ["age", "male", "noise"]


def test_clusters_that_follow_a_batch_are_a_warning_and_others_are_not(cohort):
    labels, _ = cohort
    followed = np.where(labels == 1, "Leiden", "Oslo").tolist()
    found, summary = clinical(labels, batch=pd.Series(followed, name="site"))
    assert found["batch"]["follows"]
    assert "100\u00a0% of cluster C1 is from Leiden, which has 35.0\u00a0% of all samples" in found["batch"]["sentence"]
    assert summary["warnings"][0] == found["batch"]["sentence"]
    apart, summary = clinical(labels, batch=np.random.default_rng(1).integers(0, 3, 100))
    assert not apart["batch"]["follows"]
    assert "do not follow" in apart["batch"]["sentence"]
    assert not any("batch" in text for text in summary["warnings"])
    assert "one batch only" in clinical(labels, batch=["a"] * 100)[0]["batch"]["sentence"]
    assert "it is no batch" in clinical(labels, batch=np.arange(100))[0]["batch"]["sentence"]


def test_the_association_with_a_batch_is_corrected_for_chance():
    perfect = np.diag([20, 20, 20])
    assert cramers_v(perfect) == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    tables = [np.histogram2d(rng.integers(0, 5, 60), rng.integers(0, 8, 60), [5, 8])[0].astype(int) for _ in range(200)]
    assert np.mean([cramers_v(table) for table in tables]) < 0.1


def test_the_page_shows_it_and_names_cannot_break_out(cohort):
    labels, frame = cohort
    outcome = {"time": np.random.default_rng(0).exponential(10, 100), "event": [1, 0] * 50}
    covariates = frame[["age"]].assign(**{"<script>alert(1)</script>": np.where(labels == 1, "<img src=x>", "I")})
    batch = {"</script><!--": np.where(labels == 0, "<b>one</b>", "two")}
    model = SimpleNamespace(labels_=labels)
    views = Views([np.random.default_rng(0).normal(size=(100, 3))])
    page = manyviews.report(model, views, outcome=outcome, covariates=covariates, batch=batch, refit_seconds=0).html
    assert '<section id="clinical">' in page
    assert "Each pair by itself" in page
    assert 'id="survival"' in page
    assert "<script>alert" not in page
    assert "<img src=x>" not in page
    assert "<b>one" not in page
    without = manyviews.report(model, views, refit_seconds=0).html
    assert '<section id="clinical">' not in without


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([1, 1.0, 1, 1.0, 1, 1, 1], "has one value only"),
        ([None] * 7, "is empty"),
        ([1.0, 2.0, 3.0, None, None, None, None], "is known in one cluster only"),
        ([1.0, None, None, 2.0, None, 3.0, None], "is known for one sample of each cluster only"),
        ([1.0, 2.0, math.inf, 4.0, 5.0, 6.0, 7.0], "holds infinite numbers"),
    ],
)
def test_columns_that_cannot_be_tested_say_why(column, said):
    found = clinical([0, 0, 0, 1, 1, 2, 2], covariates={"x": column, "y": [1.0, 2, 3, 4, 5, 6, 7]})[0]["associations"]
    assert found["left_out"] == [f"x {said}"]
    assert [row["name"] for row in found["rows"]] == ["y"]
