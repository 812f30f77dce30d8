import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from manyviews import AverageKKM
from manyviews.findings.maps import MAX_POINTS, points_per_map
from manyviews.report import summarize
from manyviews.views import Views


def make_model(labels, **attributes):
    return SimpleNamespace(labels_=np.asarray(labels), **attributes)


def test_summary_is_plain_json(blobs):
    views, model = blobs
    summary = summarize(model, views, truth=["a"] * 25 + ["b"] * 35, run={"seed": 3, "timings": {"fit": 1.2}})
    json.dumps(summary, allow_nan=False)


def test_clusters_largest_first_with_shares_and_confidence(blobs):
    views, model = blobs
    clusters = summarize(model, views)["clusters"]
    assert [c["size"] for c in clusters] == [25, 20, 15]
    assert [c["name"] for c in clusters] == ["C0", "C1", "C2"]
    assert sum(c["share"] for c in clusters) == pytest.approx(1)
    assert {c["confidence"] for c in clusters} == {0.5}


def test_weights_convergence_and_method(blobs):
    views, model = blobs
    summary = summarize(model, views, run={"method": "some-method", "parameters": {"alpha": 2.0, "how": "x"}})
    assert summary["weights"] == [{"view": "shape", "weight": 0.75}, {"view": "colour", "weight": 0.25}]
    assert summary["convergence"]["values"] == [5.0, 3.0, 2.5]
    assert summary["convergence"]["shows"] == "objective"
    assert summary["convergence"]["iteration"] == [1, 2, 3]
    assert summary["method"]["name"] == "some-method"
    assert [(p["name"], p["value"]) for p in summary["method"]["parameters"]] == [("alpha", "2"), ("how", "x")]


def test_parameters_of_an_estimator_say_which_are_defaults():
    cluster = pytest.importorskip("sklearn.cluster")
    X = np.array([[0.0], [0.1], [5.0]])
    model = cluster.KMeans(2, n_init=1, random_state=0).fit(X)
    parameters = {p["name"]: p for p in summarize(model, X)["method"]["parameters"]}
    assert parameters["n_clusters"] == {"name": "n_clusters", "value": "2", "is_default": False}
    assert parameters["tol"]["is_default"]


def test_one_map_for_all_views_and_one_for_each(blobs):
    views, model = blobs
    summary = summarize(model, views)
    assert [m["kind"] for m in summary["maps"]] == ["consensus", "view", "view", "neighbors"]
    assert [m["name"] for m in summary["maps"][1:3]] == ["shape", "colour"]
    assert "embedding" in summary["maps"][0]["how"]
    assert all(len(m["x"]) == len(m["y"]) == len(m["points"]) == 60 for m in summary["maps"])
    assert summary["points"]["cluster"] == model.labels_.tolist()


def test_without_embedding_the_views_are_put_side_by_side(blobs):
    views, model = blobs
    del model.embedding_
    assert "side by side" in summarize(model, views)["maps"][0]["how"]


def test_one_view_without_embedding_is_drawn_once():
    summary = summarize(make_model([0, 0, 1]), [np.eye(3)])
    assert [m["kind"] for m in summary["maps"]] == ["view"]


