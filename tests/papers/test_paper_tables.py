"""Published figures, protocols, verdicts, and what a reproduction looks like as a document."""

import csv
import io
import json
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from manyviews import Views, datasets
from manyviews.cluster.registry import find_method
from manyviews.metrics import evaluate
from manyviews.papers.material import DataAbsentError, Material, find_data, material_name
from manyviews.papers.page import render_page
from manyviews.papers.paper import PAPERS, Figure, paper
from manyviews.papers.plan import Candidate, make_plan, measure
from manyviews.papers.protocols import PROTOCOLS
from manyviews.papers.tables import counted, to_csv, to_latex, to_markdown, why
from manyviews.papers.verdict import VERDICTS, judge, reproduction_of
from manyviews.runs.outcomes import Outcome, Run

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = "</script><script>alert(1)</script> | & \\ end"


@pytest.mark.parametrize("name", PAPERS)
def test_published_figures_are_complete_and_known_to_the_registry(name):
    found = paper(name)
    assert found.name == name
    for table in found.tables:
        assert all(datasets.info(data).name == data for data in table.datasets)
        assert table.metric == "seconds" or table.metric in evaluate([0, 1], [0, 1])
        highest = {"percent": 100, "fraction": 1}[found.unit] if table.metric != "seconds" else np.inf
        for figures in table.figures.values():
            assert len(figures) == len(table.datasets)
            for figure in filter(None, figures):
                assert -1 <= figure.mean <= highest
                assert figure.deviation is None or 0 <= figure.deviation < highest / 2


@pytest.mark.parametrize("name", PAPERS)
def test_protocols_name_rows_methods_and_parameters_that_are_there(name):
    found, protocol = paper(name), PROTOCOLS[name]
    for setup in protocol.setups:
        assert setup.row in found.rows
        estimator = find_method(setup.method).load()
        for full in (False, True):
            for parameters in setup.settings(full=full):
                estimator(n_clusters=3, **parameters)._validate_params()
        for data, view in setup.view.items():
            assert view in dict(datasets.info(data).views)
    for data, views in protocol.views.items():
        assert set(views) < set(dict(datasets.info(data).views))


def test_some_figures_are_those_of_the_papers():
    assert paper("op_lfmvc").tables[3].figure("OP-LFMVC", "citeseer") == Figure(18.3, 0.9)
    assert paper("OP-LFMVC").tables[0].figure("LMKKM", "sunrgbd") is None
    assert paper("mvec").tables[1].figure("RSEC_SUM", "mfeat") == Figure(77.0, 3.82)
    assert paper("mspl").tables[-1].figure("MSPL", "wisconsin") == Figure(0.337, 0.002)
    assert paper("fastmice").tables[0].origin == "measured"
    with pytest.raises(ValueError, match="did you mean 'mvec'"):
        paper("mvek")


@pytest.mark.parametrize(
    ("published", "mean", "deviation", "verdict"),
    [
        (Figure(60.8, 5.3), 66.1, 0.1, "reproduced"),
        (Figure(60.8, 5.3), 66.2, 9.0, "better"),
        (Figure(60.8, 5.3), 55.4, 9.0, "worse"),
        (Figure(75.7, 0.0), 73.0, 3.0, "reproduced"),
        (Figure(75.7, 0.0), 73.0, 2.0, "worse"),
        (Figure(75.7), 78.0, 2.0, "better"),
        (Figure(20.8, 0.0), 20.84, 0.0, "reproduced"),
        (Figure(20.8, 0.0), 20.9, 0.0, "better"),
    ],
)
def test_verdicts(published, mean, deviation, verdict):
    found, reason = judge(published, mean, deviation, 1)
    assert found == verdict
    assert bool(reason) == (not published.deviation)


@pytest.fixture
def texts():
    """Two sparse views of 20 samples under the name of a set of the papers."""
    rng = np.random.default_rng(0)
    views = {"content": sparse.csr_matrix(rng.poisson(1.0, (20, 6)) * 1.0), "cites": rng.random((20, 4))}
    blobs = datasets.make_blobs_views(20, (3,), 2, random_state=0)
    return replace(blobs, name="citeseer", views=Views(views))


def scored(run, value, status="ok", message=""):
    scores = dict.fromkeys(evaluate([0, 1], [0, 1]), value) if status == "ok" else {}
    return Outcome(run, status, 0.5, 0.25, 10**6, scores, None, message)


