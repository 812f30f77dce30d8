import numpy as np
import pytest
from command_data import CLASSES, table

from few_members import small_consensus
from manyviews.cli import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with files of every sort, made the current one."""
    monkeypatch.chdir(tmp_path)
    table(1).write_csv("a.csv")
    table(2, kind=[f"class {c}" for c in CLASSES]).write_parquet("b.parquet")
    table(3).drop("id").write_csv("plain.csv")
    np.savez("m.npz", view_0=table(1).drop("id").to_numpy(), view_1=table(2).drop("id").to_numpy(), labels=CLASSES)
    return tmp_path


class Result:
    def __init__(self, code, captured):
        self.code, self.out, self.err = code, captured.out, captured.err


def no_charts(summary):
    """The data of a page without charts; drawing them takes most of the time of a run on few samples."""
    return {"texts": [], "clusters": [cluster["name"] for cluster in summary["clusters"]], "charts": {}}


@pytest.fixture
def drawn():
    """Asked for by tests of the page: ``run`` leaves the charts out without it; tests/report looks at each of them."""


@pytest.fixture
def run(request, capsys, monkeypatch, kept_processes):
    """Run the command in this process, without refits and progress, which a busy machine would make appear.

    The default method and the choice of a number of clusters have few members, as what is done with them hangs on no
    number of these.
    """
    small_consensus(monkeypatch)
    monkeypatch.setattr("manyviews.recommend.cluster_numbers.BASE_CLUSTERINGS", 12)
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr("manyviews.report.html._payload", no_charts)
        monkeypatch.setattr("manyviews.findings.maps._tsne", lambda table, random_state: table[:, [0, -1]])
    monkeypatch.setattr("manyviews.cli.console._SECONDS_BEFORE_PROGRESS", 3600)
    monkeypatch.setattr("manyviews.cli.clustering.REFIT_SECONDS", 0.0)

    def _run(*argv):
        capsys.readouterr()
        return Result(main([str(arg) for arg in argv]), capsys.readouterr())

    return _run
