"""The import budget, the public names, and that documents do not lag behind the code."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.utils import get_tags

import manyviews
from manyviews.cluster.registry import DEFAULT_METHOD, METHODS

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def test_importing_the_package_loads_no_numerics():
    code = (
        "import sys, manyviews; print([m for m in ('numpy', 'scipy', 'sklearn', 'polars', 'rich') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


@pytest.mark.parametrize("name", manyviews.__all__)
def test_every_public_name_is_there(name):
    assert getattr(manyviews, name) is not None
    assert name in dir(manyviews)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'OPLFVMC'"):
        manyviews.OPLFVMC  # noqa: B018


def test_methods_come_from_their_package_too():
    from manyviews.cluster import FastMICE

    assert FastMICE is manyviews.FastMICE
    assert manyviews.cluster.__all__ == sorted(row.class_name for row in METHODS)
    with pytest.raises(AttributeError, match="'Views'"):
        manyviews.cluster.Views  # noqa: B018


def test_one_method_is_the_default():
    assert [row.name for row in METHODS if row.default] == [DEFAULT_METHOD]


@pytest.mark.parametrize("row", METHODS, ids=[row.name for row in METHODS])
def test_facts_of_the_registry_are_those_of_the_class(row):
    model = row.load()()
    tags = get_tags(model)
    assert (row.sparse, row.missing) == (tags.input_tags.sparse, model._accepts_missing)
    assert row.predicts == hasattr(model, "predict")
    constraint = model._parameter_constraints.get("base")
    bases = {"features"} if constraint is None else constraint[0].options
    assert set(row.base_inputs) == set(getattr(model, "_base_inputs", bases))
    assert row.load().__name__ == row.class_name


def test_what_is_made_from_the_registry_is_up_to_date():
    script = ROOT / "scripts" / "make_stub.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_is_installed_with_its_types():
    home = Path(manyviews.__file__).parent
    assert all((home / name).is_file() for name in ("py.typed", "__init__.pyi", "cluster/__init__.pyi"))


def test_ranges_of_parameters_are_written_in_one_place():
    private = [path.name for path in SOURCES if "sklearn.utils._param_validation" in path.read_text(encoding="utf-8")]
    assert private == ["constraints.py"]


@pytest.mark.parametrize("row", METHODS, ids=[row.name for row in METHODS])
def test_every_method_is_public_documented_and_in_the_readme(row):
    cls = row.load()
    assert getattr(manyviews, row.class_name) is cls
    assert row.class_name in (ROOT / "README.md").read_text(encoding="utf-8")
    for section in ("Parameters\n", "Attributes\n", "References\n", "Examples\n", "Notes\n"):
        assert section in cls.__doc__, section
    documented = set(re.findall(r"^    (\w+(?:, \w+)*) : ", cls.__doc__, flags=re.MULTILINE))
    documented = {name for names in documented for name in names.split(", ")}
    assert set(cls().get_params()) <= documented


def test_one_name_means_one_thing():
    """No class or function of a module is called as another one elsewhere; private ones, with _ in front, may be.

    A command is called as the function of the package that it runs.
    """
    homes = {}
    for path in SOURCES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            command = path.parent.name == "cli" and path.stem == getattr(node, "name", None)
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_") and not command:
                homes.setdefault(node.name, []).append(str(path.relative_to(ROOT / "src")))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def code_lines(node, text):
    """Return the lines of a file or function without those of docstrings."""
    inner = [part for part in ast.walk(node) if isinstance(part, ast.Module | ast.ClassDef | ast.FunctionDef)]
    documented = [part.body[0] for part in inner if ast.get_docstring(part, clean=False)]
    whole = len(text.splitlines()) if isinstance(node, ast.Module) else node.end_lineno - node.lineno + 1
    return whole - sum(docstring.end_lineno - docstring.lineno + 1 for docstring in documented)


@pytest.mark.parametrize("path", SOURCES, ids=[str(path.relative_to(ROOT)) for path in SOURCES])
def test_files_and_functions_are_short(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert code_lines(tree, text) <= 300
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert code_lines(node, text) <= 45, node.name
