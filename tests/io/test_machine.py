"""Memory limits of nested control groups and of the address space; files that promise more than memory can take."""

import gzip
import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from manyviews.io import machine, read_views

GB = 10**9


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A machine of our own: folders for the control groups, and what they hold."""
    monkeypatch.setattr(machine, "_MOUNT", tmp_path / "cgroup")
    monkeypatch.setattr(machine, "_GROUPS", tmp_path / "own")
    monkeypatch.setattr(machine, "_address_space", list)

    def make(groups, files):
        (tmp_path / "own").write_text(groups)
        for name, value in files.items():
            place = tmp_path / "cgroup" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"{value}\n")

    return make


def test_limits_of_nested_groups_count(system):
    files = {
        "memory.max": "max",
        "a.slice/memory.max": 3 * 10**8,
        "a.slice/memory.current": 2 * 10**8,
        "a.slice/memory.stat": "anon 5\ninactive_file 50000000",
        "a.slice/b.scope/memory.max": "max",
        "a.slice/b.scope/memory.current": 10**8,
    }
    system("0::/a.slice/b.scope\n", files)
    assert machine.machine_memory() == (3 * 10**8, 1.5 * 10**8)
    system("0::/a.slice/b.scope\n", files | {"a.slice/b.scope/memory.max": 10**8})
    assert machine.machine_memory() == (10**8, 0)


def test_limits_of_the_first_version_count(system):
    files = {"memory/docker/x/memory.limit_in_bytes": 10**8, "memory/docker/x/memory.usage_in_bytes": 10**7}
    system("12:pids:/docker/x\n5:cpu,memory:/docker/x\n0::/\n", files)
    assert machine.machine_memory() == (10**8, 9 * 10**7)


def test_a_container_sees_its_group_as_the_root(system):
    system("0::/system.slice/not-seen-here\n", {"memory.max": 10**8, "memory.current": 0})
    assert machine.machine_memory() == (10**8, 10**8)
    system("", {"memory.max": "max"})
    assert machine.machine_memory()[0] > 10**8


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of the address space are those of Linux")
def test_a_fit_under_a_limit_of_the_address_space_is_refused_before_it_starts():
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (4 * 10**9, 4 * 10**9))\n"
        "import numpy as np; from manyviews import MVEC\n"
        "try: MVEC(2).fit([np.arange(60000.0).reshape(30000, 2)] * 2)\n"
        "except ValueError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert "more than the 4.0 GB of this machine" in done.stdout


def market(header, body="1 1 1\n"):
    return f"%%MatrixMarket matrix {header}\n{body}"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (market("coordinate real general", "1000000000000 3 1\n1 1 1\n"), "says that it has 1000000000000 rows"),
        (market("coordinate real general", "3 1000000000000 1\n1 1 1\n"), "1000000000000 columns, which would take"),
        (market("coordinate real general", "3 3 900000000\n1 1 1\n"), "900000000 entries, more than its .* bytes"),
        (market("array real general", "1000000000000 3\n1\n"), "more than its .* bytes can hold"),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_headers_of_matrix_market_that_promise_too_much(tmp_path, text, match, zipped):
    path = tmp_path / ("a.mtx.gz" if zipped else "a.mtx")
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    with pytest.raises(ValueError, match=match):
        read_views(path)


def test_a_sparse_archive_that_promises_too_much(tmp_path):
    parts = {"data": np.ones(1), "indices": np.zeros(1, int), "indptr": np.array([0, 1])}
    np.savez(tmp_path / "a.npz", **parts, shape=np.array([10**12, 1]), format=np.array(b"csc"))
    with pytest.raises(ValueError, match=r"says that it has 1000000000000 × 1 cells, which would take 8000.0 GB"):
        read_views(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", **{f"view_0_{key}": part for key, part in parts.items()}, view_0_shape=[10**12, 1])
    with pytest.raises(ValueError, match="says that it has 1000000000000"):
        read_views(tmp_path / "b.npz")


def test_an_array_that_promises_more_than_its_file_holds(tmp_path):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**10, 10)})
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("view_0.npy", stream.getvalue() + bytes(80))
    with pytest.raises(ValueError, match=r"view_0.npy says that it has the shape \(10000000000, 10\), more than its"):
        read_views(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["a.csv.gz", "a.mtx.gz", "a.csv"])
def test_what_unpacks_to_more_than_a_share_of_the_memory_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setattr(machine, "machine_memory", lambda: (GB, 40 * 10**6))
    content = b"x,y\n" + b"1,2\n" * 5_000_000
    (tmp_path / name).write_bytes(gzip.compress(content, 1) if name.endswith("gz") else content)
    with pytest.raises(ValueError, match=r"holds more than 10.0 MB, the part of the free memory .* \(25%\)"):
        read_views(tmp_path / name)


def test_a_line_without_end_is_refused_early(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "_LONGEST_LINE", 10**6)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"1," * 10**7))
    with pytest.raises(ValueError, match=r"has no end of line in its first 1\.0 MB"):
        read_views(tmp_path / "a.csv.gz")
