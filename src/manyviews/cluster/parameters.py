"""Parameters of an estimator as its solver takes them: Python's own numbers, and a generator for any kind of seed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

__all__ = ["child_rng", "plain_integers"]


@contextmanager
def plain_integers(estimator: Any) -> Iterator[None]:
    """Let the parameters of an estimator be Python's own numbers for a while: those of eight bits overflow."""
    given = {name: getattr(estimator, name) for name in estimator.get_params(deep=False)}
    plain = {name: _plain(value) for name, value in given.items()}
    changed = {name for name, value in plain.items() if value is not given[name]}
    try:
        for name in changed:
            setattr(estimator, name, plain[name])
        yield
    finally:
        for name in changed:
            setattr(estimator, name, given[name])


def _plain(value: Any) -> Any:
    """Return a NumPy number as Python's, also in a list, tuple or mapping; anything else as it is."""
    if isinstance(value, np.bool_ | np.integer):
        return value.item()
    if isinstance(value, list | tuple) and any(isinstance(item, np.integer) for item in value):
        return type(value)(map(_plain, value))
    if isinstance(value, dict) and any(isinstance(item, np.integer) for item in value.values()):
        return {key: _plain(item) for key, item in value.items()}
    return value


def child_rng(random_state: Any) -> np.random.Generator:
    """Return a generator for a seed, a RandomState, a Generator or None; the global random state stays untouched."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return random_state.spawn(1)[0]
    return np.random.default_rng(random_state)
