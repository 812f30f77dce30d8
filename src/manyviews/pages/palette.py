"""Colours and markers that tell clusters apart, also for colour-blind readers, on light and on dark pages."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DARK", "LIGHT", "MARKERS", "Look", "look_of", "theme_css"]

# Ten hues in both themes, in the same order. Found by searching lightness and chroma around fixed hues for the
# largest smallest difference between two of them, as seen with normal vision and with each of the three kinds of
# colour blindness; a test holds them to it. More than ten clusters repeat the hues with another marker.
LIGHT = (
    "#2436b4", "#ee9e10", "#60a37d", "#a7320c", "#54236a", "#20b9f6", "#8d8307", "#c248aa", "#636363", "#141414",
)  # fmt: skip
DARK = (
    "#6b79f9", "#ef911d", "#34bf91", "#d23a12", "#af9cec", "#a4d2eb", "#ffd404", "#c256b1", "#696969", "#f5f5f5",
)  # fmt: skip

# plotly's name of each marker, and the same shape as an SVG path in a box from -10 to 10 for legends and tables.
# Filled and hollow are told apart at any size, so they come first.
MARKERS = {
    "circle": "M-7.5 0a7.5 7.5 0 1 0 15 0a7.5 7.5 0 1 0-15 0z",
    "circle-open": "M-7 0a7 7 0 1 0 14 0a7 7 0 1 0-14 0z",
    "triangle-up": "M0-9L9.5 7.5H-9.5z",
    "square-open": "M-7-7H7V7H-7z",
    "cross": "M-3-9H3V-3H9V3H3V9H-3V3H-9V-3H-3z",
    "diamond-open": "M0-9L9 0L0 9L-9 0z",
    "star": "M0-10L2.6-3.2L9.8-3L4.1 1.4L6.1 8.4L0 4.4L-6.1 8.4L-4.1 1.4L-9.8-3L-2.6-3.2z",
}


class Look(NamedTuple):
    """How one cluster is drawn: the position of its hue, its marker, the marker as an SVG path, and hollow or not."""

    hue: int
    marker: str
    path: str
    hollow: bool


def look_of(position: int) -> Look:
    """Return the look of the cluster at this position; 70 in a row are all different."""
    names = tuple(MARKERS)
    marker = names[position // len(LIGHT) % len(names)]
    return Look(position % len(LIGHT), marker, MARKERS[marker], marker.endswith("-open"))


def theme_css(colours: tuple[str, ...]) -> str:
    """Return the hues as CSS custom properties ``--hue-0``, ``--hue-1``, ..."""
    return " ".join(f"--hue-{i}: {colour};" for i, colour in enumerate(colours))
