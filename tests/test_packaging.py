"""What is written in several places about the package agrees."""

import re
import tomllib
from pathlib import Path

import pytest

import manyviews

ROOT = Path(__file__).parents[1]
RECIPE, CITATION = ROOT / "recipe/meta.yaml", ROOT / "CITATION.cff"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_one_version():
    assert manyviews.__version__ == PROJECT["version"]
    assert f"version: {PROJECT['version']}" in CITATION.read_text(encoding="utf-8")
    assert f'set version = "{PROJECT["version"]}"' in RECIPE.read_text(encoding="utf-8")


def test_the_recipe_needs_what_the_package_and_its_command_need():
    text = RECIPE.read_text(encoding="utf-8")
    run = text.partition("  run:\n")[2].partition("\ntest:")[0]
    listed = set(re.findall(r"- ([\w-]+) >=([\d.]+)", run)) - {
        ("python", PROJECT["requires-python"].removeprefix(">="))
    }
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"]]
    assert listed == {tuple(requirement.split(">=")) for requirement in wanted}


@pytest.mark.parametrize("path", [RECIPE, CITATION, ROOT / "README.md", ROOT / "pyproject.toml"], ids=lambda p: p.name)
def test_one_licence(path):
    assert "BSD-3-Clause" in path.read_text(encoding="utf-8")


def test_addresses_are_real_and_the_same_everywhere():
    """No address is given rather than a made one, and one that is given stands everywhere."""
    everywhere = (RECIPE, CITATION, ROOT / "README.md", ROOT / "pyproject.toml")
    assert not any(re.search(r"example\.(org|com)", path.read_text(encoding="utf-8")) for path in everywhere)
    home = re.search(r"^ *home: (\S+)", RECIPE.read_text(encoding="utf-8"), re.M)
    cited = re.search(r"^repository-code: (\S+)", CITATION.read_text(encoding="utf-8"), re.M)
    source = PROJECT.get("urls", {}).get("Source")
    assert [found and found[1] for found in (home, cited)] == [source, source]
