"""The clusters and their samples: sizes, who is typical, who could be elsewhere, and the table of all samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.findings.centres import Nearness
from manyviews.findings.truth import Classes
from manyviews.pages.wording import plain
from manyviews.views import Views

__all__ = ["Sureness", "cluster_entries", "sample_name", "sample_table", "sureness"]

Array = NDArray[Any]

N_NAMED = 5


class Sureness:
    """How sure each sample's cluster is: (n,) values of 0 to 1 or None, and in words what they are."""

    def __init__(self, values: Array | None, meaning: str) -> None:
        self.values, self.meaning = values, meaning


def sureness(confidence: Any, near: Nearness | None, n_samples: int) -> Sureness:
    """Return the model's confidence, or the margin between the two nearest centres where it gives none."""
    if confidence is not None:
        values = np.asarray(confidence, dtype=np.float64)
        if values.shape == (n_samples,) and np.isfinite(values).all():
            return Sureness(values, "Confidence is the method's own, from 0 to 1.")
    if near is not None and near.margin is not None:
        return Sureness(
            near.margin,
            f"The method gives no confidence; here it is how much nearer a sample is to the centre of its cluster than "
            f"to the next one, in {near.where}: 1 on the centre, 0 where both are as near.",
        )
    return Sureness(None, "")


def cluster_entries(
    names: list[str],
    positions: Array,
    classes: Classes | None,
    sure: Sureness,
    near: Nearness | None,
    views: Views,
    n_detailed: int,
) -> list[dict[str, Any]]:
    """Return one entry per cluster; only the first ``n_detailed`` name samples.

    Parameters
    ----------
    names : list of str
        Name of each cluster.
    positions : ndarray of shape (n,)
        Cluster of each sample.
    classes : Classes or None
        Known classes.
    sure : Sureness
        How sure each sample is.
    near : Nearness or None
        How near each sample is to its centre.
    views : Views
        For the names of samples.
    n_detailed : int
        Clusters whose samples are named.

    Returns
    -------
    list of dict
        ``name``, ``size``, ``share``, ``confidence``, ``class``, ``class_share``, ``typical`` and ``unsure``.
    """
    k = len(names)
    by_cluster = np.argsort(positions, kind="stable")
    ends = np.cumsum(np.bincount(positions, minlength=k))
    entries = []
    for i, rows in enumerate(np.split(by_cluster, ends[:-1])):
        entry: dict[str, Any] = {"name": names[i], "size": int(rows.size), "share": rows.size / positions.size}
        entry["confidence"] = None if sure.values is None else float(sure.values[rows].mean())
        entry |= _commonest(classes, rows)
        detailed = i < n_detailed
        entry["typical"] = _lowest(None if near is None else near.own, rows, views) if detailed else []
        entry["unsure"] = _lowest(sure.values, rows, views) if detailed and k > 1 else []
        for sample in entry["unsure"]:
            sample["confidence"] = sample.pop("value")
        for sample in entry["typical"]:
            sample.pop("value")
        entries.append(entry)
    return entries


def _lowest(values: Array | None, rows: Array, views: Views) -> list[dict[str, Any]]:
    if values is None:
        return []
    own = values[rows]
    kept = np.argpartition(own, min(N_NAMED, own.size) - 1)[:N_NAMED] if own.size > N_NAMED else np.arange(own.size)
    kept = kept[np.lexsort((kept, own[kept]))]
    return [{"sample": sample_name(views, int(rows[i])), "value": float(own[i])} for i in kept]


def sample_name(views: Views, row: int) -> str:
    """Return the name of a sample as text; its number, counted from 0, where it has none."""
    return f"sample {row}" if views.sample_names is None else plain(views.sample_names[row], 60)


def _commonest(classes: Classes | None, rows: Array) -> dict[str, Any]:
    codes = np.empty(0, dtype=np.int64) if classes is None else classes.codes[rows]
    codes = codes[codes >= 0]
    if classes is None or codes.size == 0:
        return {"class": None, "class_share": None}
    counts = np.bincount(codes)
    return {"class": classes.names[int(counts.argmax())], "class_share": float(counts.max() / codes.size)}


def sample_table(views: Views, positions: Array, sure: Sureness, classes: Classes | None) -> dict[str, Any]:
    """Return what the page lists of every sample, by column.

    ``names`` is None where samples are only numbered; ``confidence`` is in hundredths; ``class`` holds positions in
    ``classes``, -1 where it is not known.
    """
    names = views.sample_names
    hundredths = None if sure.values is None else np.round(100 * sure.values).astype(np.int64).tolist()
    return {
        "n": len(views),
        "names": None if names is None else [plain(name, 60) for name in names],
        "cluster": positions.tolist(),
        "confidence": hundredths,
        "class": None if classes is None else classes.codes.tolist(),
        "classes": [] if classes is None else classes.names,
        "meaning": sure.meaning,
    }
