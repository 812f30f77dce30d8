from dataclasses import replace

import numpy as np
import pytest

from manyviews import datasets
from manyviews.papers.fusion_figures import WEIGHED, paper_figures
from manyviews.papers.material import Material
from manyviews.papers.page import render_page
from manyviews.papers.paper import paper
from manyviews.papers.protocols import PROTOCOLS
from manyviews.papers.verdict import Reproduction

PROTOCOL = PROTOCOLS["op-lfmvc"]


@pytest.fixture(scope="module")
def figures():
    data = datasets.make_blobs_views(90, (6, 5), 3, view_noise=0.4, random_state=0)
    return paper_figures("op-lfmvc", PROTOCOL.setups, Material({"citeseer": replace(data, name="citeseer")}, PROTOCOL))


def test_iterations_show_scores_and_an_objective_that_only_rises(figures):
    lines = {trace["name"]: trace for trace in figures[0].chart["data"]}
    assert set(lines) == {"ACC", "NMI", "Purity", "adjusted RI", "objective"}
    assert len({len(line["y"]) for line in lines.values()}) == 1
    objective = np.array(lines["objective"]["y"])
    assert (np.diff(objective) >= -1e-9).all()
    assert objective[-1] == 100
    assert all(0 <= value <= 100 for value in lines["ACC"]["y"])
    assert lines["ACC"]["x"] == list(range(1, len(objective) + 1))


def test_weights_of_every_method_of_the_figure_sum_to_one(figures):
    traces = figures[1].chart["data"]
    assert [trace["name"] for trace in traces] == list(WEIGHED)
    for trace in traces:
        assert len(trace["y"]) == 2
        assert sum(trace["y"]) == pytest.approx(1)


def test_they_are_on_the_page(figures):
    page = render_page(Reproduction(paper("op-lfmvc"), (), 1), figures)
    for figure in figures:
        assert f"<h2>{figure.title}</h2>" in page
        assert f'id="{figure.key}"' in page


def test_papers_and_rows_without_figures():
    material = Material({}, PROTOCOL)
    assert paper_figures("mvec", PROTOCOLS["mvec"].setups, material) == []
    assert paper_figures("op-lfmvc", [setup for setup in PROTOCOL.setups if setup.row == "MKKM"], material) == []
