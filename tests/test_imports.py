"""The import budget, the public names, and that documents do not lag behind the code."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import manyviews
from manyviews.cluster.registry import METHODS

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
