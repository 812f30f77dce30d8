"""``manyviews demo``, ``cluster`` and ``predict``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

from cyclopts import Parameter

from manyviews.cli.console import Progress, UsageError, user_input
from manyviews.cli.inputs import (
    Layout,
    Reading,
    check_n_clusters,
    fill_cells,
    fill_like,
    keep_numbers,
    load_input,
    load_new,
    parse_scaling,
    parse_settings,
    whole_number,
)
from manyviews.cli.results import Job, default_folder, print_summary, run_job
from manyviews.cluster.registry import DEFAULT_METHOD

if TYPE_CHECKING:
    from manyviews.io import LoadedViews

__all__ = ["cluster", "demo", "predict", "say_notes"]

DEMO_DATA, DEMO_OUT = "mfeat", "manyviews-demo"

Texts = list[str] | None
ViewFiles = Annotated[Texts, Parameter(name="--view", negative=())]
IdColumn = Annotated[str | None, Parameter(name="--id")]
Missing = Literal["union", "intersection"] | None
Header = Literal["auto", "yes", "no"]
Switch = Parameter(negative=(), show_default=False)
HEADER = {"auto": None, "yes": True, "no": False}
# Rows of the table of who is where.
MOST_COMBINATIONS = 12


def demo(*, out: str = DEMO_OUT) -> None:
    """Cluster 2000 handwritten digits seen in six views, and write the report.

    Parameters
    ----------
    out
        Output folder. An earlier demo in the same place is replaced.
    """
    from manyviews import datasets
    from manyviews.cluster.registry import find_method
    from manyviews.io import LoadedViews
    from manyviews.io.write import read_record

    earlier = read_record(out)
    if os.path.exists(out) and (earlier is None or earlier.get("command") != "demo"):
        raise UsageError(f"{out} exists and is not the output of a demo; choose another folder with --out")
    progress, method = Progress(), find_method(DEFAULT_METHOD)
    with progress.stage("read", f"loading {DEMO_DATA}"):
        data = datasets.load(DEMO_DATA)
    loaded = LoadedViews(data.views, data.labels, data.name, {data.name: datasets.info(data.name).sha256 or ""}, ())
    model = method.load()(n_clusters=len(data.class_names), random_state=0)
    record = run_job(Job("demo", loaded, method, model, out, force=earlier is not None), progress)
    print_summary(record, out)


def cluster(
    source: str | None = None,
    /,
    *,
    n_clusters: Annotated[int, Parameter(name=("--n-clusters", "-k"), converter=whole_number)],
    view: ViewFiles = None,
    method: str = DEFAULT_METHOD,
    settings: Annotated[Texts, Parameter(name="--set", negative=())] = None,
    scaling: Annotated[Texts, Parameter(negative=())] = None,
    id_column: IdColumn = None,
    truth: str | None = None,
    missing: Missing = None,
    impute: Literal["median", "knn"] | None = None,
    header: Header = "auto",
    layout: Layout | None = None,
    match_to: str | None = None,
    seed: Annotated[int, Parameter(converter=whole_number)] = 0,
    out: str | None = None,
    refit_seconds: Annotated[float | None, Parameter(show_default=False)] = None,
    force: Annotated[bool, Switch] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Switch] = False,
) -> None:
    """Cluster a data set; write labels, run record, report and model to a folder.

    Parameters
    ----------
    source
        Name of a data set (see: manyviews data) or a file: .npz, .mat or 10x folder with all views, or one table.
    n_clusters
        Number of clusters.
    view
        One view as NAME=FILE, or NAME=FILE:COLUMNS (names, patterns, ranges first..last; commas between them); give
        it once per view. Files: .csv .tsv .txt .tab .dat .gct .xlsx .parquet .arrow .feather .npy .npz .mtx .mat, .gz
        where usual, and folders of 10x Genomics.
    method
        Clustering method (see: manyviews methods).
    settings
        A parameter of the method as PARAM=VALUE; may be repeated.
    scaling
        What is done to each view first: auto, standard, minmax, unit, tfidf or none; or VIEW=WORD, repeated.
    id_column
        Column of row ids in every table; rows are matched by it. Without it they are matched by position.
    truth
        Classes to score against: a column of one table, a labelling in the .npz, or a file with one column.
    missing
        What to do with ids that some view lacks: intersection leaves these samples out, union keeps them, for
        methods that take missing views. Without it they are an error.
    impute
        Fill single empty cells: median of the column, or knn, the mean of the 5 nearest samples. Rows that are empty
        as a whole stay missing. predict fills cells of new samples alike; with knn the model keeps all rows for that.
    header
        Whether the first row of text files holds names: auto, yes or no.
    match_to
        The labels.csv or output folder of an earlier run; clusters keep its numbers where they are the same groups.
    seed
        Seed of everything random.
    out
        Output folder, by default manyviews-NAME in the current folder.
    refit_seconds
        How long the report may fit again, to see how stable the result is; 15 by default, 0 for not at all.
    force
        Replace an earlier output folder.
    as_json
        Print the run record as one JSON object.
    quiet
        Print nothing but warnings and errors.
    """
    from manyviews.cluster.registry import find_method
    from manyviews.io.write import check_folder

    if seed < 0:
        raise UsageError(f"--seed {seed}: the seed must be 0 or more")
    with user_input():
        info = find_method(method)
    parameters = parse_settings(settings or (), info.load())
    progress = Progress(quiet=quiet)
    if out is not None:
        with user_input():
            check_folder(out, force=force)
    with progress.stage("read", f"reading {source or ', '.join(view or ())}"):
        gaps = impute is not None
        reading = Reading(id_column, truth, missing, HEADER[header], gaps, layout or Layout())
        data, imputer = fill_cells(load_input(source, view or (), reading), impute)
    check_n_clusters(n_clusters, data.views)
    scalings = parse_scaling(scaling or (), data.views.names)
    data, fit_options = keep_numbers(data, match_to)
    say_notes(data, progress)
    model = info.load()(n_clusters=n_clusters, scaling=scalings, random_state=seed, **parameters)
    folder = out or default_folder("manyviews", data.name)
    record = run_job(Job("cluster", data, info, model, folder, force, fit_options, refit_seconds, imputer), progress)
    print_summary(record, folder, as_json=as_json, quiet=quiet)


def say_notes(data: LoadedViews, progress: Progress) -> None:
    """Say what was decided while reading, and who is where if the views have different ids."""
    from manyviews.io.choosing import Caution

    for note in data.notes:
        (progress.caution if isinstance(note, Caution) else progress.note)(note)
    if data.presence:
        names = data.views.names
        rows = [
            (*("yes" if name in row.views else "-" for name in names), len(row.ids), ", ".join(row.ids[:3]))
            for row in data.presence[:MOST_COMBINATIONS]
        ]
        progress.table((*names, "samples", "such as"), rows)
        if len(data.presence) > MOST_COMBINATIONS:
            progress.note(f"and {len(data.presence) - MOST_COMBINATIONS} more combinations of views")


def predict(
    folder: str,
    source: str | None = None,
    /,
    *,
    view: ViewFiles = None,
    id_column: IdColumn = None,
    missing: Missing = None,
    header: Header = "auto",
    layout: Layout | None = None,
    out: str | None = None,
    force: Annotated[bool, Switch] = False,
    quiet: Annotated[bool, Switch] = False,
) -> None:
    """Give clusters to new samples with the model of an earlier run.

    Parameters
    ----------
    folder
        Output folder of manyviews cluster.
    source
        A file with all views of the new samples, or a named data set.
    view
        One view as NAME=FILE; give it once per view.
    id_column
        Column of row ids in every table; rows are matched by it.
    missing
        What to do with ids that some view lacks: union or intersection, as for manyviews cluster.
    header
        Whether the first row of text files holds names: auto, yes or no.
    out
        File for the labels as csv; without it they are printed.
    force
        Replace an existing file.
    quiet
        Print nothing but labels, warnings and errors.
    """
    from manyviews.cluster.base import MultiViewClusterer
    from manyviews.cluster.registry import find_method
    from manyviews.io.model import known_columns, load_imputer, load_model, match_features
    from manyviews.io.write import MODEL, write_labels

    progress, place = Progress(quiet=quiet), os.path.join(folder, MODEL)
    with user_input():
        model, imputer = load_model(place), load_imputer(place)
    if not hasattr(model, "predict"):
        raise UsageError(f"{type(model).__name__} gives no labels to new samples; manyviews methods lists which do")
    if not isinstance(model, MultiViewClusterer):
        raise UsageError(f"{place} holds a {type(model).__name__}, which is no method of manyviews")
    with _destination(out, force) as stream:
        with progress.stage("read", f"reading {source or ', '.join(view or ())}"):
            known, gaps = known_columns(place), imputer is not None
            reading = Reading(id_column, None, missing, HEADER[header], gaps, layout or Layout(), known)
            data = load_new(source, view or (), reading)
        with user_input():
            views = match_features(data.views, place, partial=find_method(type(model).__name__).missing)
        data = replace(data, views=views)
        if imputer is not None:
            data = fill_like(data, imputer)
        say_notes(data, progress)
        with user_input(), progress.stage("predict", f"labelling {len(views)} samples"):
            labels = model.predict(data.views)
        write_labels(stream, labels, samples=views.sample_names, id_name=data.id_name)


@contextmanager
def _destination(out: str | None, force: bool) -> Iterator[TextIO]:
    from manyviews.io.write import OutputError, atomic_file

    if out is None:
        yield sys.stdout
        return
    with (
        user_input(OutputError),
        atomic_file(out, force=force) as path,
        path.open("w", encoding="utf-8", newline="") as stream,
    ):
        yield stream
