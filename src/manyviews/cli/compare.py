"""``manyviews compare``: which method suits the data, without knowing the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from manyviews.cli.comparison_output import print_comparison, write_comparison
from manyviews.cli.console import Progress, UsageError, user_input
from manyviews.cli.fit import HEADER, Header, IdColumn, Missing, Switch, ViewFiles, say_notes
from manyviews.cli.inputs import Layout, Reading, check_n_clusters, fill_cells, load_input, whole_number
from manyviews.cli.results import default_folder

if TYPE_CHECKING:
    from manyviews.cluster.registry import MethodInfo
    from manyviews.io import LoadedViews
    from manyviews.recommend.comparison import Options

__all__ = ["chosen_methods", "compare"]

WholeNumber = Parameter(converter=whole_number)


def compare(
    source: str | None = None,
    /,
    *,
    n_clusters: Annotated[int, Parameter(name=("--n-clusters", "-k"), converter=whole_number)],
    view: ViewFiles = None,
    methods: str | None = None,
    family: str | None = None,
    seeds: Annotated[int, WholeNumber] = 5,
    parts: Annotated[int, WholeNumber] = 3,
    id_column: IdColumn = None,
    truth: str | None = None,
    missing: Missing = None,
    impute: Literal["median", "knn"] | None = None,
    header: Header = "auto",
    layout: Layout | None = None,
    seed: Annotated[int, WholeNumber] = 0,
    jobs: Annotated[int, WholeNumber] = 1,
    time_limit: float = 300.0,
    memory_limit: float | None = None,
    out: str | None = None,
    force: Annotated[bool, Switch] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Switch] = False,
) -> None:
    """Fit several methods to a data set and say which one suits it; no classes are needed.

    Parameters
    ----------
    source
        Name of a data set (see: manyviews data) or a file: .npz or .mat with all views, or one table.
    n_clusters
        Number of clusters.
    view
        One view as NAME=FILE; give it once per view.
    methods
        Names of methods with commas between (see: manyviews methods).
    family
        Methods of one family instead, such as "late fusion"; "main", the default: the five main methods and the simple
        ones; "all".
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
    impute
        Fill single empty cells: median of the column, or knn.
    header
        Whether the first row of csv and tsv files holds names: auto, yes or no.
    seed
        First seed.
    jobs
        Fits at a time; -1 for one per core.
    time_limit
        Seconds that one fit may take; one that takes longer is ended and recorded as such.
    memory_limit
        Memory that one fit may hold, in GB; one that needs more is ended and recorded as such.
    out
        Output folder, by default manyviews-compare-NAME in the current folder.
    force
        Replace an earlier output folder.
    as_json
        Print the results as one JSON object.
    quiet
        Print nothing but warnings and errors.
    """
    from manyviews.io.write import check_folder

    chosen = chosen_methods(methods, family)
    options = _options(seeds, parts, seed, jobs, time_limit, memory_limit)
    progress = Progress(quiet=quiet)
    if out is not None:
        with user_input():
            check_folder(out, force=force)
    reading = Reading(id_column, truth, missing, HEADER[header], impute is not None, layout or Layout())
    with progress.stage("read", f"reading {source or ', '.join(view or ())}"):
        data, _ = fill_cells(load_input(source, view or (), reading), impute)
    _check_clusters(n_clusters, data)
    say_notes(data, progress)
    folder = out or default_folder("manyviews-compare", data.name)
    given = _input_arguments(source, view or (), reading, impute, header)
    record = write_comparison(data, chosen, n_clusters, options, folder, given=given, force=force, progress=progress)
    print_comparison(record, folder, as_json=as_json, quiet=quiet)
    if record["recommendation"] is None:
        raise UsageError(f"no method had a result ({folder} says why); choose other --methods, or raise the limits")


def _check_clusters(n_clusters: int, data: LoadedViews) -> None:
    check_n_clusters(n_clusters, data.views)
    if n_clusters < 2:
        raise UsageError("-k 1: with one cluster there is nothing to compare; give 2 or more")


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
    from manyviews.cluster.registry import METHODS, find_method

    if methods is not None and family is not None:
        raise UsageError("give --methods or --family, not both")
    if methods is not None:
        names = [name.strip() for name in methods.split(",") if name.strip()]
        if not names:
            raise UsageError("--methods is empty; give names with commas between (see: manyviews methods)")
        with user_input():
            return list({method.name: method for method in map(find_method, names)}.values())
    if family in (None, "main"):
        return [method for method in METHODS if method.main]
    found = [method for method in METHODS if family in ("all", method.family)]
    if not found:
        families = ", ".join(dict.fromkeys(method.family for method in METHODS))
        raise UsageError(f"--family {family}: there is no such family; choose main, all, {families}")
    return found


def _input_arguments(
    source: str | None, view: Sequence[str], reading: Reading, impute: str | None, header: Header
) -> list[str]:
    """Return the arguments that give another command the same data."""
    words = [] if source is None else [source]
    for pair in view:
        words += ["--view", pair]
    options = {
        "--id": reading.id_column,
        "--truth": reading.truth,
        "--missing": reading.missing,
        "--impute": impute,
        "--header": None if header == "auto" else header,
    }
    for name, value in options.items():
        words += [] if value is None else [name, value]
    return words + reading.layout.words()


def _options(seeds: int, parts: int, seed: int, jobs: int, time_limit: float, memory_limit: float | None) -> Options:
    from manyviews.recommend.comparison import Options

    checks: list[tuple[str, Any, bool, str]] = [
        ("--seeds", seeds, seeds >= 1, "1 or more"),
        ("--parts", parts, parts >= 0, "0 or more"),
        ("--seed", seed, seed >= 0, "0 or more"),
        ("--jobs", jobs, jobs == -1 or jobs >= 1, "1 or more, or -1 for one per core"),
        ("--time-limit", time_limit, time_limit > 0, "a positive number of seconds"),
        ("--memory-limit", memory_limit, memory_limit is None or memory_limit > 0, "a positive number of GB"),
    ]
    for name, value, good, wanted in checks:
        if not good:
            raise UsageError(f"{name} {value}: give {wanted}")
    memory = None if memory_limit is None else int(memory_limit * 1e9)
    return Options(seeds, parts, seed, jobs, time_limit, memory)