def test_map_of_two_columns_is_a_turn_of_the_scaled_view(blobs):
    views, model = blobs
    flat = summarize(model, views)["maps"][1]
    X = views.arrays[0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    drawn = np.column_stack([flat["x"], flat["y"]])
    drawn *= np.linalg.norm(X) / np.linalg.norm(drawn)  # the map's unit is its own
    distances = [np.linalg.norm(Z[:, None] - Z[None], axis=2) for Z in (X, drawn)]
    np.testing.assert_allclose(distances[0], distances[1], atol=0.01)
    assert sum(flat["shares"]) == pytest.approx(1, abs=1e-6)


def test_scores_and_confusion_against_classes(blobs):
    views, model = blobs
    truth = np.repeat(["dog", "cat", "eel"], [25, 20, 15])
    summary = summarize(model, views, truth=truth)
    assert {s["key"]: s["value"] for s in summary["scores"]}["acc"] == 1.0
    assert all(s["meaning"] for s in summary["scores"])
    confusion = summary["confusion"]
    assert confusion["classes"] == ["cat", "dog", "eel"]
    assert confusion["clusters"] == [1, 0, 2]
    assert confusion["counts"] == [[20, 0, 0], [0, 25, 0], [0, 0, 15]]
    assert [c["class"] for c in summary["clusters"]] == ["dog", "cat", "eel"]
    assert "agree on 100\u00a0% of the samples" in summary["headline"]


def test_unknown_classes_are_left_out_and_said():
    X = np.arange(6.0)[:, None]
    summary = summarize(make_model([0, 0, 0, 1, 1, 1]), [X], truth=["a", None, "", "b", "b", float("nan")])
    assert summary["n_unknown"] == 3
    assert sum(map(sum, summary["confusion"]["counts"])) == 3
    assert any("class of 3 samples is not known" in text for text in summary["warnings"])
    assert summary["points"]["class"] == ["a", None, None, "b", "b", None]


def test_truth_without_any_class_is_no_truth():
    summary = summarize(make_model([0, 1]), [np.eye(2)], truth=[None, None])
    assert summary["confusion"] is None
    assert summary["scores"] == []


def test_classes_are_in_natural_order():
    X = np.arange(4.0)[:, None]
    summary = summarize(make_model([0, 0, 0, 0]), [X], truth=["class 10", "class 9", "class 2", "x"])
    assert sorted(summary["confusion"]["classes"]) == ["class 10", "class 2", "class 9", "x"]
    rows = [name for name in summary["confusion"]["classes"] if name != "class 2"]
    assert rows == ["class 9", "class 10", "x"]


def test_many_classes_and_clusters_are_cut_and_said():
    labels = np.arange(200) % 50
    summary = summarize(make_model(labels), [np.arange(200.0)[:, None]], truth=labels)
    assert len(summary["confusion"]["classes"]) == len(summary["confusion"]["clusters"]) == 30
    assert summary["confusion"]["n_hidden_classes"] == summary["confusion"]["n_hidden_clusters"] == 20


def test_scores_of_the_record_are_shown_without_truth(blobs):
    views, model = blobs
    scores = summarize(model, views, run={"scores": {"nmi": 0.5, "own": 2.0, "bad": float("nan")}})["scores"]
    assert [(s["key"], s["value"]) for s in scores] == [("nmi", 0.5), ("own", 2.0)]


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"converged_": False, "n_iter_": 7}, "stopped after 7 iterations before it had settled"),
        ({"n_clusters": 5}, "5 clusters were asked for, but only 2 came back"),
        ({"view_weights_": np.array([1.0, 0.0])}, "no weight to second"),
        ({"history_": SimpleNamespace(objective=[1.0, np.nan])}, "not a finite number in 1 iteration"),
    ],
)
def test_warnings_in_words(attributes, words):
    views = Views({"first": np.eye(4), "second": np.eye(4)})
    assert any(words in text for text in summarize(make_model([0, 0, 1, 1], **attributes), views)["warnings"])


def test_a_cluster_with_nearly_everything_is_a_warning():
    warnings = summarize(make_model([0] * 19 + [1]), [np.arange(20.0)[:, None]])["warnings"]
    assert any("One cluster holds 95.0\u00a0%" in text for text in warnings)


def test_nothing_to_warn_of(blobs):
    assert summarize(*reversed(blobs))["warnings"] == []


def test_missing_samples_are_not_drawn_in_that_view_and_counted():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(10, 3)), rng.normal(size=(10, 3))
    second[:4] = np.nan
    summary = summarize(make_model([0, 1] * 5), {"first": first, "second": second})
    assert [len(m["points"]) for m in summary["maps"]] == [10, 10, 6, 10]
    assert summary["maps"][2]["points"] == [4, 5, 6, 7, 8, 9]
    assert "4 samples not observed in this view." in summary["maps"][2]["notes"]
    assert summary["data"]["views"][1]["n_missing"] == 4
    json.dumps(summary, allow_nan=False)


def test_large_data_shows_a_seeded_random_part(quick_baselines):
    n = MAX_POINTS + 1000
    X = np.random.default_rng(0).normal(size=(n, 2))
    model = make_model(np.arange(n) % 2)
    summary = summarize(model, [X])
    assert len(summary["maps"][0]["points"]) == MAX_POINTS
    assert "A random 4,000 of the 5,000 samples." in summary["maps"][0]["notes"]
    assert summary == summarize(model, [X])
    assert summary["points"] != summarize(model, [X], random_state=1)["points"]


def test_pages_with_many_maps_show_fewer_points_in_each():
    assert points_per_map(2) == MAX_POINTS
    assert 1000 <= points_per_map(21) < MAX_POINTS
    assert points_per_map(1000) == 1000


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("one column", np.arange(8.0)[:, None]),
        ("constant", np.ones((8, 3))),
        ("constant but for rounding", np.full((8, 3), 0.1)),
        ("zero", np.zeros((8, 2))),
        ("huge", np.arange(16.0).reshape(8, 2) ** 2 * 1e305),
        ("tiny", np.arange(16.0).reshape(8, 2) ** 2 * 1e-300),
        ("whole numbers", np.arange(16).reshape(8, 2) ** 2),
        ("float32", (np.arange(16.0).reshape(8, 2) ** 2).astype(np.float32)),
        ("sparse", sparse.csr_matrix(np.eye(8))),
        ("sparse, one column", sparse.csr_matrix(np.eye(8)[:, :1])),
        ("sparse, negative", sparse.csr_matrix(-np.eye(8))),
        ("sparse, empty", sparse.csr_matrix((8, 5))),
        ("wide", np.random.default_rng(0).normal(size=(8, 40))),
    ],
)
def test_any_view_gives_a_map(name, array):
    summary = summarize(make_model([0, 1] * 4), {name: array, "other": np.eye(8)})
    flat = summary["maps"][1]
    assert len(flat["x"]) == 8
    assert np.isfinite(flat["x"]).all()
    assert np.isfinite(flat["y"]).all()
    drawable = "constant" not in name and name not in ("zero", "sparse, empty")
    assert (flat["n_axes"] > 0) == drawable
    json.dumps(summary, allow_nan=False)


