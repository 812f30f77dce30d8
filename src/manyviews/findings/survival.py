"""Do the clusters differ in the time to an event: a curve for each, and one test of all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.findings.associations import p_in_words
from manyviews.findings.known import TimesToEvent, require_lifelines
from manyviews.pages.wording import amount, decimal, enumerated, plain

__all__ = ["compare_survival"]

Array = NDArray[Any]

# Steps of one curve: more cannot be told apart on a screen.
MAX_STEPS = 400
# Half the height of the mark of a censored sample.
TICK = 0.012


def compare_survival(outcome: TimesToEvent, positions: Array, names: list[str]) -> dict[str, Any]:
    r"""Return a Kaplan-Meier curve per cluster and the log-rank test.

    The curve of a cluster is :math:`\hat S(t) = \prod_{t_i \le t} (1 - d_i / n_i)` with :math:`d_i` events among the
    :math:`n_i` samples still seen at the time :math:`t_i`.

    Parameters
    ----------
    outcome : TimesToEvent
        Times and events.
    positions : ndarray of shape (n,)
        Cluster of each sample, by its place among ``names``.
    names : list of str
        Names of the k clusters.

    Returns
    -------
    dict
        ``p`` (None where nothing can be tested) and ``p_text``, ``n_used``, ``n_events``, ``time_name``, ``times`` (at
        which samples at risk are counted), ``clusters`` (``n``, ``events``, ``median``, None where not reached,
        ``at_risk``, and the curve as ``x`` and ``y``) and ``sentences``.

    References
    ----------
    E. L. Kaplan, P. Meier. Nonparametric estimation from incomplete observations. JASA 53(282), 1958, 457-481.
    https://doi.org/10.1080/01621459.1958.10501452
    """
    known = ~np.isnan(outcome.time)
    time, event, cluster = outcome.time[known], outcome.event[known], positions[known]
    times = _round_times(float(time.max()))
    curves = [_curve(time[cluster == i], event[cluster == i], times) for i in range(len(names))]
    p = _log_rank(time, event, cluster)
    return {
        "p": p,
        "p_text": None if p is None else p_in_words(p),
        "n_used": int(known.sum()),
        "n_events": int(event.sum()),
        "time_name": plain(outcome.time_name, 40),
        "times": [decimal(value) for value in times],
        "ticks": times,
        "clusters": curves,
        "sentences": _sentences(p, curves, names, int((~known).sum()), int(event.sum())),
    }


def _curve(time: Array, event: Array, times: list[float]) -> dict[str, Any]:
    entry: dict[str, Any] = {"n": int(time.size), "events": int(event.sum()), "median": None, "x": [], "y": []}
    entry["at_risk"] = [int((time >= value).sum()) for value in times]
    if not time.size:
        return entry
    fitted = require_lifelines().KaplanMeierFitter().fit(time, event)
    median = float(fitted.median_survival_time_)
    entry["median"] = decimal(median, 3) if np.isfinite(median) else None
    steps = np.asarray(fitted.survival_function_.index, dtype=np.float64)
    share = np.asarray(fitted.survival_function_.iloc[:, 0], dtype=np.float64)
    if steps.size > MAX_STEPS:
        kept = np.unique(np.linspace(0, steps.size - 1, MAX_STEPS).round().astype(np.int64))
        steps, share = steps[kept], share[kept]
    entry["x"], entry["y"] = _path(steps, share)
    return entry


def _path(steps: Array, share: Array) -> tuple[list[float], list[float]]:
    """Return the curve as one line: down where there are events, with a tick where samples only left."""
    x, y = [float(steps[0])], [float(share[0])]
    for at, before, after in zip(steps[1:].tolist(), share[:-1].tolist(), share[1:].tolist(), strict=True):
        ticks = [before, after] if after < before else [before, before + TICK, before - TICK, before]
        x += [at] * len(ticks)
        y += ticks
    return x, y


def _log_rank(time: Array, event: Array, cluster: Array) -> float | None:
    if np.unique(cluster).size < 2 or not event.any():
        return None
    require_lifelines()
    from lifelines.statistics import multivariate_logrank_test

    p = float(multivariate_logrank_test(time, cluster, event).p_value)
    return p if np.isfinite(p) else None


def _sentences(
    p: float | None, curves: list[dict[str, Any]], names: list[str], n_unknown: int, n_events: int
) -> list[str]:
    n_used = sum(curve["n"] for curve in curves)
    few = [name for name, curve in zip(names, curves, strict=True) if curve["n"] == 1]
    none = [name for name, curve in zip(names, curves, strict=True) if curve["n"] == 0]
    if p is not None:
        said = (
            f"Log-rank test of {amount(len(names) - len(none), 'cluster')}: p {p_in_words(p)}, from "
            f"{amount(n_events, 'event')} among {amount(n_used, 'sample')}."
        )
    elif len(names) - len(none) < 2:
        said = "Only one cluster has samples with a known outcome, so there is nothing to compare."
    elif not n_events:
        said = "No event was seen, so the clusters cannot be compared."
    else:
        said = "The clusters cannot be compared: they are too small for the log-rank test."
    return [
        said,
        *([f"{amount(n_unknown, 'sample')} without a time or an event left out."] if n_unknown else []),
        *([f"A single sample stands behind the curve of {_clusters(few)}: it says nothing by itself."] if few else []),
        *([f"No outcome is known in {_clusters(none)}."] if none else []),
    ]


def _clusters(names: list[str]) -> str:
    return f"{'cluster' if len(names) == 1 else 'clusters'} {enumerated(names)}"


def _round_times(longest: float, n_wanted: int = 6) -> list[float]:
    """Return round times from 0 on, about as many as wanted."""
    if longest <= 0:
        return [0.0]
    rough = longest / n_wanted
    size = 10.0 ** np.floor(np.log10(rough))
    step = float(size * min((factor for factor in (1, 2, 2.5, 5, 10) if factor * size >= rough), default=10))
    return [float(decimal(step * i, 6).replace(",", "")) for i in range(int(longest / step) + 1)]
