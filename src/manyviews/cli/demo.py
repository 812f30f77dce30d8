"""``manyviews demo``: the main job on bundled data."""

from __future__ import annotations

import os

from manyviews.cli.clustering import Job, print_summary, run_job
from manyviews.cli.console import Stages, UsageError
from manyviews.cluster.registry import DEFAULT_METHOD

__all__ = ["demo"]

DEMO_DATA, DEMO_OUT = "mfeat", "manyviews-demo"


def demo(*, out: str = DEMO_OUT) -> None:
    """Cluster 2000 handwritten digits seen in six views, and write the report.

    Parameters
    ----------
    out
        Output folder. An earlier demo in the same place is replaced.
    """
    from manyviews import datasets
    from manyviews.cluster.registry import find_method
    from manyviews.io import LoadedViews
    from manyviews.io.write import read_record

    earlier = read_record(out)
    if os.path.exists(out) and (earlier is None or earlier.get("command") != "demo"):
        raise UsageError(f"{out} exists and is not the output of a demo; choose another folder with --out")
    progress, method = Stages(), find_method(DEFAULT_METHOD)
    with progress.stage("read", f"loading {DEMO_DATA}"):
        data = datasets.load(DEMO_DATA)
    loaded = LoadedViews(data.views, data.labels, data.name, {data.name: datasets.info(data.name).sha256 or ""}, ())
    model = method.load()(n_clusters=len(data.class_names), random_state=0)
    record = run_job(Job("demo", loaded, method, model, out, force=earlier is not None), progress)
    print_summary(record, out)
