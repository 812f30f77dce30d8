"""The methods: what all share, then one folder per family with one file per method.

Every method is loaded on first use, by the name of its class.
"""

from __future__ import annotations

from typing import Any

from manyviews.cluster.registry import METHODS

__all__ = sorted(row.class_name for row in METHODS)  # noqa: PLE0605 (names that load lazily)


def __getattr__(name: str) -> Any:
    for row in METHODS:
        if row.class_name == name:
            return row.load()
    raise AttributeError(f"module 'manyviews.cluster' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
