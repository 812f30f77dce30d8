"""``manyviews bench``: the table of a paper beside ours."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from manyviews.cli.console import UsageError, print_json, print_table, user_input
from manyviews.cli.fit_progress import shown_fits
from manyviews.cli.inputs import whole_number
from manyviews.cli.options import AsJson, MemorySize, Switch, Whole, check_jobs, check_limit, listed
from manyviews.cli.output import RECORD, STORE, open_folder, run_record, save_record, save_text
from manyviews.pages.wording import amount

if TYPE_CHECKING:
    from manyviews.datasets import Dataset
    from manyviews.papers.figure_parts import PaperFigure, PlannedFigure
    from manyviews.papers.material import Material
    from manyviews.papers.paper import Paper
    from manyviews.papers.plan import Planned
    from manyviews.papers.setup import Setup
    from manyviews.papers.verdict import Reproduction

__all__ = ["bench"]

TABLES = {"table.md": "to_markdown", "table.tex": "to_latex", "table.csv": "to_csv"}
PAGE = "report.html"
FIGURES, NUMBERS = "figures.html", "figures.csv"
OUTPUTS = (STORE, RECORD, PAGE, FIGURES, NUMBERS, *TABLES)


@dataclass(frozen=True)
class _Work:
    """How many seeds, which grid, whether figures, and what processes may take."""

    seeds: int
    figure_seeds: int
    full: bool
    figures: bool
    jobs: int
    seconds: float | None
    memory: int | None
    quiet: bool


def bench(
    paper: str,
    /,
    *,
    data: str | None = None,
    datasets: str | None = None,
    methods: str | None = None,
    seeds: Annotated[int | None, Parameter(converter=whole_number)] = None,
    full: Switch = False,
    figures: Switch = False,
    jobs: Whole = 1,
    time_limit: float | None = None,
    memory_limit: MemorySize = None,
    out: str | None = None,
    force: Switch = False,
    as_json: AsJson = False,
    quiet: Switch = False,
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
    figures
        Make the figures and ablations of the paper too: figures.html and figures.csv, and on the page of the tables.
        How many fits that takes is said first; at each point of a figure 3 seeds, unless --seeds says otherwise.
    jobs
        Processes; -1 for one per core.
    time_limit
        Seconds of processor time that one fit may take; one that takes longer is recorded as such, and the rest goes
        on.
    memory_limit
        Memory that one process may hold, such as 8GB or 500MB; a fit over it is recorded as such, and the rest goes on.
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
    _check_numbers(seeds, jobs, time_limit)
    setups = _chosen_setups(chosen, protocol.setups, methods, own=figures)
    place_of_data = _folder_of_data(data)
    chosen, others = _opened(chosen, place_of_data)
    found = _chosen_data(chosen, datasets, place_of_data, others, quiet=quiet or as_json)
    n_seeds = seeds if seeds is not None else (protocol.repeats if full else protocol.quick_repeats)
    place = out if out is not None else f"manyviews-bench-{chosen.name}"
    folder = _opened_folder(place, chosen, force=force)
    at_points = seeds or _seeds_of_figures(n_seeds, full)
    work = _Work(n_seeds, at_points, full, figures, jobs, time_limit, memory_limit, quiet or as_json)
    reproduction, drawn = _run(chosen, setups, found, folder, work)
    record = _record(reproduction, found, drawn, full=full)
    _write(reproduction, drawn, folder, record)
    if as_json:
        print_json(record | {"out": place})
    elif not quiet:
        _print(reproduction, drawn, place)


def _check_numbers(seeds: int | None, jobs: int, time_limit: float | None) -> None:
    if seeds is not None and seeds < 1:
        raise UsageError(f"--seeds {seeds}: give at least 1")
    check_jobs(jobs)
    check_limit(time_limit)


def _opened_folder(place: str, paper: Paper, *, force: bool) -> Path:
    identity = {"command": "bench", "paper": paper.name}
    return open_folder(place, identity, OUTPUTS, work=f"bench {paper.name}", force=force)


def _folder_of_data(given: str | None) -> Path | None:
    if given is not None and not Path(given).is_dir():
        raise UsageError(f"--data {given}: there is no such folder")
    return None if given is None else Path(given)


def _chosen_setups(paper: Paper, setups: tuple[Setup, ...], wanted: str | None, *, own: bool) -> list[Setup]:
    """Return the setups of rows or methods that are named; all without names. With ``own``, not without the paper's."""
    from manyviews.papers.paper import closest

    if wanted is None:
        return list(setups)
    names = {setup.method: setup.method for setup in setups} | {row: row for row in paper.rows}
    with user_input():
        chosen = [closest(name, names, "row or method") for name in listed(wanted, "--methods")]
    found = [setup for setup in setups if {setup.row, setup.method} & set(chosen)]
    for name in chosen:
        if not any(name in (setup.row, setup.method) for setup in setups):
            raise UsageError(f"the method of the row {name!r} is not in this library, so it cannot be run")
    if own and all(setup.method != paper.name for setup in found):
        raise UsageError(f"--methods leaves out {paper.name}, whose figures are asked for: name it too")
    return found