@pytest.mark.parametrize("kind", ["standard", "minmax", "unit", None])
def test_maps_follow_the_scaling_of_the_model(kind):
    rng = np.random.default_rng(0)
    views = Views({"a": rng.normal(size=(9, 3)), "b": rng.normal(size=(9, 3)) * [1, 10, 100]})
    summary = summarize(make_model([0, 1, 2] * 3, scalings_=("unit", kind)), views)
    words = {"standard": "standardised", "minmax": "same range", "unit": "length 1", None: "as given"}[kind]
    assert words in summary["maps"][2]["how"]


@pytest.mark.parametrize("labels", [[0], [0, 0], [0, 1], ["b", "a"], [5, -1]])
def test_one_or_two_samples(labels):
    summary = summarize(make_model(labels), [np.eye(2)[: len(labels)]], truth=labels)
    assert sum(c["size"] for c in summary["clusters"]) == len(labels)
    json.dumps(summary, allow_nan=False)


def test_embedding_that_cannot_be_drawn_is_not_used(blobs):
    views, model = blobs
    model.embedding_ = np.full((60, 2), np.nan)
    assert "side by side" in summarize(model, views)["maps"][0]["how"]


SPLITS = {"2": [{"size": 0.5, "parts": []}, {"size": 0.5, "parts": []}]}


def test_record_has_a_place_for_everything(blobs):
    views, model = blobs
    run = {
        "seed": 0,
        "scores": {"acc": 1.0},
        "data": {"name": "blobs", "n_samples": 60, "notes": []},
        "versions": {"numpy": "2.0"},
        "inputs": {"a.csv": "ff"},
        "timings": {"fit": 0.25, "total": 83.0, "odd": "x"},
        "peak_memory": {"fit": 2_000_000},
        "repeat": "manyviews cluster a.csv -k 3",
        "flag": True,
        "none": None,
        "choice": {
            "n_clusters": 3,
            "reason": "Why <3>.",
            "scores": {"2": {"score": 0.1}, "3": {"score": 1.0}},
            "splits": SPLITS,
        },
    }
    summary = summarize(model, views, run=run)
    assert summary["seconds"] == 83.0
    assert summary["record"] == {
        "stages": [
            {"name": "clustering", "seconds": 0.25, "memory": 2_000_000.0},
            {"name": "all together", "seconds": 83.0, "memory": None},
        ],
        "choice": {
            "n_clusters": 3,
            "reason": "Why <3>.",
            "scores": {2: {"score": 0.1}, 3: {"score": 1.0}},
            "splits": {2: SPLITS["2"]},
        },
        "repeat": "manyviews cluster a.csv -k 3",
        "seed": "0",
        "versions": [("numpy", "2.0")],
        "inputs": [("a.csv", "ff")],
        "rest": [("data: name", "blobs"), ("data: notes", ""), ("flag", "yes"), ("none", "none")],
    }


def test_without_a_record_versions_seed_and_command_are_found(three_views):
    views, _ = three_views
    model = AverageKKM(n_clusters=3, random_state=4).fit(views)
    record = summarize(model, views, refit_seconds=0)["record"]
    assert record["seed"] == "4"
    assert record["repeat"] == "AverageKKM(n_clusters=3, random_state=4).fit(views)"
    assert {"manyviews", "python", "numpy", "scipy", "scikit-learn"} == {name for name, _ in record["versions"]}


def test_a_long_history_is_thinned_but_keeps_its_ends():
    model = make_model([0, 1], history_=SimpleNamespace(objective=np.arange(5000.0)))
    curve = summarize(model, [np.eye(2)])["convergence"]
    assert len(curve["values"]) == 1000
    assert (curve["iteration"][0], curve["iteration"][-1], curve["n_iter"]) == (1, 5000, 5000)


def test_errors_say_what_to_change(blobs):
    views, model = blobs
    with pytest.raises(ValueError, match=r"not fitted .* call fit"):
        summarize(SimpleNamespace(), views)
    with pytest.raises(ValueError, match=r"labels_ has shape \(3,\) but there are 60 samples"):
        summarize(make_model([0, 1, 2]), views)
    with pytest.raises(ValueError, match="truth has 2 entries for 60 samples"):
        summarize(model, views, truth=["a", "b"])


def test_what_was_done_to_each_view_is_told_where_the_model_tells_it(three_views):
    views, _ = three_views
    model = AverageKKM(n_clusters=3, scaling={"view_0": "minmax", "view_1": None}, random_state=0).fit(views)
    told = summarize(model, views, refit_seconds=0)["scalings"]
    assert [view["name"] for view in told] == ["view_0", "view_1", "view_2"]
    assert [view["how"] for view in told] == [
        "columns brought to the same range",
        "numbers as given",
        "columns standardised",
    ]
    assert summarize(make_model([0, 1]), [np.eye(2)])["scalings"] == []
