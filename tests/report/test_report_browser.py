"""The page in a real browser: charts are drawn, the console stays silent, nothing sticks out, names stay text."""

import html
import json
import re
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

import manyviews
from manyviews import Views
from manyviews.pages.palette import DARK, LIGHT
from manyviews.report import render_report

pytest.importorskip("plotly")
pytest.importorskip("jinja2")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")

OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--enable-logging=stderr",
    "--virtual-time-budget=20000",
    "--window-size=1400,9000",
]

# Runs in the page after its own scripts, and tells the frame around it what it sees.
PROBE = """<script>
let asked = false;
window.alert = () => { asked = true; };
const undrawn = () => [...document.querySelectorAll(".chart:not(.empty)")].filter((chart) => !chart.dataset.state);
// In virtual time a browser may never be idle, which is what charts off the screen wait for; printing draws them all.
const whenDrawn = (then, tries = 50) => {
  if (!undrawn().length) return then();
  if (!tries) window.dispatchEvent(new Event("beforeprint"));
  setTimeout(tries ? whenDrawn : then, 100, then, tries - 1);
};
window.addEventListener("load", () => setTimeout(whenDrawn, 3000, () => {
  const texts = (selector) => [...document.querySelectorAll(selector)].map((element) => element.textContent);
  const colours = (id) => [...document.querySelectorAll(`#${id} .scatterlayer .trace .point`)].map((p) => p.style.fill);
  const opacities = () => [...document.querySelectorAll("#map-0 .trace")].map((trace) => trace.style.opacity || "1");
  const charts = [...document.querySelectorAll(".chart:not(.empty)")];
  const seen = {
    width: window.innerWidth,
    wide: [...document.querySelectorAll("body *")].filter((element) =>
      element.getBoundingClientRect().right > window.innerWidth + 1 && !element.closest(".scroll, .hoverlayer")
    ).map((element) => element.outerHTML.slice(0, 90)),
    states: charts.map((chart) => chart.dataset.state),
    points: charts.map((chart) => chart.querySelectorAll(".point").length),
    colours: colours("map-0"),
    ticks: texts("#weights .ytick"),
  };
  for (const id of ["map-0", "weights"]) {
    const place = document.getElementById(id);
    if (place && place.data) Plotly.Fx.hover(place, [{ curveNumber: 0, pointNumber: 0 }]);
  }
  document.querySelectorAll("[data-cluster]")[1].click();
  const cells = (row) => [...row.cells].map((cell) => cell.textContent);
  const rows = () => [...document.querySelectorAll("#sample-rows tr")].map(cells);
  const choose = (id, value) => {
    const field = document.getElementById(id);
    if (!field) return;
    field.value = value;
    field.dispatchEvent(new Event(field.tagName === "INPUT" ? "input" : "change"));
  };
  seen.listed = rows();
  document.getElementById("more").click();
  seen.more = rows().length;
  seen.searches = SEARCHES.map(([text, cluster, order]) => {
    choose("find", text); choose("of-cluster", cluster); choose("in-order", order);
    return [rows(), document.getElementById("found").textContent];
  });
  document.querySelectorAll("details").forEach((part) => { part.open = true; });
  seen.wide.push(...[...document.querySelectorAll("details *")].filter((element) =>
    element.getBoundingClientRect().right > window.innerWidth + 1 && !element.closest(".scroll")
  ).map((element) => element.outerHTML.slice(0, 90)));
  setTimeout(() => {
    seen.hovers = texts(".hoverlayer .hovertext");
    seen.opacities = opacities();
    seen.pressed = texts("[aria-pressed=true]");
    seen.images = document.images.length;
    seen.asked = asked;
    window.parent.postMessage(JSON.stringify(seen), "*");
  }, 1000);
}));
</script></body>"""

# A part of a name, a cluster, an order: what is looked for in the table of samples.
SEARCHES = [("ple 2", "", ""), ("SAMPLE 2 ", "0", "1"), ("no such", "", ""), ("", "2", "-1")]

# A window cannot be as narrow as a phone, but a frame can.
FRAME = """<!DOCTYPE html><iframe src="page.html" style="border:0;width:WIDTHpx;height:8500px"></iframe><pre></pre>
<script>onmessage = (event) => { document.querySelector("pre").textContent = event.data; };</script>"""


