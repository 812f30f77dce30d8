"""Numbers and names as people read them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "SCORES",
    "amount",
    "count",
    "decimal",
    "duration",
    "enumerated",
    "fixed",
    "flatten",
    "percent",
    "plain",
    "rounded_part",
    "size",
]

# What each score says, in the order in which the page lists them.
SCORES: dict[str, tuple[str, str]] = {
    "acc": ("Accuracy", "Samples that agree when each cluster is matched with one class, as well as can be."),
    "nmi": ("NMI", "What clusters and classes tell about each other: 0 is nothing, 1 is the same grouping."),
    "nmi_max": ("NMI, stricter", "The same, measured against the larger of the two entropies instead of their mean."),
    "ari": ("Adjusted Rand", "Agreement on pairs of samples, corrected for luck: 0 is chance, 1 is perfect."),
    "purity": ("Purity", "Samples that are of the commonest class of their cluster; rises with more clusters."),
    "ri": ("Rand index", "Pairs that both groupings put together or both keep apart; not corrected for luck."),
    "f_score": ("Pair F-score", "Precision and recall over pairs of samples put together, in balance."),
}


def plain(value: Any, limit: int = 200) -> str:
    """Return any value as one line of printable text of at most ``limit`` characters.

    Names come from users' files. Control characters, line breaks, direction overrides and halves of surrogate
    pairs would break the layout or the encoding of the page.
    """
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    text = text if len(text) <= 4 * limit else text[: 4 * limit]
    if len(text) <= limit and text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()  # as nearly all names are; a large data set has many
    text = "".join(_printable(character) for character in text)
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _printable(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Zl", "Zp") or character in "\t\n\r":
        return " "
    if category == "Cs" or (category == "Cc") or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069":
        return "\ufffd"
    return character


def count(n: int) -> str:
    """Return a whole number with its thousands apart: 12,345."""
    return f"{n:,}"


def amount(n: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: 1 sample, 2 samples, 2 classes."""
    return f"{count(n)} {noun if n == 1 else plural or noun + 's'}"


def clusters_of(sizes: Sequence[int]) -> str:
    """Return how many clusters there are and of how many samples."""
    low, high = min(sizes), max(sizes)
    if len(sizes) == 1:
        return f"a single cluster of {amount(low, 'sample')}"
    if low == high:
        return f"{amount(len(sizes), 'cluster')} of {amount(low, 'sample')} each"
    return f"{amount(len(sizes), 'cluster')} of {count(low)} to {count(high)} samples"


def enumerated(names: Sequence[str], limit: int = 5) -> str:
    """Return names as a list in a sentence: a; a and b; a, b and 3 more."""
    shown = list(names) if len(names) <= limit else [*names[: limit - 2], f"{count(len(names) - limit + 2)} more"]
    return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)


def percent(share: float) -> str:
    """Return a share of the whole: 0.1234 is 12.3 %, with spaces that do not break."""
    if 0 < share < 0.0005:
        return "<\u00a00.1\u00a0%"
    if 0.9995 <= share < 1:
        return ">\u00a099.9\u00a0%"
    return "100\u00a0%" if share == 1 else "0\u00a0%" if share == 0 else f"{100 * share:.1f}\u00a0%"


def rounded_part(n: int, total: int) -> str:
    """Return a part of a whole in whole percents, never 0 or 100 where it is neither."""
    if 0 < 100 * n < total:
        return "<\u00a01\u00a0%"
    if 0 < 100 * (total - n) < total:
        return ">\u00a099\u00a0%"
    return f"{100 * n / total:.0f}\u00a0%"


def decimal(value: float, digits: int = 4) -> str:
    """Return a number with so many significant digits; text for what is not finite."""
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else "infinite"
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        text = f"{value:,.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}" if value else "0"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.{digits - 1}e}"


def fixed(value: float) -> str:
    """Return a score with three decimals, without a sign where it rounds to zero."""
    return f"{value:.3f}".replace("-0.000", "0.000")


def duration(seconds: float) -> str:
    """Return a time span: 0.4 s, 12 s, 3 min 20 s, 2 h 5 min."""
    if not math.isfinite(seconds):
        return "unknown"
    if seconds < 0.0995:
        return f"{1000 * seconds:.0f} ms" if seconds >= 0.001 else "< 1 ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def size(n_bytes: float) -> str:
    """Return a file size: 512 bytes, 34 kB, 5.1 MB."""
    if n_bytes < 1000:
        return amount(round(n_bytes), "byte")
    for unit in ("kB", "MB"):
        n_bytes /= 1000
        if n_bytes < 999.5:
            return f"{n_bytes:.1f} {unit}" if n_bytes < 9.95 else f"{n_bytes:.0f} {unit}"
    return f"{n_bytes / 1000:.1f} GB"


def flatten(value: Any, name: str = "") -> list[tuple[str, str]]:
    """Return nested mappings and sequences as ("name: name", text) pairs, in their own order."""
    if isinstance(value, Mapping):
        pairs = [flatten(item, f"{name}: {plain(key)}" if name else plain(key)) for key, item in value.items()]
        return [pair for part in pairs for pair in part]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        if all(not isinstance(item, Mapping | list | tuple) for item in value):
            return [(name, plain(", ".join(_scalar(item) for item in value)))]
        return [pair for i, item in enumerate(value) for pair in flatten(item, f"{name} {i + 1}".strip())]
    return [(name, _scalar(value))]


def _scalar(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return "none" if value is None else "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    # The place of an object in memory differs from run to run.
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", plain(value))
