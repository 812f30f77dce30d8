"""``manyviews compare``: which method suits the data, without knowing the classes."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyviews.cli.comparison_text import print_comparison
from manyviews.cli.console import Stages, UsageError, user_input
from manyviews.cli.fit_progress import shown_fits
from manyviews.cli.inputs import Reading, check_n_clusters, parse_weights
from manyviews.cli.layout import Layout
from manyviews.cli.numbers import settled_number
from manyviews.cli.options import (
    HEADER,
    AsJson,
    Header,
    IdColumn,
    MemorySize,
    Missing,
    NumbersOfClusters,
    Switch,
    ViewFiles,
    Weights,
    Whole,
    check_jobs,
    check_limit,
    check_seed,
    listed,
)
from manyviews.cli.output import (
    RECORD,
    STORE,
    check_open,
    content_of,
    open_folder,
    run_record,
    save_record,
    save_text,
)
from manyviews.cli.preparing import Preparing, fills
from manyviews.cli.reading import read_data, say_notes, target_folder

if TYPE_CHECKING:
    from manyviews.cli.options import Numbers
    from manyviews.cluster.registry import MethodInfo
    from manyviews.io import LoadedViews
    from manyviews.recommend.fits import Options
    from manyviews.recommend.result import Comparison

__all__ = ["chosen_methods", "compare"]

TABLE, LABELS, PAGE = "methods.csv", "labels.csv", "report.html"
IDENTITY = {"command": "compare"}
OUTPUTS = (STORE, RECORD, TABLE, LABELS, PAGE)
FREE = partial(check_open, identity=IDENTITY, outputs=OUTPUTS)


def compare(
    source: str | None = None,
    /,
    *,
    n_clusters: NumbersOfClusters,
    view: ViewFiles = None,
    methods: str | None = None,
    family: str | None = None,
    weight: Weights = None,
    seeds: Whole = 5,
    parts: Whole = 3,
    id_column: IdColumn = None,
    truth: str | None = None,
    missing: Missing = None,
    preparing: Preparing | None = None,
    header: Header = "auto",
    layout: Layout | None = None,
    seed: Whole = 0,
    jobs: Whole = 1,
    time_limit: float = 150.0,
    memory_limit: MemorySize = None,
    out: str | None = None,
    force: Switch = False,
    as_json: AsJson = False,
    quiet: Switch = False,
) -> None:
    """Fit several methods to a data set and say which one suits it; no classes are needed.

    A start that was interrupted goes on where it was: finished fits are in runs.jsonl of the output folder.

    Parameters
    ----------
    source
        Name of a data set (see: manyviews data) or a file: .npz, .mat or 10x folder with all views, or one table.
    n_clusters
        Number of clusters; a range to choose from, as 2-10; or auto, which is that range.
    view
        One view as NAME=FILE or NAME=FILE:COLUMNS; give it once per view.
    methods
        Names of methods with commas between (see: manyviews methods).
    family
        Methods of one family instead, such as "late fusion"; "main", the default: the five main methods and the simple
        ones; "all".
    weight
        What a view counts beside the others, as NAME=2; may be repeated. 1 is usual, 0 leaves the view out.
    seeds
        Fits of each method on all samples, each with another seed.
    parts
        Fits of each method on random 80 % of the samples.
    id_column
        Column of row ids in every table; rows are matched by it. Without it they are matched by position.
    truth
        Classes to score against; they have no part in the recommendation. A column of one table, a labelling in the
        .npz, or a file with one column.
    missing
        What to do with ids that some view lacks: union or intersection. Methods that cannot take missing views are
        then listed with that reason.
    header
        Whether the first row of text files holds names: auto, yes or no.
    seed
        First seed.
    jobs
        Fits at a time; -1 for one per core.
    time_limit
        Seconds of processor time that all fits together may take. Quick methods come first; slow ones get fewer fits,
        or none.
    memory_limit
        Memory that one fit may hold, such as 8GB or 500MB; one that needs more is ended and recorded as such.
    out
        Output folder, by default manyviews-compare-NAME in the current folder.
    force
        Start anew in an earlier output folder.
    as_json
        Print the results as one JSON object.
    quiet
        Print nothing but warnings and errors.
    """
    chosen = chosen_methods(methods, family)
    options = _options(seeds, parts, seed, jobs, time_limit, memory_limit)
    progress = Stages(quiet=quiet)
    reading = Reading(id_column, truth, missing, HEADER[header], fills(preparing), layout or Layout())
    place = target_folder(out, "manyviews-compare", source, view, FREE)
    data, _ = read_data(source, view, reading, preparing, out, progress)
    data, options = _counted(data, weight or (), options)
    chosen_k, choice = _settled(n_clusters, data, seed, progress, options.view_weights)
    say_notes(data, progress)
    content = content_of(data, options.view_weights) | {"n_clusters": chosen_k}
    work = f"compare with -k {chosen_k} on these data"
    folder = open_folder(place, IDENTITY, OUTPUTS, work=work, content=content, force=force)
    found = _fitted(data, chosen, chosen_k, folder, options, quiet=quiet)
    record = _record(data, found, content, options) | {"choice": choice}
    given = _input_arguments(source, view or (), weight or (), reading, preparing, header)
    record["repeat_with"] = _repeat_with(record, given)
    with progress.stage("write", f"writing {place}"):
        _write(record, found, data, folder)
    _tell(record, place, as_json=as_json, quiet=quiet)


def _tell(record: dict[str, Any], place: str, *, as_json: bool, quiet: bool) -> None:
    print_comparison(record, place, as_json=as_json, quiet=quiet)
    if record["recommendation"] is None:
        raise UsageError(f"no method had a result ({place} says why); choose other --methods, or raise the limits")


def _counted(data: LoadedViews, weight: Sequence[str], options: Options) -> tuple[LoadedViews, Options]:
    """Return the data with the views that count, and options with their weights, where these differ."""
    from manyviews.cluster.view_weights import counted_views

    views, weights = counted_views(data.views, parse_weights(weight, data.views.names))
    return replace(data, views=views), replace(options, view_weights=weights)


def _fitted(
    data: LoadedViews, methods: Sequence[MethodInfo], n_clusters: int, folder: Path, options: Options, *, quiet: bool
) -> Comparison:
    from manyviews.recommend.compare import compare_methods

    with shown_fits(quiet=quiet, kept=True) as tell, user_input():
        return compare_methods(
            data.views, methods, n_clusters, folder / STORE, truth=data.labels, options=options, progress=tell
        )


def _record(data: LoadedViews, found: Comparison, content: dict[str, Any], options: Options) -> dict[str, Any]:
    """Return what run.json says."""
    from manyviews.recommend.summary import summary_of

    return run_record("compare", data) | {
        **content,
        "finished": True,
        "options": vars(options),
        **summary_of(found),
    }


def _write(record: dict[str, Any], found: Comparison, data: LoadedViews, folder: Path) -> None:
    from manyviews.recommend.page import render_comparison
    from manyviews.recommend.tables import labels_csv, methods_csv

    samples = data.views.sample_names
    save_text(folder / TABLE, methods_csv(record))
    names = range(len(data.views)) if samples is None else samples
    save_text(folder / LABELS, labels_csv(found, names, data.id_name))
    save_text(folder / PAGE, render_comparison(record))
    save_record(folder, record)


def _repeat_with(record: Mapping[str, Any], given: Sequence[str]) -> str | None:
    """Return the command that clusters with the recommended method and seed."""
    chosen = record["recommendation"]
    if chosen is None:
        return None
    settings = ["-k", record["n_clusters"], "--method", chosen["method"], "--seed", chosen["seed"]]
    return shlex.join(["manyviews", "cluster", *given, *map(str, settings)])


def _settled(
    numbers: Numbers, data: LoadedViews, seed: int, progress: Stages, weights: Mapping[str, float]
) -> tuple[int, dict[str, Any] | None]:
    if numbers.last < 2:
        check_n_clusters(numbers.last, data.views)
        raise UsageError("-k 1: with one cluster there is nothing to compare; give 2 or more")
    return settled_number(numbers, data.views, seed, progress, weights or None)


def chosen_methods(methods: str | None, family: str | None) -> list[MethodInfo]:
    """Return the methods that were asked for.

    Parameters
    ----------
    methods : str or None
        Names with commas between.
    family : str or None
        Name of a family, "main" or "all".

    Returns
    -------
    list of MethodInfo
        Each once, in the order given or in that of the registry.

    Raises
    ------
    UsageError
        If both are given, or a name is unknown.
    """
    from manyviews.recommend.compare import choose_methods

    if methods is not None and family is not None:
        raise UsageError("give --methods or --family, not both")
    with user_input():
        return choose_methods(listed(methods, "--methods") if methods is not None else family or "main")


def _input_arguments(
    source: str | None,
    view: Sequence[str],
    weight: Sequence[str],
    reading: Reading,
    preparing: Preparing | None,
    header: Header,
) -> list[str]:
    """Return the arguments that give another command the same data."""
    words = [] if source is None else [source]
    for option, pairs in (("--view", view), ("--weight", weight)):
        words += [word for pair in pairs for word in (option, pair)]
    options = {
        "--id": reading.id_column,
        "--truth": reading.truth,
        "--missing": reading.missing,
        "--header": None if header == "auto" else header,
    }
    for name, value in options.items():
        words += [] if value is None else [name, value]
    return words + ([] if preparing is None else preparing.words()) + reading.layout.words()


def _options(seeds: int, parts: int, seed: int, jobs: int, time_limit: float, memory_limit: int | None) -> Options:
    from manyviews.recommend.fits import Options

    for name, value, least in (("--seeds", seeds, 1), ("--parts", parts, 0)):
        if value < least:
            raise UsageError(f"{name} {value}: give {least} or more")
    check_seed(seed)
    check_jobs(jobs)
    check_limit(time_limit)
    return Options(seeds, parts, seed, jobs, time_limit, memory_limit)
