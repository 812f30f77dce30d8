"""One scale of words for how alike two groupings are, and for how stable a result is."""

from __future__ import annotations

__all__ = ["ALIKE", "MUCH", "SAME", "groups_in_words", "level_of"]

# Adjusted Rand indices from which on two groupings are in the main the same, much the same, or partly the same.
SAME, MUCH, ALIKE = 0.85, 0.7, 0.5
# The same borders for a result held against its repetitions, with one more where hardly a sample moves.
LEVELS = (
    (0.95, "very stable"),
    (SAME, "stable"),
    (MUCH, "fairly stable"),
    (ALIKE, "shaky"),
    (-1.0, "unstable"),
)


def level_of(index: float) -> str:
    """Return the word for a result whose repetitions agree with it so much (adjusted Rand index)."""
    return next(word for least, word in LEVELS if index >= least)


def groups_in_words(index: float) -> str:
    """Return what to call the groups of two groupings that agree so much: ``the same groups``, ``other groups``.

    Parameters
    ----------
    index : float
        Adjusted Rand index.

    Examples
    --------
    >>> from manyviews.pages.stability import groups_in_words
    >>> groups_in_words(0.9), groups_in_words(0.75), groups_in_words(0.52), groups_in_words(0.1)
    ('the same groups', 'much the same groups', 'partly the same groups', 'other groups')
    """
    if index >= SAME:
        return "the same groups"
    if index >= MUCH:
        return "much the same groups"
    return "partly the same groups" if index >= ALIKE else "other groups"
