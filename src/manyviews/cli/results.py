"""Fit, score, and write the output folder: what ``demo`` and ``cluster`` share."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shlex
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyviews import __version__
from manyviews.cli.console import ARGUMENTS, Progress, count, print_json, print_table, user_input

if TYPE_CHECKING:
    from manyviews.cluster.registry import MethodInfo
    from manyviews.io import LoadedViews

__all__ = ["Job", "default_folder", "print_summary", "run_job"]

_LIBRARIES = ("numpy", "scipy", "scikit-learn")
# how long the report may fit again, to see how stable the result is and what each view adds
REFIT_SECONDS = 15.0
# views whose scaling is printed; the report and run.json have all
MOST_SCALINGS = 10


@dataclass(frozen=True)
class Job:
    """One clustering run: data, method, estimator, options of its fit, where the results go, what filled the data."""

    command: str
    data: LoadedViews
    method: MethodInfo
    model: Any
    out: str
    force: bool = False
    fit_options: dict[str, Any] = field(default_factory=dict)
    refit_seconds: float | None = None
    imputer: Any = None


def default_folder(prefix: str, name: str) -> str:
    """Return the output folder where none is given: the prefix and what the name of the data leaves of itself."""
    return f"{prefix}-" + (re.sub(r"[^\w.-]+", "-", name).strip("-.") or "output")[:80]


def run_job(job: Job, progress: Progress) -> dict[str, Any]:
    """Fit the model and write the output folder.

    Parameters
    ----------
    job : Job
        What to do.
    progress : Progress
        Keeps the times; its ``timings`` become part of the record.

    Returns
    -------
    dict
        The run record, as in ``run.json``.

    Raises
    ------
    UsageError
        If the output folder may not be written, or data or parameters do not suit the method.
    """
    from manyviews.io.write import OutputError, atomic_folder

    views, memory = job.data.views, {"read": _peak_memory()}
    # The folder is made first, so that one that cannot be written costs no fit.
    with user_input(OutputError), atomic_folder(job.out, force=job.force) as folder:
        what = f"clustering {len(views)} samples in {count(len(views.names), 'view')} with {job.method.class_name}"
        # Verbose estimators print; stdout is kept for the result.
        with progress.stage("fit", what), user_input(), contextlib.redirect_stdout(sys.stderr):
            job.model.fit(views, **job.fit_options)
        memory["fit"] = _peak_memory()
        record = _record(job) | {"peak_memory": memory}
        _write(job, progress, record, folder)
    return record


def _write(job: Job, progress: Progress, record: dict[str, Any], folder: Path) -> None:
    from manyviews.io.model import save_model
    from manyviews.io.write import LABELS, MODEL, RECORD, REPORT, write_json, write_labels
    from manyviews.report.notebook import report

    views, model = job.data.views, job.model
    with progress.stage("write", f"writing {job.out}"):
        confidence = getattr(model, "confidence_", None)
        with open(folder / LABELS, "w", encoding="utf-8", newline="") as stream:
            id_name, samples = job.data.id_name, views.sample_names
            write_labels(stream, model.labels_, samples=samples, confidence=confidence, id_name=id_name)
        save_model(model, folder / MODEL, views, imputer=job.imputer)
    record["timings"] = dict(progress.timings)
    record["peak_memory"]["write"] = _peak_memory()
    with progress.stage("report", "drawing the report (fits again, to see how stable it is)"):
        title = f"{job.data.name}: {job.method.class_name}"
        seconds = REFIT_SECONDS if job.refit_seconds is None else job.refit_seconds
        page = report(model, views, title=title, run=record, truth=job.data.labels, refit_seconds=seconds)
        page.save(folder / REPORT)
    trust = page.summary["trust"]
    record["stability"] = {key: trust[key] for key in ("number", "level", "seeds", "parts", "notes")}
    record["timings"] = dict(progress.timings)
    record["peak_memory"]["report"] = _peak_memory()
    write_json(folder / RECORD, record)


def _record(job: Job) -> dict[str, Any]:
    """Return what run.json says: enough to run the same again."""
    from manyviews.metrics.report import evaluate_known

    views, model, labels = job.data.views, job.model, job.data.labels
    weights = getattr(model, "view_weights_", None)
    sizes = [int((model.labels_ == cluster).sum()) for cluster in range(int(model.labels_.max()) + 1)]
    return {
        "manyviews": __version__,
        "command": job.command,
        "repeat": _repeat(job),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": {
            "name": job.data.name,
            "n_samples": len(views),
            "views": {name: array.shape[1] for name, array in views.items()},
            "notes": list(job.data.notes),
        },
        "inputs": job.data.checksums,
        "method": job.method.name,
        "class": job.method.class_name,
        "n_clusters": model.n_clusters,
        "seed": model.random_state,
        "parameters": model.get_params(deep=False),
        "n_iter": model.n_iter_,
        "converged": model.converged_,
        "cluster_sizes": sizes,
        "scores": None if labels is None else evaluate_known(labels, model.labels_),
        "scalings": dict(zip(views.names, model.scalings_, strict=True)),
        "view_weights": None if weights is None else dict(zip(views.names, weights.tolist(), strict=True)),
        "versions": {"python": platform.python_version()} | {name: version(name) for name in _LIBRARIES},
        "timings": {},
    }


def _repeat(job: Job) -> str:
    """Return the command that gives the same again, also where defaults should change some day."""
    given = list(ARGUMENTS.get())
    if job.command == "cluster":
        pinned = {"--method": job.method.name, "--seed": str(job.model.random_state)}
        for option, value in pinned.items():
            if not any(word == option or word.startswith(f"{option}=") for word in given):
                given += [option, value]
        given += [] if "--force" in given else ["--force"]  # the output folder is there by then
    return shlex.join(["manyviews", *given])


def _peak_memory() -> int | None:
    """Return the most memory that the process has held so far, in bytes; None where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        # Not getrusage, whose peak a process inherits from the one that started it.
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return 1024 * int(status.partition("VmHWM:")[2].split()[0])
    with contextlib.suppress(ImportError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else 1024 * peak
    return None


def _scaling_line(scalings: dict[str, str | None]) -> str:
    """Return what was done to the views, in one line: of each, or once where it is the same for all."""
    words = [kind or "none" for kind in scalings.values()]
    if len(set(words)) == 1:
        return words[0]
    pairs = [f"{name} {word}" for name, word in zip(scalings, words, strict=True)]
    return ", ".join(pairs[:MOST_SCALINGS]) + (", ..." if len(pairs) > MOST_SCALINGS else "")


def print_summary(record: dict[str, Any], out: str, *, as_json: bool = False, quiet: bool = False) -> None:
    """Say on stdout what came out and where it is.

    Parameters
    ----------
    record : dict
        The run record.
    out : str
        The output folder as the user gave it.
    as_json : bool, default=False
        Print the record as one JSON object instead.
    quiet : bool, default=False
        Print nothing, unless as JSON.
    """
    if as_json:
        print_json(record | {"out": out})
    if as_json or quiet:
        return
    data, sizes = record["data"], record["cluster_sizes"]
    print(
        f"{record['class']}: {data['n_samples']} samples in {count(len(data['views']), 'view')}, "
        f"{count(len(sizes), 'cluster')} of {min(sizes)} to {max(sizes)} samples, {record['timings']['fit']:.1f} s"
    )
    if record["scores"]:
        print_table(("score", "value"), [(name, f"{value:.4f}") for name, value in record["scores"].items()])
    if record["view_weights"]:
        print_table(("view", "weight"), [(name, f"{value:.3f}") for name, value in record["view_weights"].items()])
    print(f"scaling: {_scaling_line(record['scalings'])}")
    if record["stability"]["level"]:
        print(f"stability: {record['stability']['number']:.2f} of 1, {record['stability']['level']}")
    print(f"labels: {os.path.join(out, 'labels.csv')}")
    print(f"report: {os.path.join(out, 'report.html')} (open it in a browser)")
