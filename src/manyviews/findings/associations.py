"""Do the clusters differ in what is known of the samples: clinical columns, and the batch they came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from manyviews.findings.truth import is_missing
from manyviews.pages.wording import amount, decimal, percent, plain

__all__ = ["EXPLORATORY", "associations", "batch_effect", "p_in_words"]

Array = NDArray[Any]

EXPLORATORY = (
    "Exploratory: clusters and test come from the same samples, and any number of groupings could have been tried; "
    "a finding needs other samples to confirm it."
)
# Numbers with fewer values are categories; with more categories a table says nothing.
FEW_NUMBERS, MANY_CATEGORIES = 3, 30
# Columns that are listed, and clusters whose values are.
MAX_ROWS, MAX_CLUSTERS = 100, 12
# Clusters follow a batch where the association is at least of medium size (Cohen 1988) and no chance.
MEDIUM, CHANCE = 0.3, 0.01


def p_in_words(p: float) -> str:
    """Return a p-value with its sign: = 0.013, < 0.0001."""
    return "< 0.0001" if p < 0.0001 else f"= {p:.4f}" if p < 0.001 else f"= {p:.3f}"


def associations(covariates: Mapping[str, Array], positions: Array, n_clusters: int) -> dict[str, Any]:
    r"""Test every column against the clusters.

    Numbers by the test of Kruskal and Wallis with the effect :math:`\varepsilon^2 = H / (n - 1)`; categories, and
    numbers with fewer than three values, by :math:`\chi^2` with Cramér's V, corrected for its bias. The p-values are
    adjusted together by Benjamini and Hochberg.

    Parameters
    ----------
    covariates : mapping of str to ndarray of shape (n,)
        Columns of objects; missing entries are left out.
    positions : ndarray of shape (n,)
        Cluster of each sample.
    n_clusters : int
        Their number.

    Returns
    -------
    dict
        ``rows``, the surest first, with ``name``, ``test``, ``n``, ``effect``, ``p``, ``p_text``, ``adjusted``,
        ``adjusted_text``, ``rough`` and ``cells`` (one text per cluster); ``n_tested``, ``n_hidden``, ``left_out``
        (sentences).

    References
    ----------
    Y. Benjamini, Y. Hochberg. Controlling the false discovery rate. J. R. Stat. Soc. B 57(1), 1995, 289-300.
    https://doi.org/10.1111/j.2517-6161.1995.tb02031.x
    """
    rows, left_out = [], []
    for name, column in covariates.items():
        tested = _tested(column, positions, n_clusters)
        if isinstance(tested, str):
            left_out.append(f"{plain(name, 60)} {tested}")
        else:
            rows.append({"name": plain(name, 60)} | tested)
    adjusted = stats.false_discovery_control([row["p"] for row in rows]).tolist() if rows else []
    for row, value in zip(rows, adjusted, strict=True):
        row |= {"adjusted": value, "p_text": p_in_words(row["p"]), "adjusted_text": p_in_words(value)}
    rows.sort(key=lambda row: (row["p"], -row["effect"]))
    shown = rows[:MAX_ROWS]
    return {"rows": shown, "n_tested": len(rows), "n_hidden": len(rows) - len(shown), "left_out": left_out[:MAX_ROWS]}


def _tested(column: Array, positions: Array, n_clusters: int) -> dict[str, Any] | str:
    """Return test and values by cluster, or why there is none."""
    known = np.array([not is_missing(value) for value in column.tolist()], dtype=bool)
    values, clusters = column[known].tolist(), positions[known]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    if numbers:
        values = [int(value) if float(value).is_integer() else value for value in values]  # 1 and 1.0 are one value
    distinct = set(map(str, values))
    if len(distinct) < 2:
        return "has one value only" if distinct else "is empty"
    if np.unique(clusters).size < 2:
        return "is known in one cluster only"
    if np.bincount(clusters).max() < 2:
        return "is known for one sample of each cluster only"
    if numbers and len(distinct) >= FEW_NUMBERS:
        return _of_numbers(np.array(values, dtype=np.float64), clusters, n_clusters)
    if len(distinct) > min(MANY_CATEGORIES, len(values) // 2):
        return f"has {len(distinct)} values that are no numbers in {amount(len(values), 'sample')}: too many to compare"
    return _of_categories(np.array(list(map(str, values))), clusters, n_clusters)


def _of_numbers(values: Array, clusters: Array, n_clusters: int) -> dict[str, Any] | str:
    if not np.isfinite(values).all():
        return "holds infinite numbers"
    found = stats.kruskal(*(values[clusters == i] for i in np.unique(clusters)))
    cells = []
    for i in range(n_clusters if n_clusters <= MAX_CLUSTERS else 0):
        own = values[clusters == i]
        low, middle, high = (
            (decimal(value, 3) for value in np.quantile(own, [0.25, 0.5, 0.75])) if own.size else ("",) * 3
        )
        cells.append(f"{middle} ({low}–{high})" if own.size else "–")
    effect = float(found.statistic) / (values.size - 1)
    return _row("Kruskal-Wallis", values.size, float(np.clip(effect, 0, 1)), float(found.pvalue), cells)


def _of_categories(values: Array, clusters: Array, n_clusters: int) -> dict[str, Any]:
    names, codes = np.unique(values, return_inverse=True)
    table = np.zeros((n_clusters, names.size), dtype=np.int64)
    np.add.at(table, (clusters, codes.ravel()), 1)
    p, expected = _chi_square(table)
    cells = []
    for counts in table if n_clusters <= MAX_CLUSTERS else ():
        top = int(np.argmax(counts))
        cells.append(f"{plain(names[top], 24)} {percent(counts[top] / counts.sum())}" if counts.sum() else "–")
    row = _row("χ²", values.size, cramers_v(table), p, cells)
    # the usual rule for when the distribution of chi-square holds
    row["rough"] = bool((expected < 5).mean() > 0.2)
    return row


def _row(test: str, n: int, effect: float, p: float, cells: list[str]) -> dict[str, Any]:
    return {"test": test, "n": int(n), "effect": effect, "p": p, "cells": cells, "rough": False}


def _chi_square(table: Array) -> tuple[float, Array]:
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    found = stats.chi2_contingency(table)
    return float(found.pvalue), np.asarray(found.expected_freq)


def cramers_v(table: Array) -> float:
    """Return the association of a table of counts, 0 to 1, corrected for what chance gives small tables.

    W. Bergsma. A bias-correction for Cramér's V and Tschuprow's T. J. Korean Stat. Soc. 42(3), 2013, 323-328.
    https://doi.org/10.1016/j.jkss.2012.10.002
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    n, (r, c) = table.sum(), table.shape
    if min(r, c) < 2 or n < 2:
        return 0.0
    phi2 = stats.chi2_contingency(table, correction=False).statistic / n
    rows, columns = r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)
    least = min(rows, columns) - 1
    return float(np.sqrt(max(0.0, phi2 - (r - 1) * (c - 1) / (n - 1)) / least)) if least > 0 else 0.0


