"""How many clusters: the number for which most speaks, or none where nothing speaks for any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.recommend.choose_k_words import reason_in_words
from manyviews.recommend.cluster_numbers import MEASURES, measure_numbers, without_structure
from manyviews.views import Views
from manyviews.views.check import check_views

__all__ = ["RULE", "ChosenK", "Rule", "best_number", "choose_k", "evidence", "measured_on"]

Array = NDArray[Any]

# Parts of the samples, and of each kind of reference; beyond so many samples a random part tells as much.
PARTS, REFERENCE_PARTS = 4, 3
MOST_SAMPLES = 1500


class Rule(NamedTuple):
    """How a number is chosen.

    ``weights`` of the measures of sum 1; ``slack``: the largest number whose score is at most so much below the best is
    taken; ``least``: a best score below that is no clear one.
    """

    weights: Mapping[str, float]
    slack: float
    least: float = float("-inf")


RULE = Rule({"stability": 0.5, "structure": 0.25, "gap": 0.25}, 0.0, 0.1)


def measured_on(views: Views, numbers: Sequence[int], rng: np.random.Generator) -> tuple[dict[str, Array], ...]:
    """Return the measures on the views, and the largest ones on two kinds of views without structure."""
    part_rng, *others = rng.spawn(5)
    found = measure_numbers(views, numbers, PARTS, part_rng)
    references = [
        measure_numbers(without_structure(views, draw_rng, kind), numbers, REFERENCE_PARTS, own_rng)
        for kind, draw_rng, own_rng in (("components", *others[:2]), ("columns", *others[2:]))
    ]
    return found, {name: np.max([own[name] for own in references], axis=0) for name in MEASURES}


def evidence(found: Mapping[str, Array], reference: Mapping[str, Array]) -> dict[str, Array]:
    """Return the measures corrected for chance: 1 is the most, 0 what views without structure have."""
    return {name: (found[name] - reference[name]) / (1.0 - np.minimum(reference[name], 0.99)) for name in MEASURES}


def _score(evidence: Mapping[str, Array], rule: Rule) -> Array:
    return np.sum([rule.weights[name] * evidence[name] for name in MEASURES], axis=0)


def best_number(numbers: Sequence[int], evidence: Mapping[str, Array], rule: Rule = RULE) -> int | None:
    """Return the number that the rule takes, None where none is clear."""
    score = _score(evidence, rule)
    good = np.flatnonzero(score >= np.max(score) - rule.slack)
    return int(numbers[good[-1]]) if np.max(score) >= rule.least else None


@dataclass(frozen=True)
class ChosenK:
    """What speaks for each number of clusters, and the one that is recommended.

    Attributes
    ----------
    n_clusters : int or None
        The number; None where there is no clear one.
    scores : dict of int to dict of str to float
        For each number: "stability", "structure" and "gap", each with what it is on views without structure beside it
        ("stability_by_chance" and so on), and the "score", 0 by chance and 1 at most.
    reason : str
        Why, in one sentence.
    """

    n_clusters: int | None
    scores: dict[int, dict[str, float]]
    reason: str

    def __str__(self) -> str:
        return self.reason

    def figure(self) -> Any:
        """Draw the score and its measures over the numbers, chance dotted; needs plotly.

        Returns
        -------
        plotly.graph_objects.Figure
            The number that is recommended, if any, is marked.
        """
        from manyviews.recommend.choose_k_figure import choose_k_figure

        return choose_k_figure(self.scores, self.n_clusters)


def choose_k(views: Any, numbers: Iterable[int] = range(2, 11), *, random_state: int = 0) -> ChosenK:
    r"""Say how many clusters there are, or that there is no clear number.

    For four random parts of the samples (80 %) an ensemble of base clusterings is made once, finer than any number
    asked for, as in ``Consensus``. The tree of how often two samples share a base cluster is cut for every k. Then

    .. math:: s(k) = \sum_j w_j \frac{q_j(k) - q_j^0(k)}{1 - q_j^0(k)}

    is largest for the k recommended, with :math:`q_1` the mean adjusted Rand index of two parts where they overlap,
    :math:`q_2` how well the cluster of a sample is guessed from its neighbours in one view alone, mean over the views,
    and :math:`q_3 = \lambda_k - \lambda_{k+1}` the gap of the spectrum of the normalised ensemble graph.
    :math:`q_j^0` is the larger of the same on two kinds of views in which there is nothing to find: columns permuted
    each by itself, and principal components so. Where even the largest score is small, there is no clear number.

    Parameters
    ----------
    views : Views, sequence, mapping or table
        The data; samples may lack views.
    numbers : iterable of int, default=range(2, 11)
        Numbers of clusters to choose from, 2 at least and below the number of samples. A wider range costs little more
        time, but makes finer base clusterings.
    random_state : int, default=0
        Seed of the parts, the ensembles and the permutations.

    Returns
    -------
    ChosenK
        ``n_clusters``, ``scores``, ``reason`` and ``figure()``.

    Raises
    ------
    ValueError
        If a number is below 2 or not below the number of samples.

    Notes
    -----
    At most 1500 samples are looked at. Cost: ten ensembles of 24 base clusterings, O(n²) for each tree, and one
    singular value decomposition of each dense view. Weights and bounds of the rule were chosen on sets with known
    classes, each judged by the rule that was best on the others: see ``benchmarks/choose_k.py``.

    References
    ----------
    .. [1] T. Lange, V. Roth, M. L. Braun and J. M. Buhmann, "Stability-based validation of clustering solutions",
       Neural Computation 16(6), 2004. :doi:`10.1162/089976604773717621`
    .. [2] R. Tibshirani, G. Walther and T. Hastie, "Estimating the number of clusters in a data set via the gap
       statistic", Journal of the Royal Statistical Society B 63(2), 2001. :doi:`10.1111/1467-9868.00293`

    Examples
    --------
    >>> import manyviews
    >>> data = manyviews.datasets.make_blobs_views(120, (6, 5), 3, view_noise=0.2, random_state=0)
    >>> found = manyviews.choose_k(data.views, range(2, 7))
    >>> found.n_clusters
    3
    """
    checked = check_views(views)
    chosen = _checked_numbers(numbers, len(checked))
    part_rng, rng = np.random.default_rng(random_state).spawn(2)
    if len(checked) > MOST_SAMPLES:
        checked = checked[np.sort(part_rng.choice(len(checked), MOST_SAMPLES, replace=False))]
    found, reference = measured_on(checked, chosen, rng)
    corrected = evidence(found, reference)
    best = best_number(chosen, corrected)
    score = _score(corrected, RULE)
    scores = {
        k: {name: float(found[name][i]) for name in MEASURES}
        | {f"{name}_by_chance": float(reference[name][i]) for name in MEASURES}
        | {"score": float(score[i])}
        for i, k in enumerate(chosen)
    }
    return ChosenK(best, scores, reason_in_words(scores, best))


def _checked_numbers(numbers: Iterable[int], n_samples: int) -> list[int]:
    given = list(numbers)
    if not all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in given):
        raise ValueError(f"numbers must be integers, such as range(2, 11); got {given}")
    chosen = sorted({int(k) for k in given})
    if not chosen or chosen[0] < 2 or chosen[-1] >= n_samples:
        raise ValueError(
            f"numbers must be 2 or more and below the number of samples, {n_samples}; "
            f"got {f'{chosen[0]} to {chosen[-1]}' if chosen else 'none'}"
        )
    return chosen
