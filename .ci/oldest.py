"""Print the dependencies of the core and of the extras that the tests need, each at the lowest version it allows."""

import pathlib
import re
import tomllib

project = tomllib.loads((pathlib.Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
wanted = [
    *project["dependencies"],
    *extras["cli"],
    *extras["excel"],
    *extras["zarr"],
    *extras["distributed"],
    *extras["omics"],
    *extras["test"],
]
for requirement in wanted:
    if not requirement.startswith("manyviews"):
        assert re.fullmatch(r"[\w\[\],-]+>=[\d.]+", requirement), (
            f"{requirement!r} must be a lower bound and nothing else"
        )
        print(requirement.replace(">=", "=="))
