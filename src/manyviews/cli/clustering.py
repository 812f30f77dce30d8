"""Fit, score, report: what ``demo`` and ``cluster`` share."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyviews.cli.console import Stages, print_json, print_table, user_input
from manyviews.cli.known import Known, told, told_lines
from manyviews.cli.output import new_file, new_folder, peak_memory, repeat_command, run_record, save_record
from manyviews.cli.outputs import ObsCopy, Outputs
from manyviews.cli.preparing import Prepared
from manyviews.pages.stability import groups_in_words
from manyviews.pages.wording import amount, clusters_of, size

if TYPE_CHECKING:
    from manyviews.cluster.registry import MethodInfo
    from manyviews.io import LoadedViews

__all__ = ["Job", "outcome_line", "print_summary", "run_job"]

# how long the report may fit again, to see how stable the result is and what each view adds
REFIT_SECONDS = 15.0
# and where a quick answer is wanted: no longer than the fit itself, though so long in any case
BRIEF_SECONDS = 2.0
# what the run record has of that
MEASURED = ("number", "level", "seeds", "parts", "reseeded", "baselines", "notes")
# views whose scaling is printed; the report and run.json have all
MOST_SCALINGS = 10
# bytes of a model from which on its size is said before it is written
LARGE_MODEL = 100_000_000


@dataclass(frozen=True)
class Job:
    """One clustering run: data, method, estimator, options of its fit, where the results go, what was done to the data.

    ``outputs`` says what is written, ``brief`` that the report fits again no longer than the fit took, ``choice`` how
    the number of clusters was chosen, if it was, ``known`` what else is known of the samples, and ``obs`` which file
    gets the labels into its obs.
    """

    command: str
    data: LoadedViews
    method: MethodInfo
    model: Any
    out: str
    force: bool = False
    fit_options: dict[str, Any] = field(default_factory=dict)
    outputs: Outputs = field(default_factory=Outputs)
    prepared: Prepared = field(default_factory=Prepared)
    brief: bool = False
    choice: dict[str, Any] | None = None
    known: Known = field(default_factory=Known)
    obs: ObsCopy | None = None


def run_job(job: Job, progress: Stages) -> dict[str, Any]:
    """Fit the model and write the output folder.

    Parameters
    ----------
    job : Job
        What to do.
    progress : Stages
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
    from manyviews.io.machine import give_back

    views, memory = job.data.views, {"read": peak_memory()}
    # The folder is made first, so that one that cannot be written costs no fit.
    with new_folder(job.out, force=job.force) as folder:
        what = f"clustering {amount(len(views), 'sample')} in {amount(len(views.names), 'view')} "
        what += f"with {job.method.class_name}"
        # Verbose estimators print; stdout is kept for the result.
        with progress.stage("fit", what), user_input(), contextlib.redirect_stdout(sys.stderr):
            job.model.fit(views, **job.fit_options)
        memory["fit"] = peak_memory()
        give_back(views.arrays)
        record = _record(job) | {"peak_memory": memory}
        _write(job, progress, record, folder)
    return record


def _write(job: Job, progress: Stages, record: dict[str, Any], folder: Path) -> None:
    from manyviews.io.machine import give_back
    from manyviews.io.model import model_bytes, save_model
    from manyviews.io.write import LABELS, MODEL, REPORT
    from manyviews.io.write_labels import write_labels
    from manyviews.report.notebook import report

    views, model = job.data.views, job.model
    with progress.stage("write", f"writing {job.out}"):
        confidence = getattr(model, "confidence_", None)
        with new_file(str(folder / LABELS), force=False) as stream:
            id_name, samples = job.data.id_name, views.sample_names
            options: dict[str, Any] = {"samples": samples, "id_name": id_name, "safe": job.outputs.safe_csv}
            write_labels(stream, model.labels_, confidence=confidence, **options)
        if not job.outputs.no_model:
            _say_size(model_bytes(model), progress)
            save_model(model, folder / MODEL, views, imputer=job.prepared.imputer, kept=job.prepared.kept)
    give_back(views.arrays)
    record["timings"] = dict(progress.timings)
    record["peak_memory"]["write"] = peak_memory()
    asked = job.outputs.refit_seconds
    seconds = REFIT_SECONDS if asked is None else asked
    if job.brief:
        seconds = min(seconds, max(progress.timings["fit"], BRIEF_SECONDS))
    again = " (fits again, to see how stable it is)" if seconds > 0 else ""
    with progress.stage("report", f"drawing the report{again}"):
        title = f"{job.data.name}: {job.method.class_name}"
        page = report(
            model, views, title=title, run=record, truth=job.data.labels, refit_seconds=seconds, **job.known.options()
        )
        page.save(folder / REPORT)
    if page.summary["clinical"] is not None:
        record["clinical"] = told(page.summary["clinical"])
    if job.obs is not None:
        job.obs.write(model.labels_, views.sample_names, getattr(model, "confidence_", None))
    trust = page.summary["trust"]
    record["stability"] = {key: trust[key] for key in MEASURED}
    record["timings"] = dict(progress.timings)
    record["peak_memory"]["report"] = peak_memory()
    save_record(folder, record)


