import math
from dataclasses import replace

import numpy as np
import pytest

from manyviews import ConcatKMeans, datasets, sweep
from manyviews.recommend.sweep_figure import sweep_figure
from manyviews.recommend.sweep_page import render_sweep

DATA = datasets.make_blobs_views(90, (6, 5), 3, view_noise=0.15, random_state=0)


@pytest.fixture(scope="module")
def over_clusters(tmp_path_factory):
    store = tmp_path_factory.mktemp("sweep") / "runs.jsonl"
    grid = {"n_clusters": [2, 3, 4]}
    found = sweep(ConcatKMeans(8, n_init=2), DATA.views, grid, seeds=2, truth=DATA.labels, store=store)
    return found, store, grid


def test_the_right_number_of_clusters_scores_best(over_clusters):
    found, _, _ = over_clusters
    assert found.parameters == ("n_clusters",)
    assert found.points == ((2,), (3,), (4,))
    table = found.table
    assert table["n_clusters"] == [2, 3, 4]
    assert table["acc"][1] == 1.0
    assert table["structure"][1] > table["structure"][2]
    assert table["stability"][1] == 1.0
    assert all(len(column) == 3 for column in table.values())
    assert found.reasons == ["", "", ""]


def test_a_second_call_takes_the_stored_fits(over_clusters):
    found, store, grid = over_clusters
    before = store.read_bytes()
    again = sweep(ConcatKMeans(8, n_init=2), DATA.views, grid, seeds=2, truth=DATA.labels, store=store)
    assert store.read_bytes() == before
    assert again.scores == found.scores


def test_the_figure_is_a_line_for_one_parameter(over_clusters):
    figure = over_clusters[0].figure("acc")
    assert list(figure.data[0].x) == [2, 3, 4]
    assert figure.data[0].y[1] == 1.0
    with pytest.raises(ValueError, match="no score 'accuracy'"):
        over_clusters[0].figure("accuracy")


@pytest.mark.parametrize("score", ["nmi", "acc", "ari", "stability", "structure"])
@pytest.mark.parametrize(("value", "spread"), [(1.0, 0.0), (0.98, 0.05), (0.01, 0.02), (0.5, 0.0)])
def test_the_axis_of_a_score_does_not_go_beyond_what_the_score_can_be(score, value, spread):
    table = {score: [value, value], f"{score}_deviation": [spread, spread]}
    axis = sweep_figure(["n_clusters"], [(2,), (3,)], table, score).layout.yaxis
    low, high = axis.range
    least = -1 if score in ("ari", "stability", "structure") else 0
    assert least <= low < value <= high <= 1
    assert (axis.minallowed, axis.maxallowed) == (least, 1)


def test_no_ticks_stand_between_whole_numbers(over_clusters):
    found, _, _ = over_clusters
    assert found.figure("nmi").layout.xaxis.tickvals == (2, 3, 4)
    table = {"acc": [0.5, 0.6], "acc_deviation": [0.0, 0.0]}
    assert sweep_figure(["tol"], [(0.5,), (1.0,)], table, "acc").layout.xaxis.tickvals is None


def test_a_page_of_one_seed_speaks_of_no_deviations(over_clusters):
    several, _, _ = over_clusters
    one = replace(several, scores={name: [own[:1] for own in values] for name, values in several.scores.items()})
    pages = [render_sweep(found, title="blobs", method="ConcatKMeans") for found in (several, one)]
    assert ["Bars are the standard deviation over seeds" in page for page in pages] == [True, False]
    assert ["Deviations are over the seeds" in page for page in pages] == [True, False]


def test_two_parameters_make_a_map_and_failures_have_a_reason():
    grid = {"n_clusters": [3, 91], "n_init": [1, 2]}
    found = sweep(ConcatKMeans(3), DATA.views, grid, seeds=1)
    assert found.points == ((3, 1), (3, 2), (91, 1), (91, 2))
    assert math.isnan(found.table["structure"][2])
    assert "n_clusters=91" in found.reasons[2]
    heat = found.figure().data[0]
    assert list(heat.y) == ["3", "3", "91", "91"]


@pytest.mark.parametrize(
    ("estimator", "grid", "match"),
    [
        (object(), {"n_init": [1]}, "methods of manyviews"),
        (ConcatKMeans(3), {}, "one or two parameters"),
        (ConcatKMeans(3), {"n_starts": [1]}, "no parameter 'n_starts'"),
        (ConcatKMeans(3), {"random_state": [1]}, "no parameter 'random_state'"),
        (ConcatKMeans(3), {"n_init": []}, "no values for 'n_init'"),
        (ConcatKMeans(3), {"n_init": [np.arange(3)]}, "which can be stored"),
    ],
)
def test_what_cannot_be_swept_is_told(estimator, grid, match):
    with pytest.raises(ValueError, match=match):
        sweep(estimator, DATA.views, grid)