def batch_effect(batch: Array, name: str, positions: Array, names: list[str]) -> dict[str, Any]:
    """Say whether the clusters follow a batch.

    Parameters
    ----------
    batch : ndarray of shape (n,)
        Batch of each sample, objects.
    name : str
        What the column is called.
    positions : ndarray of shape (n,)
        Cluster of each sample.
    names : list of str
        Names of the clusters.

    Returns
    -------
    dict
        ``name``, ``effect`` (Cramér's V), ``p``, ``follows`` and ``sentence``.
    """
    known = np.array([not is_missing(value) for value in batch.tolist()], dtype=bool)
    values, clusters = np.array(list(map(str, batch[known].tolist()))), positions[known]
    entry: dict[str, Any] = {"name": plain(name, 40), "effect": None, "p": None, "follows": False}
    levels, codes = np.unique(values, return_inverse=True)
    if levels.size < 2 or np.unique(clusters).size < 2:
        what = "one batch" if levels.size == 1 else "no batch" if not levels.size else "one cluster"
        return entry | {
            "sentence": f"The batch column {entry['name']} has {what} only, so there is nothing to compare."
        }
    if levels.size > len(values) // 2:
        text = (
            f"The column {entry['name']} has {levels.size} values in {amount(len(values), 'sample')}: it is no batch."
        )
        return entry | {"sentence": text}
    table = np.zeros((len(names), levels.size), dtype=np.int64)
    np.add.at(table, (clusters, codes.ravel()), 1)
    p, effect = _chi_square(table)[0], cramers_v(table)
    measured = f"Cramér's V {effect:.2f}, p {p_in_words(p)}"
    entry |= {"effect": effect, "p": p, "follows": effect >= MEDIUM and p < CHANCE}
    if not entry["follows"]:
        return entry | {"sentence": f"The clusters do not follow the batch column {entry['name']} ({measured})."}
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    usual = table.sum(axis=0) / table.sum()
    cluster, level = np.unravel_index(
        int(np.argmax(np.sqrt(table.sum(axis=1))[:, None] * (share - usual))), table.shape
    )
    here, usually = percent(float(share[cluster, level])), percent(float(usual[level]))
    return entry | {
        "sentence": (
            f"The clusters follow the batch column {entry['name']} ({measured}): {here} of cluster {names[cluster]} is "
            f"from {plain(levels[level], 30)}, which has {usually} of all samples. They may be groups of batches "
            "rather than of samples; correct for the batch, or cluster each by itself."
        )
    }