def compared(texts, values, *, lost=(), without=()):
    """The reproduction of a paper on one set, with the score of each setup by its name."""
    found, protocol = paper("op-lfmvc"), PROTOCOLS["op-lfmvc"]
    protocol = replace(protocol, setups=tuple(setup for setup in protocol.setups if setup.row not in without))
    plan = make_plan(found, protocol.setups, Material({"citeseer": texts}, protocol), range(2), full=False)
    outcomes = {}
    for planned in plan:
        for i, candidate in enumerate(planned.candidates):
            for run in candidate.runs:
                failed = planned.setup.name in lost
                value = values.get(planned.setup.name, 0.2) - 0.01 * i + 0.002 * run.seed
                outcomes[id(run)] = scored(run, value, "timeout" if failed else "ok", HOSTILE if failed else "")
    return reproduction_of(found, plan, outcomes, protocol.setups, ("citeseer",), 2)


def test_cells_compare_the_best_setting_and_say_why_they_cannot(texts):
    found = compared(texts, {"Avg-KKM": 0.207, "LF-MVC": 0.405, "OP-LFMVC": 0.60}, lost=["TP-LFMVC"], without=["MKKM"])
    cells = {cell.name: cell for cell in found.cells if cell.table.title == "Table 2, ACC"}
    assert cells["Avg-KKM"].verdict == "reproduced"
    assert cells["Avg-KKM"].mean == pytest.approx(20.8)
    assert cells["LF-MVC"].choice == "regularization = 3.052e-05"
    assert cells["LF-MVC"].verdict == "reproduced"
    assert cells["OP-LFMVC"].verdict == "better"
    assert cells["OP-LFMVC"].difference == pytest.approx(60.1 - 47.1)
    assert cells["OP-LFMVC"].p_value < 0.01
    assert cells["OP-LFMVC (default start)"].verdict == "worse"
    assert (cells["MKKM"].verdict, cells["MKKM"].reason) == ("not comparable", "the method is not in this library")
    timed_out = next(cell for cell in found.cells if cell.name == "TP-LFMVC")
    assert timed_out.reason.startswith("2 of 2 runs not done (timeout: ")
    assert timed_out.choice == ""
    times = [cell for cell in found.cells if cell.table.metric == "seconds" and cell.method]
    assert {cell.verdict for cell in times} == {"not comparable"}
    assert sum(found.counts().values()) + sum(found.counts(variants=True).values()) + found.n_not_run == len(
        found.cells
    )
    assert "of rows that were not run; " in counted(found)
    assert found.absent == tuple(name for name in found.paper.datasets if name != "citeseer")
    assert counted(found).endswith(f"on data sets that were not run ({', '.join(found.absent)})")
    assert why(cells["OP-LFMVC"]).startswith("from 2 runs only; p = ")


def test_a_single_run_has_no_deviation():
    assert judge(Figure(20.8, 0.0), 20.84, None, 1) == (
        "reproduced",
        "by the printed digits: the published deviation is 0, and ours is of one run",
    )
    assert judge(Figure(60.8, 5.3), 66.2, None, 1) == ("better", "")
    run = Run("concat-kmeans", "blobs", 0, {}, 2)
    table = paper("mspl").tables[0]
    found = measure([Candidate("", (run,))], {id(run): scored(run, 0.5)}, table)
    assert (found.mean, found.deviation, found.n_runs) == (0.5, None, 1)


def test_runs_that_differ_in_rounding_only_have_no_deviation():
    score, runs = 0.2697867137638703, tuple(Run("concat-kmeans", "blobs", seed, {}, 2) for seed in range(10))
    assert np.std([score] * 10, ddof=1) > 0
    table = paper("mspl").tables[0]
    outcomes = {id(run): scored(run, np.nextafter(score, run.seed % 2)) for run in runs}
    found = measure([Candidate("", runs)], outcomes, table)
    assert (found.mean, found.deviation) == (round(score, 12), 0.0)


