"""Sphinx configuration: the pages of a method are made from ``methods.toml``, everything else is written by hand."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import change_page  # noqa: E402
import method_pages  # noqa: E402

import manyviews  # noqa: E402

project = "manyviews"
author = "the manyviews developers"
copyright = "2026, the manyviews developers"
release = version = manyviews.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "README.md"]
html_theme = "pydata_sphinx_theme"
html_title = "manyviews"
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_show_sourcelink = False
# pages without pages below them need no column to move among these
html_sidebars = {
    page: []
    for page in (
        "start",
        "quality",
        "compared",
        "papers",
        "beside_others",
        "installing",
        "extend",
        "changelog",
    )
}

nitpicky = True  # a reference to nothing fails the build
# sphinx-build -b linkcheck: what answers robots with a refusal is not dead
linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_workers = 4
linkcheck_anchors = False
linkcheck_allowed_redirects = {r"https://doi\.org/.*": r"https?://.*"}  # that is what a DOI is for
linkcheck_ignore = [
    r"http://localhost.*",
    r"https://doi\.org/10\.(1109|1145|1080|1111|1137)/.*",  # IEEE, ACM, Taylor & Francis, Wiley, SIAM refuse robots
]
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
numpydoc_class_members_toctree = False

warnings.filterwarnings("ignore", category=DeprecationWarning)

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "image_scrapers": (),
    "capture_repr": ("_repr_html_", "__repr__"),
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "show_memory": False,
    "abort_on_example_error": False,  # all of them run; the build fails at its end and lists those that did
    "plot_gallery": os.environ.get("MANYVIEWS_GALLERY", "1") != "0",  # CI builds the pages without running the examples
    "min_reported_time": 0,
    "download_all_examples": False,
}

method_pages.write(HERE)
change_page.write(HERE)


def setup(app: object) -> None:
    """Say that private helpers of scikit-learn's base classes are not ours to document."""
    app.connect("autodoc-skip-member", _skip)  # type: ignore[attr-defined]


def _skip(app: object, what: str, name: str, obj: object, skip: bool, options: object) -> bool:
    home = getattr(inspect.unwrap(obj) if callable(obj) else obj, "__module__", "") or ""
    return skip or home.startswith("sklearn.")
