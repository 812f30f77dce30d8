"""Two workers in processes of their own: labels as in memory, also where one of them is killed on the way."""

import os
import signal

import numpy as np
import pytest

from manyviews import FastMICE, datasets, distributed
from manyviews.distributed.parts import Home

da = pytest.importorskip("dask.array")
workers = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    with (
        workers.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        workers.Client(cluster) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def arrays():
    data = datasets.make_blobs_views(n_samples=400, n_features=(6, 5), n_clusters=3, random_state=0)
    return [np.array(X) for X in data.views.arrays]


def model():
    return FastMICE(3, n_base_clusterings=3, n_anchors=40, random_state=1)


def in_blocks(arrays):
    return [da.from_array(X, chunks=(100, -1)) for X in arrays]


def test_labels_are_those_in_memory(client, arrays):
    fitted = distributed.fit(model(), in_blocks(arrays), client)
    labels = model().fit(arrays).labels_
    assert np.array_equal(fitted.labels_.compute(), labels)
    assert np.array_equal(distributed.predict(fitted, in_blocks(arrays)).compute(), labels)


def test_large_models_go_in_pieces(client, monkeypatch):
    monkeypatch.setattr("manyviews.distributed.parts.PIECE_BYTES", 1_000)
    home = Home(client)
    value = np.arange(2_000)
    assert np.array_equal(home.fetch([home.share(value, "x")])[0][0], value)


def test_a_killed_worker_changes_no_label(client, arrays, monkeypatch):
    held, rounds = Home.hold, []

    def hold(self, values, needs=None):
        rounds.append(len(values))
        if len(rounds) == 12:  # blocks, links and labels of several base clusterings are there
            os.kill(client.run(os.getpid).popitem()[1], signal.SIGKILL)
        return held(self, values, needs)

    before = set(client.run(os.getpid).values())
    monkeypatch.setattr(Home, "hold", hold)
    fitted = distributed.fit(model(), in_blocks(arrays), client)
    found = fitted.labels_.compute()
    assert len(rounds) > 12
    client.wait_for_workers(2)
    assert set(client.run(os.getpid).values()) != before
    assert np.array_equal(found, model().fit(arrays).labels_)
