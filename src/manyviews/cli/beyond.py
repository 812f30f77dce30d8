"""``--workers`` and ``--dask``: clustering and labelling files by blocks, on workers of one's own or of a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from manyviews.cli.clustering import outcome_line
from manyviews.cli.console import Stages, UsageError, print_json, user_input
from manyviews.cli.inputs import parse_scaling, parse_views
from manyviews.cli.output import (
    default_folder,
    new_file,
    new_folder,
    peak_memory,
    refuse_inputs,
    run_record,
    save_record,
)
from manyviews.pages.wording import amount

if TYPE_CHECKING:
    from manyviews.cli.layout import Layout
    from manyviews.cli.options import Numbers
    from manyviews.cluster.registry import MethodInfo

__all__ = ["Beyond", "BlockJob", "cluster_blocks", "predict_blocks", "refuse_other_options"]


@Parameter(name="*")
@dataclass(frozen=True)
class Beyond:
    """Options for data beyond one process.

    Parameters
    ----------
    workers
        Read and cluster by blocks in so many processes of this machine, with Dask. Views are .parquet files or folders
        of such, .npy, .zarr or .csv, whose rows match by position or --id. No report is drawn.
    dask
        Address of the scheduler of a Dask cluster to use in place of that, as tcp://host:8786; its workers must find
        the files under the same paths.
    """

    workers: Annotated[int | None, Parameter(show_default=False)] = None
    dask: Annotated[str | None, Parameter(show_default=False)] = None

    @property
    def asked(self) -> bool:
        """Whether one of them was given."""
        return self.workers is not None or self.dask is not None

    @contextmanager
    def client(self) -> Iterator[Any]:
        """Give a client of the workers, which are stopped at the end where they are this machine's own."""
        if self.workers is not None and (self.dask is not None or self.workers < 1):
            raise UsageError(f"--workers {self.workers}: give a number of 1 or more, or --dask ADDRESS in its place")
        try:
            from distributed import Client, LocalCluster
        except ImportError as error:
            raise UsageError("--workers and --dask need Dask: pip install 'manyviews[distributed]'") from error
        if self.dask is not None:
            try:
                client = Client(self.dask, timeout="10s")
            except (OSError, ValueError) as error:
                raise UsageError(f"--dask {self.dask}: no scheduler answers there ({error})") from error
            with client:
                yield client
            return
        with (
            LocalCluster(n_workers=self.workers, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            yield client


@dataclass(frozen=True)
class BlockJob:
    """One clustering run by blocks: files, ids, scalings, method, what makes it, where the results go."""

    view: Sequence[str]
    id_column: str | None
    scaling: Sequence[str]
    method: MethodInfo
    make: Callable[..., Any]
    out: str | None
    force: bool = False
    keep_model: bool = True


def refuse_other_options(
    beyond: Beyond,
    source: str | None,
    layout: Layout | None,
    numbers: Numbers | None = None,
    groups: Sequence[Any] = (),
    **others: Any,
) -> None:
    """Raise UsageError where options are given, alone or in groups, that need all samples in memory."""
    option = "--dask" if beyond.dask is not None else "--workers"
    if source is not None:
        raise UsageError(f"{option} reads files by blocks, one per view: give --view NAME=FILE in place of {source}")
    if numbers is not None and numbers.first != numbers.last:
        raise UsageError(f"{option}: a number of clusters is chosen in memory only; give -k one number")
    for group in groups:
        others |= {} if group is None else vars(group) | {"no_model": None}
    given = [f"--{name.replace('_', '-')}" for name, value in others.items() if value is not None]
    given += [] if layout is None else layout.words()[:1]
    if given:
        raise UsageError(f"{given[0]} needs all samples in memory: leave it out, or leave {option} out")


def cluster_blocks(job: BlockJob, n_clusters: int, beyond: Beyond, progress: Stages, *, as_json: bool) -> None:
    """Cluster files by blocks, write the output folder and say what came out.

    Parameters
    ----------
    job : BlockJob
        What to do.
    n_clusters : int
        Number of clusters.
    beyond : Beyond
        Whose workers do it.
    progress : Stages
        Keeps the times.
    as_json : bool
        Whether the run record is printed as JSON.
    """
    from manyviews import distributed
    from manyviews.distributed.files import open_blocks

    out = job.out or default_folder("manyviews", "blocks")
    sources = _sources(job.view, out)
    model = job.make(n_clusters=n_clusters, scaling=parse_scaling(job.scaling, list(sources)))
    with beyond.client() as client, new_folder(out, force=job.force) as folder:
        with user_input():
            files = open_blocks(sources, id_column=job.id_column)
        n_views = amount(len(files.views), "view")
        with progress.stage("fit", f"clustering {n_views} by blocks with {job.method.class_name}"), user_input():
            distributed.fit(model, files.views, client)
        with progress.stage("write", f"writing {out}"):
            sizes = _write(job, model, client, files, folder)
        record = _record(job, model, sizes) | {"timings": dict(progress.timings), "peak_memory": peak_memory()}
        save_record(folder, record)
    _print_summary(record, out, as_json=as_json, quiet=progress.quiet)


def _sources(view: Sequence[str], out: str | None) -> dict[str, tuple[str, list[str] | None]]:
    """Return path and columns of each view, none of which is the place of the output."""
    sources = parse_views(view)
    if not sources:
        raise UsageError("there is nothing to read: give a file for each view, as --view NAME=FILE")
    refuse_inputs(out, (path for path, _ in sources.values()))
    return sources


def _write(job: BlockJob, model: Any, client: Any, files: Any, folder: Path) -> list[int]:
    """Write labels, block by block, and the model; return the sizes of the clusters."""
    import numpy as np

    from manyviews.distributed.labelling import described, without_samples
    from manyviews.io.model import save_model
    from manyviews.io.write import LABELS, MODEL

    confidence = getattr(model, "confidence_", None)
    counts = np.zeros(model.n_clusters, dtype=np.int64)
    with new_file(str(folder / LABELS), force=False) as stream:
        for labels in _labelled(client, files, model.labels_, confidence, stream, job.id_column):
            counts += np.bincount(labels, minlength=counts.size)
    if job.keep_model:
        save_model(without_samples(model), folder / MODEL, described(model))
    return [int(size) for size in counts if size]


def _labelled(client: Any, files: Any, labels: Any, confidence: Any, stream: Any, id_name: str | None) -> Iterator[Any]:
    """Write labels and yield them, block by block."""
    from manyviews.io.write_labels import write_labels

    ids, start = files.id_blocks(client), 0
    for i in range(labels.numblocks[0]):
        found = client.compute(labels.blocks[i]).result()
        if len(found) == 0:
            continue
        sure = None if confidence is None else client.compute(confidence.blocks[i]).result()
        # blocks without rows have ids, but may have no labels
        samples = None if ids is None else next(block for block in ids if block)
        write_labels(stream, found, samples=samples, confidence=sure, id_name=id_name, start=start)
        start += len(found)
        yield found


def _record(job: BlockJob, model: Any, sizes: list[int]) -> dict[str, Any]:
    weights = getattr(model, "view_weights_", None)
    names = [str(name) for name in model.view_names_in_]
    widths = dict(zip(names, model.n_view_features_in_.tolist(), strict=True))
    data = {"name": "views", "n_samples": int(model.labels_.shape[0]), "views": widths, "notes": []}
    return run_record("cluster") | {
        "data": data,
        "files": list(job.view),
        "method": job.method.name,
        "class": job.method.class_name,
        "n_clusters": model.n_clusters,
        "seed": model.random_state,
        "parameters": model.get_params(deep=False),
        "n_iter": model.n_iter_,
        "converged": model.converged_,
        "cluster_sizes": sizes,
        "scalings": dict(zip(names, model.scalings_, strict=True)),
        "view_weights": None if weights is None else dict(zip(names, weights.tolist(), strict=True)),
    }


def _print_summary(record: dict[str, Any], out: str, *, as_json: bool, quiet: bool) -> None:
    """Say on stdout what came out and where it is."""
    if as_json:
        print_json(record | {"out": out})
    if as_json or quiet:
        return
    print(outcome_line(record))
    print(f"labels: {os.path.join(out, 'labels.csv')}")


def predict_blocks(
    model: Any,
    known: Mapping[str, Any],
    view: Sequence[str],
    id_column: str | None,
    beyond: Beyond,
    out: tuple[str | None, bool],
    progress: Stages,
) -> None:
    """Label files by blocks and write the labels as they come."""
    from manyviews import distributed
    from manyviews.distributed.files import open_blocks

    sources = _sources(view, out[0])
    with beyond.client() as client, new_file(out[0], force=out[1]) as stream:
        with user_input():
            files = open_blocks(sources, id_column=id_column, known=known)
            labels = distributed.predict(model, files.views, client)
        with progress.stage("predict", "labelling by blocks", prints=out[0] is None), user_input():
            for _ in _labelled(client, files, labels, None, stream, id_column):
                pass
