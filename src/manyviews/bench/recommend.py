"""One method out of several, without classes: the rule, its reasons in words, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from manyviews.bench.criteria import Criteria

__all__ = ["Recommendation", "recommend", "score_of"]


@dataclass(frozen=True)
class Recommendation:
    """Which method, and why.

    Attributes
    ----------
    method : str
        Name of the method.
    runner_up : str or None
        The next best; None where there is no other.
    headline : str
        One sentence.
    reasons : tuple of str
        Sentences for a reader who knows the data, not the field.
    certainty : {"fairly sure", "a guess among near equals", "unsure"}
        How far to rely on it.
    certainty_reason : str
        Why, in a sentence.
    """

    method: str
    runner_up: str | None
    headline: str
    reasons: tuple[str, ...]
    certainty: str
    certainty_reason: str


def score_of(criteria: Criteria) -> float:
    return criteria.structure * math.sqrt(max(criteria.seeds, 0.0) if math.isfinite(criteria.seeds) else 1.0)


def recommend(criteria: Mapping[str, Criteria]) -> Recommendation:
    """Choose the method with the highest score."""
    order = sorted(criteria, key=lambda name: -score_of(criteria[name]))
    return Recommendation(order[0], order[1] if len(order) > 1 else None, "", (), "unsure", "")
