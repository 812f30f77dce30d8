"""What a type checker sees of the package when it is used."""

import re
from pathlib import Path

import pytest

import manyviews

api = pytest.importorskip("mypy.api", reason="mypy is not installed")

CODE = """
import manyviews
from manyviews import FastMICE, Views, io
from manyviews.cluster import MVEC

FastMICE(n_clusters="three", nonsense=1)
MVEC(n_clusters="three", nonsense=1)
FastMISE
model = FastMICE(3).fit([[[0.0]]])
reveal_type(model)
reveal_type(model.labels_)
reveal_type(manyviews.report(model, []))
reveal_type(io.load_model("folder"))
reveal_type(Views([]).names)
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    folder = tmp_path_factory.mktemp("user")
    (folder / "user.py").write_text(CODE, encoding="utf-8")
    # as for an installed package: what is wrong inside it is not the user's business
    config = f"[mypy]\nfollow_imports = silent\nignore_missing_imports = true\ncache_dir = {folder / 'cache'}\n"
    root = Path(manyviews.__file__).parents[1]
    if root.name != "site-packages":  # found there by itself, and refused as a path
        config += f"mypy_path = {root}\n"
    (folder / "mypy.ini").write_text(config, encoding="utf-8")
    out, err, _ = api.run(["--config-file", str(folder / "mypy.ini"), str(folder / "user.py")])
    lines = re.findall(r"user\.py:(\d+): (error|note): (.*)", out)
    assert lines, out + err
    return [(int(number), kind, text) for number, kind, text in lines]


@pytest.mark.parametrize(("line", "name"), [(6, "FastMICE"), (7, "MVEC")])
def test_wrong_arguments_of_a_constructor_are_two_errors(said, line, name):
    errors = sorted(text for number, kind, text in said if kind == "error" and number == line)
    assert len(errors) == 2
    assert f'Argument "n_clusters" to "{name}" has incompatible type "str"' in errors[0]
    assert f'Unexpected keyword argument "nonsense" for "{name}"' in errors[1]


def test_nothing_else_is_an_error_but_the_name_that_does_not_exist(said):
    assert {number for number, kind, _ in said if kind == "error"} == {6, 7, 8}


@pytest.mark.parametrize(
    ("line", "type_"),
    [
        (10, "manyviews.cluster.anchors.fastmice.FastMICE"),
        (11, r"numpy\.ndarray"),
        (12, "manyviews.report.notebook.Report"),
        (14, "(builtins.)?tuple"),
    ],
)
def test_results_have_types(said, line, type_):
    assert any(re.match(f'Revealed type is "{type_}', text) for number, _, text in said if number == line)
