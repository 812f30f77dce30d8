"""One fit that is to be made, and what came of it: plain data with a stable key and one JSON line each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews import __version__
from manyviews.datasets import Dataset

__all__ = ["Limits", "Outcome", "Run", "Status", "data_checksum", "resampled_rows", "run_key"]

Status = Literal["ok", "failed", "timeout", "memory"]


@dataclass(frozen=True)
class Run:
    """One fit.

    Attributes
    ----------
    method : str
        Name of the method in the registry.
    data : str
        Name under which the runner is given the data set.
    seed : int
        ``random_state`` of the estimator.
    parameters : mapping of str to JSON-able
        Parameters of the estimator other than ``n_clusters`` and ``random_state``.
    n_clusters : int
        Number of clusters.
    rows : tuple of (int, int) or None
        Seed of a resample without replacement and the percentage of samples it keeps; None for all samples.
    """

    method: str
    data: str
    seed: int
    parameters: Mapping[str, Any]
    n_clusters: int
    rows: tuple[int, int] | None = None


@dataclass(frozen=True)
class Limits:
    """What one fit may take.

    Attributes
    ----------
    time : float or None
        Seconds of processor time of the fit, which other work on the machine does not lengthen, and ten times as much
        of wall time; without the start of the process and the reading of the data. Where the system does not tell the
        processor time, of wall time.
    memory : int or None
        Bytes that the process may hold, the data and the libraries included.
    """

    time: float | None = None
    memory: int | None = None

    def allow_more_than(self, other: Limits, status: Status) -> bool:
        """Say whether a fit that ``other`` ended with ``status`` may go further under these limits."""
        if status not in ("timeout", "memory"):
            return False
        mine, theirs = (self.time, other.time) if status == "timeout" else (self.memory, other.memory)
        return theirs is not None and (mine is None or mine > theirs)


@dataclass(frozen=True)
class Outcome:
    """What came of one fit.

    Attributes
    ----------
    run : Run
        The fit.
    status : {"ok", "failed", "timeout", "memory"}
        Done, ended by an error, or by one of the limits.
    seconds, cpu_seconds : float
        Wall and processor time of the fit; NaN is never stored, 0 stands for "not known".
    peak_bytes : int
        Most memory that the process held during the fit, libraries and data included; 0 where not known.
    scores : dict of str to float
        External scores, as of :func:`manyviews.metrics.evaluate`; empty without classes.
    labels : list of int or None
        Labels of the samples, or of the resampled rows in ascending order; None where they were not kept.
    message : str
        What went wrong; for a fit that is done, what it warned of.
    limits : Limits
        What the fit was allowed.
    """

    run: Run
    status: Status
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    scores: dict[str, float]
    labels: list[int] | None
    message: str
    limits: Limits = field(default_factory=Limits)

    def to_line(self, key: str) -> str:
        """Return the outcome as one JSON line without its end."""
        run = vars(self.run) | {"parameters": dict(self.run.parameters)}
        fields = vars(self) | {"run": run, "limits": vars(self.limits)}
        return json.dumps({"key": key} | fields, allow_nan=False, separators=(",", ":"), default=_plain)

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Outcome:
        """Return the outcome of a JSON line that was read.

        Parameters
        ----------
        fields : mapping
            The parsed line.

        Returns
        -------
        Outcome
            As it was written, but for tuples in parameters, which JSON turns into lists.

        Raises
        ------
        KeyError, TypeError
            If it is no such line.
        """
        values = {name: fields[name] for name in cls.__dataclass_fields__}
        run = dict(values["run"])
        run["rows"] = None if run["rows"] is None else tuple(run["rows"])
        return cls(**(values | {"run": Run(**run), "limits": Limits(**values["limits"])}))


def run_key(run: Run, checksum: str) -> str:
    """Return what identifies a fit: its method, parameters, data, clusters, seed, rows and the version of the library.

    Parameters
    ----------
    run : Run
        The fit.
    checksum : str
        Of the data, see :func:`data_checksum`; the name of the data does not count.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    parts = [__version__, run.method, dict(run.parameters), checksum, run.n_clusters, run.seed, run.rows]
    text = json.dumps(parts, sort_keys=True, allow_nan=False, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def data_checksum(data: Dataset) -> str:
    """Return a checksum of the numbers, names and classes of a data set.

    Parameters
    ----------
    data : Dataset
        Views and perhaps labels.

    Returns
    -------
    str
        64 hexadecimal digits; cost linear in the data's size.
    """
    found = hashlib.sha256()
    for name, array in data.views.items():
        parts = (array.data, array.indices, array.indptr) if sparse.issparse(array) else (array,)
        found.update(f"{name}\0{array.shape}\0{len(parts)}".encode("utf-8", "surrogatepass"))
        for part in (*parts, data.views.observed):
            _update(found, part)
    if data.labels is not None:
        _update(found, data.labels)
    return found.hexdigest()


def resampled_rows(n_samples: int, rows: tuple[int, int] | None) -> NDArray[np.intp] | None:
    """Return the positions that a resample keeps, ascending, or None for all samples.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    rows : tuple of (int, int) or None
        Seed and percentage, as in :class:`Run`.

    Returns
    -------
    ndarray of intp or None
        Positions; at least one.
    """
    if rows is None:
        return None
    seed, percent = rows
    size = max(1, round(n_samples * percent / 100))
    return np.sort(np.random.default_rng(seed).choice(n_samples, size, replace=False))


def _update(found: Any, part: NDArray[Any]) -> None:
    found.update(f"{part.dtype.str}{part.shape}".encode())
    found.update(np.ascontiguousarray(part).view(np.uint8).reshape(-1).data)


def _plain(value: Any) -> Any:
    """Return NumPy numbers and arrays as JSON knows them."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"parameters of a run must be plain numbers, texts, lists and mappings; got {type(value).__name__}")
