"""Figures of the papers: their fits, what is drawn, and where it is written."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from manyviews import datasets
from manyviews.metrics import evaluate
from manyviews.papers.drawn import FIGURES, plan_figures
from manyviews.papers.figure_numbers import figures_csv
from manyviews.papers.figure_parts import FigureTask
from manyviews.papers.fusion_figures import WEIGHED
from manyviews.papers.material import Material
from manyviews.papers.mspl_figures import noisy_toy, toy
from manyviews.papers.mvec_figures import CorruptedMaterial
from manyviews.papers.page import render_figures, render_page
from manyviews.papers.paper import PAPERS, paper
from manyviews.papers.plan import make_plan
from manyviews.papers.protocols import PROTOCOLS
from manyviews.papers.verdict import Reproduction
from manyviews.runs.outcomes import Outcome

SETS = {"fastmice": "mfeat", "op-lfmvc": "citeseer", "mvec": "3sources", "mspl": "mfeat", "udbgl": "mfeat"}


def task(name, *, seeds=2, full=False, rows=None):
    data = datasets.make_blobs_views(90, (6, 5), 3, view_noise=0.4, random_state=0)
    protocol, dataset = PROTOCOLS[name], SETS[name]
    material = Material({dataset: replace(data, name="blobs")}, replace(protocol, views={}))
    setups = [setup for setup in protocol.setups if rows is None or setup.row in rows]
    # the rows that single views of a real set make have none here
    setups = [setup for setup in setups if not setup.view]
    plan = make_plan(paper(name).on([dataset]), setups, material, range(seeds), full=full)
    return FigureTask(paper(name), setups, material, range(seeds), full, plan)


def invented(planned):
    """Give every fit of the figures scores that tell its seed and place."""
    found = {}
    for place, run in enumerate(run for figure in planned for run in figure.runs):
        scores = dict.fromkeys(evaluate([0, 1], [0, 1]), 0.5 + 0.01 * run.seed)
        found[id(run)] = Outcome(run, "ok", 1.0, 0.1 + place, 1, scores, None, "")
    return found


@pytest.fixture(scope="module", params=PAPERS)
def drawn(request):
    planned = plan_figures(task(request.param))
    found = invented(planned)
    return request.param, planned, [figure.drawn(found) for figure in planned]


def test_every_paper_has_figures_and_they_name_their_fits(drawn):
    name, planned, figures = drawn
    assert len({figure.key for figure in figures}) == len(figures)
    swept = [figure for figure in planned if figure.runs]
    assert bool(swept) == (name != "mspl")
    for figure in swept:
        assert len({id(run) for run in figure.runs}) == len(figure.runs)
        assert {run.seed for run in figure.runs} >= {0, 1}


def test_charts_are_plain_data_that_the_page_can_colour(drawn):
    _, _, figures = drawn
    for figure in figures:
        assert figure.chart["data"]
        for trace in figure.chart["data"]:
            assert {"meta", "marker", "name", "x", "y"} <= set(trace)
        json.dumps(figure.chart, allow_nan=False)


def test_they_are_on_the_page_of_tables_and_on_one_of_their_own(drawn):
    name, _, figures = drawn
    for page in (render_page(Reproduction(paper(name), (), 1), figures), render_figures(paper(name), figures)):
        for figure in figures:
            assert f'id="{figure.key}"' in page


def test_their_numbers_are_a_table(drawn):
    _, _, figures = drawn
    rows = list(csv.DictReader(io.StringIO(figures_csv(figures))))
    assert {row["figure"] for row in rows} == {figure.title for figure in figures}
    assert all(row["value"] for row in rows)


@pytest.mark.parametrize("name", PAPERS)
def test_the_grids_of_the_papers_are_larger_and_need_the_own_method(name):
    quick, full = (sum(len(figure.runs) for figure in plan_figures(task(name, full=full))) for full in (False, True))
    assert full > quick or name in ("mspl", "op-lfmvc")
    assert plan_figures(task(name, rows=())) == []
    assert set(FIGURES) == set(PAPERS)


def test_lost_fits_leave_gaps():
    planned = plan_figures(task("udbgl"))
    found = invented(planned)
    first = planned[0]
    lost = {run.parameters["beta"] for run in first.runs[:2]}
    found |= {id(run): replace(found[id(run)], status="failed", scores={}) for run in first.runs[:2]}
    line = first.drawn(found).chart["data"][0]
    assert not set(line["x"]) & lost
    assert len(line["x"]) == 9
    assert line["error_y"]["array"][0] == pytest.approx(0.01 / 2**0.5)


def test_printed_figures_stand_beside_ours():
    planned = plan_figures(task("mvec"))
    figures = [figure.drawn(invented(planned)) for figure in planned]
    boxes = next(figure for figure in figures if figure.key == "figure-1c-0")
    printed = paper("mvec").tables[0].figure("MVEC", "3sources")
    assert boxes.chart["data"][-1]["y"] == [printed.mean]
    assert boxes.chart["data"][-1]["x"] == ["100"]


def test_iterations_of_op_lfmvc_show_scores_and_an_objective_that_only_rises():
    planned = plan_figures(task("op-lfmvc"))
    figures = {figure.key: figure for figure in (each.drawn(invented(planned)) for each in planned)}
    lines = {trace["name"]: trace for trace in figures["figure-1-0"].chart["data"] if "Table" not in trace["name"]}
    assert set(lines) == {"ACC", "NMI", "Purity", "adjusted RI", "objective"}
    objective = np.array(lines["objective"]["y"])
    assert (np.diff(objective) >= -1e-9).all()
    assert objective[-1] == pytest.approx(100)
    assert lines["ACC"]["x"] == list(range(1, len(objective) + 1))
    weights = figures["figure-2-0"].chart["data"]
    assert [trace["name"] for trace in weights] == list(WEIGHED)
    assert all(sum(trace["y"]) == pytest.approx(1) for trace in weights)
    seconds = {trace["name"]: trace for trace in figures["figure-3"].chart["data"]}
    assert dict(zip(seconds["citeseer, Table 4"]["y"], seconds["citeseer, Table 4"]["x"], strict=True)) == {
        "MKKM": 3.74,
        "TP-LFMVC": 2.83,
        "OP-LFMVC": 1.15,
    }
    assert figures["figure-3"].chart["layout"]["xaxis"]["type"] == "log"


def test_the_residual_of_mvec_falls_below_its_tolerance():
    planned = plan_figures(task("mvec"))
    figure = next(figure for figure in planned if figure.key == "figure-1a-residual-0").drawn({})
    for trace in figure.chart["data"]:
        assert trace["y"][-1] < 1e-4 < trace["y"][4]


def test_a_part_of_two_views_is_missing():
    made = task("mvec", seeds=1).material
    corrupted = CorruptedMaterial(made)
    name = "3sources:weighted"
    features = corrupted[f"{name}~features~0.5~0.2~0"]
    assert [X.shape[1] for X in features.views.arrays] == [3, 4]
    labels = corrupted[f"{name}~labels~0.5~0.1~0"]
    shares = [(X == -1).mean() for X in labels.views.arrays]
    assert shares == pytest.approx([0.5, 0.1], abs=0.02)
    again = corrupted[f"{name}~labels~0.5~0.1~0"]
    np.testing.assert_array_equal(labels.views.arrays[0], again.views.arrays[0])
    assert corrupted[name] is made[name]
    assert f"{name}~labels~0.5~0.1~0" in corrupted
    assert "absent~labels~0.5~0.1~0" not in corrupted


def test_the_toy_data_of_mspl_are_easy_in_the_views_that_they_should_be():
    data = toy()
    spread = np.array([[X[data.labels == c].std() for c in range(3)] for X in data.views.arrays])
    apart = np.array([[X[data.labels == c].std(axis=0).mean() for c in range(3)] for X in data.views.arrays])
    assert spread.shape == (3, 3)
    np.testing.assert_array_equal(apart.argmin(axis=0), [0, 1, 2])
    noise = noisy_toy().views.arrays[0] - data.views.arrays[0]
    assert (np.abs(noise) > 0.5).mean() == pytest.approx(0.1, abs=0.03)
