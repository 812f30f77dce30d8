"""A recommendation in words, for a reader who knows the data and not the field."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from manyviews.pages.stability import ALIKE, groups_in_words
from manyviews.recommend.criteria import SUPPORTERS, Criteria

__all__ = ["FAIRLY_SURE", "HINT", "NO_CHOICE", "UNSURE", "divided", "in_one_sentence", "reasons"]

# A view that tells no more than this of the groups says nothing of them.
SILENT = 0.05

# How sure a choice is, and why.
FAIRLY_SURE = (
    "fairly sure",
    "The groups show plainly in the views, and no method that is as good finds other ones; on such data the choice was "
    "seldom a bad one.",
)
HINT = ("a hint", "The groups show in the views, but not plainly; look at the reports of two or three methods.")
UNSURE = (
    "unsure",
    "The views hardly confirm any of the groupings, so that the order of the methods says little; other features, "
    "another scaling or another number of clusters may help more than another method.",
)
NO_CHOICE = ("no choice", "There was nothing to compare it with.")


def divided(other: str, agreement: float) -> str:
    """Return why a choice is no more than a hint where a method that is as good finds other groups."""
    return (
        f"{other} is as good as equal but finds {groups_in_words(agreement)} (adjusted Rand index {agreement:.2f}); "
        "without classes nothing tells which of the two is right, so look at both reports."
    )


def in_one_sentence(best: str, certainty: str, n_methods: int, *, alone: bool) -> str:
    """Return the recommendation in one sentence; ``alone`` where no other method is as good as equal."""
    if n_methods == 1:
        return f"{best} is the only method with a result."
    if certainty == "unsure":
        return f"No method finds clear groups in these data; {best} comes first of {n_methods}, but by little to go on."
    how = "best" if alone else "as well as any"
    return f"{best} suits these data {how} of {n_methods} methods, as far as can be told without classes."


def reasons(
    best: str,
    rest: Sequence[str],
    as_good: Sequence[str],
    scores: Mapping[str, float],
    criteria: Mapping[str, Criteria],
) -> tuple[str, ...]:
    """Return why a method was chosen.

    Parameters
    ----------
    best : str
        The method.
    rest, as_good : sequence of str
        The others by their score, and those of them that are as good as equal.
    scores, criteria : mapping
        Of all methods.

    Returns
    -------
    tuple of str
        Sentences.
    """
    own = criteria[best]
    texts = [_on_structure(best, as_good, criteria), *_on_views(own), *_on_stability(own)]
    if rest:
        texts += [_on_support(own), _on_equals(best, rest, as_good, scores, criteria)]
    return (*texts, *_warnings(own))


def _on_structure(best: str, as_good: Sequence[str], criteria: Mapping[str, Criteria]) -> str:
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
    if rival in as_good:
        return f"{text}, hardly less than with {rival} ({others[rival]:.2f})."
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
        texts.append(f"other seeds find {groups_in_words(own.seeds)} ({own.seeds:.2f})")
    if not math.isnan(own.parts):
        texts.append(f"fits on parts of the samples find {groups_in_words(own.parts)} ({own.parts:.2f})")
    text = ", ".join(texts)
    return [f"{text[0].upper()}{text[1:]}."] if text else []


def _on_support(own: Criteria) -> str:
    nearest = sorted(own.agreements, key=lambda name: -own.agreements[name])[:SUPPORTERS]
    whom, plural = " and ".join(nearest), len(nearest) > 1
    if own.support < ALIKE:
        return f"No other method finds such groups; nearest {'come' if plural else 'comes'} {whom} ({own.support:.2f})."
    found = groups_in_words(own.support)
    return (
        f"Of the other methods, {whom} {'find' if plural else 'finds'} {found} (adjusted Rand index {own.support:.2f})."
    )


def _on_equals(
    best: str,
    rest: Sequence[str],
    as_good: Sequence[str],
    scores: Mapping[str, float],
    criteria: Mapping[str, Criteria],
) -> str:
    alike = criteria[best].agreements
    if not as_good:
        found = groups_in_words(alike[rest[0]])
        return f"{rest[0]} comes next, with {found} (adjusted Rand index {alike[rest[0]]:.2f}), at a distance."
    first, more = as_good[0], list(as_good[1:])
    found = groups_in_words(alike[first])
    text = f"{first} is as good as equal and finds {found} (adjusted Rand index {alike[first]:.2f})"
    if more:
        text += f"; so near {'is' if len(more) == 1 else 'are'} also {_listed(more)}"
    if scores[first] > scores[best]:
        text += f". {best} is the simplest of them"
    return f"{text}."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if names[1:] else "") + names[-1]


def _warnings(own: Criteria) -> list[str]:
    if own.size_balance < 0.5:
        return [f"Its clusters are very uneven: {own.smallest} to {own.largest} samples."]
    return []
