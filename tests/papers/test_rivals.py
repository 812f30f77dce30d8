"""Tables without printed figures, made of whatever dense data there are, and the average ranks in them."""

import numpy as np
import pytest
from scipy import sparse

from manyviews import Views, datasets
from manyviews.papers.material import Material, dense_data
from manyviews.papers.page import render_page
from manyviews.papers.paper import paper
from manyviews.papers.plan import make_plan
from manyviews.papers.protocols import PROTOCOLS
from manyviews.papers.ranks import average_ranks
from manyviews.papers.summaries import summaries
from manyviews.papers.tables import to_latex, to_markdown
from manyviews.papers.verdict import reproduction_of
from manyviews.runs.outcomes import Outcome

RIVALS = ("FastMICE", "LMVSC", "SMVSC")


@pytest.fixture
def data():
    return {name: datasets.make_blobs_views(30, (4, 3), 3, random_state=0) for name in ("mfeat", "own")}


@pytest.fixture
def reproduction(data, monkeypatch):
    """FastMICE is best on one set and LMVSC on the other; SMVSC was not done on the second."""
    found, protocol = paper("fastmice").on(list(data)), PROTOCOLS["fastmice"]
    material = Material(data, protocol)
    setups = [setup for setup in protocol.setups if setup.row in RIVALS and not setup.variant]
    plan = make_plan(found, setups, material, range(1), full=False)
    scores = {("fastmice", "mfeat"): 0.9, ("fastmice", "own"): 0.4, ("lmvsc", "mfeat"): 0.5, ("lmvsc", "own"): 0.8}
    outcomes = {}
    for planned in plan:
        for run in planned.runs:
            value = scores.get((planned.setup.method, planned.dataset), 0.5)
            lost = (planned.setup.method, planned.dataset) == ("smvsc", "own")
            outcomes[id(run)] = outcome_of(run, value, lost)
    return reproduction_of(found, plan, outcomes, protocol.setups, tuple(data), 1)


def outcome_of(run, value, lost):
    names = ("nmi_max", "nmi", "ari", "acc", "purity")
    status, message = ("memory", "too much") if lost else ("ok", "")
    scores = {} if lost else dict.fromkeys(names, value)
    return Outcome(run, status, 1.0, value, 1, scores, None, message)


def test_open_tables_are_made_of_the_sets_that_are_there():
    found = paper("fastmice")
    assert found.is_open
    assert found.datasets == ("mfeat",)
    filled = found.on(["mfeat", "own"])
    assert not filled.is_open
    table = next(table for table in filled.tables if table.origin == "ours")
    assert table.datasets == ("mfeat", "own")
    assert table.figure("LMVSC", "own") is None
    assert table.title == "rivals, NMI (max)"
    assert [table for table in filled.tables if table.origin != "ours"] == list(found.tables[:5])
    assert not paper("mvec").is_open


def test_rows_not_done_share_the_place_behind_all_others(reproduction):
    cells = [cell for cell in reproduction.cells if cell.table.shown_as == "NMI (max)" and cell.table.origin == "ours"]
    ranks = {row.name: (row.rank, row.n_datasets, row.n_lost) for row in average_ranks(cells)}
    # mfeat: FastMICE 1, LMVSC and SMVSC share 2.5; own: LMVSC 1, FastMICE 2, SMVSC behind
    assert ranks == {"FastMICE": (1.5, 2, 0), "LMVSC": (1.75, 2, 0), "SMVSC": (2.75, 2, 1)}
    seconds = [cell for cell in reproduction.cells if cell.table.metric == "seconds"]
    assert average_ranks(seconds)[0].name == "LMVSC"
    assert summaries(reproduction.paper, cells[0].table, cells)[0].rows[0] == ("FastMICE", "1.50", "2", "0", "1.23")


def test_documents_have_the_ranks(reproduction):
    text = to_markdown(reproduction)
    assert "## rivals, NMI (max)" in text
    assert "### Average ranks, NMI (max)" in text
    assert "| FastMICE | 1.50 | 2 | 0 | 1.23 |" in text
    assert "| LMVSC | 1.75 | 2 | 0 | - |" in text
    assert "paper: s on YTF-200, n = 286 006" in text
    assert "| 2 | 1 | 74063.30 | - |" in text
    assert "M²VEC is left out" in text
    assert "rivals" in to_latex(reproduction)
    page = render_page(reproduction)
    assert "average rank" in page
    assert '<td class="number">2.75</td>' in page


def test_only_complete_dense_sets_with_classes_count(tmp_path):
    rng = np.random.default_rng(0)
    views = {"a": rng.normal(size=(12, 3)), "b": rng.normal(size=(12, 2))}
    labels = np.repeat([0, 1], 6)

    def save(name, arrays, **more):
        named = {f"view_{i}": X for i, X in enumerate(arrays.values())}
        np.savez(tmp_path / f"{name}.npz", view_names=list(arrays), **named, **more)

    save("dense", views, labels=labels)
    save("unlabelled", views)
    save("gaps", {"a": np.where(np.arange(12)[:, None] == 3, np.nan, views["a"]), "b": views["b"]}, labels=labels)
    (tmp_path / "broken.npz").write_bytes(b"no archive")
    found = dense_data(tmp_path)
    assert list(found) == ["dense"]
    assert found["dense"].name == "dense"
    assert isinstance(found["dense"].views, Views)
    assert not any(map(sparse.issparse, found["dense"].views.arrays))
