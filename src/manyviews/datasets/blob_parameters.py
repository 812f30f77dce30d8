"""Check the parameters of the synthetic makers and turn them into plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["as_generator", "cluster_sizes", "missing_count", "view_roles", "widths_and_noise"]

Role = Literal["clusters", "conflict", "noise"]


def as_generator(random_state: Any) -> np.random.Generator:
    """Turn a seed or a source of randomness into a Generator.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None
        Seed or source.

    Returns
    -------
    Generator
        The same object if it is one already.

    Raises
    ------
    TypeError
        If it is none of these.
    ValueError
        If a seed is negative.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    if isinstance(random_state, np.random.Generator) or random_state is None:
        return np.random.default_rng(random_state)
    if isinstance(random_state, bool) or not isinstance(random_state, Integral):
        raise TypeError(
            f"random_state must be an int, a numpy Generator or RandomState, or None; got {random_state!r}."
        )
    seed = int(random_state)
    if seed < 0:
        raise ValueError(f"random_state must not be negative; got {seed}.")
    return np.random.default_rng(seed)


def widths_and_noise(n_features: Any, view_noise: Any, n_clusters: int) -> tuple[list[int], list[NDArray[np.float64]]]:
    """Check the features of each view and the noise of each view and cluster.

    Parameters
    ----------
    n_features : sequence of int
        Features of each view.
    view_noise : float, sequence of float or of sequences of float
        Noise of all views, of each, or of each view and cluster.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    widths : list of int
        Features of each view.
    noise : list of ndarray of shape (n_clusters,)
        Noise of each view.
    """
    if isinstance(n_features, str | Integral) or not hasattr(n_features, "__len__"):
        raise TypeError(f"n_features must be a sequence with one int per view, such as (64, 32); got {n_features!r}.")
    widths = [_whole_number(width, f"n_features[{v}]") for v, width in enumerate(n_features)]
    if not widths:
        raise ValueError("n_features is empty; give one number of features per view.")
    levels = view_noise if hasattr(view_noise, "__len__") else [view_noise] * len(widths)
    if len(levels) != len(widths):
        raise ValueError(
            f"view_noise has {len(levels)} values for {len(widths)} views; give one number or one per view."
        )
    noise = [_noise_of_clusters(level, n_clusters) for level in levels]
    if not all(((level >= 0) & (level < np.inf)).all() for level in noise):
        raise ValueError(f"view_noise must be finite and not negative; got {view_noise!r}.")
    return widths, noise


def _noise_of_clusters(level: Any, n_clusters: int) -> NDArray[np.float64]:
    if not hasattr(level, "__len__") or isinstance(level, str):
        return np.full(n_clusters, _number(level, "view_noise"))
    if len(level) != n_clusters:
        raise ValueError(
            f"view_noise has {len(level)} values for a view of {n_clusters} clusters; give one number or one of each."
        )
    return np.array([_number(value, "view_noise") for value in level])


def view_roles(n_views: int, noise_views: Any, conflicting_views: Any) -> list[Role]:
    """Decide which partition each view follows.

    Parameters
    ----------
    n_views : int
        Number of views.
    noise_views, conflicting_views : int or sequence of int or str
        How many views (the last free ones), or which.

    Returns
    -------
    list of {"clusters", "conflict", "noise"}
        Role of each view; at least one follows the clusters.
    """
    roles: list[Role] = ["clusters"] * n_views
    given: list[tuple[Role, str, Any]] = [
        ("noise", "noise_views", noise_views),
        ("conflict", "conflicting_views", conflicting_views),
    ]
    # Views named outright are taken before those that are only counted.
    for role, name, chosen in sorted(given, key=lambda item: isinstance(item[2], Integral)):
        for v in _chosen_views(roles, name, chosen):
            if roles[v] != "clusters":
                raise ValueError(f"view_{v} is named twice in noise_views and conflicting_views; name it once.")
            roles[v] = role
    if "clusters" not in roles:
        raise ValueError("all views are noise or conflicting; leave at least one that follows the clusters.")
    return roles


