"""Every example in a docstring runs."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import manyviews

pytestmark = pytest.mark.usefixtures("kept_processes")
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(manyviews.__path__, "manyviews.")
    if not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name):
    result = doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0
