"""``manyviews.report(model, views)``: a package that can be called, and what a notebook shows."""

import importlib
import inspect
import pickle
import subprocess
import sys

import pytest

import manyviews
from manyviews import AverageKKM
from manyviews.report import Report, render_report, summarize

pytest.importorskip("plotly")
pytest.importorskip("jinja2")


@pytest.fixture
def fitted(three_views):
    views, labels = three_views
    return AverageKKM(n_clusters=3, random_state=0).fit(views), views, labels


def test_the_package_can_be_called_and_imported_in_any_order(fitted):
    model, views, labels = fitted
    page = manyviews.report(model, views, truth=labels, title="Three", refit_seconds=0)
    assert isinstance(page, Report)
    assert manyviews.report is importlib.import_module("manyviews.report") is sys.modules["manyviews.report"]
    assert manyviews.report.summarize is summarize
    assert importlib.import_module("manyviews.pages.wording").plain("a") == "a"
    code = "from manyviews.report import html; import manyviews; print(callable(manyviews.report), html.__name__)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "True manyviews.report.html"


def test_the_call_has_the_signature_of_the_function():
    signature = inspect.signature(manyviews.report)
    assert list(signature.parameters)[:2] == ["model", "views"]
    assert set(signature.parameters) == set(inspect.signature(render_report).parameters)
    with pytest.raises(TypeError, match="views"):
        manyviews.report(object())


def test_a_report_reads_as_words_data_page_and_file(fitted, tmp_path):
    model, views, labels = fitted
    page = manyviews.report(model, views, truth=labels)
    assert repr(page).splitlines() == [
        page.summary["headline"],
        "The result is very stable: it can be relied on, as far as repetition can tell.",
    ]
    assert page.html == page.html
    page.save(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == page.html
    assert pickle.loads(pickle.dumps(page)).summary == page.summary


def test_in_a_notebook_the_page_has_a_frame_of_its_own(fitted):
    model, views, _ = fitted
    shown = manyviews.report(model, views, title='"><script>alert(1)</script>', refit_seconds=0)._repr_html_()
    assert shown.startswith("<iframe")
    assert shown.endswith("></iframe>")
    assert shown.count("<") == 2
    assert 'sandbox="allow-scripts"' in shown
