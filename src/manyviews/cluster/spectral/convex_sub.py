r"""ConvexSub: a common low-dimensional representation of all views, found by a convex problem.

minimise :math:`\tfrac12 \sum_v \|X_v - M_v\|_F^2 + \gamma \max_{\eta \in \Delta} \|[\sqrt{\eta_1} M_1, \dots,
\sqrt{\eta_m} M_m]\|_*` over M. The problem is convex in M and concave in the weights η of the views, and solved by
turns: accelerated proximal gradient steps in :math:`N_v = \sqrt{\eta_v} M_v`, then a multiplicative step in η.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from manyviews.optim.history import History

__all__ = ["Representation", "dual_norm", "solve_convex_sub"]

Array = NDArray[np.float64]
# weights below this would make the steps in their view vanish
LEAST_WEIGHT = 1e-3
MULTIPLICATIVE_STEPS = 200


class Representation(NamedTuple):
    """Approximations M (n, d_v), weights η (V,), representation Φ = UΣ (n, rank), objective history."""

    M: list[Array]
    eta: Array
    Phi: Array
    history: History


