"""What many tests read: stored reference outputs, and real data that may lie beside the repository."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from scipy import sparse

import kept_workers

REFERENCE = Path(__file__).parent / "reference"
SHARED = Path(__file__).parents[2] / "shared"

# the same examples in every run, so that one commit passes or fails always; `-m slow` and benchmarks/fuzz_input.py
# search further, with HYPOTHESIS_PROFILE=search for new examples each time
settings.register_profile("repeatable", derandomize=True, database=None)
settings.register_profile("search", print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def arrays(path):
    """The arrays of an .npz file, which is closed again."""
    with np.load(path, allow_pickle=False) as z:
        return dict(z)


@pytest.fixture(scope="session")
def _kept_processes():
    yield
    kept_workers.end_all()


@pytest.fixture(scope="module")
def kept_processes(_kept_processes):
    """Let fits under limits go on in the processes of earlier tests, where starting them is not what is looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("manyviews.runs.runner.Worker", kept_workers.KeptWorker)
        yield


@pytest.fixture
def reference():
    """Loads the arrays of one file of tests/reference."""
    return lambda name: arrays(REFERENCE / name)


@pytest.fixture
def shared():
    """Path of a file of ../shared; the test is skipped where it is absent."""

    def path(name):
        found = SHARED / name
        if not found.exists():
            pytest.skip(f"needs ../shared/{name}, which is not beside this checkout")
        return found

    return path


@pytest.fixture
def shared_arrays(shared):
    """Loads the arrays of one file of ../shared."""
    return lambda name: arrays(shared(name))


@pytest.fixture
def shared_data(shared):
    """Loads a real data set of ../shared/data as (mapping of views, labels)."""

    def load(name):
        z = arrays(shared(f"data/{name}.npz"))
        views = {}
        for i, view in enumerate(z["view_names"]):
            if f"view_{i}" in z:
                views[str(view)] = z[f"view_{i}"]
            else:
                parts = (z[f"view_{i}_data"], z[f"view_{i}_indices"], z[f"view_{i}_indptr"])
                views[str(view)] = sparse.csr_matrix(parts, shape=tuple(z[f"view_{i}_shape"]))
        return views, z["labels"]

    return load


@pytest.fixture
def three_views():
    """Three small dense views of 60 samples in 3 well-separated clusters, with labels."""
    rng = np.random.default_rng(5)
    labels = np.repeat(np.arange(3), 20)
    views = [rng.normal(0, 4, (3, d))[labels] + rng.normal(0, 1, (60, d)) for d in (5, 3, 4)]
    return views, labels
