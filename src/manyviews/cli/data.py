"""``manyviews data``: data sets that can be named instead of a file."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from cyclopts import App

from manyviews.cli.console import one_line, print_json, print_table, user_input
from manyviews.cli.options import AsJson

__all__ = ["app", "list_data", "show"]

app = App(name="data", help="List the data sets that can be named instead of a file, or show one.", version_flags=[])


@app.default
@app.command(name="list")
def list_data(*, as_json: AsJson = False) -> None:
    """List the data sets.

    Parameters
    ----------
    as_json
        Print one JSON object.
    """
    from manyviews import datasets

    entries = datasets.available()
    if as_json:
        print_json({"datasets": [asdict(entry) for entry in entries]})
        return
    rows = [
        (row.name, "yes" if row.bundled else "no", row.n_samples, row.n_views, row.n_clusters, row.title)
        for row in entries
    ]
    print_table(("name", "bundled", "samples", "views", "classes", "title"), rows)
    print("A set that is not bundled is loaded from its file; manyviews data show NAME says where to get it.")


@app.command
def show(name: str, /, *, as_json: AsJson = False) -> None:
    """Show what is known about a data set.

    Parameters
    ----------
    name
        Name of the data set.
    as_json
        Print one JSON object.
    """
    from manyviews import datasets

    with user_input():
        entry = datasets.info(name)
    if as_json:
        print_json(asdict(entry))
        return
    for key, value in asdict(entry).items():
        if value not in (None, "", ()):
            print(f"{key.replace('_', ' ')}: {one_line(_shown(value))}")


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(item if isinstance(item, str) else " ".join(map(str, item)) for item in value)
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
