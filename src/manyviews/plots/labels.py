"""Where the names of clusters stand on a map, so that none covers another on the screen of a telephone or of a desk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Label", "label_places", "label_size"]

Array = NDArray[Any]

# Width and height, in pixels, of the points of the smallest and of the largest map that the pages have.
SMALLEST, LARGEST = (270.0, 285.0), (1000.0, 440.0)
# Maps between these that are looked at: what is apart on the ends may meet between, where a name stands aside.
N_SIZES = 5
# Pixels of a bold letter, of what surrounds a name, and of its height.
LETTER, AROUND, HEIGHT = 9.0, 8.0, 23.0
# How far from its point a name may stand aside, and in how many directions it tries to.
DISTANCES, N_DIRECTIONS = (28.0, 42.0, 60.0, 80.0), 12


class Label(NamedTuple):
    """Place of a name: a point of the map, and how many pixels to the right and up of it."""

    x: float
    y: float
    right: float = 0.0
    up: float = 0.0

    @property
    def aside(self) -> bool:
        """Whether it stands beside its point."""
        return self.right != 0 or self.up != 0


def label_size(name: str) -> tuple[float, float]:
    """Return about how many pixels a name takes, width and height."""
    return LETTER * len(name) + AROUND, HEIGHT


def label_places(flat: Mapping[str, Any], members: Sequence[Sequence[int]], names: Sequence[str]) -> dict[int, Label]:
    """Return where the name of each cluster stands: on the point nearest its middle that is clear of other names.

    The middle itself may lie where no sample is. Small clusters choose first. Where a name finds no free point, as in
    clusters that are mixed, it stands beside its middle point, as near as it is free; where it is free nowhere, on the
    point farthest from the others. Names that are apart are so on maps of every size that pages have.

    Parameters
    ----------
    flat : dict
        A map: ``x`` and ``y`` of its points, and ``n_axes``.
    members : sequence of sequence of int
        Points of each cluster.
    names : sequence of str
        Their names.

    Returns
    -------
    dict of int to Label
        Place of each cluster that has points.
    """
    xy = np.column_stack([flat["x"], flat["y"]]).astype(np.float64)
    pixels = _scales(xy, same=flat.get("n_axes", 2) == 2)[:, None, :] * (xy - (xy.max(axis=0) + xy.min(axis=0)) / 2)
    settled: dict[int, tuple[int, Array]] = {}
    for cluster in sorted((c for c, inside in enumerate(members) if inside), key=lambda c: (len(members[c]), c)):
        points = np.array(members[cluster])
        middle = np.median(pixels[0, points], axis=0)
        points = points[np.argsort(((pixels[0, points] - middle) ** 2).sum(axis=1), kind="stable")]
        others = [(pixels[:, point] + aside, label_size(names[c])) for c, (point, aside) in settled.items()]
        settled[cluster] = _place(pixels, points, label_size(names[cluster]), others)
    return {
        cluster: Label(flat["x"][point], flat["y"][point], float(aside[0]), float(aside[1]))
        for cluster, (point, aside) in sorted(settled.items())
    }


def _scales(xy: Array, *, same: bool) -> Array:
    """Return the pixels of a unit of each axis on maps from the smallest to the largest, (m, 2)."""
    reach = np.ptp(xy, axis=0)
    ends = np.array([SMALLEST, LARGEST]) / np.where(reach > 0, reach, np.inf if same and reach.any() else 1.0)
    if same:
        ends = np.where(ends > 0, ends, np.inf).min(axis=1, keepdims=True).repeat(2, axis=1)
    return np.linspace(ends[0], ends[1], N_SIZES)


def _place(
    pixels: Array, points: Array, size: tuple[float, float], others: list[tuple[Array, tuple[float, float]]]
) -> tuple[int, Array]:
    """Return the point and the pixels aside of it of the first free place."""
    nothing = np.zeros(2)
    apart = _apart(pixels[:, points], size, others)
    free = np.flatnonzero(apart >= 1)
    if free.size:
        return int(points[free[0]]), nothing
    bounds = np.array(SMALLEST) / 2
    for aside in _asides():
        place = pixels[:, points[0]] + aside
        inside = (np.abs(place[0]) <= np.maximum(bounds, np.abs(pixels[0, points[0]]))).all()
        if inside and _apart(place[:, None], size, others)[0] >= 1:
            return int(points[0]), aside
    return int(points[apart.argmax()]), nothing


def _asides() -> Iterator[Array]:
    for distance in DISTANCES:
        for turn in 2 * np.pi * np.arange(N_DIRECTIONS) / N_DIRECTIONS:
            yield np.round(distance * np.array([np.cos(turn), np.sin(turn)]))


def _apart(places: Array, size: tuple[float, float], others: list[tuple[Array, tuple[float, float]]]) -> Array:
    """Return how far places (m, p, 2) are from all other names, of any size of the map; from 1 on they are clear."""
    apart = np.full(places.shape[1], np.inf)
    for other, other_size in others:
        needed = (np.array(size) + other_size) / 2
        apart = np.minimum(apart, (np.abs(places - other[:, None]) / needed).max(axis=2).min(axis=0))
    return apart
