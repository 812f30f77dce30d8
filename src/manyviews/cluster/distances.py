"""Views that hold the distances between samples instead of features: what is checked when they come in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks
from manyviews.views import Views

__all__ = ["check_distances", "distance_scalings", "joined_distances"]

Array = NDArray[Any]
# of the largest distance: rounding of a matrix that was made or stored in single precision
ROUNDING = 1e-5


def check_distances(views: Views, given: str, *, square: bool) -> None:
    """Check that every view holds distances.

    Parameters
    ----------
    views : Views
        Checked views, (n, n) each, or those of new samples to the n of the fit.
    given : str
        How the caller said that they are distances, for the message.
    square : bool
        Whether they are those of the samples of a fit among each other.

    Raises
    ------
    TypeError
        If a view is sparse.
    ValueError
        If a distance is negative, or with ``square`` the view is not square or not symmetric, or a sample is not at
        distance 0 of itself.
    """
    n = len(views)
    for name, D in views.items():
        if sparse.issparse(D):
            raise TypeError(f"view {name!r}: {given} takes dense arrays of distances; write .toarray()")
        if square and D.shape != (n, n):
            raise ValueError(
                f"view {name!r}: {given} takes n × n distances, got shape {D.shape}; leave it out for features"
            )
        if D.min() < 0:
            raise ValueError(f"view {name!r}: {given} takes distances, but some are negative, {D.min():.3g} the least")
        if square:
            _check_square(name, D, given)


def _check_square(name: str, D: Array, given: str) -> None:
    allowed = ROUNDING * float(D.max())
    diagonal = np.abs(D.diagonal())
    if diagonal.max() > allowed:
        i = int(diagonal.argmax())
        raise ValueError(
            f"view {name!r}: {given} takes distances, but sample {i} is {diagonal[i]:.3g} away from itself; give "
            "distances, not similarities"
        )
    for rows in row_blocks(D.shape[0], 1024):
        gaps = np.abs(D[rows] - D[:, rows].T)
        if gaps.max() > allowed:
            row, column = map(int, np.unravel_index(int(gaps.argmax()), gaps.shape))
            raise ValueError(
                f"view {name!r}: {given} takes symmetric distances, but those of samples {rows.start + row} and "
                f"{column} differ by {gaps[row, column]:.3g}; give (D + D.T) / 2 if they should not"
            )


def distance_scalings(scalings: tuple[str | None, ...], given: str) -> tuple[None, ...]:
    """Return that nothing is done to any view; raise ValueError where something is asked for."""
    asked = [kind for kind in scalings if kind not in ("auto", None)]
    if asked:
        raise ValueError(f"scaling={asked[0]!r} is for features, which {given} does not take; leave scaling='auto'")
    return (None,) * len(scalings)


def joined_distances(arrays: list[Array], *, balance: bool) -> Array:
    r"""Return the distances in all views side by side, :math:`\sqrt{\sum_v s_v^2 D_v^2}`, (n, n).

    With ``balance`` :math:`s_v` gives each view the total variance 1, which is :math:`\sum_{ij} D_{ij}^2 / 2n^2`.
    """
    total = np.zeros(arrays[0].shape)
    for D in arrays:
        squares = np.square(D, dtype=np.float64)
        variance = squares.mean() / 2.0
        total += squares / variance if balance and variance > 0 else squares
    return np.sqrt(total, out=total)
