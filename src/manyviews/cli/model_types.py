"""Which classes a model folder may ask for."""

from __future__ import annotations

from dataclasses import is_dataclass
from importlib import import_module

__all__ = ["is_model_type"]

_LAYERS = ("cluster", "graphs", "kernels", "linalg", "optim", "partitions", "prototypes", "views.new_samples")
# what is no record, but holds arrays only: a rule for new samples, and what fills their empty cells
_RULES = {
    "manyviews.partitions.consensus_vote.ConsensusVote",
    "manyviews.views.per_view.PerView",
    "manyviews.views.impute.ViewImputer",
}
_HOMES = tuple(f"manyviews.{layer}." for layer in _LAYERS)


def is_model_type(name: str) -> bool:
    """Tell whether a class is a registered method, or one of the plain records that fitted methods hold.

    Parameters
    ----------
    name : str
        Full name that a model file asks for; it is not trusted.

    Returns
    -------
    bool
        True for registered estimators, and for data classes and named tuples of the numeric packages: making one
        of these runs no code but ours.
    """
    from manyviews.cluster.registry import METHODS

    if name in {f"{row.module}.{row.class_name}" for row in METHODS} | _RULES:
        return True
    module, _, attribute = name.rpartition(".")
    if not f"{module}.".startswith(_HOMES):
        return False
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError):
        return False
    is_record = isinstance(found, type) and (is_dataclass(found) or hasattr(found, "_fields"))
    return is_record and found.__module__ == module