@pytest.fixture
def browse(tmp_path):
    """Opens a page and returns what the probe saw and what the console said."""

    def run(source, *, width=1280, dark=False, searches=SEARCHES):
        probe = PROBE.replace("SEARCHES", json.dumps(searches))
        (tmp_path / "page.html").write_text(source.replace("</body>", probe), encoding="utf-8")
        frame = tmp_path / "frame.html"
        frame.write_text(FRAME.replace("WIDTH", str(width)), encoding="utf-8")
        theme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        command = [CHROMIUM, *OPTIONS, theme, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", frame.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
        seen = json.loads(html.unescape(re.search("<pre>(.*?)</pre>", done.stdout, re.DOTALL)[1]))
        assert seen["width"] == width
        return seen, [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    return run


def rgb(colour):
    return "rgb({}, {}, {})".format(*(int(colour[i : i + 2], 16) for i in (1, 3, 5)))


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_charts_are_drawn_in_the_colours_of_the_page(browse, blobs, width, dark):
    views, model = blobs
    seen, console = browse(render_report(model, views, truth=model.labels_), width=width, dark=dark)
    assert console == []
    assert seen["states"] == ["drawn"] * 12
    # maps; silhouettes, which are lines; columns, which are a picture; weights; flows; iterations
    assert seen["points"] == [60] * 4 + [0] * 3 + [0] + [2] + [0] * 2 + [3]
    assert seen["wide"] == []
    palette = DARK if dark else LIGHT
    assert set(seen["colours"]) == {rgb(colour) for colour in palette[:3]}
    assert seen["pressed"] == ["C1"]
    assert [float(value) < 0.5 for value in seen["opacities"]] == [True, False, True]


def test_the_table_of_samples_is_searched(browse, blobs):
    views, model = blobs
    model.confidence_ = np.linspace(0, 1, 60)
    seen, console = browse(render_report(model, views, truth=["dog"] * 59 + [None]))
    assert console == []
    assert len(seen["listed"]) == 50
    assert seen["listed"][0] == ["sample 0", "C0", "dog", "0.00"]
    assert seen["more"] == 60
    found, last, none, ordered = seen["searches"]
    assert [row[0] for row in found[0]] == ["sample 2", *(f"sample {i}" for i in range(20, 30))]
    assert found[1] == "11 samples of 60"
    assert [row[0] for row in last[0]] == ["sample 2", *(f"sample {i}" for i in range(20, 25))]
    assert none == [[], "0 samples of 60"]
    assert [row[0] for row in ordered[0]] == [f"sample {i}" for i in range(59, 44, -1)]
    assert ordered[0][0] == ["sample 59", "C2", "–", "1.00"]


def test_a_hundred_thousand_samples_are_searched(browse, quick_baselines):
    n, rng = 100_000, np.random.default_rng(0)
    views = Views([rng.normal(size=(n, 2))], sample_names=[f"<i>ü {i:06d}</i>" for i in range(n)])
    page = render_report(SimpleNamespace(labels_=rng.integers(4, size=n)), views)
    seen, console = browse(page, searches=[("Ü 09999", "", "")])
    assert console == []
    ((rows, status),) = seen["searches"]
    assert [row[0] for row in rows] == [f"<i>ü {i:06d}</i>" for i in range(99_990, 100_000)]
    assert status == "10 samples of 100,000"


def test_a_notebook_shows_the_page_in_its_frame(tmp_path, blobs):
    views, model = blobs
    shown = manyviews.report(model, views, title="In a frame")._repr_html_()
    probe = html.escape(
        """<script>addEventListener("load", () => setTimeout(() => { dispatchEvent(new Event("beforeprint"));
        parent.postMessage(JSON.stringify([
        document.querySelector("h1").textContent, document.querySelector(".chart").dataset.state,
        document.querySelectorAll("#sample-rows tr").length]), "*"); }, 3000));</script></body>"""
    )
    notebook = tmp_path / "notebook.html"
    listener = '<pre></pre><script>onmessage = (e) => { document.querySelector("pre").textContent = e.data; };</script>'
    notebook.write_text(
        f'<!DOCTYPE html><meta charset="utf-8">{listener}{shown.replace(html.escape("</body>"), probe)}',
        encoding="utf-8",
    )
    # A frame with a process of its own would not share the virtual time.
    options = [*OPTIONS, "--disable-features=IsolateSandboxedIframes", f"--user-data-dir={tmp_path / 'profile'}"]
    command = [CHROMIUM, *options, "--dump-dom", notebook.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    assert json.loads(html.unescape(re.search("<pre>(.*?)</pre>", done.stdout)[1])) == ["In a frame", "drawn", 50]


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_names_show_as_text(browse, hostile, width):
    seen, console = browse(render_report(**hostile), width=width)
    assert console == []
    assert seen["wide"] == []
    assert seen["asked"] is False
    assert seen["images"] == 0
    assert "</script><!--" in seen["ticks"]
    assert any(tick.startswith("<b>bold</b> & &lt;i") for tick in seen["ticks"])
    assert any("<img src=x onerror=alert(0)> $x^2$ %{x}" in text for text in seen["hovers"])
    assert any("<u>class 0</u>" in text for text in seen["hovers"])
    assert any("<script>alert(1)</script>" in text for text in seen["hovers"])
