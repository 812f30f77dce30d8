"""Why a number of clusters is recommended, or none, in one sentence."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["reason_in_words"]

# a score that is lower by less is nearly as good
CLOSE = 0.05


def reason_in_words(scores: Mapping[int, Mapping[str, float]], n_clusters: int | None) -> str:
    """Return the reason for a number of clusters.

    Parameters
    ----------
    scores : mapping of int to mapping of str to float
        As of ``ChosenK.scores``.
    n_clusters : int or None
        What is recommended; None for no clear number.

    Returns
    -------
    str
        One sentence.
    """
    best = max(scores, key=lambda k: scores[k]["score"])
    if n_clusters is None:
        return (
            f"There is no clear number of clusters {_between(scores)}: {_measured(scores[best])}, so even the best of "
            f"them, {best}, is hardly better than on data without groups."
        )
    close = [str(k) for k in scores if k != n_clusters and scores[k]["score"] >= scores[n_clusters]["score"] - CLOSE]
    also = f"; nearly as much speaks for {' and '.join(close)}" if close else ""
    return f"{n_clusters} clusters, of {_between(scores, 'the numbers ')}: {_measured(scores[n_clusters])}{also}."


def _between(scores: Mapping[int, Mapping[str, float]], before: str = "") -> str:
    numbers = list(scores)
    return f"{before}from {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f"{before or 'as '}{numbers[0]}"


def _measured(own: Mapping[str, float]) -> str:
    return (
        f"groups found in different parts of the samples agree to {own['stability']:.2f} of 1 "
        f"({own['stability_by_chance']:.2f} without groups), neighbours in single views tell them to "
        f"{own['structure']:.2f} ({own['structure_by_chance']:.2f}), and the spectrum of the consensus falls by "
        f"{own['gap']:.2f} ({own['gap_by_chance']:.2f}) after them"
    )
