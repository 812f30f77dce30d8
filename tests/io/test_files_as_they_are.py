"""Files as other programs write them give the same numbers and ids as the plain table."""

import gzip
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import io as scipy_io
from scipy import sparse

from manyviews.io import read_views
from manyviews.io.choosing import Caution

IDS = ["s1", "s2", "s3", "s4"]
X = np.array([[1.5, 2.0, -3.0], [0.25, 5.0, 6.0], [7.0, 8.5, 9.0], [1.0, 0.5, 12.0]])
ROWS = [[key, *map(str, row)] for key, row in zip(IDS, X.tolist(), strict=True)]
HEADER = ["id", "x", "y", "z"]
NAMES = tuple(HEADER[1:])


def text(separator=",", *, header=HEADER, before="", after="", rows=ROWS):
    return before + "\n".join(separator.join(row) for row in ([header] if header else []) + rows) + "\n" + after


def xlsx(path, rows):
    """Write a sheet with the standard library: cells of text and numbers."""

    def cell(column, row, value):
        place = f"{chr(65 + column)}{row + 1}"
        if isinstance(value, str):
            return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
        return f'<c r="{place}"><v>{value}</v></c>'

    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    sheet = "".join(
        f'<row r="{i + 1}">{"".join(cell(j, i, value) for j, value in enumerate(row))}</row>'
        for i, row in enumerate(rows)
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kinds}.worksheet+xml"/></Types>',
        )
        link = f'<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" Type="{office}/'
        archive.writestr("_rels/.rels", f'{link}officeDocument" Target="xl/workbook.xml"/></Relationships>')
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="data" sheetId="1" r:id="rId1"/></sheets>'
            "</workbook>",
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels", f'{link}worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
        )
        archive.writestr(
            "xl/worksheets/sheet1.xml", f'<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData></worksheet>'
        )


WRITTEN = {
    "a.txt": text("\t"),
    "a.tab": text("\t"),
    "blanks.txt": text(" "),
    "aligned.dat": "\n".join("  ".join(cell.rjust(6) for cell in row) for row in [HEADER, *ROWS]) + "\n",
    "semicolon.txt": text(";"),
    "comments.csv": text(before="# made by hand\n# on a Monday\n\n"),
    "percent.csv": text(before="% made by hand\n"),
    "header_in_comment.csv": text(header=["#id", "x", "y", "z"], before="# made by hand\n"),
    "title.csv": text(before="Experiment 5\nDate,2020\n\n"),
    "geo.txt": text(
        "\t", before='!Series_title\t"x"\n!series_matrix_table_begin\n', after="!series_matrix_table_end\n"
    ),
    "excel.csv": text(";", before="sep=;\n"),
    "write_table.txt": text(" ", header=['"x"', '"y"', '"z"'], rows=[[f'"{row[0]}"', *row[1:]] for row in ROWS]),
    "row_names.csv": text(header=["x", "y", "z"]),
    "index.csv": text(header=["", "x", "y", "z"]),
    "unnamed.csv": text(header=["Unnamed: 0", "x", "y", "z"]),
}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("zipped", [False, True])
def test_text(tmp_path, name, zipped):
    path = tmp_path / (f"{name}.gz" if zipped else name)
    content = WRITTEN[name].encode()
    path.write_bytes(gzip.compress(content) if zipped else content)
    has_names = any(word in name for word in ("write_table", "row_names", "index", "unnamed"))
    loaded = read_views(path, id_column=None if has_names else "id")
    np.testing.assert_array_equal(loaded.views.arrays[0], X)
    assert loaded.views.feature_names == (NAMES,)
    assert loaded.views.sample_names.tolist() == IDS


@pytest.mark.parametrize("first", [0, 1])
def test_row_numbers_are_no_feature(tmp_path, first):
    frame = pd.DataFrame(X, columns=NAMES, index=range(first, first + 4))
    frame.to_csv(tmp_path / "a.csv")
    frame.to_parquet(tmp_path / "a.parquet", index=True)
    for path in (tmp_path / "a.csv", tmp_path / "a.parquet"):
        loaded = read_views(path)
        assert loaded.views.feature_names == (NAMES,)
        assert loaded.views.sample_names is None


@pytest.mark.parametrize(
    "index", [pd.Index(IDS), pd.Index(IDS, name="patient"), pd.Index([11, 5, 9, 2], name="patient")]
)
def test_the_index_of_pandas_in_parquet(tmp_path, index):
    pd.DataFrame(X, columns=NAMES, index=index).to_parquet(tmp_path / "a.parquet")
    views = read_views(tmp_path / "a.parquet").views
    assert views.feature_names == (NAMES,)
    assert views.sample_names.tolist() == [str(key) for key in index]


