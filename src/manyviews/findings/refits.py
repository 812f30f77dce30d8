"""Fit again, on copies, within a time limit: other seeds, parts of the samples, one view less."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.findings.agreement import ari
from manyviews.findings.wanted import wanted_of
from manyviews.pages.wording import amount, duration, enumerated, plain
from manyviews.views import Views

__all__ = ["Refits", "refit", "stability_of"]

Array = NDArray[Any]

MANY, FEW = 5, 3
PART = 0.8
# Samples of the first trial, which doubles until it says how long a whole fit would take.
FIRST_TRIAL = 1000
# What a fit that does not suit the data may raise; anything else is a fault that must not be hidden.
UNSUITABLE = (ValueError, TypeError, AttributeError, ArithmeticError, MemoryError)


@dataclass
class Refits:
    """Labels of the refits: by seed, by part of the samples (rows, labels), by view left out; and what was not done.

    ``reseeded`` tells whether the fits on parts of the samples had other seeds too.
    """

    seeds: list[Array] = field(default_factory=list)
    parts: list[tuple[Array, Array]] = field(default_factory=list)
    without: dict[int, Array] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    reseeded: bool = False


class _LateError(Exception):
    """The next fit would not end in time."""


def refit(
    model: Any,
    views: Views,
    *,
    seconds: float,
    fit_seconds: float | None = None,
    random_state: int = 0,
    leave_views_out: bool = True,
    like: Refits | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Refits:
    """Fit copies of a model to see what its result depends on.

    In this order, as far as the time goes: five fits with other seeds, five on random 80 % of the samples, one without
    each view; three instead of five where five would leave no time for the rest. Where not even three of each go, every
    fit is on a part of the samples and with another seed, so that a single one tells of both. The model is not touched.
    How long a fit takes is learned from small parts of the samples first, unless it is known.

    Parameters
    ----------
    model : estimator
        With ``get_params`` and ``fit``; anything else is said in a note.
    views : Views
        What it was fitted on.
    seconds : float
        Time for everything; 0 to do nothing. A fit that has begun is not interrupted.
    fit_seconds : float, default=None
        How long the fit took, if known.
    random_state : int, default=0
        Seed of the seeds and of the parts.
    leave_views_out : bool, default=True
        Fit without each view too.
    like : Refits, default=None
        Make as many fits of each kind as these are, at most, so that both are measured alike.
    clock : callable, default=time.perf_counter
        Tells the time in seconds.

    Returns
    -------
    Refits
        What came out.
    """
    found = Refits()
    if not hasattr(model, "get_params") or not hasattr(model, "fit"):
        found.notes.append("The model cannot be fitted again, so nothing is known of what the result depends on.")
        return found
    if seconds <= 0:
        found.notes.append("No fits were repeated, because no time was given to it.")
        return found
    runner = _Runner(model, views, clock, clock() + seconds)
    rng = np.random.default_rng(random_state)
    try:
        cost = fit_seconds if fit_seconds is not None else runner.cost()
        n_seeds, n_parts, reseeded = _planned(runner, cost, seconds) if like is None else _numbers(like)
        found.reseeded = reseeded and runner.takes_seed
        runner.expect(cost)
        if n_seeds:
            _other_seeds(runner, found, n_seeds, rng)
        if n_parts:
            _parts(runner, found, n_parts, rng)
        if leave_views_out:
            _one_view_less(runner, found)
    except _LateError:
        lacking = [] if found.seeds or (found.reseeded and found.parts) else ["other seeds"]
        lacking += [] if found.parts else ["parts of the samples"]
        complete = len(found.without) == len(views.names) or not leave_views_out
        lacking += [] if complete or len(views.names) == 1 else ["every view left out"]
        took = f"a fit takes about {duration(runner.longest)}" if runner.longest else "a fit takes too long"
        if lacking:
            found.notes.append(f"Left out for time ({took}, {duration(seconds)} were given): {enumerated(lacking)}.")
    except UNSUITABLE as error:
        found.notes.append(f"Fitting again was not possible: {plain(error, 160)}")
    return found


def _numbers(refits: Refits) -> tuple[int, int, bool]:
    return len(refits.seeds), len(refits.parts), refits.reseeded


def _planned(runner: _Runner, cost: float, seconds: float) -> tuple[int, int, bool]:
    """Return the numbers of fits with other seeds and on parts, and whether those on parts have other seeds too."""
    if cost * (2 * MANY + len(runner.views.names)) <= seconds:
        return MANY, MANY, False
    return (0, FEW, True) if cost * FEW * (1 + PART) > seconds and runner.takes_seed else (FEW, FEW, False)


def stability_of(refits: Refits, labels: Array) -> float | None:
    """Return how well a result agrees with its repetitions; None where there are none.

    Parameters
    ----------
    refits : Refits
        What came out of fitting again.
    labels : ndarray of shape (n,)
        The result.

    Returns
    -------
    float or None
        The smaller of the mean adjusted Rand indices over seeds and over parts of the samples.
    """
    seeds = [ari(labels, other) for other in refits.seeds]
    parts = [ari(labels[rows], other) for rows, other in refits.parts]
    return min((float(np.mean(values)) for values in (seeds, parts) if values), default=None)


class _Runner:
    """Fits copies while there is time."""

    def __init__(self, model: Any, views: Views, clock: Callable[[], float], end: float) -> None:
        self.views, self.clock, self.end = views, clock, end
        wanted = wanted_of(model, views.names)
        if wanted:  # by name, and of the views that count
            from sklearn.base import clone

            kept = {name: wanted[name] for name in views.names if name in wanted}
            model = clone(model).set_params(view_weights=kept)
        self.model = model
        self.longest = 0.0

    @property
    def takes_seed(self) -> bool:
        return "random_state" in self.model.get_params(deep=False)

    def expect(self, cost: float) -> None:
        self.longest = max(self.longest, cost)

    def fit(self, views: Views, changes: Mapping[str, Any]) -> Array:
        """Return the labels of a copy with some parameters changed."""
        share = len(views) / len(self.views)
        if self.clock() + share * self.longest > self.end:
            raise _LateError
        labels, took = self._timed(views, changes)
        self.longest = max(self.longest, took / share)
        return labels

    def cost(self) -> float:
        """Return how long a fit will take, learned from fits on 1000, 2000, 4000, ... samples.

        Raises _LateError as soon as even a cost that grows no faster than n would be too much.
        """
        n = len(self.views)
        size = max(FIRST_TRIAL, 10 * int(getattr(self.model, "n_clusters", 1)))
        before = expected = 0.0
        rows = np.random.default_rng(0).permutation(n)
        while size < n / 1.5:
            took = max(self._timed(self.views[np.sort(rows[:size])], {})[1], 1e-6)
            growth = float(np.clip(np.log2(took / before), 1.0, 3.0)) if before else 1.0
            expected, left = took * (n / size) ** growth, self.end - self.clock()
            if FEW * took * n / size > left:
                self.longest = expected
                raise _LateError
            if before and 2**growth * took > left / 4:
                break
            size, before = 2 * size, took
        return expected

    def _timed(self, views: Views, changes: Mapping[str, Any]) -> tuple[Array, float]:
        from sklearn.base import clone

        copy = clone(self.model)
        known = copy.get_params(deep=False)
        # The views are cut already, and nobody wants to read the progress of refits.
        quiet = {key: value for key, value in {"views": None, "verbose": 0}.items() if key in known}
        copy.set_params(**quiet | dict(changes))
        start = self.clock()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = np.asarray(copy.fit(views).labels_)
        return labels, self.clock() - start


def _other_seeds(runner: _Runner, found: Refits, repeats: int, rng: np.random.Generator) -> None:
    if not runner.takes_seed:
        found.notes.append("The method takes no seed.")
        return
    for seed in rng.integers(2**31 - 1, size=repeats).tolist():
        found.seeds.append(runner.fit(runner.views, {"random_state": seed}))


def _parts(runner: _Runner, found: Refits, repeats: int, rng: np.random.Generator) -> None:
    n = len(runner.views)
    size = max(round(PART * n), min(n, getattr(runner.model, "n_clusters", 1)))
    with _said(found, "Not fitted on parts of the samples"):
        for _ in range(repeats):
            rows = np.sort(rng.choice(n, size, replace=False))
            other = {"random_state": int(rng.integers(2**31 - 1))} if found.reseeded else {}
            found.parts.append((rows, runner.fit(runner.views[rows], other)))


def _one_view_less(runner: _Runner, found: Refits) -> None:
    names = runner.views.names
    if len(names) < 2:
        return
    parameters = runner.model.get_params(deep=False)
    for position, name in enumerate(names):
        rest = [other for other in names if other != name]
        unseen = int((~runner.views.select(rest).observed.any(axis=1)).sum())
        if unseen:
            found.notes.append(f"Not fitted without {plain(name, 60)}: {amount(unseen, 'sample')} would be in no view.")
            continue
        changes = {
            key: {view: item for view, item in value.items() if view != name}
            for key, value in parameters.items()
            if isinstance(value, Mapping) and name in value and key != "views"
        }
        with _said(found, f"Not fitted without {plain(name, 60)}"):
            found.without[position] = runner.fit(runner.views.select(rest), changes)


@contextlib.contextmanager
def _said(found: Refits, what: str) -> Iterator[None]:
    try:
        yield
    except UNSUITABLE as error:
        found.notes.append(f"{what}: {plain(error, 160)}")