def _opened(paper: Paper, folder: Path | None) -> tuple[Paper, dict[str, Dataset]]:
    """Return the paper with its open tables made of all dense sets that are there, and those that no registry knows."""
    from manyviews.datasets.registry import find
    from manyviews.papers.material import dense_data

    if not paper.is_open:
        return paper, {}
    there = {} if folder is None else dense_data(folder)
    names = list(dict.fromkeys([*paper.datasets, *there]))
    return paper.on(names), {name: data for name, data in there.items() if find(name) is None}


def _chosen_data(
    paper: Paper, wanted: str | None, folder: Path | None, others: dict[str, Dataset], *, quiet: bool
) -> dict[str, Dataset]:
    """Load the data sets that are named; without names all of the paper that are there."""
    from manyviews.datasets import info
    from manyviews.papers.material import DataAbsentError, find_data
    from manyviews.papers.paper import closest

    registered = [name for name in paper.datasets if name not in others]
    known = {name: entry for entry in registered for name in (entry, *info(entry).aliases)} | {n: n for n in others}
    found, absent = {}, {}
    with user_input():
        names = paper.datasets
        if wanted is not None:
            names = tuple(closest(name, known, f"data set of {paper.name}") for name in listed(wanted, "--datasets"))
        for name in names:
            try:
                found[name] = others[name] if name in others else find_data(name, folder)
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


def _seeds_of_figures(n_seeds: int, full: bool) -> int:
    from manyviews.papers.drawn import QUICK_SEEDS

    return n_seeds if full else min(n_seeds, QUICK_SEEDS)


def _run(
    paper: Paper, setups: list[Setup], found: dict[str, Dataset], folder: Path, work: _Work
) -> tuple[Reproduction, list[PaperFigure]]:
    from manyviews.papers.material import Material
    from manyviews.papers.mvec_figures import CorruptedMaterial
    from manyviews.papers.plan import make_plan
    from manyviews.papers.protocols import PROTOCOLS
    from manyviews.papers.verdict import reproduction_of
    from manyviews.runs.runner import run_all

    protocol = PROTOCOLS[paper.name]
    material = Material(found, protocol)
    plan = make_plan(paper, setups, material, range(work.seeds), full=work.full)
    planned = _planned_figures(paper, setups, material, plan, work) if work.figures else []
    runs = [run for each in plan for run in each.runs] + [run for figure in planned for run in figure.runs]
    with shown_fits(quiet=work.quiet, kept=True) as tell, user_input():
        records = run_all(
            runs,
            CorruptedMaterial(material) if planned else material,
            folder / STORE,
            n_jobs=work.jobs,
            time_limit=work.seconds,
            memory_limit=work.memory,
            progress=tell,
        )
    by_run = {id(run): record for run, record in zip(runs, records, strict=True)}
    reproduction = reproduction_of(paper, plan, by_run, protocol.setups, tuple(found), work.seeds)
    return reproduction, [figure.drawn(by_run) for figure in planned]


