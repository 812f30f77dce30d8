"""Two workers in processes of their own: labels as in memory, also where one of them is killed on the way."""

import os
import signal

import numpy as np
import pytest

import manyviews
from manyviews import datasets, distributed
from manyviews.distributed.fitting import DRIVERS
from manyviews.distributed.parts import Home

da = pytest.importorskip("dask.array")
workers = pytest.importorskip("distributed")
QUICK = {
    "n_base_clusterings": 3,
    "n_anchors": 20,
    "n_landmarks": 20,
    "n_init": 1,
    "max_iter": 4,
    "max_passes": 2,
    "growth": 1.5,
    "base_cluster_range": (3, 4),
    "system_weight": 0.0,
    "approximation": "nystrom",
}
# before which of the rounds that leave values with the workers one of them is killed: about in the middle of the fit
KILLED_AT = {"ConcatKMeans": 5, "Consensus": 20, "FastMICE": 14, "KCC": 25, "MSPL": 12, "OPLFMVC": 5, "UDBGL": 30}
# k-means and an ensemble stand for the others, which each take a start of a worker too
USUAL = ("ConcatKMeans", "FastMICE")
# modules in which the number of rows that starts look at stands
STARTS = ["cluster.ensemble.base", "distributed.kcc", "distributed.kmeans", "prototypes.sampled_kmeans"]


@pytest.fixture(scope="module")
def client():
    with (
        workers.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        workers.Client(cluster) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def arrays():
    data = datasets.make_blobs_views(n_samples=120, n_features=(6, 5), n_clusters=3, random_state=0)
    return [np.array(X) for X in data.views.arrays]


@pytest.fixture(autouse=True)
def few_rows_for_starts(monkeypatch):
    for place in STARTS:
        monkeypatch.setattr(f"manyviews.{place}.START_ROWS", 50)


def model(name):
    kind = getattr(manyviews, name)
    known = kind().get_params()
    return kind(3, random_state=1, **{key: value for key, value in QUICK.items() if key in known})


def in_blocks(arrays):
    return [da.from_array(X, chunks=(40, -1)) for X in arrays]


def test_labels_are_those_in_memory(client, arrays):
    fitted = distributed.fit(model("FastMICE"), in_blocks(arrays), client)
    labels = model("FastMICE").fit(arrays).labels_
    assert np.array_equal(fitted.labels_.compute(), labels)
    assert np.array_equal(distributed.predict(fitted, in_blocks(arrays)).compute(), labels)


def test_large_models_go_in_pieces(client, monkeypatch):
    monkeypatch.setattr("manyviews.distributed.parts.PIECE_BYTES", 1_000)
    home = Home(client)
    value = np.arange(2_000)
    assert np.array_equal(home.fetch([home.share(value, "x")])[0][0], value)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "name", [name if name in USUAL else pytest.param(name, marks=pytest.mark.slow) for name in DRIVERS]
)
def test_a_killed_worker_changes_no_label(name, client, arrays, monkeypatch):
    client.wait_for_workers(2)
    before, started, rounds, lost = client.run(os.getpid), Home._started, [], []

    def start(self, values):
        rounds.append(len(values))
        if len(rounds) == KILLED_AT[name]:
            # the one that holds most, so that something has to be made again
            address, kept = max(client.has_what().items(), key=lambda item: len(item[1]))
            lost.extend(kept)
            os.kill(before[address], signal.SIGKILL)
        return started(self, values)

    monkeypatch.setattr(Home, "_started", start)
    found = distributed.fit(model(name), in_blocks(arrays), client).labels_.compute()
    assert lost
    assert len(rounds) > KILLED_AT[name]  # the fit went on without it
    client.wait_for_workers(2)
    assert len(set(before.values()) - set(client.run(os.getpid).values())) == 1
    assert np.array_equal(found, model(name).fit(arrays).labels_)
