"""Several views from one table, columns chosen by name, and what does not belong together."""

import numpy as np
import polars as pl
import pytest

from manyviews.io import read_views
from manyviews.io.choosing import Caution, choose

K = np.repeat([0, 1, 2], 10)
RNG = np.random.default_rng(0)
A = np.round(RNG.normal(size=(30, 4)) + 5 * K[:, None], 3)
B = np.round(RNG.normal(size=(30, 2)) - 5 * K[:, None], 3)
SKUS = [f"p{i}" for i in range(30)]
COLOURS = np.array(["red", "green", "blue"])[K]


@pytest.fixture(params=["csv", "parquet"])
def products(tmp_path, request):
    text = {f"text_{i}": A[:, i] for i in range(4)}
    table = pl.DataFrame({"sku": SKUS, **text, "price": B[:, 0], "discount": B[:, 1], "colour": COLOURS})
    path = tmp_path / f"products.{request.param}"
    table.write_csv(path) if request.param == "csv" else table.write_parquet(path)
    return path


def cautions(loaded):
    return [str(note) for note in loaded.notes if isinstance(note, Caution)]


@pytest.mark.parametrize("patterns", [["text_*"], ["text_0..text_3"], ["1..4"], ["text_0", "text_[12]", "text_3"]])
def test_columns_make_views(products, patterns):
    loaded = read_views({"text": (products, patterns), "price": (products, ["price", "discount"])}, id_column="sku")
    np.testing.assert_array_equal(loaded.views.view("text"), A)
    np.testing.assert_array_equal(loaded.views.view("price"), B)
    assert loaded.views.sample_names.tolist() == SKUS
    assert loaded.id_name == "sku"
    assert cautions(loaded) == []
    assert list(loaded.checksums) == [str(products)]


def test_columns_of_one_view(products):
    np.testing.assert_array_equal(read_views(products, drop=["sku", "colour", "p*", "disc*"]).views.arrays[0], A)
    np.testing.assert_array_equal(read_views(products, columns=["price..discount"]).views.arrays[0], B)
    with pytest.raises(ValueError, match="has no column 'txt_1'; did you mean 'text_1'"):
        read_views(products, columns=["txt_1"])
    with pytest.raises(ValueError, match="column 'sku' was given to --id"):
        read_views(products, columns=["sku"], id_column="sku")
    with pytest.raises(ValueError, match="has no column left for features"):
        read_views(products, drop=["*"])


def test_categories(products):
    with pytest.raises(ValueError, match=r"column 'colour' cannot be used as numbers .*--encode 'colour'"):
        read_views(products, drop=["sku"])
    views = read_views(products, drop=["sku"], encode=["colour"]).views
    assert views.feature_names[0][-3:] == ("colour=blue", "colour=green", "colour=red")
    np.testing.assert_array_equal(views.arrays[0][:, -1], COLOURS == "red")


def test_the_same_file_for_two_views_is_refused(products, tmp_path):
    with pytest.raises(ValueError, match=r"views 'a' and 'b' are the same file, .*FIRST..LAST"):
        read_views({"a": products, "b": products})
    with pytest.raises(ValueError, match="views 'a' and 'b' are the same file"):
        read_views({"a": (products, ["text_*"]), "b": products})
    loaded = read_views({"a": (products, ["text_*"]), "b": (products, ["text_0", "price"])})
    assert cautions(loaded) == ["views 'a' and 'b' have 1 column(s) in common, such as 'text_0'"]
    copy = tmp_path / f"copy{products.suffix}"
    copy.write_bytes(products.read_bytes())
    loaded = read_views({"a": products, "b": copy}, drop=["sku", "colour"])
    assert "come from files of the same content" in cautions(loaded)[0]


def test_lists_of_numbers_in_parquet(tmp_path):
    path = tmp_path / "e.parquet"
    embedded = pl.Series("emb", A.astype(np.float32), dtype=pl.Array(pl.Float32, 4))
    pl.DataFrame({"price": B[:, 0]}).with_columns(embedded).write_parquet(path)
    views = read_views({"text": (path, ["emb"]), "price": (path, ["price"])}).views
    assert views.view("text").dtype == np.float32
    np.testing.assert_array_equal(views.view("text"), A.astype(np.float32))
    path = tmp_path / "e.arrow"
    pl.DataFrame({"emb": A.tolist()}).write_ipc(path)
    np.testing.assert_array_equal(read_views(path).views.arrays[0], A)


def test_ranges_positions_and_patterns():
    names = ["a", "b", "c", "10", "2..3"]
    assert choose(names, ["b..10"], "t") == ["b", "c", "10"]
    assert choose(names, ["0..1", "a", "4"], "t") == ["a", "b", "2..3"]
    assert choose(names, ["2..3", "10"], "t") == ["2..3", "10"]
    for bad in ("c..a", "7", "x*", "..", "a..", "-1"):
        with pytest.raises(ValueError, match=r"t has no column"):
            choose(names, [bad], "t")