def _planned_figures(
    paper: Paper, setups: list[Setup], material: Material, plan: list[Planned], work: _Work
) -> list[PlannedFigure]:
    """Return the figures, and say what they cost before it is spent."""
    from manyviews.papers.drawn import plan_figures
    from manyviews.papers.figure_parts import FigureTask

    planned = plan_figures(FigureTask(paper, setups, material, range(work.figure_seeds), work.full, plan))
    of_tables = {id(run) for each in plan for run in each.runs}
    n_fits = sum(id(run) not in of_tables for figure in planned for run in figure.runs)
    if not work.quiet:
        print(
            f"{amount(len(planned), 'figure')}: {amount(n_fits, 'fit')} beside the {len(of_tables)} of the tables, "
            f"{amount(work.figure_seeds, 'seed')} at each point; fewer --datasets or --seeds make it less",
            file=sys.stderr,
        )
    return planned


def _write(reproduction: Reproduction, figures: list[PaperFigure], folder: Path, record: dict[str, Any]) -> None:
    from manyviews.papers import tables
    from manyviews.papers.figure_numbers import figures_csv
    from manyviews.papers.page import render_figures, render_page

    for name, function in TABLES.items():
        save_text(folder / name, getattr(tables, function)(reproduction))
    save_text(folder / PAGE, render_page(reproduction, figures))
    if figures:
        save_text(folder / FIGURES, render_figures(reproduction.paper, figures))
        save_text(folder / NUMBERS, figures_csv(figures))
    save_record(folder, record)


def _record(
    reproduction: Reproduction, found: dict[str, Dataset], figures: list[PaperFigure], *, full: bool
) -> dict[str, Any]:
    """Return what run.json says: enough to run the same again."""
    from manyviews.runs.outcomes import data_checksum

    return run_record("bench") | {
        "paper": reproduction.paper.name,
        "finished": True,
        "seeds": reproduction.n_seeds,
        "full_grid": full,
        "data": {name: data_checksum(data) for name, data in found.items()},
        "rows": list(dict.fromkeys(cell.name for cell in reproduction.cells if cell.method)),
        "counts": reproduction.counts(),
        "counts_of_variants": reproduction.counts(variants=True),
        "figures": [figure.title for figure in figures],
    }


def _print(reproduction: Reproduction, figures: list[PaperFigure], place: str) -> None:
    from manyviews.papers.overall import stars
    from manyviews.papers.summaries import summaries
    from manyviews.papers.tables import (
        counted,
        difference_text,
        notes,
        our_text,
        published_text,
        star,
        verdict_text,
    )

    due = stars(reproduction.cells, reproduction.paper.name)
    for table in reproduction.paper.tables:
        cells = [cell for cell in reproduction.cells if cell.table is table and cell.method]
        if cells:
            print(f"\n{table.title}")
            theirs = "measured" if table.origin == "measured" else "paper"
            rows = [
                (
                    cell.name,
                    cell.dataset,
                    published_text(cell) + star(cell, due.printed),
                    our_text(cell) + star(cell, due.ours),
                    difference_text(cell),
                    verdict_text(cell),
                )
                for cell in cells
            ]
            print_table(("row", "data", theirs, "ours", "difference", "verdict"), rows)
            for part in summaries(reproduction.paper, table, cells):
                print(f"\n{part.title}")
                print_table(part.header, part.rows)
                if part.note:
                    print(part.note)
    print(f"\nrows that follow the paper: {counted(reproduction)}")
    if any(cell.variant for cell in reproduction.cells):
        print(f"rows made otherwise, in brackets: {counted(reproduction, variants=True)}")
    for note in notes(reproduction):
        print(note)
    print(f"tables: {', '.join(os.path.join(place, name) for name in TABLES)}")
    if figures:
        print(f"figures: {os.path.join(place, FIGURES)}, {os.path.join(place, NUMBERS)}")
    print(f"page: {os.path.join(place, PAGE)} (open it in a browser)")
