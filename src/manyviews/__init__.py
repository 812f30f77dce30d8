"""Multi-view clustering: group things by all their views together.

Every public name is loaded on first use, so that ``import manyviews`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# the methods are in cluster/methods.toml and nowhere else; a change of these is followed by scripts/make_stub.py
_HOMES = {
    "PerView": "views.per_view",
    "ViewImputer": "views.impute",
    "Views": "views",
    "choose_k": "recommend.choose_k",
    "compare": "recommend.compare",
    "sweep": "recommend.sweep",
}
_SUBMODULES = ("cluster", "datasets", "distributed", "io", "metrics", "plots", "preprocessing", "report")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"manyviews.{_HOMES[name]}"), name)
    if name in _SUBMODULES:
        return import_module(f"manyviews.{name}")
    if name == "__all__":
        return ["__version__", *sorted([*_HOMES, *_method_names()]), *_SUBMODULES]
    if not name.startswith("_") and name in _method_names():
        return getattr(import_module("manyviews.cluster"), name)
    raise AttributeError(f"module 'manyviews' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__getattr__("__all__"))


def _method_names() -> list[str]:
    """Return the class names of the methods; reading them is left until one of them is asked for."""
    names: list[str] = import_module("manyviews.cluster").__all__
    return names
