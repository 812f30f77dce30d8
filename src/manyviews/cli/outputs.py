"""Options of what is written besides labels and report: the model, refits, and labels in a copy of the input."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import Parameter

from manyviews.cli.console import UsageError, user_input
from manyviews.cli.options import Switch

if TYPE_CHECKING:
    from manyviews.io import LoadedViews

__all__ = ["ObsCopy", "Outputs", "keeps_model", "obs_copy"]


class ObsCopy(NamedTuple):
    """The file to copy, the copy, the column of obs for the clusters and that of the ids, and whether to replace."""

    source: str
    target: str
    column: str
    id_column: str | None
    force: bool

    def write(self, labels: Any, samples: Any, confidence: Any) -> None:
        """Write the copy, all of it or nothing."""
        from manyviews.io.write_obs import write_obs

        with user_input():
            write_obs(
                self.source,
                self.target,
                labels,
                samples=samples,
                column=self.column,
                confidence=confidence,
                id_column=self.id_column,
                force=self.force,
            )


def obs_copy(
    text: str | None, data: LoadedViews, id_column: str | None, folder: str | None, *, force: bool
) -> ObsCopy | None:
    """Return what --write-obs asks for, checked before any work is done; None where it was not given.

    Parameters
    ----------
    text : str or None
        FILE, or FILE:COLUMN.
    data : LoadedViews
        The data that were read.
    id_column : str or None
        Column of obs with the ids.
    folder : str or None
        The output folder.
    force : bool
        Let an existing file be replaced, the input itself too.

    Returns
    -------
    ObsCopy or None
        What to write.

    Raises
    ------
    UsageError
        If not one such file was given, or the copy cannot be written.
    """
    if text is None:
        return None
    found = re.fullmatch(r"(.+?\.h5(?:ad|mu))(?::(.+))?", text, re.IGNORECASE)
    if found is None:
        raise UsageError(f"--write-obs {text}: name a new .h5ad or .h5mu file, or FILE:COLUMN")
    sources: Sequence[str] = [path for path in data.checksums if path.lower().endswith((".h5ad", ".h5mu"))]
    if len(sources) != 1:
        given = ", ".join(sources) or "none"
        raise UsageError(f"--write-obs {text} is a copy of the one .h5ad or .h5mu file that is read; here: {given}")
    target, column = found[1], found[2] or "cluster"
    if folder is not None and os.path.realpath(target).startswith(os.path.join(os.path.realpath(folder), "")):
        raise UsageError(f"--write-obs {target} lies in the output folder {folder}; choose another place")
    from manyviews.io.write_obs import check_obs

    with user_input():
        check_obs(sources[0], target, column, force=force)
    return ObsCopy(sources[0], target, column, id_column, force)


@Parameter(name="*")
@dataclass(frozen=True)
class Outputs:
    """What is written besides labels and report.

    Parameters
    ----------
    write_obs
        A new .h5ad or .h5mu file: a copy of the one given, with the clusters as a column of obs; FILE:COLUMN names it.
    refit_seconds
        How long the report may fit again, to see how stable the result is; 15 by default, 0 for not at all.
    no_model
        Write no model: the folder stays small, and manyviews predict cannot label new samples by it.
    safe_csv
        Put an apostrophe before ids that begin with =, +, - or @, which a spreadsheet would take for formulas.
    """

    write_obs: str | None = None
    refit_seconds: Annotated[float | None, Parameter(show_default=False)] = None
    no_model: Switch = False
    safe_csv: Switch = False

    def obs_copy(self, data: LoadedViews, id_column: str | None, folder: str, *, force: bool) -> ObsCopy | None:
        """Return what --write-obs asks for, checked before any work is done; see ``obs_copy``."""
        return obs_copy(self.write_obs, data, id_column, folder, force=force)


def keeps_model(outputs: Outputs | None) -> bool:
    """Tell whether the model is written."""
    return outputs is None or not outputs.no_model
