"""``manyviews cluster``: cluster a data set and explain the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from manyviews.cli.beyond import Beyond, BlockJob, cluster_blocks, refuse_other_options
from manyviews.cli.clustering import Job, print_summary, run_job
from manyviews.cli.console import Stages, user_input
from manyviews.cli.inputs import (
    Reading,
    keep_numbers,
    parse_scaling,
    parse_settings,
    parse_weights,
)
from manyviews.cli.known import KnownColumns, read_known
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
    Weights,
    Whole,
    check_seed,
)
from manyviews.cli.output import check_target
from manyviews.cli.outputs import Outputs, keeps_model
from manyviews.cli.preparing import Preparing, fills
from manyviews.cli.reading import say_notes, target_folder
from manyviews.cluster.registry import DEFAULT_METHOD

if TYPE_CHECKING:
    from manyviews.cluster.registry import MethodInfo

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
    weight: Weights = None,
    id_column: IdColumn = None,
    truth: str | None = None,
    missing: Missing = None,
    preparing: Preparing | None = None,
    header: Header = "auto",
    layout: Layout | None = None,
    known: KnownColumns | None = None,
    beyond: Beyond | None = None,
    match_to: str | None = None,
    seed: Whole = 0,
    out: str | None = None,
    outputs: Outputs | None = None,
    force: Switch = False,
    as_json: AsJson = False,
    quiet: Switch = False,
) -> None:
    """Cluster a data set; write labels, run record, report and model to a folder.

    Parameters
    ----------
    source
        Name of a data set (see: manyviews data) or a file: .npz, .mat, .h5mu or 10x folder with all views, or one
        table or .h5ad.
    n_clusters
        Number of clusters; a range to choose from, as 2-10; or auto, which is that range.
    view
        One view as NAME=FILE, or NAME=FILE:COLUMNS (names, patterns, ranges first..last; commas between them); give
        it once per view. Files: .csv .tsv .txt .tab .dat .gct .xlsx .parquet .arrow .feather .npy .npz .mtx .mat, .gz
        where usual, folders of 10x Genomics, .zarr: a=x.zarr:a, .h5ad .h5mu: rna=x.h5mu:rna/X, pca=x.h5ad:obsm/X_pca.
    method
        Clustering method (see: manyviews methods).
    settings
        A parameter of the method as PARAM=VALUE; may be repeated.
    scaling
        What is done to each view first: auto, standard, minmax, unit, tfidf or none; or VIEW=WORD, repeated.
    weight
        What a view counts beside the others, as NAME=2; may be repeated. 1 is usual, 0 leaves the view out.
    id_column
        Column of row ids in every table; rows are matched by it. Without it they are matched by position, or by the
        names of the rows where all files have some.
    truth
        Classes to score against: a column of one table or of obs, a labelling in the .npz, or a file with one column,
        and one of ids; some samples may have none.
    missing
        What to do with ids that some view lacks: intersection leaves these samples out, union keeps them, for
        methods that take missing views. Without it they are an error.
    header
        Whether the first row of text files holds names: auto, yes or no.
    match_to
        The labels.csv or output folder of an earlier run; clusters keep its numbers where they are the same groups.
    seed
        Seed of everything random.
    out
        Output folder, by default manyviews-NAME in the current folder.
    force
        Replace an earlier output folder.
    as_json
        Print the run record as one JSON object.
    quiet
        Print nothing but warnings and errors.
    """
    info, make = _method(method, seed, settings)
    progress = Stages(quiet=quiet)
    folder = target_folder(out, "manyviews", source, view, partial(check_target, force=force))
    if beyond is not None and beyond.asked:
        others = {"truth": truth, "missing": missing, "header": HEADER[header], "match_to": match_to, "weight": weight}
        refuse_other_options(beyond, source, layout, n_clusters, (preparing, known, outputs), **others)
        large = BlockJob(view or (), id_column, scaling or (), info, make, out, force, keeps_model(outputs))
        cluster_blocks(large, n_clusters.first, beyond, progress, as_json=as_json)
        return
    reading = Reading(id_column, truth, missing, HEADER[header], fills(preparing), layout or Layout())
    data, more = read_known(source, view, reading, preparing, known, out, progress)
    more["obs"] = None if outputs is None else outputs.obs_copy(data, id_column, folder, force=force)
    weights = parse_weights(weight or (), data.views.names)
    chosen, choice = settled_number(n_clusters, data.views, seed, progress, weights)
    data, fit_options = keep_numbers(data, match_to)
    say_notes(data, progress)
    model = make(n_clusters=chosen, scaling=parse_scaling(scaling or (), data.views.names), view_weights=weights)
    job = Job("cluster", data, info, model, folder, force, fit_options, outputs or Outputs(), choice=choice, **more)
    print_summary(run_job(job, progress), folder, as_json=as_json, quiet=quiet)


def _method(method: str, seed: int, settings: Sequence[str] | None) -> tuple[MethodInfo, Callable[..., Any]]:
    """Return a method, and what makes it with the parameters given."""
    from manyviews.cluster.registry import find_method

    check_seed(seed)
    with user_input():
        info = find_method(method)
    kind = info.load()
    return info, partial(kind, random_state=seed, **parse_settings(settings or (), kind))
