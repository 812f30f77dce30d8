"""What is known of the samples besides their views: ``--outcome``, ``--covariates``, ``--batch``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import Parameter

from manyviews.cli.console import UsageError, user_input
from manyviews.cli.inputs import file_and_columns
from manyviews.cli.layout import split_list
from manyviews.cli.output import refuse_inputs
from manyviews.cli.reading import read_data
from manyviews.pages.wording import amount

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from manyviews.cli.console import Stages
    from manyviews.cli.inputs import Reading
    from manyviews.cli.preparing import Preparing
    from manyviews.io import LoadedViews

__all__ = ["Known", "KnownColumns", "read_known", "told", "told_lines"]

# Below it a column counts as different between the clusters.
_LEVEL = 0.05


class Known(NamedTuple):
    """What the report is told besides the views."""

    outcome: Any = None
    covariates: dict[str, NDArray[Any]] | None = None
    batch: dict[str, NDArray[Any]] | None = None

    def options(self) -> dict[str, Any]:
        """Return what ``manyviews.report`` takes."""
        return self._asdict()


@Parameter(name="*")
@dataclass(frozen=True)
class KnownColumns:
    """What is known of the samples besides their views.

    Parameters
    ----------
    outcome
        Columns of a time and of whether the event was seen (1) or not (0), as time=COLUMN,event=COLUMN; of the file
        of covariates, else of obs or an input table, where they are then no features. The report draws survival
        curves.
    covariates
        A table, or an .h5ad or .h5mu file, with columns that describe the samples, as FILE or FILE:COLUMNS; the report
        tests each against the clusters.
    batch
        A column as for the outcome that says where a sample comes from; the report says whether clusters follow it.
    """

    outcome: Annotated[list[str] | None, Parameter(negative=(), show_default=False)] = None
    covariates: str | None = None
    batch: str | None = None

    def wanted(self) -> tuple[str, ...]:
        """Return the columns that the input itself has to have."""
        if self.covariates is None:
            return self._named()
        from manyviews.io.covariates import covariate_names

        with user_input():
            there = covariate_names(file_and_columns(self.covariates)[0])
        return tuple(name for name in self._named() if name not in there)

    def told_where(self, error: UsageError) -> UsageError:
        """Return an error on a column that is nowhere with what the file of covariates has; others as they are."""
        from manyviews.io.choosing import UnknownColumnError, likely
        from manyviews.io.covariates import covariate_names
        from manyviews.io.features import shown

        cause = error.__cause__
        if self.covariates is None or not isinstance(cause, UnknownColumnError):
            return error
        path = file_and_columns(self.covariates)[0]
        there = covariate_names(path)
        meant = likely(cause.column, there) or f"it has {shown(there)}."
        return UsageError(f"{path} has no column {cause.column!r}; {meant} Nor do the data: {error}")

    def settled(self, data: LoadedViews, id_column: str | None) -> tuple[LoadedViews, Known]:
        """Return what is known of the samples, checked before any work is done, and the data with what was noted.

        Parameters
        ----------
        data : LoadedViews
            The data, with the columns that ``wanted`` asked for.
        id_column : str or None
            Column of the ids.

        Returns
        -------
        tuple of (LoadedViews, Known)
            The data with further notes and inputs, and columns in the order of the samples.

        Raises
        ------
        UsageError
            If the file cannot be read or matched, or a column is none of a time, an event or a batch.
        """
        if not (self._named() or self.covariates):
            return data, Known()
        columns, covariates = dict(data.about), None
        if self.covariates is not None:
            data, found, asked = _read(self.covariates, self._named(), data, id_column)
            columns |= {name: found[name] for name in self._named() if name in found}
            covariates = {name: column for name, column in found.items() if name in asked}
        from manyviews.findings.known import clinical_of, outcome_of

        outcome: Any = None
        with user_input((ValueError, TypeError, ImportError)):
            if self.outcome is not None:
                time, event = self._outcome()
                outcome = outcome_of((columns[time], columns[event]), data.views, (time, event))
            batch = None if self.batch is None else {self.batch: columns[self.batch]}
            clinical_of(outcome, covariates, batch, data.views)
        return data, Known(outcome, covariates, batch)

    def _named(self) -> tuple[str, ...]:
        names = (*(self._outcome() if self.outcome is not None else ()), *(() if self.batch is None else (self.batch,)))
        return tuple(dict.fromkeys(names))

    def _outcome(self) -> tuple[str, str]:
        pairs = [pair.partition("=") for pair in split_list(self.outcome)]
        names = {key.strip(): name.strip() for key, _, name in pairs}
        if len(pairs) != 2 or names.keys() != {"time", "event"} or not all(names.values()):
            raise UsageError(f"--outcome {' '.join(self.outcome or ())}: write --outcome time=COLUMN,event=COLUMN")
        return names["time"], names["event"]


def read_known(
    source: str | None,
    view: Sequence[str] | None,
    reading: Reading,
    preparing: Preparing | None,
    known: KnownColumns | None,
    out: str | None,
    stages: Stages,
) -> tuple[LoadedViews, dict[str, Any]]:
    """Read what a command was given as ``read_data`` does, and what is known of the samples besides.

    Parameters
    ----------
    source, view, reading, preparing, out, stages
        As for ``read_data``.
    known : KnownColumns or None
        What is known.

    Returns
    -------
    tuple of (LoadedViews, dict)
        The data; ``prepared`` and ``known`` as a job takes them.
    """
    known = known or KnownColumns()
    wanted = known.wanted()
    try:
        data, prepared = read_data(source, view, reading._replace(about=wanted), preparing, out, stages)
    except UsageError as error:
        raise known.told_where(error) from error.__cause__
    data, beside = known.settled(data, reading.id_column)
    refuse_inputs(out, data.checksums)
    return data, {"prepared": prepared, "known": beside}


def _read(
    given: str, named: tuple[str, ...], data: LoadedViews, id_column: str | None
) -> tuple[LoadedViews, dict[str, NDArray[Any]], set[str]]:
    """Return the data with the file among its inputs, all columns of the file, and those that are covariates."""
    from manyviews.io.choosing import choose
    from manyviews.io.covariates import read_covariates
    from manyviews.io.files import checksum

    path, columns = file_and_columns(given)
    ids = None if data.views.sample_names is None else list(map(str, data.views.sample_names.tolist()))
    with user_input():
        found = read_covariates(path, len(data.views), ids, id_column=id_column)
        chosen = [name for name in found.columns if name not in named]
        if columns is not None:
            chosen = choose(list(found.columns), columns, path)
    data = replace(data, notes=(*data.notes, *found.notes), checksums=data.checksums | {path: checksum(path)})
    return data, found.columns, set(chosen)


def told(clinical: Mapping[str, Any]) -> dict[str, Any]:
    """Return what run.json keeps of outcome, covariates and batch, without curves."""
    survival, found, batch = (clinical[key] for key in ("survival", "associations", "batch"))
    record: dict[str, Any] = {}
    if survival is not None:
        record["survival"] = {key: survival[key] for key in ("p", "n_used", "n_events")}
        record["survival"]["medians"] = [curve["median"] for curve in survival["clusters"]]
        of_pair = ("first", "second", "p", "adjusted")
        record["survival"]["pairs"] = [{key: pair[key] for key in of_pair} for pair in survival["pairs"]]
    if found is not None:
        keys = ("name", "test", "n", "effect", "p", "adjusted")
        record["covariates"] = [{key: row[key] for key in keys} for row in found["rows"]]
    if batch is not None:
        record["batch"] = {key: batch[key] for key in ("name", "effect", "p", "follows", "sentence")}
    return record


def told_lines(record: Mapping[str, Any] | None) -> list[str]:
    """Return in a line each what came out of outcome, covariates and batch."""
    lines = []
    if record and "survival" in record:
        p = record["survival"]["p"]
        lines.append(f"survival: {'not testable' if p is None else f'log-rank p {p:.2g}'} (exploratory)")
    if record and "covariates" in record:
        sure = [row["name"] for row in record["covariates"] if row["adjusted"] < _LEVEL]
        names = f": {', '.join(sure[:5])}{', ...' if len(sure) > 5 else ''}" if sure else ""
        tested = amount(len(record["covariates"]), "column")
        lines.append(f"covariates: {tested} tested, {len(sure)} with adjusted p < {_LEVEL}{names} (exploratory)")
    if record and "batch" in record:
        lines.append(f"batch: {record['batch']['sentence']}")
    return lines
