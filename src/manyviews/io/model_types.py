"""Which classes a model folder may ask for, and by which names."""

from __future__ import annotations

from dataclasses import is_dataclass
from importlib import import_module
from typing import Any

import manyviews

__all__ = ["is_model_type", "with_public_name"]

_LAYERS = ("cluster", "graphs", "kernels", "linalg", "optim", "partitions", "prototypes", "views")
_HOMES = tuple(f"manyviews.{layer}." for layer in _LAYERS)
# what is no record, but holds arrays only: a rule for new samples
_RULES = {f"manyviews.partitions.consensus_vote.{name}" for name in ("ConsensusVote", "ShareVote")}


def is_model_type(name: str) -> bool:
    """Tell whether a class is a public estimator, or one of the plain records that fitted ones hold.

    Parameters
    ----------
    name : str
        Full name that a model file asks for; it is not trusted.

    Returns
    -------
    bool
        True for the public estimators by their public names, as "manyviews.FastMICE", and for data classes and named
        tuples of the numeric packages: making one of these runs no code but ours.
    """
    from sklearn.base import BaseEstimator

    if name in _RULES:
        return True
    module, _, attribute = name.rpartition(".")
    if module == "manyviews":
        return attribute in manyviews.__all__ and _is_a(getattr(manyviews, attribute), BaseEstimator)
    if not f"{module}.".startswith(_HOMES):
        return False
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError):
        return False
    is_record = isinstance(found, type) and (is_dataclass(found) or hasattr(found, "_fields"))
    return is_record and found.__module__ == module and attribute not in manyviews.__all__


def _is_a(found: Any, base: type) -> bool:
    return isinstance(found, type) and issubclass(found, base)


def with_public_name(node: dict[str, Any]) -> dict[str, Any]:
    """Return a node of the description of a model, its class named as users know it, wherever it lives today."""
    module, name = node.get("__module__"), node.get("__class__")
    if isinstance(module, str) and module.startswith("manyviews.") and name in manyviews.__all__:
        return node | {"__module__": "manyviews"}
    return node
