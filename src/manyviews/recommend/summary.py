"""A comparison as plain data: what the page, the table and the files are made from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, pstdev
from typing import Any

from manyviews.recommend.criteria import Criteria
from manyviews.recommend.result import Comparison, MethodResult
from manyviews.recommend.rule import score_of

__all__ = ["summary_of"]

STATUS = {
    "failed": "failed",
    "timeout": "too slow for the time limit",
    "memory": "needed more memory than allowed",
    "unsuitable": "not tried",
}


def summary_of(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain numbers and texts.

    Parameters
    ----------
    comparison : Comparison
        From ``compare``.

    Returns
    -------
    dict
        ``recommendation`` (None, or ``method``, ``class``, ``seed``, ``headline``, ``reasons``, ``certainty``,
        ``certainty_reason``, ``runner_up``, ``as_good``) and ``methods``, a list with the best first and those without
        a result last: ``name``, ``class``, ``title``, ``status``, ``status_words``, ``reason``, ``place``, ``score``,
        ``criteria`` (None without a result), ``seconds``, ``cpu_seconds``, ``peak_bytes``, ``n_ok``, ``n_fits``,
        ``seed``, ``scores`` (mean, deviation and values of each). What is not known is None, never NaN.
    """
    rows = sorted((_row(result) for result in comparison.results), key=_order)
    place = 0
    for row in rows:
        place += row["score"] is not None
        row["place"] = place if row["score"] is not None else None
    return {"recommendation": _recommendation(comparison), "methods": rows}


def _recommendation(comparison: Comparison) -> dict[str, Any] | None:
    found = comparison.recommendation
    if found is None:
        return None
    chosen = next(result for result in comparison.results if result.method.name == found.method)
    lists = {"reasons": list(found.reasons), "as_good": list(found.as_good)}
    return vars(found) | {"class": chosen.method.class_name, "seed": chosen.seed} | lists


def _order(row: dict[str, Any]) -> tuple[bool, float]:
    return row["score"] is None, -(row["score"] or 0.0)


def _row(result: MethodResult) -> dict[str, Any]:
    method, criteria = result.method, result.criteria
    return {
        "name": method.name,
        "class": method.class_name,
        "title": method.title,
        "status": result.status,
        "status_words": STATUS.get(result.status, ""),
        "reason": result.reason,
        "place": None,
        "score": None if criteria is None else _known(score_of(criteria)),
        "criteria": None if criteria is None else _criteria(criteria),
        "seconds": _known(result.seconds),
        "cpu_seconds": _known(result.cpu_seconds),
        "peak_bytes": result.peak_bytes or None,
        "n_ok": result.n_ok,
        "n_fits": result.n_fits,
        "seed": result.seed,
        "scores": {name: _spread(values) for name, values in result.scores.items()},
    }


def _criteria(criteria: Criteria) -> dict[str, Any]:
    fields = vars(criteria) | {
        "agreement": criteria.agreement,
        "support": criteria.support,
        "silhouette": criteria.silhouette,
    }
    return {name: _plain(value) for name, value in fields.items()}


def _plain(value: Any) -> Any:
    return {key: _known(item) for key, item in value.items()} if isinstance(value, dict) else _known(value)


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _spread(values: Sequence[float]) -> dict[str, Any]:
    return {"mean": fmean(values), "deviation": pstdev(values), "values": list(values)}