def test_documents_hold_all_cells_and_names_stay_text(texts):
    found = compared(texts, {}, lost=["TP-LFMVC"])
    rows = list(csv.DictReader(io.StringIO(to_csv(found))))
    assert len(rows) == len(found.cells)
    assert {row["verdict"] for row in rows} <= set(VERDICTS)
    markdown, latex = to_markdown(found), to_latex(found)
    assert markdown.count("## Table") == latex.count("\\begin{table}") == len(found.paper.tables)
    assert "&lt;/script> \\| & \\ end" in markdown
    assert latex.count("\\begin{tabular}{lr}") == len(found.paper.tables)
    assert "OP-LFMVC & \\textbf{20.1 $\\pm$ 0.1} (47.1 $\\pm$ 1.1) $-$ \\\\" in latex
    lines = [line for line in markdown.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {8}


def test_the_page_is_complete_and_escapes_what_it_shows(texts):
    page = render_page(compared(texts, {}, lost=["TP-LFMVC"]))
    assert HOSTILE not in page
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in page
    own = page[: page.index("<script>")]  # before plotly.js
    assert not re.findall(r"(?:src|href)=\"(?!https://proceedings\.mlr\.press)", own)
    assert "default-src 'none'" in own
    assert "prefers-color-scheme: dark" in own
    charts = json.loads(re.search(r'id="page-data">(.*?)</script>', page, re.DOTALL)[1])["charts"]
    assert {"ranks", "times", "table-0"} <= set(charts)
    assert all(f'id="{name}"' in page for name in charts)
    # a row that timed out is drawn nowhere
    assert not any("TP-LFMVC, citeseer" in trace["y"] for trace in charts["table-4"]["data"])


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
def test_a_browser_draws_all_charts(texts, tmp_path):
    page = render_page(compared(texts, {}, lost=["TP-LFMVC"]))
    # printing draws what waits for an idle moment, which virtual time may not have
    probe = '<script>addEventListener("load", () => dispatchEvent(new Event("beforeprint")));</script></body>'
    (tmp_path / "page.html").write_text(page.replace("</body>", probe), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=20000"]
    command = [CHROMIUM, *options, "--dump-dom", (tmp_path / "page.html").as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    assert dom.count('data-state="drawn"') == page.count('<div class="chart"')


def test_material_takes_the_forms_that_protocols_ask_for(texts):
    material = Material({"citeseer": texts}, PROTOCOLS["op-lfmvc"])
    kernels = material[material_name("citeseer", "kernels", None)]
    assert [K.shape for K in kernels.views.arrays] == [(20, 20)] * 2
    X = texts.views.arrays[1]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    squares = ((Z[:, None] - Z) ** 2).sum(axis=2)
    np.testing.assert_allclose(kernels.views.arrays[1], np.exp(-squares / 4), atol=1e-12)
    dense = material[material_name("citeseer", "dense", "content")]
    assert dense.views.names == ("content",)
    assert isinstance(dense.views.arrays[0], np.ndarray)
    assert "cora:features" not in material
    words = Material({"bbcsport": replace(texts, name="bbcsport")}, PROTOCOLS["mvec"])
    weighted = words[material_name("bbcsport", "weighted", "content")].views.arrays[0]
    np.testing.assert_allclose(np.sqrt(weighted.multiply(weighted).sum(axis=1)), 1.0)
    assert (words["bbcsport:features"].views.arrays[0] != texts.views.arrays[0]).nnz == 0
    digits = datasets.load("mfeat")
    assert Material({"mfeat": digits}, PROTOCOLS["mvec"]).view_names("mfeat") == ("fourier", "pixel_averages")


def test_data_that_are_not_shipped_are_looked_up_in_a_folder(tmp_path):
    assert find_data("handwritten", None).name == "mfeat"
    with pytest.raises(DataAbsentError, match=r"no folder of data is given.*WebKB.*--data"):
        find_data("cornell", None)
    with pytest.raises(DataAbsentError, match=r"has no cornell\.npz or cornell\.mat"):
        find_data("cornell", tmp_path)
    np.savez(tmp_path / "Cornell.npz", view_0=np.eye(3), view_1=np.eye(3), labels=[0, 0, 1])
    with pytest.raises(ValueError, match="has 3 samples, 2 views and 2 classes, but cornell has 195, 2 and 5"):
        find_data("cornell", tmp_path)


@pytest.mark.parametrize("name", PAPERS)
def test_rows_can_be_named_in_a_list_with_commas(name):
    assert not any("," in row for row in paper(name).rows)
