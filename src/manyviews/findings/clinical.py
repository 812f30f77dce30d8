"""What is known of the samples besides their views, held against the clusters."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from manyviews.findings.associations import EXPLORATORY, associations, batch_effect
from manyviews.findings.known import Clinical
from manyviews.findings.survival import compare_survival

__all__ = ["describe_clinical"]


def describe_clinical(known: Clinical, positions: NDArray[Any], names: list[str]) -> dict[str, Any]:
    """Return what the page says of outcome, covariates and batch.

    Parameters
    ----------
    known : Clinical
        What is known.
    positions : ndarray of shape (n,)
        Cluster of each sample.
    names : list of str
        Names of the clusters.

    Returns
    -------
    dict
        ``survival``, ``associations`` and ``batch``, each None where there is nothing, and ``caution``.
    """
    k = len(names)
    return {
        "survival": None if known.outcome is None else compare_survival(known.outcome, positions, names),
        "associations": None if known.covariates is None else associations(known.covariates, positions, k),
        "batch": None if known.batch is None else batch_effect(known.batch, known.batch_name, positions, names),
        "caution": EXPLORATORY,
    }
