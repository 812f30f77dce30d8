"""Ranges of parameters by name, each written once: what ``_parameter_constraints`` of the methods are made of."""

from __future__ import annotations

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions

__all__ = [
    "ABOVE_ONE",
    "BETWEEN_ZERO_AND_ONE",
    "INT_FROM_TWO",
    "NON_NEGATIVE",
    "POSITIVE",
    "POSITIVE_INT",
    "SHARE",
    "SHARE_ABOVE_ZERO",
    "SHARE_BELOW_ONE",
    "one_of",
]

POSITIVE_INT = Interval(Integral, 1, None, closed="left")
INT_FROM_TWO = Interval(Integral, 2, None, closed="left")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
ABOVE_ONE = Interval(Real, 1, None, closed="neither")
SHARE = Interval(Real, 0, 1, closed="both")
SHARE_ABOVE_ZERO = Interval(Real, 0, 1, closed="right")
SHARE_BELOW_ONE = Interval(Real, 0, 1, closed="left")
BETWEEN_ZERO_AND_ONE = Interval(Real, 0, 1, closed="neither")


def one_of(*words: str) -> StrOptions:
    """Return the constraint of a parameter that is one of these words."""
    return StrOptions(set(words))
