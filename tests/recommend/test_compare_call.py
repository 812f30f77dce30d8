"""``manyviews.compare``: what a call gives, what it refuses, and how far slow methods get."""

import numpy as np
import pytest

import manyviews
from manyviews import Views, datasets
from manyviews.cluster.registry import find_method
from manyviews.recommend.compare import choose_methods, compare_methods
from manyviews.recommend.fits import Options

FEW = ["average-kkm", "concat-kmeans", "u-spec"]


@pytest.fixture(scope="module")
def blobs():
    return datasets.make_blobs_views(90, (6, 5), 3, view_noise=0.2, random_state=0)


@pytest.fixture(scope="module")
def found(blobs):
    views = dict(blobs.views.items())
    return manyviews.compare(views, 3, methods=FEW, seeds=2, truth=blobs.labels, parts=0)


def test_what_a_call_gives(found, blobs):
    assert found.recommended == "concat-kmeans"
    assert found.certainty == "fairly sure"
    assert manyviews.metrics.adjusted_rand_index(blobs.labels, found.labels) == pytest.approx(1.0)
    assert found.reasons == found.recommendation.reasons
    assert repr(found).startswith("concat-kmeans suits these data as well as any of 2 methods")
    table = found.table
    assert len({len(column) for column in table.values()}) == 1
    assert table["method"][-1] == "u-spec"
    assert table["score"] == [*sorted(table["score"][:2], reverse=True), None]
    assert table["nmi"][:2] == pytest.approx([1.0, 1.0])
    assert table["status"] == ["ok", "ok", "unsuitable"]


def test_the_table_is_a_frame_and_the_figure_a_figure(found):
    frame = pytest.importorskip("pandas").DataFrame(found.table)
    assert list(frame["method"])[-1] == "u-spec"
    pytest.importorskip("plotly")
    assert [trace.name for trace in found.figure().data] == ["mean of the views", "view view_0", "view view_1"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_clusters": 1}, "n_clusters must be between 2 and the number of samples, 90"),
        ({"n_clusters": 91}, "got 91"),
        ({"n_clusters": 2.5}, "got 2.5"),
        ({"seeds": 0}, "seeds must be an integer of 1 or more"),
        ({"parts": -1}, "parts must be an integer of 0 or more"),
        ({"random_state": -1}, "random_state must be an integer of 0 or more"),
        ({"methods": []}, "methods is empty"),
        ({"methods": ["fastmise"]}, "did you mean 'fastmice'"),
        ({"methods": "families"}, "there is no family of methods 'families'"),
    ],
)
def test_refused(blobs, changes, words):
    with pytest.raises(ValueError, match=words):
        manyviews.compare(blobs.views, **{"n_clusters": 3, "methods": FEW} | changes)


def test_slow_methods_come_last_and_only_as_far_as_the_time_goes(tmp_path):
    rng = np.random.default_rng(0)
    views = Views({"a": rng.normal(size=(500, 30)), "b": rng.normal(size=(500, 30))})
    methods = [find_method(name) for name in ("mvec", "concat-kmeans")]
    options = Options(n_seeds=3, n_parts=2, time_limit=1.5)
    told = []
    found = compare_methods(views, methods, 3, tmp_path / "r", options=options, progress=told.append)
    assert [row.status for row in found.results] == ["timeout", "ok"]
    assert found.results[1].n_fits == 5
    assert found.recommended == "concat-kmeans"
    assert (told[-1].done, told[-1].remaining) == (told[-1].total, 0.0)
    again = compare_methods(views, methods, 3, tmp_path / "r", options=options, progress=(rest := []).append)
    assert [row.reason for row in again.results] == [row.reason for row in found.results]
    assert all(progress.latest is None for progress in rest)


def test_families():
    assert [method.name for method in choose_methods("late fusion")] == ["op-lfmvc", "tp-lfmvc", "lf-mvc"]
    assert {"fastmice", "concat-kmeans"} < {method.name for method in choose_methods("main")}
