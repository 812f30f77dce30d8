"""Fitted models to folders and back, without pickle: nothing in a model folder is ever executed."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

import manyviews
from manyviews.io.files import checksum
from manyviews.io.model_types import is_model_type, with_public_name
from manyviews.io.selection import Kept, take_kept
from manyviews.io.write import MODEL, model_folder, write_json
from manyviews.views import Views
from manyviews.views.check import check_views, is_table
from manyviews.views.new_samples import FittedViews, match_views

__all__ = [
    "FORMAT",
    "known_columns",
    "load_imputer",
    "load_model",
    "match_features",
    "model_bytes",
    "save_model",
]

# Of the folder and of what fitted estimators hold: raise it when a record that one holds moves or changes.
FORMAT = 4
_HEADER, _BODY, _IMPUTER, _DESCRIPTION = "model.json", "model.skops", "imputer.skops", "schema.json"

# What fitted estimators hold besides numbers and scikit-learn's own types.
_HARMLESS_TYPES = (
    "numpy.dtype",  # read from the header of an empty array
    *(f"scipy.sparse._{kind}.{kind}_{suffix}" for kind in ("csr", "csc") for suffix in ("array", "matrix")),
)


def save_model(
    estimator: Any,
    folder: str | os.PathLike[str],
    views: Any,
    *,
    imputer: Any = None,
    kept: Mapping[str, Kept] | None = None,
) -> None:
    r"""Write a fitted method to a new folder, which ``load_model`` and ``manyviews predict`` read.

    There is no pickle in it: nothing in the folder is executed when it is read. The folder appears whole or not at all;
    what a killed process leaves half-written, under a hidden name beside it, the next call for the same folder removes.

    Parameters
    ----------
    estimator : estimator
        A fitted method of this package.
    folder : str or path-like
        Folder to make. Parent folders are made too.
    views : Views, sequence, mapping or table
        What it was fitted on; names, widths and column names are kept to check new samples against.
    imputer : ViewImputer, default=None
        What filled empty cells before the fit; new samples need it too.
    kept : mapping of str to Kept, default=None
        Columns that were kept before the fit, by view, as ``--top-variance`` does; new samples are cut to them.

    Raises
    ------
    NotFittedError
        If the method is not fitted.
    FileExistsError
        If there is such a folder.
    ValueError
        If the views are not those of the fit, by number and columns, or the folder cannot be written to.
    TypeError
        If ``load_model`` would refuse what the estimator holds, as it does pipelines: save the method in them.
    ImportError
        If skops is not installed.

    Examples
    --------
    >>> import os, tempfile
    >>> from manyviews import ConcatKMeans, datasets
    >>> from manyviews.io import load_model, save_model
    >>> data = datasets.make_blobs_views(60, (4, 3), n_clusters=2, random_state=0)
    >>> model = ConcatKMeans(2, random_state=0).fit(data.views)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     save_model(model, os.path.join(place, "model"), data.views)
    ...     again = load_model(os.path.join(place, "model"))
    >>> bool((again.predict(data.views) == model.labels_).all())
    True
    """
    check_is_fitted(estimator)
    if not isinstance(views, Views):
        views = check_views(views, views=getattr(estimator, "views", None) if is_table(views) else None)
    if hasattr(estimator, "_without_left_out"):
        views = estimator._without_left_out(views)  # new samples need the views that count, and no others
    views = _as_fitted(views, getattr(estimator, "_fitted_views", None))
    with model_folder(folder) as hidden:
        _write(estimator, hidden, views, imputer, kept)


def _as_fitted(views: Views, fitted: FittedViews | None) -> Views:
    """Return the views in the order of the fit, or say that they are others."""
    if fitted is None:
        return views
    if views.has_names and fitted.named and set(views.names) == set(fitted.names):
        views = views.select(fitted.names)
    widths = tuple(int(array.shape[1]) for array in views.arrays)
    if widths != fitted.widths:
        raise ValueError(
            f"the method was fitted on views with {', '.join(map(str, fitted.widths))} columns, these have "
            f"{', '.join(map(str, widths))}; give the views that it was fitted on"
        )
    return views


def _write(estimator: Any, folder: Path, views: Views, imputer: Any, kept: Mapping[str, Kept] | None) -> None:
    """Write all files of a model folder."""
    body = folder / _BODY
    _dump(estimator, body)
    refused = _refused(_require_skops().io.get_untrusted_types(file=body))
    if refused:
        raise TypeError(
            f"{type(estimator).__name__} holds {refused[0]}, which load_model would refuse; save a fitted method of "
            "manyviews, of a pipeline its last step"
        )
    described: list[dict[str, Any]] = [
        {"name": name, "n_features": array.shape[1], "feature_names": columns}
        for (name, array), columns in zip(views.items(), views.feature_names, strict=True)
    ]
    for view in described:
        if kept is not None and view["name"] in kept:
            view["kept"] = kept[view["name"]]._asdict()
    header = {"format": FORMAT, "manyviews": manyviews.__version__, "class": type(estimator).__name__}
    header |= {"views": described, "sha256": checksum(body)}
    if imputer is not None:
        _dump(imputer, folder / _IMPUTER)
        header["imputer"] = {"class": type(imputer).__name__, "sha256": checksum(folder / _IMPUTER)}
    write_json(folder / _HEADER, header)


def model_bytes(estimator: Any) -> int:
    """Return about how many bytes ``save_model`` writes, without making a copy of the arrays."""
    arrays = 0

    def count(buffer: pickle.PickleBuffer) -> None:
        nonlocal arrays
        arrays += buffer.raw().nbytes

    rest = pickle.dumps(estimator, protocol=5, buffer_callback=count)
    return arrays + len(rest)


def _require_skops() -> Any:
    """Return the package that stores models without pickle, or say what to install."""
    try:
        import skops.io
    except ImportError as error:
        raise ImportError('model folders need skops; install it by: pip install "manyviews[cli]"') from error
    return skops


def _dump(estimator: Any, path: Path) -> None:
    """Write an estimator, its class named as users know it; from file to file, so that no second copy is in memory."""
    skops = _require_skops()
    plain = path.with_suffix(".part")
    try:
        skops.io.dump(estimator, plain)
        with zipfile.ZipFile(plain) as whole, zipfile.ZipFile(path, "w") as archive:
            for entry in whole.infolist():
                if entry.filename == _DESCRIPTION:
                    content = json.loads(whole.read(entry), object_hook=with_public_name)
                    archive.writestr(entry, json.dumps(content).encode())
                    continue
                with whole.open(entry) as source, archive.open(entry.filename, "w", force_zip64=True) as target:
                    shutil.copyfileobj(source, target, 1 << 20)
    finally:
        plain.unlink(missing_ok=True)


def load_model(folder: str | os.PathLike[str]) -> Any:
    """Read a fitted method from the folder that ``manyviews cluster`` wrote.

    Nothing in the folder is executed: beyond the types of NumPy, SciPy and scikit-learn that are held to be safe, only
    methods of this package and the plain records that they hold are made.

    Parameters
    ----------
    folder : str or path-like
        The output folder, or the folder ``model`` in it.

    Returns
    -------
    estimator
        The fitted estimator; ``predict`` labels new samples where the method has a rule for them.

    Raises
    ------
    ValueError
        If the folder is no model, damaged, of another format, or asks for other classes.
    """
    folder = _model_folder(folder)
    header = read_header(folder)
    return _load(folder, _BODY, header, header.get("manyviews"))


def _model_folder(folder: str | os.PathLike[str]) -> str | os.PathLike[str]:
    inner = Path(folder, MODEL)
    return inner if not Path(folder, _HEADER).exists() and (inner / _HEADER).exists() else folder


def load_imputer(folder: str | os.PathLike[str]) -> Any:
    """Read what fills empty cells of new samples, None where the model was fitted without.

    Parameters
    ----------
    folder : str or path-like
        As in ``load_model``.

    Returns
    -------
    ViewImputer or None
        The fitted imputer.

    Raises
    ------
    ValueError
        As ``load_model``.
    """
    folder = _model_folder(folder)
    header = read_header(folder)
    described = header.get("imputer")
    if described is None:
        return None
    if not isinstance(described, dict) or described.get("class") != "ViewImputer":
        raise ValueError(f"{os.fspath(folder)}: the imputer in {_HEADER} is damaged; fit and save the model again")
    return _load(folder, _IMPUTER, described, header.get("manyviews"))


def _load(folder: str | os.PathLike[str], file: str, described: dict[str, Any], written_by: Any) -> Any:
    """Return what a file of a model folder holds, if its checksum, classes and class are those expected."""
    skops = _require_skops()
    given, body = os.fspath(folder), Path(folder, file)
    if not body.is_file() or checksum(body) != described.get("sha256"):
        raise ValueError(f"{given}: {file} is missing or damaged (its checksum differs); fit and save the model again")
    try:
        asked = skops.io.get_untrusted_types(file=body)
        refused = _refused(asked)
        model = None if refused else skops.io.load(body, trusted=asked)
    except Exception as error:
        raise ValueError(
            f"{given} cannot be read ({type(error).__name__}; written by manyviews {written_by}, this is "
            f"{manyviews.__version__}); fit and save the model again"
        ) from error
    if refused:
        raise ValueError(f"{given} asks for {refused[0]}, which no manyviews model is made of; it is not loaded")
    if type(model).__name__ != described.get("class"):
        raise ValueError(f"{given}: {_HEADER} and {file} do not belong together; fit and save the model again")
    return model


def _refused(asked: Iterable[str]) -> list[str]:
    """Return those of the types that a file asks for which no model is made of."""
    return [name for name in asked if name not in _HARMLESS_TYPES and not is_model_type(name)]


def read_header(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the description of a model folder; raise ValueError where it is none or of another format."""
    given = os.fspath(folder)
    if not Path(folder).is_dir():
        raise ValueError(f"{given}: there is no such model folder; give the output folder of 'manyviews cluster'")
    try:
        header = json.loads(Path(folder, _HEADER).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ValueError(f"{given} is no model folder: it has no {_HEADER}") from error
    except (OSError, ValueError) as error:
        raise ValueError(f"{given}: {_HEADER} is damaged; fit and save the model again") from error
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise ValueError(f"{given}: {_HEADER} was not written by manyviews")
    if header["format"] != FORMAT:
        remedy = "update manyviews" if header["format"] > FORMAT else "fit and save the model again"
        raise ValueError(
            f"{given} has format {header['format']} (written by manyviews {header.get('manyviews')}), and manyviews "
            f"{manyviews.__version__} reads format {FORMAT}; {remedy}"
        )
    views = header.get("views")
    if not isinstance(views, list) or not views or not all(map(_describes_a_view, views)):
        raise ValueError(f"{given}: the views in {_HEADER} are damaged; fit and save the model again")
    return header


def _describes_a_view(entry: Any) -> bool:
    if not isinstance(entry, dict) or not {"name", "n_features", "feature_names"} <= entry.keys():
        return False
    columns = entry["feature_names"]
    named = _names_columns(columns) and ("kept" not in entry or _describes_kept(entry["kept"], entry["n_features"]))
    return isinstance(entry["name"], str) and isinstance(entry["n_features"], int) and named


def _names_columns(columns: Any) -> bool:
    return columns is None or (isinstance(columns, list) and all(isinstance(column, str) for column in columns))


def _describes_kept(entry: Any, n_features: Any) -> bool:
    if not isinstance(entry, dict) or entry.keys() != set(Kept._fields) or not _names_columns(entry["given"]):
        return False
    n_given, positions = entry["n_given"], entry["positions"]
    return (
        isinstance(n_given, int)
        and (entry["given"] is None or len(entry["given"]) == n_given)
        and isinstance(positions, list)
        and len(positions) == n_features
        and all(isinstance(place, int) and 0 <= place < n_given for place in positions)
    )


def known_columns(folder: str | os.PathLike[str]) -> dict[str, list[str] | None]:
    """Return the names of the columns of each view that a model was given; None for views without names."""
    described = read_header(folder)["views"]
    return {view["name"]: view["kept"]["given"] if "kept" in view else view["feature_names"] for view in described}


def match_features(views: Views, folder: str | os.PathLike[str], *, partial: bool = False) -> Views:
    """Return the views of new samples as the model of a folder takes them.

    Parameters
    ----------
    views : Views
        New samples.
    folder : str or path-like
        The model folder.
    partial : bool, default=False
        Whether views may be lacking.

    Returns
    -------
    Views
        The views in the model's order; the columns of tables in the model's order too.

    Raises
    ------
    ValueError
        If views or columns are missing or unknown, or a width differs.
    """
    described = read_header(folder)["views"]
    columns = tuple(None if view["feature_names"] is None else tuple(view["feature_names"]) for view in described)
    names, widths = (tuple(view[key] for view in described) for key in ("name", "n_features"))
    if len(names) == len(views.names) == 1 or not views.has_names:
        views = views.renamed(names)  # what a file of one view is called says nothing
    views = take_kept(views, {view["name"]: Kept(**view["kept"]) for view in described if "kept" in view})
    return match_views(views, FittedViews(names, True, widths, columns), partial=partial)
