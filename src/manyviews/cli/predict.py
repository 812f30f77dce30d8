"""``manyviews predict``: clusters of new samples."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from manyviews.cli.beyond import Beyond, predict_blocks, refuse_other_options
from manyviews.cli.console import Stages, UsageError, stdout_is_closed, user_input
from manyviews.cli.inputs import Reading, fill_like, load_new
from manyviews.cli.layout import Layout
from manyviews.cli.options import HEADER, Header, IdColumn, Missing, Switch, ViewFiles
from manyviews.cli.output import new_file, printed, refuse_inputs
from manyviews.cli.outputs import ObsCopy, obs_copy
from manyviews.cli.reading import say_notes
from manyviews.pages.wording import amount

if TYPE_CHECKING:
    from manyviews.io import LoadedViews

__all__ = ["predict"]


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
    write_obs: str | None = None,
    beyond: Beyond | None = None,
    out: str | None = None,
    safe_csv: Switch = False,
    force: Switch = False,
    quiet: Switch = False,
) -> None:
    """Give clusters to new samples with the model of an earlier run.

    Parameters
    ----------
    folder
        Output folder of manyviews cluster.
    source
        A file with all views of the new samples, or a named data set. A table may have more columns than needed.
    view
        One view as NAME=FILE; give it once per view.
    id_column
        Column of row ids in every table; rows are matched by it.
    missing
        What to do with ids that some view lacks: union or intersection, as for manyviews cluster.
    header
        Whether the first row of text files holds names: auto, yes or no.
    write_obs
        A new .h5ad or .h5mu file: a copy of the one given, with the clusters as a column of obs; FILE:COLUMN names it.
    out
        File for the labels as csv; without it, or with -, they are printed.
    safe_csv
        Put an apostrophe before ids that begin with =, +, - or @, which a spreadsheet would take for formulas.
    force
        Replace an existing file.
    quiet
        Print nothing but labels, warnings and errors.
    """
    from manyviews.cluster.registry import find_method
    from manyviews.io.model import known_columns, match_features
    from manyviews.io.write import MODEL

    progress, place = Stages(quiet=quiet), os.path.join(folder, MODEL)
    model, imputer = _model(folder, place)
    out = printed(out)
    _check_file(out, place, force=force)
    if beyond is not None and beyond.asked:
        others = {"missing": missing, "header": HEADER[header], "impute": imputer, "write_obs": write_obs}
        others["safe_csv"] = safe_csv or None
        refuse_other_options(beyond, source, layout, **others)
        predict_blocks(model, known_columns(place), view or (), id_column, beyond, (out, force), progress)
        return
    with progress.stage("read", f"reading {source or ', '.join(view or ())}"):
        known, gaps = known_columns(place), imputer is not None
        reading = Reading(id_column, None, missing, HEADER[header], gaps, layout or Layout(), known)
        data = load_new(source, view or (), reading)
    refuse_inputs(out, data.checksums)
    obs = obs_copy(write_obs, data, id_column, None, force=force)
    with user_input():
        views = match_features(data.views, place, partial=find_method(type(model).__name__).missing)
    data = replace(data, views=views)
    if imputer is not None:
        data = fill_like(data, imputer)
    say_notes(data, progress)
    _write(model, data, out, obs, progress, force=force, safe_csv=safe_csv)


def _write(
    model: Any,
    data: LoadedViews,
    out: str | None,
    obs: ObsCopy | None,
    progress: Stages,
    *,
    force: bool,
    safe_csv: bool,
) -> None:
    """Label the new samples, and write the labels as csv, as they come, and into obs."""
    import numpy as np

    from manyviews.cluster.predicting import label_blocks
    from manyviews.io.write_labels import write_labels

    views, kept, start = data.views, [], 0
    with (
        new_file(out, force=force) as stream,
        user_input(),
        progress.stage("predict", f"labelling {amount(len(views), 'sample')}", prints=out is None),
    ):
        for labels in label_blocks(model, views):
            rows = slice(start, start + len(labels))
            ids = None if views.sample_names is None else views.sample_names[rows]
            write_labels(stream, labels, samples=ids, id_name=data.id_name, start=start, safe=safe_csv)
            start = rows.stop
            if obs is not None:
                kept.append(labels)
    if obs is not None:
        obs.write(np.concatenate(kept), views.sample_names, None)


def _model(folder: str, place: str) -> tuple[Any, Any]:
    """Return the model of a folder, and what fills cells for it."""
    from manyviews.cluster.base import MultiViewClusterer
    from manyviews.io.model import load_imputer, load_model
    from manyviews.io.write import RECORD

    if os.path.isfile(os.path.join(folder, RECORD)) and not os.path.exists(place):
        raise UsageError(f"{folder} has no model: it was written with --no-model; run manyviews cluster without that")
    with user_input():
        model, imputer = load_model(place), load_imputer(place)
    if not hasattr(model, "predict"):
        raise UsageError(f"{type(model).__name__} gives no labels to new samples; manyviews methods lists which do")
    if not isinstance(model, MultiViewClusterer):
        raise UsageError(f"{place} holds a {type(model).__name__}, which is no method of manyviews")
    return model, imputer


def _check_file(out: str | None, model: str, *, force: bool) -> None:
    """Refuse a file of labels that is in the way, or would damage the model, before any work is done."""
    from manyviews.io.write import check_file

    if out is None:
        if stdout_is_closed():
            raise UsageError("standard output is closed, so the labels have nowhere to go; give a file with --out")
        return
    place, home = os.path.realpath(out), os.path.realpath(model)
    if os.path.exists(place) and os.path.dirname(place) in (home, os.path.dirname(home)):
        raise UsageError(f"--out {out} would replace a file of the folder that the model is in; choose another place")
    if place.startswith(os.path.join(home, "")):
        raise UsageError(f"--out {out} lies in the folder of the model; choose another place")
    with user_input():
        check_file(out, force=force)
