import base64
import json
import re
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from report_data import make_blobs, make_hostile

from manyviews.optim.history import History
from manyviews.pages import environment
from manyviews.pages.inline import json_text, script_text
from manyviews.pages.wording import amount, decimal, duration, fixed, percent, plain, rounded_part, size
from manyviews.plots.maps import hover_texts, map_figure
from manyviews.plots.weights import draw_weights
from manyviews.report import render_report, summarize, write_report
from manyviews.report.figures import convergence_figure
from manyviews.views import Views

pytest.importorskip("plotly")
pytest.importorskip("jinja2")


class Page(HTMLParser):
    """Tags with attributes, the texts of scripts and styles, and the text that a reader sees."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.tags, self.inside, self.scripts, self.styles, self.text = [], "", [], [], []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.inside = tag

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self.inside = ""

    def handle_data(self, data):
        {"script": self.scripts, "style": self.styles, "": self.text}[self.inside].append(data)

    @property
    def payload(self):
        return json.loads(self.scripts[0], parse_constant=pytest.fail)


@pytest.fixture(scope="module")
def page():
    """The page of the blobs, which the tests only read."""
    views, model = make_blobs()
    truth = np.repeat(["dog", "cat", "eel"], [25, 20, 15])
    return Page(render_report(model, views, title="Three groups", run={"seed": 5}, truth=truth))


@pytest.fixture(scope="module")
def hostile_source():
    return render_report(**make_hostile())


def test_page_has_its_parts(page):
    text = " ".join(page.text)
    for words in (
        "Three groups",
        "sorted 60 samples",
        "Maps",
        "Clusters",
        "Against the known classes",
        "Views",
        "Convergence",
        "How far to trust it",
        "What makes each cluster",
        "Samples",
        "How this was made",
    ):
        assert words in text
    silhouettes, flows = [f"silhouette-{i}" for i in range(3)], ["flows-0", "flows-1"]
    maps = [f"map-{i}" for i in range(4)]
    assert list(page.payload["charts"]) == [*maps, "features", *silhouettes, *flows, "weights", "convergence"]
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert set(page.payload["charts"]) <= set(ids)


def test_page_loads_nothing(page):
    for tag, attributes in page.tags:
        assert tag not in ("link", "base", "iframe", "object", "embed", "img")
        assert attributes.get("href", "#").startswith("#"), (tag, attributes)
        assert not {"src", "srcset", "action", "background", "data"} & set(attributes), (tag, attributes)
        assert "url(" not in (attributes.get("style") or "")
    for style in page.styles:
        assert "@import" not in style
        assert "url(" not in style
    policies = [a["content"] for t, a in page.tags if t == "meta" and a.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1
    assert policies[0].startswith("default-src 'none';")
    assert "http" not in policies[0]


def test_charset_comes_within_the_first_kilobyte(blobs):
    source = render_report(*reversed(blobs), title="x" * 500)
    assert '<meta charset="utf-8">' in source[:1024]


def test_same_input_same_page(blobs, hostile, hostile_source):
    views, model = blobs
    assert render_report(model, views) == render_report(model, views)
    assert render_report(**hostile) == hostile_source


def test_names_cannot_add_markup(hostile, hostile_source):
    harmless = Page(
        render_report(
            hostile["model"],
            Views(dict(zip("abcd", hostile["views"].arrays, strict=True))),
            title="t",
            run={"method": "m", "long": "l", "command": "c", "inputs": {"i": "j"}, "parameters": {"p": "q"}},
            truth=[name[9:10] for name in hostile["truth"]],
        )
    )
    page = Page(hostile_source)
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in harmless.tags]
    assert len(page.scripts) == 4
    text = " ".join(page.text)
    for name in ("<script>alert(1)</script>", "</script><!--", "<b>bold</b> & &lt;i&gt;", "<u>class 0</u>"):
        assert name in text


def test_names_in_charts_are_escaped_for_plotly(hostile_source):
    page = Page(hostile_source)
    assert "<" not in page.scripts[0]
    ticks = page.payload["charts"]["weights"]["layout"]["yaxis"]["ticktext"]
    assert "&lt;/script&gt;&lt;!--" in ticks
    assert any(tick.startswith("&lt;b&gt;bold&lt;/b&gt; &amp; &amp;lt;") for tick in ticks)
    for text in page.payload["texts"]:
        assert re.sub(r"</?b>|<br>", "", text).count("<") == 0
        assert "&lt;img src=x" in text
    for trace in page.payload["charts"]["map-0"]["data"]:
        assert "<" not in trace["name"]


def test_page_is_unicode_that_can_be_written(tmp_path, hostile):
    path = tmp_path / "report.html"
    run = {"command": "x\udce9 \x00 \u202e", "where": "Zürich 東京"}
    write_report(path, hostile["model"], hostile["views"], title="ü \ud800", run=run)
    source = path.read_bytes().decode("utf-8")
    assert "Zürich 東京" in source
    assert not set("\x00\u202e") & set(" ".join(Page(source).text))


def test_hover_texts_name_sample_cluster_and_class(blobs):
    views, model = blobs
    texts = hover_texts(summarize(model, views, truth=["dog"] * 60))
    assert texts[0] == "<b>sample 0</b><br>cluster C0<br>class dog"


def test_figures_work_in_a_notebook(blobs):
    views, model = blobs
    summary = summarize(model, views)
    figure = map_figure(summary, 0)
    assert len(figure.data) == 3
    assert len(figure.data[0].hovertext) == 25
    assert [note.text for note in figure.layout.annotations] == ["<b>C0</b>", "<b>C1</b>", "<b>C2</b>"]
    assert list(draw_weights(summary["weights"]).data[0].x) == [0.25, 0.75]
    assert list(convergence_figure(summary).data[0].y) == [5.0, 3.0, 2.5]
    assert convergence_figure(summary).layout.yaxis.title.text == "objective"


def test_a_method_that_records_a_residual_is_shown_with_it_and_on_a_scale_of_powers(blobs):
    views, model = blobs
    model.history_ = History(np.zeros(0), 3, True, residual=np.array([1.0, 1e-2, 1e-5]))
    figure = convergence_figure(summarize(model, views))
    assert list(figure.data[0].y) == [1.0, 1e-2, 1e-5]
    assert (figure.layout.yaxis.title.text, figure.layout.yaxis.type) == ("residual", "log")
    text = render_report(model, views)
    assert "Residual after each iteration" in text
    assert "how far the conditions" in text


@pytest.mark.parametrize(
    ("labels", "arrays"),
    [
        ([0], [np.ones((1, 1))]),
        ([0, 1], [np.eye(2)]),
        ([0] * 9, [np.arange(9.0)[:, None]]),
        (np.arange(90), [np.arange(90.0)[:, None]]),
        ([0, 1] * 4, [np.ones((8, 2))]),
        ([0, 1] * 10, [np.random.default_rng(i).normal(size=(20, i + 1)) for i in range(20)]),
    ],
)
def test_unusual_shapes_give_a_page(labels, arrays):
    page = Page(render_report(SimpleNamespace(labels_=np.asarray(labels)), arrays))
    for chart in page.payload["charts"].values():
        assert chart["data"]
    assert "weights" not in page.payload["charts"]
    assert "convergence" not in page.payload["charts"]


def test_large_data_stays_small_and_names_are_stored_once(quick_baselines):
    n, rng = 100_000, np.random.default_rng(0)
    arrays = [rng.normal(size=(n, 8)) for _ in range(6)]
    views = Views(arrays, sample_names=[f"a sample with a rather long name {i}" for i in range(n)])
    model = SimpleNamespace(labels_=rng.integers(0, 25, n))
    source = render_report(model, views, truth=[f"class {i % 12}" for i in range(n)])
    assert len(source.encode()) < 8_000_000
    page = Page(source)
    assert unpacked(page)["n"] == n
    assert len(page.payload["texts"]) == 4000
    assert all("hovertext" not in trace for trace in page.payload["charts"]["map-3"]["data"])


def unpacked(page):
    return json.loads(zlib.decompress(base64.b64decode(page.scripts[1])))


def test_every_sample_is_in_the_packed_table(page):
    table = unpacked(page)
    assert table["n"] == len(table["cluster"]) == 60
    assert table["names"] is None
    assert table["confidence"] == [50] * 60
    assert [table["classes"][code] for code in table["class"][::20]] == ["dog", "dog", "cat"]


def random_names(n):
    """Names that hardly compress."""
    pairs = np.random.default_rng(0).integers(2**63, size=(n, 2)).tolist()
    return [f"{a:016x}{b:016x}" for a, b in pairs]


def test_a_hundred_thousand_random_names_fit(quick_baselines):
    n = 100_000
    views = Views([np.random.default_rng(0).normal(size=(n, 2))], sample_names=random_names(n))
    model = SimpleNamespace(labels_=np.arange(n) % 9, confidence_=np.linspace(0, 1, n))
    source = render_report(model, views)
    assert len(source.encode()) < 8_000_000
    assert unpacked(Page(source))["n"] == n


def test_tables_too_large_for_a_page_are_cut_and_said(quick_baselines, monkeypatch):
    monkeypatch.setattr("manyviews.report.html.MAX_BYTES", 0)
    monkeypatch.setattr("manyviews.report.packing.MIN_ROOM", 60_000)
    names = random_names(5000)
    views = Views([np.arange(5000.0)[:, None]], sample_names=names)
    page = Page(render_report(SimpleNamespace(labels_=np.arange(5000) % 2), views))
    table = unpacked(page)
    assert len(page.scripts[1]) <= 60_000
    assert table["names"].split("\n") == names[: table["n"]]
    assert 1500 < table["n"] < 5000
    assert f"The first {table['n']:,} of 5,000" in " ".join(page.text)


def test_json_refuses_nan():
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"x": float("nan")})


def test_scripts_cannot_end_early_nor_fetch_styles():
    assert script_text('a("https://unpkg.com/x@1/y.css")') == 'a("data:text/css,")'
    assert "</script" not in script_text('x = "</script><!--"')
    assert json.loads(json_text("</script>&\u2028")) == "</script>&\u2028"
    assert "<" not in json_text("</script>")


@pytest.mark.parametrize("package", ["plotly.graph_objects", "jinja2"])
def test_missing_packages_are_named_with_the_extra(monkeypatch, blobs, package):
    monkeypatch.setitem(sys.modules, package, None)
    environment._environment.cache_clear()
    with pytest.raises(ImportError, match=r'pip install "manyviews\[cli\]"'):
        render_report(*reversed(blobs))


def test_importing_the_report_imports_neither_plotly_nor_jinja2():
    code = "import sys, manyviews.report; print({'plotly', 'jinja2'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "set()"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (percent(0.1234), "12.3\u00a0%"),
        (percent(1), "100\u00a0%"),
        (percent(0.99999), ">\u00a099.9\u00a0%"),
        (percent(0.00001), "<\u00a00.1\u00a0%"),
        (rounded_part(1, 200), "<\u00a01\u00a0%"),
        (rounded_part(199, 200), ">\u00a099\u00a0%"),
        (rounded_part(2, 200), "1\u00a0%"),
        (rounded_part(200, 200), "100\u00a0%"),
        (amount(1, "class", "classes"), "1 class"),
        (amount(12345, "sample"), "12,345 samples"),
        (decimal(1234.5678, 6), "1,234.57"),
        (decimal(0), "0"),
        (fixed(-0.0001), "0.000"),
        (fixed(-0.25), "-0.250"),
        (decimal(1e-9, 3), "1.00e-09"),
        (decimal(float("inf")), "infinite"),
        (duration(0.0123), "12 ms"),
        (duration(9.96), "10 s"),
        (duration(200), "3 min 20 s"),
        (duration(7500), "2 h 5 min"),
        (size(5_123_456), "5.1 MB"),
        (size(1), "1 byte"),
        (plain("a\n b\tc\u2029d"), "a b c d"),
        (plain("x" * 50, 10), "x" * 9 + "…"),
        (plain(b"x\xe9"), "x\ufffd"),
    ],
)
def test_wording(text, expected):
    assert text == expected
