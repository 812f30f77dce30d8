import numpy as np
import pytest

from manyviews.papers.figures import charts, ranks_note
from manyviews.papers.page import render_page
from manyviews.papers.paper import paper
from manyviews.papers.significance import critical_difference, leading
from manyviews.papers.tables import to_csv, to_latex, to_markdown
from manyviews.papers.verdict import Cell, Reproduction

PAPER = paper("op-lfmvc")


def cell(row, mean, deviation=1.0, *, n_runs=20, dataset="3sources", variant="", table=PAPER.tables[0]):
    published = table.figure(row, dataset)
    return Cell(table, dataset, row, variant, "m", published, mean, deviation, n_runs, "", "worse", "", None)


def led(cells):
    marked = leading(cells)
    return [each.name for each in cells if id(each) in marked]


def test_the_best_and_what_cannot_be_told_from_it_are_marked():
    cells = [cell("Avg-KKM", 40.0), cell("MKKM", 39.7), cell("LMKKM", 38.0), cell("OP-LFMVC", 99.0, variant="default")]
    assert led(cells) == ["Avg-KKM", "MKKM"]
    # with few runs, or wide ones, less can be told
    assert led([cell("Avg-KKM", 40.0, n_runs=2), cell("LMKKM", 38.0, n_runs=2)]) == ["Avg-KKM", "LMKKM"]
    assert led([cell("Avg-KKM", 40.0, 9.0), cell("LMKKM", 38.0, 9.0)]) == ["Avg-KKM", "LMKKM"]


def test_columns_are_judged_by_themselves():
    cells = [
        cell(row, mean, dataset=d)
        for d, row, mean in [
            ("3sources", "MKKM", 50),
            ("3sources", "ONKC", 40),
            ("bbcsport", "MKKM", 40),
            ("bbcsport", "ONKC", 50),
        ]
    ]
    marked = leading(cells)
    assert [(each.row, each.dataset) for each in cells if id(each) in marked] == [
        ("MKKM", "3sources"),
        ("ONKC", "bbcsport"),
    ]


def test_figures_without_chance_and_single_rows():
    assert led([cell("MKKM", 40.0, 0.0), cell("ONKC", 40.0, 0.0), cell("LKAM", 39.9, 0.0)]) == ["MKKM", "ONKC"]
    assert led([cell("MKKM", 40.0)]) == []


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_critical_differences_are_those_of_the_printed_table(k, q):
    # the constants for 5 % that Demšar (2006) prints
    assert critical_difference(k, 12) == pytest.approx(q * np.sqrt(k * (k + 1) / 72), abs=2e-3)


def test_documents_mark_them_and_the_chart_of_ranks_says_how_far_is_far():
    one = Reproduction(PAPER, (cell("MKKM", 40.0), cell("ONKC", 30.0)), 20)
    assert "| **40.0 ± 1.0** |" in to_markdown(one)
    assert "| 30.0 ± 1.0 |" in to_markdown(one)
    assert "\\textbf{40.0 $\\pm$ 1.0}" in to_latex(one)
    assert [line.split(",")[15] for line in to_csv(one).splitlines()] == ["leading", "1", "0"]
    assert "<strong>40.0 ± 1.0</strong>" in render_page(one)
    assert "no telling" in ranks_note(one)
    assert "error_x" not in charts(one)["ranks"]["data"][1]
    two = Reproduction(PAPER, (*one.cells, cell("MKKM", 4, dataset="cora"), cell("ONKC", 3, dataset="cora")), 20)
    critical = critical_difference(2, 2)
    assert f"{critical:.2f} apart" in ranks_note(two)
    assert charts(two)["ranks"]["data"][1]["error_x"]["value"] == pytest.approx(critical / 2)
