"""``manyviews sweep``: how the result of a method depends on one or two parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from manyviews.cli.console import Stages, UsageError, print_json, print_table, user_input
from manyviews.cli.fit_progress import shown_fits
from manyviews.cli.inputs import Reading, check_n_clusters, parse_settings, parse_weights
from manyviews.cli.layout import Layout
from manyviews.cli.options import (
    HEADER,
    AsJson,
    Header,
    IdColumn,
    MemorySize,
    Missing,
    NClusters,
    Switch,
    Texts,
    ViewFiles,
    Weights,
    Whole,
    check_jobs,
    check_limit,
    check_seed,
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
from manyviews.cluster.registry import DEFAULT_METHOD, find_method

if TYPE_CHECKING:
    from manyviews.io import LoadedViews
    from manyviews.recommend.sweep import Sweep

__all__ = ["sweep"]

TABLE, PAGE = "sweep.csv", "sweep.html"
OUTPUTS = (STORE, RECORD, TABLE, PAGE)
IDENTITY = {"command": "sweep"}
FREE = partial(check_open, identity=IDENTITY, outputs=OUTPUTS)
Vary = Annotated[list[str], Parameter(name="--vary", negative=())]


def sweep(
    source: str | None = None,
    /,
    *,
    n_clusters: NClusters,
    vary: Vary,
    view: ViewFiles = None,
    method: str = DEFAULT_METHOD,
    settings: Annotated[Texts, Parameter(name="--set", negative=())] = None,
    weight: Weights = None,
    seeds: Whole = 3,
    id_column: IdColumn = None,
    truth: str | None = None,
    missing: Missing = None,
    preparing: Preparing | None = None,
    header: Header = "auto",
    layout: Layout | None = None,
    seed: Whole = 0,
    jobs: Whole = 1,
    time_limit: float | None = None,
    memory_limit: MemorySize = None,
    out: str | None = None,
    force: Switch = False,
    as_json: AsJson = False,
    quiet: Switch = False,
) -> None:
    """Fit a method over a grid of one or two parameters, several seeds each; write a table and a picture.

    A start that was interrupted goes on where it was: finished fits are in runs.jsonl of the output folder.

    Parameters
    ----------
    source
        Name of a data set (see: manyviews data) or a file: .npz or .mat with all views, or one table.
    n_clusters
        Number of clusters, where it is not what is varied.
    vary
        A parameter and its values, PARAM=VALUE,VALUE,...; give it twice for a grid. n_clusters may be one.
    view
        One view as NAME=FILE; give it once per view.
    method
        Name of the method (see: manyviews methods).
    settings
        A parameter that stays as it is, PARAM=VALUE; give it once per parameter.
    weight
        What a view counts beside the others, as NAME=2; may be repeated. 1 is usual, 0 leaves the view out.
    seeds
        Fits at each point of the grid.
    id_column
        Column of row ids in every table; rows are matched by it. Without it they are matched by position.
    truth
        Classes to score against. A column of one table, a labelling in the .npz, or a file with one column.
    missing
        What to do with ids that some view lacks: union or intersection.
    header
        Whether the first row of csv and tsv files holds names: auto, yes or no.
    seed
        First seed.
    jobs
        Fits at a time; -1 for one per core.
    time_limit
        Seconds that one fit may take.
    memory_limit
        Memory that one process may hold, such as 8GB or 500MB.
    out
        Output folder, by default manyviews-sweep-NAME in the current folder.
    force
        Start anew in an earlier output folder.
    as_json
        Print the table as one JSON object.
    quiet
        Print nothing but warnings and errors.
    """
    check_seed(seed)
    check_jobs(jobs)
    check_limit(time_limit)
    chosen = _method(method)
    fixed, grid = parse_settings(settings or (), chosen), _grid(vary, chosen)
    progress = Stages(quiet=quiet)
    reading = Reading(id_column, truth, missing, HEADER[header], fills(preparing), layout or Layout())
    place = target_folder(out, "manyviews-sweep", source, view, FREE)
    data, _ = read_data(source, view, reading, preparing, out, progress)
    for k in grid.get("n_clusters", [n_clusters]):
        check_n_clusters(k, data.views)
    weights = parse_weights(weight or (), data.views.names)
    say_notes(data, progress)
    content = content_of(data, weights)
    folder = open_folder(place, IDENTITY, OUTPUTS, work="sweep of these data", content=content, force=force)
    how = {"seeds": seeds, "random_state": seed, "n_jobs": jobs, "time_limit": time_limit, "memory_limit": memory_limit}
    found = _swept(chosen(n_clusters, view_weights=weights, **fixed), data, grid, folder, how, quiet=quiet)
    _write(found, data, method, content, folder)
    _tell(found, place, as_json=as_json, quiet=quiet)


def _method(name: str) -> Any:
    with user_input():
        return find_method(name).load()


def _tell(found: Sweep, place: str, *, as_json: bool, quiet: bool) -> None:
    _print(found, place, as_json=as_json, quiet=quiet)
    if all(math.isnan(value) for value in found.seconds):
        raise UsageError(f"no fit ended well: {found.reasons[0]}; choose other values")


def _swept(
    model: Any, data: LoadedViews, grid: dict[str, list[Any]], folder: Path, fits: dict[str, Any], *, quiet: bool
) -> Sweep:
    from manyviews.recommend.sweep import sweep as over_grid

    with shown_fits(quiet=quiet, kept=True) as tell, user_input():
        return over_grid(model, data.views, grid, truth=data.labels, store=folder / STORE, progress=tell, **fits)


def _grid(vary: Sequence[str], method: type) -> dict[str, list[Any]]:
    """Return the values of each parameter from PARAM=VALUE,VALUE,..."""
    grid: dict[str, list[Any]] = {}
    for pair in vary:
        name, mark, values = pair.partition("=")
        name = name.replace("-", "_")
        given = [value.strip() for value in values.split(",") if value.strip()]
        if not (name and mark and given):
            raise UsageError(f"--vary {pair}: write --vary PARAM=VALUE,VALUE,...")
        if name in grid:
            raise UsageError(f"--vary {pair}: {name} was given already; give all its values at once")
        if name in ("k", "n_clusters"):
            grid["n_clusters"] = [_clusters(pair, value) for value in given]
        else:
            grid[name] = [parse_settings([f"{name}={value}"], method)[name] for value in given]
    return grid


def _clusters(pair: str, value: str) -> int:
    if not value.isdecimal():
        raise UsageError(f"--vary {pair}: {value!r} is no number of clusters")
    return int(value)


def _write(found: Sweep, data: LoadedViews, method: str, content: dict[str, Any], folder: Path) -> None:
    from manyviews.recommend.sweep_page import render_sweep
    from manyviews.recommend.tables import columns_csv

    save_text(folder / TABLE, columns_csv(found.table))
    save_text(folder / PAGE, render_sweep(found, title=data.name, method=method))
    record = run_record("sweep", data) | content | {"finished": True, "parameters": list(found.parameters)}
    save_record(folder, record | {"table": _plain(found)})


def _plain(found: Sweep) -> dict[str, list[Any]]:
    return {
        name: [None if isinstance(value, float) and math.isnan(value) else value for value in column]
        for name, column in found.table.items()
    }


def _print(found: Sweep, place: str, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        print_json({"out": place, "table": _plain(found)})
        return
    if quiet:
        return
    table = found.table
    shown = [
        name for name in (*found.parameters, "nmi", "acc", "ari", "stability", "structure", "seconds") if name in table
    ]
    rows = [[_cell(table[name][i]) for name in shown] for i in range(len(found.points))]
    print_table(shown, rows)
    print(f"{place}: {TABLE}, {PAGE}")


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
