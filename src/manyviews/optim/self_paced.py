r"""Self-paced weights: which losses count at a given pace, and the robust loss that this amounts to.

A sample's weight solves :math:`\min_w w \ell + f(w)` with a regulariser f whose threshold a, the pace, is 1/λ in the
paper; raising it lets harder samples in.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["PacingKind", "counted_quantile", "paced_losses", "paced_weights"]

Array = NDArray[Any]
PacingKind = Literal["smooth", "hard", "none"]
# e^700 is still finite, and the weight there is already zero
LARGEST_EXPONENT = 700.0


def paced_weights(losses: Array, pace: float, kind: PacingKind) -> Array:
    r"""Return the weights that solve the self-paced problem for fixed losses.

    Parameters
    ----------
    losses : ndarray
        Losses :math:`\ell \ge 0`.
    pace : float
        Threshold a = 1/λ.
    kind : {"smooth", "hard", "none"}
        "smooth": :math:`(1 + e^{-a}) / (1 + e^{\ell - a})`, from 1 at ℓ = 0 down to 0, with the steepest fall at
        ℓ = a. "hard": 1 where ℓ < a, else 0. "none": 1.

    Returns
    -------
    ndarray
        Weights in [0, 1], shaped as the losses.
    """
    if kind == "none":
        return np.ones(losses.shape)
    if kind == "hard":
        return (losses < pace).astype(np.float64)  # eq. 5
    weights = _exponential(losses, pace)
    weights += 1.0
    return np.asarray(np.divide(1.0 + np.exp(-pace), weights, out=weights))  # eq. 8


def paced_losses(losses: Array, pace: float, kind: PacingKind) -> Array:
    r"""Return what each loss counts with its best weight, :math:`\min_w w \ell + f(w)`, shifted to 0 at ℓ = 0.

    Parameters
    ----------
    losses : ndarray
        Losses :math:`\ell \ge 0`.
    pace : float
        Threshold a = 1/λ.
    kind : {"smooth", "hard", "none"}
        "smooth": :math:`(1 + e^{-a}) \ln\frac{1 + e^a}{1 + e^{a - \ell}}`. "hard": :math:`\min(\ell, a)`. "none": ℓ.
        All are ℓ where the pace is large, and f is known only up to a constant, so that values at different paces can
        be compared.

    Returns
    -------
    ndarray
        Non-negative, shaped as the losses.
    """
    if kind == "none":
        return losses
    if kind == "hard":
        return np.minimum(losses, pace)
    # ln((1 + e^a) / (1 + e^(a-ℓ))) = ℓ + ln((1 + e^-a) / (1 + e^(ℓ-a))), where nothing overflows but e^(ℓ-a)
    excess = np.log1p(_exponential(losses, pace))
    capped = np.minimum(losses, pace + LARGEST_EXPONENT)
    return np.asarray((1.0 + np.exp(-pace)) * (capped + np.log1p(np.exp(-pace)) - excess))


def _exponential(losses: Array, pace: float) -> Array:
    shifted = losses - pace
    np.minimum(shifted, LARGEST_EXPONENT, out=shifted)
    return np.asarray(np.exp(shifted, out=shifted))


def counted_quantile(values: Array, counts: Array, share: float) -> float:
    """Return the quantile of values (m,) of which each is there so many times; counts need not be whole numbers."""
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(counts[order])
    place = share * max(float(ends[-1]) - 1.0, 0.0)
    below, above = np.minimum(np.searchsorted(ends, (np.floor(place), np.ceil(place)), side="right"), values.size - 1)
    low, high = values[order[below]], values[order[above]]
    return float(low + (place - np.floor(place)) * (high - low))
