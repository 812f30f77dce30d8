"""Several methods on one data set: results, methods that cannot take it, limits, and the page."""

import html
import json
import re

import numpy as np
import pytest

from manyviews import datasets
from manyviews.bench.comparison import Options, compare
from manyviews.bench.comparison_summary import summary_of
from manyviews.bench.recommend import score_of
from manyviews.cluster.registry import find_method
from manyviews.views import Views


@pytest.fixture(scope="module")
def blobs():
    return datasets.make_blobs_views(90, (6, 5), 3, view_noise=0.2, random_state=0)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("compared") / "runs.jsonl"


@pytest.fixture(scope="module")
def found(blobs, store):
    methods = [find_method(name) for name in ("best-single-view", "average-kkm", "u-spec", "concat-kmeans")]
    options = Options(n_seeds=2, n_parts=2)
    return compare(blobs.views, methods, 3, store, truth=blobs.labels, options=options)


def test_results(found, blobs):
    assert [row.status for row in found.results] == ["ok", "ok", "unsuitable", "ok"]
    by_name = {row.method.name: row for row in found.results}
    kmeans = by_name["concat-kmeans"]
    assert (kmeans.n_ok, kmeans.n_fits, kmeans.seed) == (4, 4, 0)
    assert kmeans.scores["nmi"] == pytest.approx([1.0, 1.0])
    assert kmeans.labels.shape == (90,)
    assert kmeans.seconds > 0
    assert kmeans.peak_bytes > 1e6
    assert kmeans.criteria.parts > 0.9
    best = max((row for row in found.results if row.criteria), key=lambda row: score_of(row.criteria))
    assert found.recommendation.method == best.method.name


def test_classes_have_no_part_in_the_choice(found, blobs, store):
    methods = [row.method for row in found.results]
    wrong = np.random.default_rng(0).permutation(blobs.labels)
    again = compare(blobs.views, methods, 3, store, truth=wrong, options=Options(n_seeds=2, n_parts=2))
    assert again.recommendation == found.recommendation
    assert again.results[1].criteria == found.results[1].criteria


def test_summary_is_plain_json(found):
    summary = json.loads(json.dumps(summary_of(found), allow_nan=False))
    rows = summary["methods"]
    assert [row["place"] for row in rows] == [1, 2, 3, None]
    assert rows[0]["name"] == summary["recommendation"]["method"]
    assert rows[-1]["name"] == "u-spec"
    assert rows[-1]["reason"] == "takes a single view; there are 2"
    assert rows[0]["score"] >= rows[1]["score"] >= rows[2]["score"]


def test_limits_and_missing_views_are_recorded(tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 400, 30))
    b[:7] = np.nan
    methods = [find_method(name) for name in ("mvec", "concat-kmeans")]
    found = compare(Views({"a": a, "b": b}), methods, 3, tmp_path / "r", options=Options(1, 0, time_limit=0.01))
    assert [row.status for row in found.results] == ["timeout", "unsuitable"]
    assert found.results[1].reason == "takes no missing views; 7 of the 400 samples are not in every view"
    assert found.recommendation is None


def test_page(found, blobs):
    pytest.importorskip("plotly")
    pytest.importorskip("jinja2")
    from manyviews.report.comparison import render_comparison

    name = "</script><b>view</b>"
    summary = summary_of(found)
    for row in summary["methods"]:
        if row["criteria"]:
            row["criteria"]["structures"] = {name: 0.5, "b": 0.4}
    record = summary | {
        "data": {"name": "<i>data</i>", "n_samples": 90, "views": {name: 6, "b": 5}, "notes": ["a note"]},
        "n_clusters": 3,
        "options": vars(Options()),
        "inputs": {"<u>file": "abc"},
        "versions": {"python": "3"},
        "created": "2024",
        "repeat": "manyviews compare '<b>'",
        "repeat_with": None,
    }
    page = render_comparison(record)
    assert html.escape(name) in page
    assert not re.search(r"<b>view|<i>data|<u>file|'<b>'", page)
    assert html.escape(record["recommendation"]["headline"]) in page
    for row in record["methods"]:
        assert f'<th scope="row">{row["name"]}' in page or f"<dt>{row['name']}</dt>" in page
    payload = re.search(r'id="report-data">(.*?)</script>', page, re.S).group(1)
    chart = json.loads(payload)["charts"]["structure"]
    assert chart["data"][0]["type"] == "bar"
    assert len(chart["data"]) == 3
