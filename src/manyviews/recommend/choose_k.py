"""How many clusters: the number for which most speaks, or none where nothing speaks for any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.view_weights import counted_views
from manyviews.recommend.choose_k_words import reason_in_words
from manyviews.recommend.cluster_numbers import KINDS, MEASURES, measure_numbers, without_structure
from manyviews.recommend.splits import splits_of
from manyviews.views import Views
from manyviews.views.check import check_views

__all__ = ["RULE", "ChosenK", "Rule", "best_number", "choose_k", "measured_on", "number_scores"]

Array = NDArray[Any]

# Parts of the samples, and of each kind of reference; beyond so many samples a random part tells as much.
PARTS, REFERENCE_PARTS = 4, 3
MOST_SAMPLES = 1500


class Rule(NamedTuple):
    """How a number is chosen.

    ``least``: by how much stability and structure, on average, are to be above chance, and the gap by anything at all;
    ``power``: the score is the gap times that power of the structure above chance; ``share``: of the numbers whose
    score is at least that part of the best, the largest is taken.
    """

    least: float
    power: float
    share: float


# chosen by benchmarks/choose_k.py, which leaves each set out in turn
RULE = Rule(0.15, 0.5, 0.5)
# of structure above chance, so that a number with stability alone has a score
LEAST_STRUCTURE = 0.02


def measured_on(
    views: Views, numbers: Sequence[int], rng: np.random.Generator, weights: Mapping[str, float] | None = None
) -> tuple[dict[str, Array], NDArray[np.int64], dict[str, Array]]:
    """Return the measures and cuts on the views, and the largest measures on two kinds of views without structure."""
    part_rng, *rngs = rng.spawn(1 + 2 * len(KINDS))
    found, cuts = measure_numbers(views, numbers, PARTS, part_rng, weights)
    references = []
    for kind, draw_rng, own_rng in zip(KINDS, rngs[::2], rngs[1::2], strict=True):
        empty = without_structure(views, draw_rng, kind)
        references.append(measure_numbers(empty, numbers, REFERENCE_PARTS, own_rng, weights)[0])
    return found, cuts, {name: np.max([own[name] for own in references], axis=0) for name in MEASURES}


def number_scores(found: Mapping[str, Array], reference: Mapping[str, Array], rule: Rule = RULE) -> Array:
    """Return the score of each number, the best 1; 0 for numbers that are not clearly above chance."""
    excess = {name: found[name] - reference[name] for name in MEASURES}
    clear = ((excess["stability"] + excess["structure"]) / 2 >= rule.least) & (excess["gap"] > 0)
    scores = np.where(clear, found["gap"] * np.maximum(excess["structure"], LEAST_STRUCTURE) ** rule.power, 0.0)
    return np.asarray(scores / max(float(scores.max()), np.finfo(np.float64).tiny))


def best_number(numbers: Sequence[int], scores: Array, rule: Rule = RULE) -> int | None:
    """Return the number that the rule takes, None where none is clear."""
    return int(numbers[np.flatnonzero(scores >= rule.share)[-1]]) if scores.max() > 0 else None


@dataclass(frozen=True)
class ChosenK:
    """What speaks for each number of clusters, and the one that is recommended.

    Attributes
    ----------
    n_clusters : int or None
        The number; None where there is no clear one.
    scores : dict of int to dict of str to float
        For each number: "stability", "structure" and "gap", each with what it is on views without structure beside it
        ("stability_by_chance" and so on), and the "score": 1 for the best, 0 for numbers not clearly above chance.
    reason : str
        Why, in one sentence.
    splits : dict of int to list of dict
        For each number the clusters of one part of the samples: "size", its share of them, and "parts", what came from
        each cluster of the number before, in shares of all samples. Clusters are in an order that puts those that came
        from one side by side.
    """

    n_clusters: int | None
    scores: dict[int, dict[str, float]]
    reason: str
    splits: dict[int, list[dict[str, Any]]] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.reason

    def figure(self) -> Any:
        """Draw the score and its measures over the numbers, chance dotted; needs plotly.

        Returns
        -------
        plotly.graph_objects.Figure
            The number that is recommended, if any, is marked.
        """
        from manyviews.pages.choice_figure import choice_figure

        return choice_figure(self.scores, self.n_clusters)

    def split_figure(self) -> Any:
        """Draw how clusters split from each number to the next; needs plotly.

        Returns
        -------
        plotly.graph_objects.Figure
            A row of clusters for each number; lines are as thick as the part of the samples that goes along.
        """
        from manyviews.pages.split_figure import split_figure

        return split_figure(self.splits, self.n_clusters)


def choose_k(
    views: Any, numbers: Iterable[int] = range(2, 11), *, view_weights: Any = None, random_state: int = 0
) -> ChosenK:
    r"""Say how many clusters there are, or that there is no clear number.

    For four random parts of the samples (80 %) an ensemble of base clusterings is made once, finer than any number
    asked for, as in ``Consensus``. The tree of how often two samples share a base cluster is cut for every k. Measured
    are the stability :math:`q(k)`, mean adjusted Rand index of two parts where they overlap; the structure
    :math:`p(k)`, how well the cluster of a sample is guessed from its neighbours in one view alone, mean over the
    views; and the gap :math:`g(k) = \lambda_k - \lambda_{k+1}` of the spectrum of the normalised ensemble graph.
    Chance, :math:`q_0, p_0, g_0`, is the larger of the same on two kinds of views in which there is nothing to find:
    columns permuted each by itself, and principal components so. The score

    .. math:: s(k) = g(k) \, (p(k) - p_0(k))^{1/2}

    counts where :math:`(q - q_0 + p - p_0) / 2 \ge 0.15` and :math:`g > g_0`. Where it does for no k, there is no clear
    number. Of the numbers with at least half of the best score the largest is taken: fine groups contain the coarse
    ones.

    Parameters
    ----------
    views : Views, sequence, mapping or table
        The data; samples may lack views.
    numbers : iterable of int, default=range(2, 11)
        Numbers of clusters to choose from, 2 at least and below the number of samples. A wider range costs little more
        time, but makes finer base clusterings.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: how often base clusterings draw it, and its part in the mean of
        the structure; 0 leaves it out. By default all alike.
    random_state : int, default=0
        Seed of the parts, the ensembles and the permutations.

    Returns
    -------
    ChosenK
        ``n_clusters``, ``scores``, ``reason`` and ``figure()``.

    Raises
    ------
    ValueError
        If a number is below 2 or not below the number of samples, or the weights are none.

    Notes
    -----
    At most 1500 samples are looked at. Cost: ten ensembles of 40 base clusterings, O(n²) for each tree, and one
    singular value decomposition of each dense view. Weights and bounds of the rule were chosen on sets with known
    classes, each judged by the rule that was best on the others: see ``benchmarks/choose_k.py``.

    References
    ----------
    .. [1] T. Lange, V. Roth, M. L. Braun and J. M. Buhmann, "Stability-based validation of clustering solutions",
       Neural Computation 16(6), 2004. doi:10.1162/089976604773717621
    .. [2] R. Tibshirani, G. Walther and T. Hastie, "Estimating the number of clusters in a data set via the gap
       statistic", Journal of the Royal Statistical Society B 63(2), 2001. doi:10.1111/1467-9868.00293

    Examples
    --------
    >>> import manyviews
    >>> data = manyviews.datasets.make_blobs_views(120, (6, 5), 3, view_noise=0.2, random_state=0)
    >>> found = manyviews.choose_k(data.views, range(2, 7))
    >>> found.n_clusters
    3
    """
    checked, weights = counted_views(check_views(views), view_weights)
    chosen = _checked_numbers(numbers, len(checked))
    part_rng, rng = np.random.default_rng(random_state).spawn(2)
    if len(checked) > MOST_SAMPLES:
        checked = checked[np.sort(part_rng.choice(len(checked), MOST_SAMPLES, replace=False))]
    found, cuts, reference = measured_on(checked, chosen, rng, weights)
    score = number_scores(found, reference)
    best = best_number(chosen, score)
    scores = {
        k: {name: float(found[name][i]) for name in MEASURES}
        | {f"{name}_by_chance": float(reference[name][i]) for name in MEASURES}
        | {"score": float(score[i])}
        for i, k in enumerate(chosen)
    }
    return ChosenK(best, scores, reason_in_words(scores, best, RULE.share), splits_of(cuts, chosen))


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
