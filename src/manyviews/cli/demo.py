"""``manyviews demo``: the main job on bundled data."""

from __future__ import annotations

import os

from manyviews.cli.clustering import Job, print_summary, run_job
from manyviews.cli.console import Stages, UsageError, user_input
from manyviews.cli.options import Whole, check_seed
from manyviews.cli.output import check_name
from manyviews.cluster.registry import DEFAULT_METHOD

__all__ = ["demo"]

DEMO_DATA, DEMO_OUT = "mfeat", "manyviews-demo"


def demo(*, method: str = DEFAULT_METHOD, seed: Whole = 0, out: str = DEMO_OUT) -> None:
    """Cluster 2000 handwritten digits seen in six views, and write the report.

    Parameters
    ----------
    method
        Clustering method (see: manyviews methods).
    seed
        Seed of everything random.
    out
        Output folder. An earlier demo in the same place is replaced.
    """
    from manyviews import datasets
    from manyviews.cluster.registry import find_method
    from manyviews.io import LoadedViews
    from manyviews.io.write import read_record

    check_seed(seed)
    check_name(out)
    with user_input():
        info = find_method(method)
    earlier = read_record(out)
    if os.path.exists(out) and (earlier is None or earlier.get("command") != "demo"):
        raise UsageError(f"{out} exists and is not the output of a demo; choose another folder with --out")
    progress = Stages()
    with progress.stage("read", f"loading {DEMO_DATA}"):
        data = datasets.load(DEMO_DATA)
    loaded = LoadedViews(data.views, data.labels, data.name, {data.name: datasets.info(data.name).sha256 or ""}, ())
    model = info.load()(n_clusters=len(data.class_names), random_state=seed)
    record = run_job(Job("demo", loaded, info, model, out, force=earlier is not None, brief=True), progress)
    print_summary(record, out)