def test_excel(tmp_path):
    xlsx(tmp_path / "a.xlsx", [HEADER, *([key, *row] for key, row in zip(IDS, X.tolist(), strict=True))])
    loaded = read_views(tmp_path / "a.xlsx", id_column="id")
    np.testing.assert_array_equal(loaded.views.arrays[0], X)
    assert loaded.views.sample_names.tolist() == IDS
    xlsx(tmp_path / "b.xlsx", [HEADER, *([i + 1, *row[:2], "NA"] for i, row in enumerate(X.tolist()))])
    loaded = read_views(tmp_path / "b.xlsx", id_column="id", gaps=True)
    np.testing.assert_array_equal(loaded.views.arrays[0][:, :2], X[:, :2])
    assert np.isnan(loaded.views.arrays[0][:, 2]).all()
    assert loaded.views.sample_names.tolist() == ["1", "2", "3", "4"]


def test_gct_has_samples_as_columns(tmp_path):
    header = ["Name", "Description", *IDS]
    rows = [[name, "gene", *map(str, row)] for name, row in zip(NAMES, X.T.tolist(), strict=True)]
    (tmp_path / "a.gct").write_text("#1.2\n3\t4\n" + text("\t", header=header, rows=rows))
    views = read_views(tmp_path / "a.gct").views
    np.testing.assert_array_equal(views.arrays[0], X)
    assert views.feature_names == (NAMES,)
    assert views.sample_names.tolist() == IDS


def cells_folder(folder, kinds=("Gene Expression",) * 3, zipped=True):
    folder.mkdir()
    scipy_io.mmwrite(str(folder / "matrix.mtx"), sparse.coo_matrix(X.T))
    files = {
        "matrix.mtx": (folder / "matrix.mtx").read_bytes(),
        "barcodes.tsv": "\n".join(IDS).encode() + b"\n",
        "features.tsv": "".join(f"{n}\t{n.upper()}\t{k}\n" for n, k in zip(NAMES, kinds, strict=True)).encode(),
    }
    for name, content in files.items():
        (folder / name).unlink(missing_ok=True)
        (folder / f"{name}.gz" if zipped else folder / name).write_bytes(gzip.compress(content) if zipped else content)
    return folder


@pytest.mark.parametrize("zipped", [False, True])
def test_folders_of_10x(tmp_path, zipped):
    folder = cells_folder(tmp_path / "rna", zipped=zipped)
    for source in (folder, folder / ("matrix.mtx.gz" if zipped else "matrix.mtx")):
        views = read_views({"rna": source}).views
        assert sparse.issparse(views.view("rna"))
        np.testing.assert_array_equal(views.view("rna").toarray(), X)
        assert views.feature_names == (NAMES,)
        assert views.sample_names.tolist() == IDS
    pl.DataFrame({"id": IDS[::-1], "v": X[::-1, 0]}).write_csv(tmp_path / "b.csv")
    both = read_views({"rna": folder, "b": tmp_path / "b.csv"}, id_column="id").views
    np.testing.assert_array_equal(both.view("b")[:, 0], X[:, 0])


def test_kinds_of_features_are_views(tmp_path):
    folder = cells_folder(tmp_path / "cite", ("Gene Expression", "Antibody Capture", "Gene Expression"))
    views = read_views(folder).views
    assert views.names == ("Gene Expression", "Antibody Capture")
    np.testing.assert_array_equal(views.view("Gene Expression").toarray(), X[:, [0, 2]])
    one = read_views({"adt": (folder, ["Antibody*"])}).views
    assert one.feature_names == (("y",),)


def test_arrays_of_any_names(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, rna=X, protein=X[:, :2], y=[0, 1, 1, 0], ids=IDS, extra=np.ones((2, 2, 2)))
    loaded = read_views(path)
    assert loaded.views.names == ("rna", "protein")
    assert loaded.labels.tolist() == [0, 1, 1, 0]
    assert loaded.views.sample_names.tolist() == IDS
    assert any(isinstance(note, Caution) and "'extra' are not used" in note for note in loaded.notes)
    assert read_views({"p": (path, ["protein"])}).views.shape == (4, 2)
    S = sparse.csr_matrix(X)
    np.savez(path, s_data=S.data, s_indices=S.indices, s_indptr=S.indptr, s_shape=S.shape, d=X)
    assert read_views(path).views.names == ("s", "d")
    np.savez(path, a=X, b=X[:2])
    with pytest.raises(ValueError, match=r"different numbers of rows \('a' 4 × 3, 'b' 2 × 3\).*NAME=FILE:ARRAY"):
        read_views(path)


