"""Do the clusters differ in the time to an event: a curve for each, one test of all, and one of each pair."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from manyviews.findings.associations import p_in_words
from manyviews.findings.known import TimesToEvent, require_lifelines
from manyviews.pages.wording import amount, decimal, enumerated, plain

__all__ = ["compare_survival"]

Array = NDArray[Any]

# Steps of one curve: more cannot be told apart on a screen.
MAX_STEPS = 400
# Half the height of the mark of a censored sample.
TICK = 0.012
# Clusters whose pairs are tested: 66 pairs can be read as a table, many more cannot.
MAX_PAIRED = 12


def compare_survival(outcome: TimesToEvent, positions: Array, names: list[str]) -> dict[str, Any]:
    r"""Return a Kaplan-Meier curve per cluster, the log-rank test of all, and that of each pair.

    The curve of a cluster is :math:`\hat S(t) = \prod_{t_i \le t} (1 - d_i / n_i)` with :math:`d_i` events among the
    :math:`n_i` samples still seen at the time :math:`t_i`; its band is Greenwood's interval of 95 % on the scale of
    :math:`\log(-\log \hat S)`. From three clusters on, up to 12, each pair is tested too, and the p-values of the
    pairs are adjusted together by Benjamini and Hochberg.

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
        ``p`` (None where nothing can be tested) and ``p_text``, ``pairs`` (``first``, ``second``, places among
        ``names``, ``p``, ``p_text``, ``adjusted``, ``adjusted_text``; empty for two clusters), ``n_untested`` (pairs
        that cannot be tested), ``n_used``,
        ``n_events``, ``time_name``, ``times`` (at which samples at risk are counted), ``clusters`` (``n``, ``events``,
        ``median``, None where not reached, ``at_risk``, the curve as ``x`` and ``y``, its band as the outline
        ``band``) and ``sentences``.

    References
    ----------
    E. L. Kaplan, P. Meier. Nonparametric estimation from incomplete observations. JASA 53(282), 1958, 457-481.
    https://doi.org/10.1080/01621459.1958.10501452

    N. Mantel. Evaluation of survival data and two new rank order statistics arising in its consideration. Cancer
    Chemotherapy Reports 50(3), 1966, 163-170.

    Y. Benjamini, Y. Hochberg. Controlling the false discovery rate. J. R. Stat. Soc. B 57(1), 1995, 289-300.
    https://doi.org/10.1111/j.2517-6161.1995.tb02031.x
    """
    known = ~np.isnan(outcome.time)
    time, event, cluster = outcome.time[known], outcome.event[known], positions[known]
    times = _round_times(float(time.max()))
    curves = [_curve(time[cluster == i], event[cluster == i], times) for i in range(len(names))]
    compared = _compared(time, event, cluster)
    p = _log_rank(time, event, cluster, compared)
    return {
        "p": p,
        "p_text": None if p is None else p_in_words(p),
        **_pairs(time, event, cluster),
        "n_used": int(known.sum()),
        "n_events": int(event.sum()),
        "time_name": plain(outcome.time_name, 40),
        "times": [decimal(value) for value in times],
        "ticks": times,
        "clusters": curves,
        "sentences": _sentences(p, compared.size, curves, names, int((~known).sum())),
    }


def _curve(time: Array, event: Array, times: list[float]) -> dict[str, Any]:
    entry: dict[str, Any] = {"n": int(time.size), "events": int(event.sum()), "median": None}
    entry |= {"x": [], "y": [], "band": {"x": [], "y": []}}
    entry["at_risk"] = [int((time >= value).sum()) for value in times]
    if not time.size:
        return entry
    fitted = require_lifelines().KaplanMeierFitter().fit(time, event)
    median = float(fitted.median_survival_time_)
    entry["median"] = decimal(median, 3) if np.isfinite(median) else None
    steps = np.asarray(fitted.survival_function_.index, dtype=np.float64)
    share = np.asarray(fitted.survival_function_.iloc[:, 0], dtype=np.float64)
    low, high = np.asarray(fitted.confidence_interval_, dtype=np.float64).T
    if steps.size > MAX_STEPS:
        kept = np.unique(np.linspace(0, steps.size - 1, MAX_STEPS).round().astype(np.int64))
        steps, share, low, high = steps[kept], share[kept], low[kept], high[kept]
    entry["x"], entry["y"] = _path(steps, share)
    entry["band"] = _outline(steps, low, high)
    return entry


def _outline(steps: Array, low: Array, high: Array) -> dict[str, list[float]]:
    """Return the interval as a closed line: along its upper limit in steps, and back along the lower one."""
    kept = np.flatnonzero(np.append(True, (np.diff(low) != 0) | (np.diff(high) != 0)))  # the others are no steps
    x = np.repeat(np.append(steps[kept], steps[-1]), 2)[1:-1]
    upper, lower = np.repeat(high[kept], 2), np.repeat(low[kept], 2)
    return {"x": [*x.tolist(), *x[::-1].tolist()], "y": [*upper.tolist(), *lower[::-1].tolist()]}


def _path(steps: Array, share: Array) -> tuple[list[float], list[float]]:
    """Return the curve as one line: down where there are events, with a tick where samples only left."""
    x, y = [float(steps[0])], [float(share[0])]
    for at, before, after in zip(steps[1:].tolist(), share[:-1].tolist(), share[1:].tolist(), strict=True):
        ticks = [before, after] if after < before else [before, before + TICK, before - TICK, before]
        x += [at] * len(ticks)
        y += ticks
    return x, y


def _compared(time: Array, event: Array, cluster: Array) -> Array:
    """Return the clusters that the log-rank test can compare, at least two or none.

    It compares at times of events, among those still seen: there must be two clusters of them, and some who outlive
    the event, else the numbers of events that are expected have no variance. Packages then give p = 1 or NaN.
    """
    there, (at, events) = np.unique(cluster), np.unique(time[event], return_counts=True)
    ends = [np.sort(time[cluster == i]) for i in there]
    at_risk = np.array([each.size - np.searchsorted(each, at) for each in ends], dtype=np.int64).T
    telling = ((at_risk > 0).sum(axis=1) > 1) & (events < at_risk.sum(axis=1))
    return np.asarray(there[(at_risk[telling] > 0).any(axis=0)])


def _log_rank(time: Array, event: Array, cluster: Array, compared: Array) -> float | None:
    if not compared.size:
        return None
    used = np.isin(cluster, compared)  # the others have no part in it, and are no degree of freedom
    require_lifelines()
    from lifelines.statistics import multivariate_logrank_test

    p = float(multivariate_logrank_test(time[used], cluster[used], event[used]).p_value)
    return p if np.isfinite(p) else None


def _pairs(time: Array, event: Array, cluster: Array) -> dict[str, Any]:
    """Return the log-rank test of each pair of clusters, the surest first; of two clusters it is the test of all."""
    there = np.unique(cluster).tolist()
    if not 2 < len(there) <= MAX_PAIRED:
        return {"pairs": [], "n_untested": 0}
    rows, n_untested = [], 0
    for i, j in combinations(there, 2):
        two = np.isin(cluster, (i, j))
        if _compared(time[two], event[two], cluster[two]).size:
            rows.append({"first": i, "second": j, "p": _log_rank_of_two(time, event, cluster, (i, j))})
        else:
            n_untested += 1
    adjusted = stats.false_discovery_control([row["p"] for row in rows]).tolist() if rows else []
    for row, value in zip(rows, adjusted, strict=True):
        row |= {"p_text": p_in_words(row["p"]), "adjusted": value, "adjusted_text": p_in_words(value)}
    rows.sort(key=lambda row: (row["p"], row["first"], row["second"]))
    return {"pairs": rows, "n_untested": n_untested}


def _log_rank_of_two(time: Array, event: Array, cluster: Array, two: tuple[int, int]) -> float:
    sides = [(time[cluster == i], event[cluster == i]) for i in two]
    first, second = (stats.CensoredData(uncensored=t[seen], right=t[~seen]) for t, seen in sides)
    with np.errstate(invalid="ignore", divide="ignore"):  # at a time that one sample is left to see
        return float(stats.logrank(first, second).pvalue)


def _sentences(
    p: float | None, n_compared: int, curves: list[dict[str, Any]], names: list[str], n_unknown: int
) -> list[str]:
    n_used, n_events = (sum(curve[key] for curve in curves) for key in ("n", "events"))
    few = [name for name, curve in zip(names, curves, strict=True) if curve["n"] == 1]
    none = [name for name, curve in zip(names, curves, strict=True) if curve["n"] == 0]
    if p is not None:
        said = (
            f"Log-rank test of {amount(n_compared, 'cluster')}: p {p_in_words(p)}, from "
            f"{amount(n_events, 'event')} among {amount(n_used, 'sample')}."
        )
    elif len(names) - len(none) < 2:
        said = "Only one cluster has samples with a known outcome, so there is nothing to compare."
    elif not n_events:
        said = "No event was seen, so the clusters cannot be compared."
    else:
        said = (
            "The clusters are not testable: the log-rank test needs an event at which samples of two clusters are "
            "still seen, some of which outlive it."
        )
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
