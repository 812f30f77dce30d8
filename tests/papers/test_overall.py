"""Scores over all data sets of a table, asterisks, and what became of the printed leads."""

import csv
import io

import pytest

from manyviews.papers.overall import leads, published_score, scores, stars
from manyviews.papers.page import render_page
from manyviews.papers.paper import paper
from manyviews.papers.summaries import summaries
from manyviews.papers.tables import to_csv, to_latex, to_markdown
from manyviews.papers.verdict import Cell, Reproduction

PAPER = paper("mvec")
NMI = PAPER.tables[0]


def cell(row, dataset, mean, deviation=1.0, *, n_runs=20, variant=""):
    method = "mvec" if row == "MVEC" else "rival"
    published = NMI.figure(row, dataset)
    return Cell(NMI, dataset, row, variant, method, published, mean, deviation, n_runs, "", "worse", "", None)


@pytest.fixture
def cells():
    """MVEC leads on 3sources, is behind on bbcsport, is level on mfeat, where RSEC_SUM was not done."""
    return [
        cell("SEC_BSV", "3sources", 60.0),
        cell("SEC_BSV", "bbcsport", 90.0),
        cell("SEC_BSV", "mfeat", 79.9),
        cell("RSEC_SUM", "3sources", 40.0),
        cell("RSEC_SUM", "bbcsport", 60.0),
        cell("RSEC_SUM", "mfeat", None, None, n_runs=0),
        cell("MVEC", "3sources", 80.0, 0.0),
        cell("MVEC", "bbcsport", 81.0),
        cell("MVEC", "mfeat", 80.0),
        cell("MVEC", "3sources", 88.0, variant="default"),
        cell("MVEC", "bbcsport", 95.0, variant="default"),
        cell("MVEC", "mfeat", 88.0, variant="default"),
    ]


@pytest.mark.parametrize("table", PAPER.tables, ids=lambda table: table.shown_as)
def test_printed_scores_follow_from_the_printed_figures(table):
    # but for one: CRSC is printed with the score of the row above it
    slip = {("CRSC", "2"): 4.415}
    for row, printed in table.scores.items():
        expected = slip.get((row, table.number), printed)
        assert published_score(table, row, table.datasets) == pytest.approx(expected, abs=0.0101)


def test_scores_are_shares_of_the_best_row_that_follows_the_paper(cells):
    found = {row.name: row for row in scores(NMI, cells)}
    assert found["SEC_BSV"].ours == pytest.approx(60 / 80 + 1 + 79.9 / 80)
    assert (found["RSEC_SUM"].ours, found["RSEC_SUM"].n_lost) == (pytest.approx(0.5 + 60 / 90), 1)
    assert found["MVEC"].ours == pytest.approx(1 + 81 / 90 + 1)
    assert found["MVEC"].printed == 5.98
    # on these three sets MVEC is printed as the best but for the digits, where RSEC_BSV is
    assert found["MVEC"].published == pytest.approx(2 + 86.66 / 88.2)
    assert found["MVEC (default)"].ours == pytest.approx(1.1 + 95 / 90 + 1.1)
    assert found["MVEC (default)"].printed is None
    assert scores(paper("op-lfmvc").tables[0], cells) == []
    # with no row that follows the paper there is nothing to take a share of
    assert [row.ours for row in scores(NMI, [each for each in cells if each.variant])] == [None]


def test_leads_tell_what_became_of_the_printed_ones(cells):
    found = {(lead.name, lead.dataset): lead for lead in leads(NMI, cells, "mvec")}
    assert found["MVEC", "3sources"].published.rival == "RSEC_BSV"
    assert found["MVEC", "3sources"].published.starred
    assert found["MVEC", "3sources"].outcome == "holds"
    assert found["MVEC", "bbcsport"].published.difference == pytest.approx(90.83 - 87.26)
    assert found["MVEC", "bbcsport"].outcome == "vanishes: SEC_BSV is significantly ahead"
    assert not found["MVEC", "mfeat"].published.starred
    assert (found["MVEC", "mfeat"].ours.difference, found["MVEC", "mfeat"].ours.tells) == (pytest.approx(0.1), False)
    assert found["MVEC", "mfeat"].outcome == "none printed"
    assert found["MVEC (default)", "bbcsport"].outcome == "holds"


