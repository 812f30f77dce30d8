"""Read .h5ad (AnnData) and .h5mu (MuData) files: matrices, layers and low-dimensional forms of annotated samples."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.io.arrays import check_matrix
from manyviews.io.choosing import choose
from manyviews.io.features import shown
from manyviews.io.files import file_kind, readable, require_file, stem
from manyviews.io.hdf5 import check_own, own_item
from manyviews.views.frames import frame_content, is_frame

__all__ = ["Annotations", "Element", "list_samples", "opened", "read_element", "read_elements", "sample_ids"]

_FOLDERS = ("layers", "obsm")


class Annotations(Mapping[str, NDArray[Any]]):
    """Columns that describe n samples, each made an array of objects when it is asked for, with None where it is empty.

    Parameters
    ----------
    *frames : pandas.DataFrame
        Tables of the n samples; of two columns of one name the later one counts.
    """

    def __init__(self, *frames: Any) -> None:
        self._frames = {str(name): (frame, name) for frame in frames for name in frame.columns}

    def __getitem__(self, name: str) -> NDArray[Any]:
        frame, own = self._frames[name]
        column = frame[own].astype(object)
        values: NDArray[Any] = column.where(column.notna(), None).to_numpy(dtype=object)
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)


class Element(NamedTuple):
    """One matrix of a file: name of the view, numbers, ids of the samples, names of the columns, their annotations."""

    view: str
    array: Any
    ids: list[str]
    columns: tuple[str, ...] | None
    obs: Annotations


class _Place(NamedTuple):
    """Where a matrix lies: its group (that of the modality, or the whole file) and its path in it."""

    group: str
    path: str


def read_elements(
    path: str | os.PathLike[str], wanted: Sequence[str] | None, id_column: str | None
) -> tuple[list[Element], tuple[str, ...]]:
    """Read matrices of an .h5ad or .h5mu file.

    Parameters
    ----------
    path : str or path-like
        The file. Only what is wanted is read.
    wanted : sequence of str or None
        Which ones: ``X``, ``layers/NAME``, ``obsm/NAME`` and ``raw/X``, in .h5mu files with the modality before them
        as ``rna/X``, or the modality alone; patterns with ``*`` too. By default X, or that of every modality.
    id_column : str or None
        Column of obs that holds the ids; by default they are its index, ``obs_names``.

    Returns
    -------
    list of Element
        One per matrix.
    tuple of str
        What was decided.

    Raises
    ------
    ValueError
        If anndata is not installed, the file is damaged or has no such matrix.
    """
    given = os.fspath(path)
    with opened(path) as file:
        places = _places(file, given)
        if wanted is None:
            chosen, notes = _all_main(file, places, given)
        else:
            names = [name if name in places else f"{name}/X" if f"{name}/X" in places else name for name in wanted]
            chosen, notes = choose(list(places), names, given, "matrix"), ()
        found = [_element(file, name, places[name], id_column, given) for name in chosen]
    return found, notes


def list_samples(path: str | os.PathLike[str]) -> tuple[list[str], Annotations]:
    """Return the names of all samples of a file, and the columns of obs that describe them."""
    given = os.fspath(path)
    with opened(path) as file:
        frame = read_element(file, "obs", given)
    return list(map(str, frame.index)), Annotations(frame)


@contextmanager
def opened(path: str | os.PathLike[str], mode: str = "r") -> Iterator[Any]:
    """Give the open HDF5 file; raise ValueError in one line where it cannot be read."""
    given, kind = os.fspath(path), file_kind(path)
    try:
        import_module("anndata.io")
        h5py: Any = import_module("h5py")
    except ImportError as error:
        raise ValueError(f"{given}: {kind} files need anndata: pip install 'manyviews[omics]'") from error
    file = require_file(path)
    with readable(given, f"an {kind} file"), h5py.File(file, mode) as content:
        if "obs" not in content or (kind == ".h5mu") != ("mod" in content):
            what = "modalities (mod)" if "obs" in content and kind == ".h5mu" else "table of samples (obs)"
            what = "single table, but modalities" if "mod" in content and kind == ".h5ad" else what
            raise ValueError(f"{given} is no {kind} file: it has no {what}; write it again with anndata or mudata")
        yield content


def read_element(group: Any, name: str, where: str) -> Any:
    """Return one element of a file as anndata reads it."""
    item = group
    for step in name.split("/"):
        item = own_item(item, step)
    check_own(item, where)
    read: Any = import_module("anndata.io").read_elem
    try:
        return read(item)
    except Exception as error:  # its reader has errors of its own
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise OSError(f"{name}: {lines[0]}") from error


def _places(file: Any, where: str) -> dict[str, _Place]:
    """Return all matrices of a file by their names."""
    if "mod" not in file:
        return {name: _Place("", name) for name in _matrices(file)}
    mods = own_item(file, "mod")
    order = [str(name) for name in mods.attrs.get("mod-order", ()) if str(name) in mods] or list(mods)
    places = {f"{mod}/{name}": _Place(f"mod/{mod}", name) for mod in order for name in _matrices(own_item(mods, mod))}
    # in obsm of the whole there is a mask for each modality besides
    joint = [name for name in _matrices(file) if name.startswith("obsm/") and name[5:] not in order]
    return places | {name: _Place("", name) for name in joint}


def _matrices(group: Any) -> list[str]:
    names = [name for name in ("X", "raw/X") if name in group and _is_there(group[name])]
    return names[:1] + [f"{folder}/{name}" for folder in _FOLDERS for name in group.get(folder, ())] + names[1:]


def _is_there(item: Any) -> bool:
    return bool(item.attrs.get("encoding-type", "") != "null")


def _all_main(file: Any, places: dict[str, _Place], where: str) -> tuple[list[str], tuple[str, ...]]:
    """Return X, or that of every modality, and a note of what else there is."""
    main = [name for name in places if name == "X" or (name.endswith("/X") and name.count("/") == 1)]
    main = [name for name in main if name != "raw/X"]
    groups = list(dict.fromkeys(place.group for place in places.values() if place.group)) or [""]
    mods = list(file["mod"]) if "mod" in file else [""]
    lacking = [mod for mod in mods if (f"{mod}/X" if mod else "X") not in main]
    others = [name for name in places if name not in main]
    shown = ", ".join(map(repr, others[:6])) + (", ..." if len(others) > 6 else "")
    if lacking:
        of = f" in {lacking[0]!r}" if lacking[0] else ""
        remedy = f"name what is meant, as --view NAME={where}:{others[0]}; it has {shown}" if others else "add one"
        raise ValueError(f"{where} has no X{of}; {remedy}")
    taken = "X of every modality is a view" if groups != [""] else "X is the view"
    notes = (f"{where}: {taken}; it also has {shown} (--view NAME=FILE:{others[0]})",) if others else ()
    return main, notes


def _element(file: Any, name: str, place: _Place, id_column: str | None, where: str) -> Element:
    group = file[place.group] if place.group else file
    obs = read_element(group, "obs", where)
    about = Annotations(*([_of_all(file, obs.index, where)] if place.group else []), obs)
    ids = sample_ids(obs.index, about, id_column, where)
    array = read_element(group, place.path, where)
    columns: tuple[str, ...] | None = None
    if is_frame(array):
        array, columns = frame_content(array, name)
    elif place.path == "X" or place.path.startswith(("layers/", "raw/")):
        var = read_element(group, "raw/var" if place.path == "raw/X" else "var", where)
        columns = tuple(map(str, var.index))
    if sparse.issparse(array):
        array = array.tocsr()
        array.check_format(full_check=True)
    array = check_matrix(array if sparse.issparse(array) else np.asarray(array), f"{where}: {name}")
    if array.shape[0] != len(ids) or (columns is not None and array.shape[1] != len(columns)):
        raise ValueError(
            f"{where}: {name} has the shape {array.shape} for {len(ids)} samples; it is damaged: write it again"
        )
    return Element(_view_name(name, where), array, ids, columns, about)


def _view_name(name: str, where: str) -> str:
    if name == "X":
        return stem(where)
    return name.removesuffix("/X") if name.count("/") == 1 and name != "raw/X" else name


def sample_ids(index: Sequence[Any], about: Annotations, id_column: str | None, where: str) -> list[str]:
    """Return the names of the samples: the index of obs, or one of its columns."""
    if id_column is None:
        return list(map(str, index))
    if id_column not in about:
        close = difflib.get_close_matches(id_column, about, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"its columns are {shown(list(about)) or 'none'}"
        raise ValueError(f"{where}: obs has no column {id_column!r} to match samples by; {hint}")
    ids = about[id_column].tolist()
    if None in ids:
        raise ValueError(f"{where}: the id column {id_column!r} of obs is empty in row {ids.index(None)}; fill it in")
    return list(map(str, ids))


def _of_all(file: Any, index: Any, where: str) -> Any:
    """Return obs of the whole file for the samples of one modality; no columns where it lacks some of them."""
    frame = read_element(file, "obs", where)
    rows = frame.index.get_indexer(index) if frame.index.is_unique else np.array([-1])
    return frame.iloc[rows] if (rows >= 0).all() else frame.iloc[:0, :0]
