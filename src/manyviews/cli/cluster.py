"""``manyviews cluster``: cluster a data set and explain the result."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from manyviews.cli.clustering import Job, print_summary, run_job
from manyviews.cli.console import Stages, UsageError, user_input
from manyviews.cli.inputs import (
    Reading,
    keep_numbers,
    parse_scaling,
    parse_settings,
)
from manyviews.cli.layout import Layout
from manyviews.cli.numbers import settled_number
from manyviews.cli.options import (
    HEADER,
    AsJson,
    Header,
    IdColumn,
    Missing,
    NumbersOfClusters,
    Switch,
    Texts,
    ViewFiles,
    Whole,
)
from manyviews.cli.output import check_target, default_folder
from manyviews.cli.reading import read_data, say_notes
from manyviews.cluster.registry import DEFAULT_METHOD

__all__ = ["cluster"]


def cluster(
    source: str | None = None,
    /,
    *,
    n_clusters: NumbersOfClusters,
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
    seed: Whole = 0,
    out: str | None = None,
    refit_seconds: Annotated[float | None, Parameter(show_default=False)] = None,
    no_model: Switch = False,
    safe_csv: Switch = False,
    force: Switch = False,
    as_json: AsJson = False,
    quiet: Switch = False,
) -> None:
    """Cluster a data set; write labels, run record, report and model to a folder.

    Parameters
    ----------
    source
        Name of a data set (see: manyviews data) or a file: .npz, .mat or 10x folder with all views, or one table.
    n_clusters
        Number of clusters; a range to choose from, as 2-10; or auto, which is that range.
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
        Column of row ids in every table; rows are matched by it. Without it they are matched by position, or by the
        names of the rows where all files have some.
    truth
        Classes to score against: a column of one table, a labelling in the .npz, or a file with one column, and one
        of ids; some samples may have none.
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
    no_model
        Write no model: the folder stays small, and manyviews predict cannot label new samples by it.
    safe_csv
        Put an apostrophe before ids that begin with =, +, - or @, which a spreadsheet would take for formulas.
    force
        Replace an earlier output folder.
    as_json
        Print the run record as one JSON object.
    quiet
        Print nothing but warnings and errors.
    """
    from manyviews.cluster.registry import find_method

    if seed < 0:
        raise UsageError(f"--seed {seed}: the seed must be 0 or more")
    with user_input():
        info = find_method(method)
    parameters = parse_settings(settings or (), info.load())
    progress = Stages(quiet=quiet)
    check_target(out, force=force)
    reading = Reading(id_column, truth, missing, HEADER[header], impute is not None, layout or Layout())
    data, imputer = read_data(source, view, reading, impute, out, progress)
    chosen, choice = settled_number(n_clusters, data.views, seed, progress)
    scalings = parse_scaling(scaling or (), data.views.names)
    data, fit_options = keep_numbers(data, match_to)
    say_notes(data, progress)
    model = info.load()(n_clusters=chosen, scaling=scalings, random_state=seed, **parameters)
    folder = out or default_folder("manyviews", data.name)
    job = Job(
        "cluster", data, info, model, folder, force, fit_options, refit_seconds, imputer, not no_model, choice, safe_csv
    )
    record = run_job(job, progress)
    print_summary(record, folder, as_json=as_json, quiet=quiet)