def _chosen_views(roles: list[Role], name: str, chosen: Any) -> list[int]:
    n_views = len(roles)
    if isinstance(chosen, Integral) and not isinstance(chosen, bool):
        free, count = [v for v, role in enumerate(roles) if role == "clusters"], int(chosen)
        if count and not 0 < count < len(free):
            raise ValueError(
                f"{name}={count} leaves no view that follows the clusters; at most {max(len(free) - 1, 0)} of the "
                f"{n_views} views can be. To name one view, write {name}=[{count}]."
            )
        return free[len(free) - count :]
    if isinstance(chosen, str | bool) or not isinstance(chosen, Sequence | np.ndarray):
        raise TypeError(f"{name} must be a number of views or a list of positions or names; got {chosen!r}.")
    return [_position(item, n_views, name) for item in chosen]


def _position(item: Any, n_views: int, name: str) -> int:
    names = [f"view_{v}" for v in range(n_views)]
    if item in names:
        return names.index(item)
    if isinstance(item, Integral) and not isinstance(item, bool) and -n_views <= int(item) < n_views:
        return int(item) % n_views
    raise ValueError(f"{name} has {item!r}, which is no view; the views are 0 .. {n_views - 1}, or {names}.")


def cluster_sizes(n_samples: Any, n_clusters: Any, weights: ArrayLike | None) -> NDArray[np.int64]:
    """Share the samples out to the clusters, at least one to each.

    Parameters
    ----------
    n_samples, n_clusters : int
        How many.
    weights : array-like of shape (n_clusters,) or None
        Relative sizes; equal when None.

    Returns
    -------
    ndarray of shape (n_clusters,) of int64
        Sizes that sum to ``n_samples``.
    """
    n, k = _whole_number(n_samples, "n_samples"), _whole_number(n_clusters, "n_clusters")
    if n < k:
        raise ValueError(f"n_samples={n} is less than n_clusters={k}; every cluster needs a sample.")
    share = np.ones(k) if weights is None else np.asarray(weights, dtype=np.float64)
    if share.shape != (k,):
        raise ValueError(f"weights has shape {share.shape}; give one positive number for each of {k} clusters.")
    if not (np.isfinite(share).all() and (share > 0).all()):
        raise ValueError(f"weights must be positive and finite; got {share.tolist()}.")
    # Largest remainders; then clusters rounded to nothing take a sample from the largest.
    exact = share / share.sum() * n
    sizes: NDArray[np.int64] = np.floor(exact).astype(np.int64)
    order = np.argsort(sizes - exact, kind="stable")
    sizes[order[: n - int(sizes.sum())]] += 1
    for empty in np.flatnonzero(sizes == 0):
        sizes[np.argmax(sizes)] -= 1
        sizes[empty] = 1
    return sizes


def missing_count(fraction: Any, n_samples: int, n_views: int) -> int:
    """Turn a share of (sample, view) pairs into their number.

    Parameters
    ----------
    fraction : float
        Share of the pairs that are not observed.
    n_samples, n_views : int
        How many.

    Returns
    -------
    int
        Number of missing pairs, few enough that each sample can keep a view.
    """
    share = _number(fraction, "missing_fraction")
    count = round(share * n_samples * n_views) if 0 <= share <= 1 else -1
    if not 0 <= count <= n_samples * (n_views - 1):
        raise ValueError(
            f"missing_fraction must be between 0 and {1 - 1 / n_views:.4g}, so that each sample keeps one of "
            f"{n_views} views; got {fraction}."
        )
    return count


def _whole_number(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an int; got {value!r}.")
    number = int(value)
    if number < 1:
        raise ValueError(f"{name} must be at least 1; got {number}.")
    return number


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number; got {value!r}.")
    return float(value)
