"""The number of clusters that ``-k 2-10`` and ``-k auto`` leave open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from manyviews.cli.console import UsageError, user_input
from manyviews.cli.inputs import check_n_clusters

if TYPE_CHECKING:
    from manyviews.cli.console import Stages
    from manyviews.cli.options import Numbers
    from manyviews.views import Views

__all__ = ["settled_number"]


def settled_number(
    numbers: Numbers, views: Views, seed: int, progress: Stages, weights: Mapping[str, float] | None = None
) -> tuple[int, dict[str, Any] | None]:
    """Return the number of clusters to work with, and how it was chosen.

    Parameters
    ----------
    numbers : Numbers
        What -k was given.
    views : Views
        The data.
    seed : int
        Seed of the choice.
    progress : Stages
        Shows it, and keeps its time.
    weights : mapping of str to float, default=None
        What each view counts; alike by default.

    Returns
    -------
    n_clusters : int
        The number given, or chosen.
    chosen : dict or None
        ``n_clusters``, ``reason``, ``scores`` and ``splits``; None where one number was given.

    Raises
    ------
    UsageError
        If there cannot be as many clusters, or no number is clear.
    """
    first, last = numbers.first, numbers.last
    if first == last:
        check_n_clusters(first, views)
        return first, None
    n_samples = len(views)
    if numbers.automatic:
        last = min(last, n_samples - 1)
    if last >= n_samples or last < first:
        raise UsageError(
            f"-k {first}-{last}: numbers of clusters to choose from must be below the number of samples, {n_samples}"
            if not numbers.automatic
            else f"-k auto: {n_samples} samples are too few to choose a number of clusters; give one"
        )
    from manyviews.recommend.choose_k import choose_k

    with progress.stage("choice", f"choosing a number of clusters from {first} to {last}"), user_input():
        found = choose_k(views, range(first, last + 1), view_weights=weights and dict(weights), random_state=seed)
    if found.n_clusters is None:
        raise UsageError(f"{found.reason} Give -k a number to cluster all the same")
    check_n_clusters(found.n_clusters, views)
    scores = {str(k): own for k, own in found.scores.items()}
    splits = {str(k): own for k, own in found.splits.items()}
    return found.n_clusters, {
        "n_clusters": found.n_clusters,
        "reason": found.reason,
        "scores": scores,
        "splits": splits,
    }
