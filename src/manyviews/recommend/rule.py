"""One method out of several, without classes: the rule, its reasons in words, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from manyviews.recommend.criteria import SUPPORTERS, Criteria

__all__ = ["Recommendation", "recommend", "score_of"]

# Exponents of stability and support; that of the structure is 1.
STABILITY, SUPPORT = 0.5, 0.25
# A score this near to the best is as good.
NEAR = 0.95
# Scores from which on there is something to be seen, and from which on it is plain.
WEAK, PLAIN = 0.2, 0.4
# Adjusted Rand indices from which on two groupings are in the main the same, or have something in common.
SAME, ALIKE = 0.8, 0.4
# A view that tells no more than this of the groups says nothing of them.
SILENT = 0.05


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
    certainty : {"fairly sure", "a hint", "unsure", "no choice"}
        How far to rely on it.
    certainty_reason : str
        Why, in words.
    """

    method: str
    runner_up: str | None
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
    """Choose the method with the highest score and say why.

    Parameters
    ----------
    criteria : mapping of str to Criteria
        At least one method.

    Returns
    -------
    Recommendation
        Of two methods with the same score the first.
    """
    scores = {name: score_of(own) for name, own in criteria.items()}
    order = sorted(scores, key=lambda name: -scores[name])
    best, runner_up = order[0], order[1] if len(order) > 1 else None
    certainty, why = _certainty(scores[best]) if runner_up else ("no choice", "There was nothing to compare it with.")
    reasons = [_on_structure(best, criteria), *_on_views(criteria[best]), *_on_stability(criteria[best])]
    if runner_up is not None:
        reasons += [_on_support(criteria[best]), _on_runner_up(best, runner_up, scores, criteria)]
    return Recommendation(
        method=best,
        runner_up=runner_up,
        headline=_headline(best, certainty, len(order)),
        reasons=(*reasons, *_warnings(criteria[best])),
        certainty=certainty,
        certainty_reason=why,
    )


def _headline(best: str, certainty: str, n_methods: int) -> str:
    if n_methods == 1:
        return f"{best} is the only method with a result."
    if certainty == "unsure":
        return f"No method finds clear groups in these data; {best} comes first of {n_methods}, but by little to go on."
    return f"{best} suits these data best of {n_methods} methods, as far as can be told without classes."


def _certainty(score: float) -> tuple[str, str]:
    if score >= PLAIN:
        return "fairly sure", "The groups show plainly in the views; on such data the choice was seldom a bad one."
    if score >= WEAK:
        return "a hint", "The groups show in the views, but not plainly; look at the reports of two or three methods."
    return (
        "unsure",
        "The views hardly confirm any of the groupings, so that the order of the methods says little; other features, "
        "another scaling or another number of clusters may help more than another method.",
    )


def _on_structure(best: str, criteria: Mapping[str, Criteria]) -> str:
    own = criteria[best].structure
    text = (
        f"In a single view, the nearest neighbours of a sample tell its group with a score of {own:.2f} on average "
        "(1 is always, 0 is chance)"
    )
    others = {name: other.structure for name, other in criteria.items() if name != best}
    if not others:
        return f"{text}."
    rival = max(others, key=lambda name: others[name])
    if f"{own:.2f}" == f"{others[rival]:.2f}":
        return f"{text}, as with {rival}."
    if own > others[rival]:
        return f"{text}, more than with any other method ({rival} comes next with {others[rival]:.2f})."
    return f"{text}; {rival} has more ({others[rival]:.2f}) but is less stable, or no other methods find its groups."


def _on_views(own: Criteria) -> list[str]:
    silent = [name for name, value in own.structures.items() if value < SILENT]
    if not silent or len(own.structures) == 1:
        return []
    if len(silent) == len(own.structures):
        return ["No view tells anything of the groups."]
    listed = ", ".join(repr(name) for name in silent[:3]) + (f" and {len(silent) - 3} more" if len(silent) > 3 else "")
    return [
        f"{'The view' if len(silent) == 1 else 'The views'} {listed} tell{'s' * (len(silent) == 1)} nothing of them."
    ]


def _on_stability(own: Criteria) -> list[str]:
    texts = []
    if not math.isnan(own.seeds):
        word = "the same groups" if own.seeds >= SAME else "similar groups" if own.seeds >= ALIKE else "other groups"
        texts.append(f"other seeds find {word} ({own.seeds:.2f})")
    if not math.isnan(own.parts):
        word = "the same" if own.parts >= SAME else "similar ones" if own.parts >= ALIKE else "others"
        texts.append(f"fits on parts of the samples find {word} ({own.parts:.2f})")
    text = ", ".join(texts)
    return [f"{text[0].upper()}{text[1:]}."] if text else []


def _on_support(own: Criteria) -> str:
    nearest = sorted(own.agreements, key=lambda name: -own.agreements[name])[:SUPPORTERS]
    whom, plural = " and ".join(nearest), len(nearest) > 1
    if own.support < ALIKE:
        return f"No other method finds such groups; nearest {'come' if plural else 'comes'} {whom} ({own.support:.2f})."
    word = "the same groups" if own.support >= SAME else "partly the same groups"
    return (
        f"Of the other methods, {whom} {'find' if plural else 'finds'} {word} (adjusted Rand index {own.support:.2f})."
    )


def _on_runner_up(best: str, runner_up: str, scores: Mapping[str, float], criteria: Mapping[str, Criteria]) -> str:
    alike = criteria[best].agreements[runner_up]
    groups = "the same groups" if alike >= SAME else "partly the same groups" if alike >= ALIKE else "other groups"
    near = [name for name in scores if name != best and scores[name] >= NEAR * scores[best]]
    if not near:
        return f"{runner_up} comes next, with {groups} (adjusted Rand index {alike:.2f}), at a distance."
    text = f"{runner_up} is as good as equal and finds {groups} (adjusted Rand index {alike:.2f})"
    return (
        f"{text}; so near {'is' if len(near) == 2 else 'are'} also {_listed(near, runner_up)}."
        if near[1:]
        else f"{text}."
    )


def _listed(names: list[str], known: str) -> str:
    rest = [name for name in names if name != known]
    return ", ".join(rest[:-1]) + (" and " if rest[1:] else "") + rest[-1]


def _warnings(own: Criteria) -> list[str]:
    if own.size_balance < 0.5:
        return [f"Its clusters are very uneven: {own.smallest} to {own.largest} samples."]
    return []
