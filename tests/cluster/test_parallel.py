import sys
import threading
from types import ModuleType

import pytest
from threadpoolctl import ThreadpoolController, threadpool_info

from manyviews.cluster import parallel
from manyviews.cluster.parallel import in_threads, jobs_at_a_time, one_blas_thread, threads


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3])
def test_results_come_in_order_and_blas_keeps_to_one_thread(n_jobs):
    def work(i, text):
        return i, text, max(pool["num_threads"] for pool in threadpool_info())

    found = list(in_threads(work, ((i, str(i)) for i in range(7)), n_jobs))
    assert [(i, text) for i, text, _ in found] == [(i, str(i)) for i in range(7)]
    assert {threads for _, _, threads in found} == {1}


def test_one_job_stays_in_the_thread_of_the_caller_and_two_do_not():
    names = {n: set(in_threads(lambda _: threading.get_ident(), ((i,) for i in range(4)), n)) for n in (1, 2)}
    assert names[1] == {threading.get_ident()}
    assert threading.get_ident() not in names[2]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_no_items_give_no_results_and_an_error_reaches_the_caller(n_jobs):
    assert not list(in_threads(lambda: None, (), n_jobs))
    with pytest.raises(ZeroDivisionError):
        list(in_threads(lambda x: 1 / x, ((x,) for x in (1, 0, 2)), n_jobs))


def test_never_more_jobs_than_items():
    assert jobs_at_a_time(4, 3) == 3
    assert jobs_at_a_time(2, 0) == 1


def test_numerical_libraries_are_looked_for_once_and_again_after_an_import(monkeypatch):
    found = []
    monkeypatch.setattr(parallel, "_found", None)
    monkeypatch.setattr(parallel, "ThreadpoolController", lambda: found.append(ThreadpoolController()) or found[-1])
    for _ in range(2):
        with one_blas_thread(), threads(1):
            assert {pool["num_threads"] for pool in threadpool_info()} == {1}
    assert len(found) == 1
    monkeypatch.setitem(sys.modules, "brings_a_library", ModuleType("brings_a_library"))
    with one_blas_thread():
        assert len(found) == 2
