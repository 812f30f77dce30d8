"""``manyviews methods``: what there is to cluster with."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from manyviews.cli.console import print_json, print_table
from manyviews.cli.options import AsJson

if TYPE_CHECKING:
    from manyviews.cluster.registry import MethodInfo

__all__ = ["methods"]


def methods(*, as_json: AsJson = False) -> None:
    """List the clustering methods, what they cost and what they take.

    Parameters
    ----------
    as_json
        Print one JSON object.
    """
    from manyviews.cluster.registry import DEFAULT_METHOD, METHODS

    if as_json:
        print_json({"default": DEFAULT_METHOD, "methods": [asdict(method) for method in METHODS]})
        return
    rows = [(row.name, row.class_name, row.year, row.family, _takes(row), row.cost) for row in METHODS]
    print_table(("method", "class", "year", "family", "takes", "cost in n samples, m views, k clusters"), rows)


def _takes(row: MethodInfo) -> str:
    kinds = (("sparse", row.sparse), ("missing", row.missing), ("new samples", row.predicts))
    return ", ".join(word for word, has in kinds if has)
