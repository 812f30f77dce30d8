"""``manyviews bench``: the table of a paper beside ours."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from manyviews import __version__
from manyviews.cli.console import UsageError, print_json, print_table, user_input
from manyviews.cli.fit_progress import shown_fits
from manyviews.cli.inputs import whole_number
from manyviews.cli.resumable import RECORD, STORE, open_folder, write_text

if TYPE_CHECKING:
    from manyviews.datasets import Dataset
    from manyviews.papers.paper import Paper
    from manyviews.papers.protocols import Setup
    from manyviews.papers.verdict import Comparison

__all__ = ["bench"]

TABLES = {"table.md": "to_markdown", "table.tex": "to_latex", "table.csv": "to_csv"}
PAGE = "report.html"
OUTPUTS = (STORE, RECORD, PAGE, *TABLES)
Switch = Parameter(negative=(), show_default=False)
Whole = Annotated[int | None, Parameter(converter=whole_number)]


@dataclass(frozen=True)
class _Limits:
    jobs: int
    seconds: float | None
    mebibytes: int | None


def bench(
    paper: str,
    /,
    *,
    data: str | None = None,
    datasets: str | None = None,
    methods: str | None = None,
    seeds: Whole = None,
    full: Annotated[bool, Switch] = False,
    jobs: Annotated[int, Parameter(converter=whole_number)] = 1,
    time_limit: float | None = None,
    memory_limit: Whole = None,
    out: str | None = None,
    force: Annotated[bool, Switch] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Switch] = False,
) -> None:
    """Make the tables of a paper again and put them beside the published ones, with a verdict on each cell.

    A start that was interrupted goes on where it was: finished runs are in runs.jsonl of the output folder.

    Parameters
    ----------
    paper
        fastmice, op-lfmvc, mvec, mspl or udbgl.
    data
        Folder with the data sets that do not come with manyviews, as NAME.npz or NAME.mat.
    datasets
        Data sets, separated by commas; by default all of the paper whose files are there.
    methods
        Rows of the paper's tables, or methods (see: manyviews methods), separated by commas; by default all that this
        library has.
    seeds
        Runs of each setting; by default enough for a first look.
    full
        As many runs, and as fine a grid of settings, as in the paper.
    jobs
        Processes; -1 for one per core.
    time_limit
        Seconds that one fit may take; one that takes longer is recorded as such, and the rest goes on.
    memory_limit
        MiB that one process may hold; a fit over it is recorded as such, and the rest goes on.
    out
        Output folder, by default manyviews-bench-PAPER in the current folder.
    force
        Start anew in an earlier output folder.
    as_json
        Print the run record as one JSON object.
    quiet
        Print nothing but warnings and errors.
    """
    from manyviews.papers.paper import paper as find_paper
    from manyviews.papers.protocols import PROTOCOLS

    with user_input():
        chosen = find_paper(paper)
    protocol = PROTOCOLS[chosen.name]
    if seeds is not None and seeds < 1:
        raise UsageError(f"--seeds {seeds}: give at least 1")
    if jobs < 1 and jobs != -1:
        raise UsageError(f"--jobs {jobs}: give -1 for one process per core, or at least 1")
    for option, limit in (("--time-limit", time_limit), ("--memory-limit", memory_limit)):
        if limit is not None and not limit > 0:
            raise UsageError(f"{option} {limit}: give a number above 0, or leave it out for no limit")
    setups = _chosen_setups(chosen, protocol.setups, methods)
    found = _chosen_data(chosen, datasets, None if data is None else Path(data), quiet=quiet or as_json)
    n_seeds = seeds if seeds is not None else (protocol.repeats if full else protocol.quick_repeats)
    place = out if out is not None else f"manyviews-bench-{chosen.name}"
    folder = open_folder(place, {"command": "bench", "paper": chosen.name}, OUTPUTS, force=force)
    limits = _Limits(jobs, time_limit, memory_limit)
    comparison = _run(chosen, setups, found, n_seeds, folder, limits, full=full, quiet=quiet or as_json)
    _write(comparison, folder, found, full=full)
    if as_json:
        print_json(_record(comparison, found, full=full) | {"out": place})
    elif not quiet:
        _print(comparison, place)


def _chosen_setups(paper: Paper, setups: tuple[Setup, ...], wanted: str | None) -> list[Setup]:
    """Return the setups of rows or methods that are named; all without names."""
    from manyviews.papers.paper import closest

    if wanted is None:
        return list(setups)
    names = {setup.method: setup.method for setup in setups} | {row: row for row in paper.rows}
    with user_input():
        chosen = [closest(name, names, "row or method") for name in _listed(wanted, "--methods")]
    found = [setup for setup in setups if {setup.row, setup.method} & set(chosen)]
    for name in chosen:
        if not any(name in (setup.row, setup.method) for setup in setups):
            raise UsageError(f"the method of the row {name!r} is not in this library, so it cannot be run")
    return found


def _chosen_data(paper: Paper, wanted: str | None, folder: Path | None, *, quiet: bool) -> dict[str, Dataset]:
    """Load the data sets that are named; without names all of the paper that are there."""
    from manyviews.datasets import info
    from manyviews.papers.material import DataAbsentError, find_data
    from manyviews.papers.paper import closest

    if folder is not None and not folder.is_dir():
        raise UsageError(f"--data {folder}: there is no such folder")
    known = {name: entry for entry in paper.datasets for name in (entry, *info(entry).aliases)}
    found, absent = {}, {}
    with user_input():
        names = paper.datasets
        if wanted is not None:
            names = tuple(closest(name, known, f"data set of {paper.name}") for name in _listed(wanted, "--datasets"))
        for name in names:
            try:
                found[name] = find_data(name, folder)
            except DataAbsentError as error:
                absent[name] = str(error)
                if wanted is not None:
                    raise
    if not found:
        raise UsageError(f"no data set of {paper.name} is there: {next(iter(absent.values()))}")
    if absent and not quiet:
        lacking = ", ".join(absent)
        print(f"without {lacking}, whose files are not there (see: manyviews data show NAME)", file=sys.stderr)
    return found


def _run(
    paper: Paper,
    setups: list[Setup],
    found: dict[str, Dataset],
    n_seeds: int,
    folder: Path,
    limits: _Limits,
    *,
    full: bool,
    quiet: bool,
) -> Comparison:
    from manyviews.papers.material import Material
    from manyviews.papers.plan import make_plan
    from manyviews.papers.protocols import PROTOCOLS
    from manyviews.papers.verdict import compare
    from manyviews.runs.runner import run_all

    protocol = PROTOCOLS[paper.name]
    material = Material(found, protocol)
    plan = make_plan(paper, setups, material, range(n_seeds), full=full)
    runs = [run for planned in plan for run in planned.runs]
    with shown_fits(quiet=quiet, kept=True) as tell, user_input():
        records = run_all(
            runs,
            material,
            folder / STORE,
            n_jobs=limits.jobs,
            time_limit=limits.seconds,
            memory_limit=None if limits.mebibytes is None else limits.mebibytes * 2**20,
            progress=tell,
        )
    by_run = {id(run): record for run, record in zip(runs, records, strict=True)}
    return compare(paper, plan, by_run, protocol.setups, tuple(found), n_seeds)


def _write(comparison: Comparison, folder: Path, found: dict[str, Dataset], *, full: bool) -> None:
    from manyviews.io.write import OutputError, atomic_file, write_json
    from manyviews.papers import tables
    from manyviews.papers.page import render_page

    with user_input(OutputError):
        for name, function in TABLES.items():
            write_text(folder / name, getattr(tables, function)(comparison))
        write_text(folder / PAGE, render_page(comparison))
        with atomic_file(folder / RECORD, force=True) as hidden:
            write_json(hidden, _record(comparison, found, full=full))


def _record(comparison: Comparison, found: dict[str, Dataset], *, full: bool) -> dict[str, Any]:
    """Return what run.json says: enough to run the same again."""
    from manyviews.runs.records import data_checksum

    libraries = ("numpy", "scipy", "scikit-learn")
    return {
        "manyviews": __version__,
        "command": "bench",
        "paper": comparison.paper.name,
        "finished": True,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "seeds": comparison.n_seeds,
        "full_grid": full,
        "data": {name: data_checksum(data) for name, data in found.items()},
        "rows": list(dict.fromkeys(cell.name for cell in comparison.cells if cell.method)),
        "counts": comparison.counts(),
        "counts_of_variants": comparison.counts(variants=True),
        "versions": {"python": platform.python_version()} | {name: version(name) for name in libraries},
    }


def _print(comparison: Comparison, place: str) -> None:
    from manyviews.papers.tables import counted, difference_text, our_text, published_text

    for table in comparison.paper.tables:
        cells = [cell for cell in comparison.cells if cell.table is table and cell.method]
        if cells:
            print(f"\n{table.title}")
            theirs = "paper" if table.origin == "published" else "measured"
            rows = [
                (cell.name, cell.dataset, published_text(cell), our_text(cell), difference_text(cell), cell.verdict)
                for cell in cells
            ]
            print_table(("row", "data", theirs, "ours", "difference", "verdict"), rows)
    print(f"\n{counted(comparison)}")
    print(f"tables: {', '.join(os.path.join(place, name) for name in TABLES)}")
    print(f"page: {os.path.join(place, PAGE)} (open it in a browser)")


def _listed(text: str, option: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError(f"{option} is empty; give names separated by commas")
    return list(dict.fromkeys(names))