def two(tmp_path, **changes):
    pl.DataFrame({"patient_id": range(100, 130), "x": A[:, 0]}).write_csv(tmp_path / "a.csv")
    pl.DataFrame({"patient_id": range(100, 130), "y": B[:, 0]} | changes).write_csv(tmp_path / "b.csv")
    return {"a": tmp_path / "a.csv", "b": tmp_path / "b.csv"}


def test_ids_among_the_features(tmp_path):
    order = RNG.permutation(30)
    paths = two(tmp_path, patient_id=100 + order, y=B[order, 0])
    with pytest.raises(ValueError, match=r"column 'patient_id' has the same values .*--id patient_id"):
        read_views(paths)
    np.testing.assert_array_equal(read_views(paths, id_column="patient_id").views.view("b")[:, 0], B[:, 0])
    assert read_views(paths, drop=["patient_id"]).views.shape == (30, 2)
    loaded = read_views(two(tmp_path))
    assert any("column 'patient_id' is used as a feature; if it names the rows" in note for note in cautions(loaded))


def turned(tmp_path, name, array, samples, prefix):
    columns = dict(zip(samples, array.tolist(), strict=True))
    features = [f"{prefix}{j}" for j in range(array.shape[1])]
    path = tmp_path / f"{name}.csv"
    pl.DataFrame({"probe": features} | columns).write_csv(path)
    return path


@pytest.mark.parametrize("missing", [None, "union", "intersection"])
def test_samples_in_columns_are_seen(tmp_path, missing):
    paths = {"a": turned(tmp_path, "a", A, SKUS, "g"), "b": turned(tmp_path, "b", B, SKUS, "m")}
    with pytest.raises(
        ValueError, match=r"no id is in two views.*Samples in columns\?.*--transpose a --transpose b"
    ) as e:
        read_views(paths, id_column="probe", missing=missing)
    assert "union" not in str(e.value)
    views = read_views(paths, transpose=["a", "b"]).views
    np.testing.assert_array_equal(views.view("a"), A)
    np.testing.assert_array_equal(views.view("b"), B)
    assert views.sample_names.tolist() == SKUS
    assert views.feature_names[1] == ("m0", "m1")
    np.testing.assert_array_equal(read_views(paths, transpose=["*"], id_column="probe").views.view("b"), B)


def test_one_table_with_samples_in_columns(tmp_path):
    plain = tmp_path / "b.csv"
    pl.DataFrame({"sku": SKUS, "p": B[:, 0]}).write_csv(plain)
    paths = {"a": turned(tmp_path, "a", A, SKUS, "g"), "b": plain}
    with pytest.raises(ValueError, match=r"has no column 'sku' .* if these are samples, give --transpose"):
        read_views(paths, id_column="sku")
    np.testing.assert_array_equal(read_views(paths, id_column="sku", transpose=["a"]).views.view("a"), A)
    np.save(tmp_path / "a.npy", A.T)
    np.save(tmp_path / "b.npy", B)
    with pytest.raises(ValueError, match=r"'a' has 4 rows, 'b' has 30 rows.*--transpose a \(transpose\)"):
        read_views({"a": tmp_path / "a.npy", "b": tmp_path / "b.npy"})


def test_columns_of_the_same_names_are_said(tmp_path):
    for name in "ab":
        frame = pl.DataFrame({key: RNG.normal(size=12) for key in SKUS})
        frame.write_csv(tmp_path / f"{name}.csv")
    loaded = read_views({name: tmp_path / f"{name}.csv" for name in "ab"})
    assert any("if these are samples, give --transpose" in note for note in cautions(loaded))


def test_ids_that_differ_in_their_writing(tmp_path):
    pl.DataFrame({"id": [key.upper() for key in SKUS], "x": A[:, 0]}).write_csv(tmp_path / "a.csv")
    pl.DataFrame({"id": SKUS, "y": B[:, 0]}).write_csv(tmp_path / "b.csv")
    for missing in (None, "union"):
        with pytest.raises(ValueError, match="they agree but for capitals"):
            read_views({name: tmp_path / f"{name}.csv" for name in "ab"}, id_column="id", missing=missing)


def test_hardly_any_sample_in_two_views_is_said(tmp_path):
    pl.DataFrame({"id": SKUS, "x": A[:, 0]}).write_csv(tmp_path / "a.csv")
    pl.DataFrame({"id": [*SKUS[:1], *(f"q{i}" for i in range(29))], "y": B[:, 0]}).write_csv(tmp_path / "b.csv")
    with pytest.warns(UserWarning, match="only 1 of 59 samples are in two views"):
        read_views({name: tmp_path / f"{name}.csv" for name in "ab"}, id_column="id", missing="union")


def test_classes_for_some_samples(tmp_path):
    pl.DataFrame({"id": SKUS, "x": A[:, 0]}).write_csv(tmp_path / "a.csv")
    for text, expected in [
        ("id,kind\np1,u\np0,v\nother,u\n", ["v", "u", None]),
        ("key,kind\np1,2\np0,1\n", [1, 2, None]),
    ]:
        (tmp_path / "truth.csv").write_text(text)
        labels = read_views(tmp_path / "a.csv", id_column="id", truth=str(tmp_path / "truth.csv")).labels
        assert labels[:3].tolist() == expected