def _say_size(n_bytes: int, progress: Stages) -> None:
    if n_bytes >= LARGE_MODEL:
        progress.note(f"the model takes about {size(n_bytes)}; --no-model leaves it out")


def _record(job: Job) -> dict[str, Any]:
    """Return what run.json says: enough to run the same again."""
    from manyviews.metrics.report import evaluate_known

    views, model, labels = job.data.views, job.model, job.data.labels
    weights = getattr(model, "view_weights_", None)
    scalings = zip(views.names, model.scalings_, strict=True)  # none of a view that is left out
    sizes = [int((model.labels_ == cluster).sum()) for cluster in range(int(model.labels_.max()) + 1)]
    pinned = {"--method": job.method.name, "--seed": str(model.random_state)}
    # the output folder is there by the time of a repetition
    repeat = repeat_command(pinned, force=True) if job.command == "cluster" else None
    return run_record(job.command, job.data, repeat=repeat) | {
        "method": job.method.name,
        "class": job.method.class_name,
        "n_clusters": model.n_clusters,
        "choice": job.choice,
        "seed": model.random_state,
        "parameters": model.get_params(deep=False),
        "n_iter": model.n_iter_,
        "converged": model.converged_,
        "cluster_sizes": sizes,
        "scores": None if labels is None else evaluate_known(labels, model.labels_),
        "scalings": {name: kind for name, kind in scalings if name in model._fitted_views.names},
        "view_weights": None if weights is None else dict(zip(views.names, weights.tolist(), strict=True)),
        "timings": {},
    }


def _scaling_line(scalings: dict[str, str | None]) -> str:
    """Return what was done to the views, in one line: of each, or once where it is the same for all."""
    words = [kind or "none" for kind in scalings.values()]
    if len(set(words)) == 1:
        return words[0]
    pairs = [f"{name} {word}" for name, word in zip(scalings, words, strict=True)]
    return ", ".join(pairs[:MOST_SCALINGS]) + (", ..." if len(pairs) > MOST_SCALINGS else "")


def outcome_line(record: dict[str, Any]) -> str:
    """Return what came out, in one line."""
    data, sizes = record["data"], record["cluster_sizes"]
    return (
        f"{record['class']}: {amount(data['n_samples'], 'sample')} in {amount(len(data['views']), 'view')}, "
        f"{clusters_of(sizes)}, {record['timings']['fit']:.1f} s"
    )


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
    print(outcome_line(record))
    if record["choice"]:
        print(f"number of clusters: {record['choice']['reason']}")
    if record["scores"]:
        print_table(("score", "value"), [(name, f"{value:.4f}") for name, value in record["scores"].items()])
    if record["view_weights"]:
        print_table(("view", "weight"), [(name, f"{value:.3f}") for name, value in record["view_weights"].items()])
    print(f"scaling: {_scaling_line(record['scalings'])}")
    stability = record["stability"]
    print(
        f"stability: {stability['number']:.2f} of 1, {stability['level']}"
        if stability["level"]
        else "stability: not measured"
    )
    for each in stability["baselines"]:
        if each["agreement"] is not None:
            print(f"{each['words']}: {groups_in_words(each['agreement'])} ({each['agreement']:.2f})")
    for line in told_lines(record.get("clinical")):
        print(line)
    print(f"labels: {os.path.join(out, 'labels.csv')}")
    print(f"report: {os.path.join(out, 'report.html')} (open it in a browser)")
    print("whether another method suits these data better: manyviews compare")
