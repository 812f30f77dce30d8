"""The same labels however the work is shared out: jobs, processes of either kind, threads of the caller."""

import gc
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from few_members import quick
from manyviews import ConcatKMeans, datasets
from manyviews.cluster import parallel
from manyviews.cluster.registry import find_method

NAMES = ("consensus", "mspl", "op-lfmvc", "coreg-spectral", "kcc")
JOBLESS = ("USPEC", "ConvexSub", "MVSC")


def data():
    return datasets.make_blobs_views(n_samples=60, n_features=(5, 4), n_clusters=3, random_state=0).views


def labels_of(name):
    return quick(find_method(name), random_state=0).fit(data()).labels_.tolist()


@pytest.fixture(scope="module")
def expected():
    return {name: labels_of(name) for name in NAMES}


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on Windows")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes_by_fork_give_the_same_labels(expected):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        assert dict(zip(NAMES, pool.map(labels_of, NAMES), strict=True)) == expected


def test_processes_by_spawn_give_the_same_labels(expected):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert dict(zip(NAMES, pool.map(labels_of, NAMES), strict=True)) == expected


def test_two_fits_in_two_threads_give_the_same_labels(expected):
    with ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            assert dict(zip(NAMES, pool.map(labels_of, NAMES), strict=True)) == expected


@pytest.mark.parametrize("name", JOBLESS)
def test_jobs_are_used_and_change_nothing(name, monkeypatch):
    import manyviews

    used = []

    def watched(n_jobs, n_items):
        used.append(n_jobs)
        return original(n_jobs, n_items)

    original = parallel.jobs_at_a_time
    monkeypatch.setattr(parallel, "jobs_at_a_time", watched)
    # more rows than a block of the search for anchors has
    views = datasets.make_blobs_views(
        n_samples=9_000 if name == "USPEC" else 90, n_features=(5, 4), random_state=0
    ).views
    found = [getattr(manyviews, name)(3, random_state=0, n_jobs=jobs).fit(views).labels_ for jobs in (1, 3)]
    np.testing.assert_array_equal(*found)
    assert {1, 3} <= set(used)


def test_the_threads_of_k_means_are_limited():
    from threadpoolctl import threadpool_info

    with parallel.threads(1):
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
    views = data()
    found = [ConcatKMeans(3, random_state=0, n_jobs=jobs).fit(views).labels_ for jobs in (None, 1, 2)]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="the system does not list open files")
def test_thirty_fits_leave_no_files_open_and_no_memory_behind():
    """The memory of 300 fits is in benchmarks/repeated_fits.py; here what Python itself still holds is counted."""
    views = data()

    def held():
        gc.collect()
        return len(os.listdir("/proc/self/fd")), len(gc.get_objects())

    model = ConcatKMeans(3, n_init=1, random_state=0, n_jobs=2)
    for _ in range(3):
        model.fit(views)
    files, objects = held()
    for _ in range(30):
        model.fit(views)
    after = held()
    assert after[0] <= files
    assert after[1] < objects + 300  # ten per fit would be a leak
