"""Why a number of clusters is recommended, or none, in one sentence."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["reason_in_words"]


def reason_in_words(scores: Mapping[int, Mapping[str, float]], n_clusters: int | None, share: float) -> str:
    """Return the reason for a number of clusters.

    Parameters
    ----------
    scores : mapping of int to mapping of str to float
        As of ``ChosenK.scores``.
    n_clusters : int or None
        What is recommended; None for no clear number.
    share : float
        Score of other numbers, of 1 for the best, that are worth a look.

    Returns
    -------
    str
        One sentence.
    """
    if n_clusters is None:
        best = max(scores, key=lambda k: _excess(scores[k]))
        return (
            f"There is no clear number of clusters {_between(scores)}: even for the best of them, {best}, "
            f"{_measured(scores[best])}, hardly more than on the same data with their order destroyed."
        )
    others = [str(k) for k in scores if k != n_clusters and scores[k]["score"] >= share]
    also = f"; worth a look, as much speaks for it too: {', '.join(others)}" if others else ""
    return f"{n_clusters} clusters, of {_between(scores, 'the numbers ')}: {_measured(scores[n_clusters])}{also}."


def _excess(own: Mapping[str, float]) -> float:
    return own["stability"] - own["stability_by_chance"] + own["structure"] - own["structure_by_chance"]


def _between(scores: Mapping[int, Mapping[str, float]], before: str = "") -> str:
    numbers = list(scores)
    return f"{before}from {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f"{before or 'as '}{numbers[0]}"


def _measured(own: Mapping[str, float]) -> str:
    return (
        f"groups found in different parts of the samples agree to {own['stability']:.2f} of 1 "
        f"({own['stability_by_chance']:.2f} by chance), neighbours in single views tell them to "
        f"{own['structure']:.2f} ({own['structure_by_chance']:.2f} by chance), and the spectrum of the consensus falls "
        f"by {own['gap']:.2f} ({own['gap_by_chance']:.2f} by chance) after it"
    )