@pytest.mark.parametrize("name", ["ids.csv", "ids.txt", "ids.npy", "headerless.csv"])
def test_a_list_of_ids_beside_an_array(tmp_path, name):
    np.save(tmp_path / "a.npy", X)
    if name.endswith("npy"):
        np.save(tmp_path / name, IDS)
    else:
        (tmp_path / name).write_text(("" if "headerless" in name else "id\n") + "\n".join(IDS) + "\n")
    pl.DataFrame({"id": IDS[::-1], "v": X[::-1, 0]}).write_csv(tmp_path / "b.csv")
    views = read_views({"a": tmp_path / "a.npy", "b": tmp_path / "b.csv"}, id_column="id", ids=tmp_path / name).views
    np.testing.assert_array_equal(views.view("b")[:, 0], X[:, 0])
    assert views.sample_names.tolist() == IDS
    np.save(tmp_path / "a.npy", X[:2])
    with pytest.raises(ValueError, match=r"lists \d ids, but .*a.npy has 2 rows"):
        read_views(tmp_path / "a.npy", ids=tmp_path / name)


@pytest.mark.parametrize("kind", ["csv", "npy", "mtx", "txt"])
def test_samples_in_columns(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    if kind == "csv":
        rows = [[name, *map(str, row)] for name, row in zip(NAMES, X.T.tolist(), strict=True)]
        path.write_text(text(header=["gene", *IDS], rows=rows))
    elif kind == "txt":
        np.savetxt(path, X.T)
    elif kind == "npy":
        np.save(path, X.T)
    else:
        scipy_io.mmwrite(str(path), sparse.coo_matrix(X.T))
    views = read_views({"a": path}, transpose=["a"]).views
    array = views.view("a")
    np.testing.assert_array_equal(array.toarray() if sparse.issparse(array) else array, X)
    if kind == "csv":
        assert views.feature_names == (NAMES,)
        assert views.sample_names.tolist() == IDS
        pl.DataFrame({"id": IDS[::-1], "v": X[::-1, 0]}).write_csv(tmp_path / "b.csv")
        both = {"a": path, "b": tmp_path / "b.csv"}
        np.testing.assert_array_equal(read_views(both, id_column="id", transpose=["a"]).views.view("b")[:, 0], X[:, 0])
    with pytest.raises(ValueError, match="--transpose names 'c'; the views are 'a'"):
        read_views({"a": path}, transpose=["c"])


def test_a_matlab_matrix_that_was_turned_is_said(tmp_path):
    wide = np.random.default_rng(0).normal(size=(5, 4))
    scipy_io.savemat(tmp_path / "a.mat", {"X1": X.T, "X2": np.ones((5, 6)), "gt": [[1, 2, 1, 2]]})
    with pytest.raises(ValueError, match="do not fit together"):
        read_views(tmp_path / "a.mat")
    scipy_io.savemat(tmp_path / "a.mat", {"X1": X.T, "X2": wide[:4], "gt": [[1, 2, 1, 2]]})
    loaded = read_views(tmp_path / "a.mat")
    np.testing.assert_array_equal(loaded.views.view("X1"), X)
    np.testing.assert_array_equal(loaded.views.view("X2"), wide[:4])
    assert any(isinstance(note, Caution) and "X1 are stored with samples as columns" in note for note in loaded.notes)


CODED = "id,x,y\ns1,1,.\ns2,<0.05,2\ns3,99,3\ns4,4,99.0\n"


def test_codes_of_missing_values(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(CODED)
    with pytest.raises(ValueError, match=r"'x' holds '<0.05' in row 1\); .*--missing-values '<0.05'"):
        read_views(path, id_column="id", gaps=True)
    expected = [[1, np.nan], [np.nan, 2], [np.nan, 3], [4, np.nan]]
    loaded = read_views(path, id_column="id", gaps=True, missing_values=[".", "<0.05", "99"])
    np.testing.assert_array_equal(loaded.views.arrays[0], expected)
    assert "4 cell(s) with one of" in loaded.notes[0]
    pl.DataFrame({"x": [1.0, 99, 3], "y": [1, 2, 99]}).write_parquet(tmp_path / "b.parquet")
    np.save(tmp_path / "c.npy", np.array([[1, 99], [2, 3], [99, 4]]))
    for other in ("b.parquet", "c.npy"):
        array = read_views({"v": tmp_path / other}, gaps=True, missing_values={"v": ["99"]}).views.arrays[0]
        assert np.isnan(array).sum() == 2


def test_ids_are_never_missing_values(tmp_path):
    (tmp_path / "a.csv").write_text("id,x\n99,1\n98,2\n")
    assert read_views(tmp_path / "a.csv", id_column="id", missing_values=["99"]).views.sample_names.tolist() == [
        "99",
        "98",
    ]


def test_numbers_as_names_of_columns(tmp_path):
    header = ["sample", "784", "12", "3"]
    (tmp_path / "a.csv").write_text(text(header=header))
    views = read_views(tmp_path / "a.csv", id_column="sample").views
    assert views.feature_names == (("784", "12", "3"),)
    assert views.sample_names.tolist() == IDS
