"""What came of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from numpy.typing import NDArray

from manyviews.cluster.registry import MethodInfo
from manyviews.recommend.criteria import Criteria
from manyviews.recommend.rule import Recommendation, score_of

__all__ = ["Comparison", "MethodResult"]

Array = NDArray[Any]


@dataclass(frozen=True)
class MethodResult:
    """What came of one method.

    Attributes
    ----------
    method : MethodInfo
        The method.
    status : {"ok", "failed", "timeout", "memory", "unsuitable"}
        "ok" where at least one fit of all samples ended well; "unsuitable" where it was not tried.
    reason : str
        Why there is no result, or what went wrong with some fits; else empty.
    n_ok, n_fits : int
        Fits that ended well, and fits that were made.
    seconds, cpu_seconds : float
        Means over the fits of all samples; NaN without one.
    peak_bytes : int
        The most memory of any of them; 0 where not known.
    labels : ndarray of shape (n,) or None
        Labels of the typical seed: the one that agrees best with the others.
    seed : int or None
        That seed.
    criteria : Criteria or None
        Without classes.
    scores : dict of str to list of float
        External scores of each seed; empty without classes.
    """

    method: MethodInfo
    status: str
    reason: str = ""
    n_ok: int = 0
    n_fits: int = 0
    seconds: float = float("nan")
    cpu_seconds: float = float("nan")
    peak_bytes: int = 0
    labels: Array | None = None
    seed: int | None = None
    criteria: Criteria | None = None
    scores: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """Several methods on one data set, and which one is recommended.

    Attributes
    ----------
    results : tuple of MethodResult
        One per method, in the order in which they were asked for.
    recommendation : Recommendation or None
        Method, reasons and certainty; None where no method had a result.
    """

    results: tuple[MethodResult, ...]
    recommendation: Recommendation | None

    @property
    def recommended(self) -> str | None:
        """Name of the recommended method; None where no method had a result."""
        return None if self.recommendation is None else self.recommendation.method

    @property
    def labels(self) -> Array | None:
        """Clusters of the samples by the recommended method, from its typical seed."""
        return next((row.labels for row in self.results if row.method.name == self.recommended), None)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why that method, in sentences."""
        return () if self.recommendation is None else self.recommendation.reasons

    @property
    def certainty(self) -> str:
        """How far to rely on it: "fairly sure", "a hint", "unsure", "no choice"."""
        return "no choice" if self.recommendation is None else self.recommendation.certainty

    @property
    def table(self) -> dict[str, list[Any]]:
        """All methods, the best first, as columns of equal length, which ``pandas.DataFrame`` takes as they are."""
        rows = sorted(map(_row, self.results), key=lambda row: -1.0 if row["score"] is None else row["score"])[::-1]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def figure(self) -> Any:
        """Draw how well each view alone confirms the groups of each method; needs plotly.

        Returns
        -------
        plotly.graph_objects.Figure
            The best method on top.
        """
        from manyviews.recommend.page import comparison_figure
        from manyviews.recommend.summary import summary_of

        return comparison_figure(summary_of(self))

    def __repr__(self) -> str:
        """Return the recommendation in words."""
        if self.recommendation is None:
            return "No method had a result."
        return "\n".join([self.recommendation.headline, *self.reasons, f"{self.certainty.capitalize()}."])


def _row(result: MethodResult) -> dict[str, Any]:
    own = result.criteria
    known = {name: None if own is None else getattr(own, name) for name in _CRITERIA}
    scores = {name: fmean(result.scores[name]) if result.scores else None for name in _SCORES}
    return {
        "method": result.method.name,
        "score": None if own is None else score_of(own),
        **known,
        "seconds": result.seconds,
        "peak_bytes": result.peak_bytes,
        **scores,
        "status": result.status,
        "reason": result.reason,
    }


_CRITERIA = ("structure", "seeds", "support", "agreement", "parts", "silhouette", "view_balance", "smallest", "largest")
_SCORES = ("nmi", "acc", "ari")
