"""Damaged MATLAB files end in a sentence: SciPy's reader would end the process for some of these."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from manyviews.io import read_multiview_file, read_views
from manyviews.io.matlab5 import check_elements

# every byte of the first 400 after the header is changed in turn, in a process of its own
DAMAGE = """
import sys, warnings
from pathlib import Path
from manyviews.io import read_multiview_file
warnings.simplefilter("ignore")
path, content = Path(sys.argv[1]), Path(sys.argv[1]).read_bytes()
refused = 0
for place in range(128, min(len(content), 528)):
    for value in (0, 255, content[place] ^ 1):
        path.write_bytes(content[:place] + bytes([value]) + content[place + 1:])
        try:
            read_multiview_file(path)
        except (ValueError, TypeError) as error:
            refused += 1
            assert str(error).strip() and "\\n" not in str(error), error
print(refused)
"""


@pytest.fixture
def variables():
    rng = np.random.default_rng(0)
    cell = np.empty(2, dtype=object)
    cell[:] = [rng.normal(size=(9, 3)), rng.normal(size=(9, 2))]
    return {
        "X": cell,
        "Y": np.repeat([1, 2, 3], 3)[:, None],
        "note": "text",
        "more": {"a": 1.0, "b": ["x", "y"], "c": np.zeros((0, 3))},
        "flags": np.array([True, False]),
        "small": np.int8([[1]]),
        "words": np.array(["one", "three"]),
        "thin": sparse.csc_matrix(np.eye(3)),
        "complex": np.array([1 + 2j]),
    }


@pytest.mark.parametrize("compressed", [False, True])
def test_files_as_they_are_written_pass(variables, compressed, tmp_path):
    scipy_io.savemat(tmp_path / "a.mat", variables, do_compression=compressed, oned_as="column")
    check_elements(tmp_path / "a.mat")
    found = read_multiview_file(tmp_path / "a.mat")
    assert [X.shape for X in found.views.values()] == [(9, 3), (9, 2)]


def test_files_of_matlab_4_pass(tmp_path):
    scipy_io.savemat(tmp_path / "a.mat", {"x": np.eye(3)}, format="4")
    check_elements(tmp_path / "a.mat")


def test_no_changed_byte_ends_the_process(variables, tmp_path):
    given = {name: variables[name] for name in ("X", "Y")}
    scipy_io.savemat(tmp_path / "a.mat", given, oned_as="column")
    done = subprocess.run(
        [sys.executable, "-c", DAMAGE, str(tmp_path / "a.mat")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 300


@pytest.mark.parametrize("cut", [130, 140, 200, -1])
def test_a_file_that_was_cut_short_is_refused(variables, cut, tmp_path):
    scipy_io.savemat(tmp_path / "a.mat", {"X": variables["X"], "Y": variables["Y"]}, oned_as="column")
    content = (tmp_path / "a.mat").read_bytes()
    (tmp_path / "a.mat").write_bytes(content[:cut])
    with pytest.raises(ValueError, match=r"a.mat"):
        read_multiview_file(tmp_path / "a.mat")


def test_a_header_of_an_array_that_is_no_python_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3))
    content = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(content.replace(b"'descr': '<f8'", b"'descr': (<f8,"))
    with pytest.raises(ValueError, match=r"a.npy"):
        read_views({"a": tmp_path / "a.npy"})


def test_other_signs_among_the_numbers_of_a_matrix_market_file_are_refused(tmp_path):
    scipy_io.mmwrite(tmp_path / "a.mtx", sparse.coo_matrix(np.eye(3)))
    content = (tmp_path / "a.mtx").read_bytes()
    (tmp_path / "a.mtx").write_bytes(content.replace(b"2 2 1", b"2 2 1\xab"))
    with pytest.raises(ValueError, match="signs among its numbers"):
        read_views({"a": tmp_path / "a.mtx"})
