"""What was run, as the page lists it: method, parameters, stages, versions, inputs, and how to do it again."""

from __future__ import annotations

import inspect
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from manyviews.cluster.registry import METHODS
from manyviews.pages.wording import flatten, plain

__all__ = ["describe_method", "describe_run", "fit_seconds"]

# Keys of a run record that have a place of their own on the page.
PLACED = frozenset(
    {"title", "method", "class", "manyviews", "parameters", "n_clusters", "n_iter", "converged", "cluster_sizes"}
    | {"choice", "scores", "view_weights", "scalings", "timings", "peak_memory", "repeat", "versions", "inputs", "seed"}
)
PLACED_DATA = frozenset({"n_samples", "views"})
LIBRARIES = ("numpy", "scipy", "scikit-learn")
# Stages by the names that the command gives them.
STAGES = {
    "read": "reading the data",
    "choice": "choosing the number of clusters",
    "fit": "clustering",
    "write": "writing labels and model",
    "report": "this report",
    "total": "all together",
}


def describe_method(model: Any, run: Mapping[str, Any]) -> dict[str, Any]:
    """Return name, description, paper, parameters and how the fit ended."""
    is_ours = hasattr(model, "get_params")
    given = run.get("parameters") or (model.get_params(deep=False) if is_ours else {})
    defaults = dict(inspect.signature(type(model)).parameters) if is_ours else {}
    parameters = []
    for name, text in flatten(given):
        usual = defaults[name].default if name in defaults else inspect.Parameter.empty
        is_default = usual is not inspect.Parameter.empty and [("", text)] == flatten(usual)
        parameters.append({"name": name, "value": text, "is_default": is_default})
    parameters.sort(key=lambda entry: bool(entry["is_default"]))
    row = next((row for row in METHODS if is_ours and row.class_name == type(model).__name__), None)
    first_line = (inspect.getdoc(type(model)) or "").partition("\n")[0].rstrip(".")
    converged, n_iter = getattr(model, "converged_", None), getattr(model, "n_iter_", None)
    wanted = getattr(model, "n_clusters", None)
    return {
        "name": plain(type(model).__name__ if is_ours else run.get("method") or "The method", 60),
        "description": plain(first_line) if is_ours else "",
        "paper": "" if row is None else row.paper + (f", doi:{row.doi}" if row.doi else ""),
        "parameters": parameters,
        "n_clusters": int(wanted) if isinstance(wanted, int | np.integer) else None,
        "n_iter": int(n_iter) if isinstance(n_iter, int | np.integer) else None,
        "iterates": "max_iter" in defaults,
        "converged": None if converged is None else bool(converged),
    }


def describe_run(model: Any, run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rest of the run record, what it lacks taken from the model and the installed packages.

    Parameters
    ----------
    model : estimator
        Fitted.
    run : mapping
        The run record; may be empty.

    Returns
    -------
    dict
        ``stages`` (name, ``seconds`` and peak ``memory`` in bytes, None where unknown), ``repeat`` (what to type to do
        it again, "" if unknown), ``choice`` (of the number of clusters; None where that was given), ``seed``,
        ``versions`` and ``inputs`` (pairs of texts) and ``rest`` (pairs).
    """
    rest = {key: value for key, value in run.items() if key not in PLACED}
    if isinstance(rest.get("data"), Mapping):
        rest["data"] = {key: value for key, value in rest["data"].items() if key not in PLACED_DATA}
    repeat = run.get("repeat")
    if repeat is None and hasattr(model, "get_params"):
        repeat = f"{' '.join(repr(model).split())}.fit(views)"
    return {
        "stages": _stages(run.get("timings"), run.get("peak_memory")),
        "choice": _choice(run.get("choice")),
        "repeat": plain(repeat or "", 4000),
        "seed": None if (seed := run.get("seed", getattr(model, "random_state", None))) is None else plain(seed),
        "versions": flatten(run.get("versions") or _versions()),
        "inputs": flatten(run.get("inputs") or {}),
        "rest": flatten(rest),
    }


def _choice(choice: Any) -> dict[str, Any] | None:
    """Return reason, scores by number, and how clusters split, of a choice of the number of clusters."""
    if not isinstance(choice, Mapping):
        return None
    scores = {int(k): dict(own) for k, own in choice["scores"].items()}
    splits = {int(k): list(own) for k, own in choice.get("splits", {}).items()}
    reason = plain(choice["reason"], 1000)
    return {"n_clusters": choice["n_clusters"], "reason": reason, "scores": scores, "splits": splits}


def fit_seconds(run: Mapping[str, Any]) -> float | None:
    """Return how long the fit took where the record says it."""
    timings = run.get("timings")
    seconds = timings.get("fit", timings.get("fit_seconds")) if isinstance(timings, Mapping) else None
    return _number(seconds)


def _stages(timings: Any, memory: Any) -> list[dict[str, Any]]:
    if not isinstance(timings, Mapping):
        timings = {"total": timings}
    memory = memory if isinstance(memory, Mapping) else {}
    return [
        {
            "name": STAGES.get(name, plain(name, 60)),
            "seconds": _number(seconds),
            "memory": _number(memory.get(name)),
        }
        for name, seconds in timings.items()
        if _number(seconds) is not None
    ]


def _number(value: Any) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value) and value >= 0
    return float(value) if usable else None


def _versions() -> dict[str, str]:
    from manyviews import __version__

    found = {"manyviews": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