def test_a_rival_made_otherwise_may_take_the_lead():
    cells = [cell("MVEC", "bbcsport", 90.0), cell("SEC_BSV", "bbcsport", 80.0)]
    otherwise = cell("RSEC_SUM", "bbcsport", 93.0, variant="default")
    assert leads(NMI, cells, "mvec")[0].outcome == "holds"
    found = leads(NMI, [*cells, otherwise], "mvec")[0]
    assert (found.ours.rival, found.any_row.rival) == ("SEC_BSV", "RSEC_SUM (default)")
    assert found.outcome == "holds, but vanishes: RSEC_SUM (default) is significantly ahead"
    level = cell("SEC_BSV", "bbcsport", 89.9)
    found = leads(NMI, [cells[0], level, otherwise], "mvec")[0]
    assert found.outcome == "is not told from chance over SEC_BSV; vanishes: RSEC_SUM (default) is significantly ahead"


def test_one_run_tells_nothing_and_runs_without_chance_tell_all():
    single = [cell("MVEC", "bbcsport", 91.0, None, n_runs=1), cell("SEC_BSV", "bbcsport", 60.0)]
    assert leads(NMI, single, "mvec")[0].outcome == "is not told from chance over SEC_BSV"
    fixed = [cell("MVEC", "bbcsport", 91.0, 0.0), cell("SEC_BSV", "bbcsport", 90.0, 0.0)]
    assert leads(NMI, fixed, "mvec")[0].outcome == "holds"
    level = [cell("MVEC", "bbcsport", 90.0, 0.0), cell("SEC_BSV", "bbcsport", 90.0, 0.0)]
    assert leads(NMI, level, "mvec")[0].outcome == "vanishes: SEC_BSV is level"
    loose = cell("RSEC_SUM", "bbcsport", 90.0, 30.0)
    assert leads(NMI, [*fixed, loose], "mvec")[0].outcome == "is not told from chance over RSEC_SUM"
    alone = [cell("MVEC", "bbcsport", 90.0)]
    assert leads(NMI, alone, "mvec")[0].outcome == ""


def test_documents_have_scores_asterisks_and_leads(cells):
    reproduction = Reproduction(PAPER, tuple(cells), 20)
    due = stars(cells, "mvec")
    assert [each.dataset for each in cells if id(each) in due.ours and not each.variant] == ["3sources"]
    text = to_markdown(reproduction)
    assert "**80.00 ± 0.00** *" in text
    assert "Over 3 of the paper's 6 data sets (3sources, bbcsport, mfeat), so at most 3" in text
    assert "| MVEC | 5.98 | 2.98 | 2.90 | 0 |" in text
    assert "| MVEC | bbcsport | +3.57 * | SEC_BSV | 3.1e-07 | -9.00 | SEC_BSV |" in text
    page = render_page(reproduction)
    assert "vanishes: SEC_BSV is significantly ahead" in page
    assert "<strong>80.00 ± 0.00</strong> *" in page
    assert "$^*$" in to_latex(reproduction)
    assert "2.90 (2.98)" in to_latex(reproduction)
    rows = list(csv.DictReader(io.StringIO(to_csv(reproduction))))
    own = next(row for row in rows if (row["row"], row["data"], row["variant"]) == ("MVEC", "3sources", ""))
    assert (own["starred"], own["published_starred"]) == ("1", "1")
    assert [own[name] for name in ("printed_score", "published_score", "score")] == ["5.98", "2.98254", "2.9"]


def test_other_tables_have_neither():
    table = paper("op-lfmvc").tables[0]
    one = Cell(table, "3sources", "MKKM", "", "mkkm", None, 40.0, 1.0, 20, "", "worse", "", None)
    assert summaries(paper("op-lfmvc"), table, [one]) == []
