"""What the user wanted each view to count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manyviews.cluster.view_weights import wanted_weights

__all__ = ["wanted_of"]


def wanted_of(model: Any, names: Sequence[str]) -> dict[str, float] | None:
    """Return the weight of each view that was given, None where all are to count alike.

    Parameters
    ----------
    model : estimator
        Fitted; one without ``view_weights`` wants nothing.
    names : sequence of str
        Names of the views, where the model does not tell those of the fit.

    Returns
    -------
    dict of str to float or None
        By name, views that are left out among them.
    """
    given = getattr(model, "view_weights", None)
    known = [str(name) for name in getattr(model, "view_names_in_", names)]
    if given is None:
        return None
    wanted = wanted_weights(given, known)
    return None if np.ptp(wanted) == 0 else dict(zip(known, wanted.tolist(), strict=True))
