"""One method out of several, without classes: the rule, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from manyviews.pages.stability import SAME
from manyviews.recommend import words
from manyviews.recommend.criteria import Criteria

__all__ = ["SIMPLEST_FIRST", "Recommendation", "recommend", "score_of"]

# Exponents of stability and support; that of the structure is 1.
STABILITY, SUPPORT = 0.5, 0.25
# A score this near to the best is as good.
NEAR = 0.95
# Scores from which on there is something to be seen, and from which on it is plain.
WEAK, PLAIN = 0.2, 0.4
# The simple ways that every other method has to beat, and not only to equal; the simplest first.
SIMPLEST_FIRST = ("concat-kmeans", "concat-spectral", "sum-spectral", "average-kkm", "best-single-view")


@dataclass(frozen=True)
class Recommendation:
    """Which method, and why.

    Attributes
    ----------
    method : str
        Name of the method.
    runner_up : str or None
        The next best; None where there is no other.
    as_good : tuple of str
        Other methods whose score is within 5 % of the best.
    headline : str
        One sentence.
    reasons : tuple of str
        Sentences for a reader who knows the data, not the field.
    certainty : {"fairly sure", "a hint", "unsure", "no choice"}
        How far to rely on it.
    certainty_reason : str
        Why, in words.
    """

    method: str
    runner_up: str | None
    as_good: tuple[str, ...]
    headline: str
    reasons: tuple[str, ...]
    certainty: str
    certainty_reason: str


def score_of(criteria: Criteria) -> float:
    r"""Return what the recommendation goes by.

    .. math:: \mathrm{score} = \mathrm{structure} \cdot \mathrm{stability}^{1/2} \cdot \mathrm{support}^{1/4}

    Structure comes first, since it alone looks at the data: groups that are really there show in every view that
    knows of them, so a sample's neighbours in one view alone tell its group. A method whose seeds find different groups
    gives its user one of them by chance; and what two other methods find too is less likely to be an artefact. More
    than two are not asked for: most methods look for round clusters, and where the clusters are of another shape they
    agree on the same mistake. Both are discounts, and the exponents say that each counts half as much as the one
    before. All three are adjusted Rand indices, so that chance is 0 and a degenerate grouping earns nothing by being
    easy to repeat.

    Parameters
    ----------
    criteria : Criteria
        Of one method. What is not known (a single seed, a single method) gives no discount.

    Returns
    -------
    float
        0 to 1.
    """
    stability = 1.0 if math.isnan(criteria.seeds) else max(criteria.seeds, 0.0)
    support = 1.0 if math.isnan(criteria.support) else max(criteria.support, 0.0)
    return float(max(criteria.structure, 0.0) * stability**STABILITY * support**SUPPORT)


def recommend(criteria: Mapping[str, Criteria]) -> Recommendation:
    """Choose the simplest of the methods whose score is as good as the highest, and say why.

    Parameters
    ----------
    criteria : mapping of str to Criteria
        At least one method.

    Returns
    -------
    Recommendation
        Where none of ``SIMPLEST_FIRST`` is among those as good as equal, the method with the highest score; of two
        with the same score the first.
    """
    scores = {name: score_of(own) for name, own in criteria.items()}
    order = sorted(scores, key=lambda name: -scores[name])
    near = [name for name in order if scores[name] >= NEAR * scores[order[0]]] if scores[order[0]] > 0 else order[:1]
    best = min(near, key=_simplicity)
    rest = [name for name in order if name != best]
    others = tuple(name for name in near if name != best)
    certainty, why = _certainty(scores[best], best, others, criteria) if rest else words.NO_CHOICE
    return Recommendation(
        method=best,
        runner_up=rest[0] if rest else None,
        as_good=others,
        headline=words.in_one_sentence(best, certainty, len(order), alone=not others),
        reasons=words.reasons(best, rest, others, scores, criteria),
        certainty=certainty,
        certainty_reason=why,
    )


def _simplicity(name: str) -> int:
    return SIMPLEST_FIRST.index(name) if name in SIMPLEST_FIRST else len(SIMPLEST_FIRST)


def _certainty(score: float, best: str, others: tuple[str, ...], criteria: Mapping[str, Criteria]) -> tuple[str, str]:
    """Return how sure the choice is: plain groups, and the same ones from every method that is as good."""
    if score < WEAK:
        return words.UNSURE
    alike = criteria[best].agreements
    against = min(others, key=lambda name: alike[name], default=None)
    if against is not None and alike[against] < SAME:
        return "a hint", words.divided(against, alike[against])
    return words.FAIRLY_SURE if score >= PLAIN else words.HINT
