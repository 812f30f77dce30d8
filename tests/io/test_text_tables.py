"""Tables as spreadsheets, statistics programs and countries write them all give the same numbers."""

import codecs
import gzip

import numpy as np
import polars as pl
import pytest

from manyviews.io import read_views

NUMBERS = np.array([[1.5, -20.25, 3.0], [0.125, 4.75, 1e-5], [7.5, 8.5, 9.0]])
IDS = ["007", "08", "9"]


def text(separator=",", end="\n", comma=False, header=True, ids=True):
    cells = [[f"{value:.5f}".replace(".", "," if comma else ".") for value in row] for row in NUMBERS]
    rows = [[key, *row] for key, row in zip(IDS, cells, strict=True)] if ids else cells
    names = (["id"] if ids else []) + ["f0", "f1", "f2"]
    return "".join(separator.join(row) + end for row in ([names, *rows] if header else rows))


def quoted(comma):
    return "".join(",".join(f'"{cell}"' for cell in line.split(";")) + "\n" for line in text(";", comma=comma).split())


WRITINGS = {
    "plain": text().encode(),
    "windows": text(end="\r\n").encode(),
    "old mac": text(end="\r").encode(),
    "no last end": text().rstrip().encode(),
    "blank end": (text() + "\n\n").encode(),
    "bom": text().encode("utf-8-sig"),
    "utf-16": text().encode("utf-16"),
    "utf-16 big": codecs.BOM_UTF16_BE + text().encode("utf-16-be"),
    "utf-16 without mark": text().encode("utf-16-le"),
    "utf-16 big without mark": text(";", comma=True).encode("utf-16-be"),
    "utf-32": text().encode("utf-32"),
    "excel unicode text": text("\t", "\r\n", comma=True).encode("utf-16"),
    "semicolons": text(";").encode(),
    "german excel": text(";", "\r\n", comma=True).encode("utf-8-sig"),
    "tabs": text("\t").encode(),
    "bars": text("|").encode(),
    "spaces after commas": text(", ").encode(),
    "quotes": quoted(comma=False).encode(),
    "quoted decimal commas": quoted(comma=True).encode(),
}


@pytest.mark.parametrize("zipped", [False, True], ids=["", "gz"])
@pytest.mark.parametrize("writing", WRITINGS)
def test_every_writing_gives_the_same_numbers_and_ids(tmp_path, writing, zipped):
    content, path = WRITINGS[writing], tmp_path / ("a.csv.gz" if zipped else "a.csv")
    path.write_bytes(gzip.compress(content) if zipped else content)
    loaded = read_views(path, id_column="id")
    np.testing.assert_allclose(loaded.views.view("a"), NUMBERS, rtol=0, atol=1e-12)
    assert loaded.views.sample_names.tolist() == IDS
    assert loaded.views.feature_names == (("f0", "f1", "f2"),)
    notes = " ".join(loaded.notes)
    assert ("UTF-16" in notes) == ("utf-16" in writing or "unicode" in writing)
    assert ("read as decimal points, as in column 'f0'" in notes) == (b"," in content and "comma" in notes)


def read_text(tmp_path, content, **options):
    (tmp_path / "a.csv").write_text(content, encoding="utf-8", newline="")
    return read_views(tmp_path / "a.csv", **options)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("comma", [False, True])
def test_no_header(tmp_path, separator, comma):
    if comma and separator == ",":
        return
    loaded = read_text(tmp_path, text(separator, comma=comma, header=False, ids=False))
    np.testing.assert_allclose(loaded.views.view("a"), NUMBERS, atol=1e-12)
    assert "the first row holds numbers, so it is read as data" in loaded.notes[0]
    assert "--header yes" in loaded.notes[0]


@pytest.mark.parametrize("prefix", ["", "s"])
def test_no_header_with_ids_keeps_the_first_sample_and_leading_zeros(tmp_path, prefix):
    rows = "".join(prefix + line + "\n" for line in text(header=False).split())
    loaded = read_text(tmp_path, rows, id_column="column_0")
    assert loaded.views.sample_names.tolist() == [prefix + key for key in IDS]
    np.testing.assert_allclose(loaded.views.view("a"), NUMBERS, atol=1e-12)


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("0,1,2\n5,6,7\n", ("0", "1", "2")),  # what data frames call unnamed columns
        ("id,1,2,3\ns0,5,6,7\ns1,5,6,8\n", ("1", "2", "3")),
        ("id,400.5,401,402,403,404,405\ns0,1,2,3,1,2,3\n", ("400.5", "401", "402", "403", "404", "405")),
        ("id,7,3\n1,5,6\n2,5,7\n", ("7", "3")),  # a word above numbers
    ],
)
def test_numbers_as_names(tmp_path, content, names):
    loaded = read_text(tmp_path, content, id_column="id" if content.startswith("id") else None)
    assert loaded.views.feature_names == (names,)


def test_the_header_can_be_stated(tmp_path):
    years = "2001,2002\n5,6\n7,8\n"
    assert len(read_text(tmp_path, years).views) == 3
    named = read_text(tmp_path, years, header=True)
    assert named.views.feature_names == (("2001", "2002"),)
    assert not named.notes
    assert len(read_text(tmp_path, "0,1,2\n5,6,7\n", header=False).views) == 2
    with pytest.raises(ValueError, match=r"cannot be used as numbers \('column_0' holds 'x' in row 0\)"):
        read_text(tmp_path, "x,y\n1,2\n", header=False)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("x;y\n1,234;5\n2,345;6\n", r"'1,234' in column 'x', may be decimal commas or thousands marks"),
        ('x,y\n"1,234",5\n"12,345",6\n', "may be decimal commas or thousands marks"),
        ("x;y\n1.5;2,5\n2.5;3,5\n", r"decimal points in column 'x' and decimal commas in column 'y'"),
        ("x;y\n1.234,5;2\n2;3\n", r"'x' cannot be used as numbers.*no thousands marks"),
        ("x;y\n1,5;2\n2.5;3\n", r"'x' cannot be used as numbers \('x' holds '1,5'"),
        ("x,y\n1,2\n3\n", r"a.csv, line 3, has 1 cells where the first line has 2"),
        ("x,y\n1,2\n3,4,\n", r"a.csv, line 3, has 3 cells"),
        ("x,y\n1,2\n\n3,4\n", r"a.csv, line 3, is blank"),
        ("x,x \n1,2\n", r"more than once, as 'x'"),
        ("x" * 200_000 + ",y\n1,2\n", r"field larger than field limit"),
    ],
)
def test_text_that_may_mean_two_things_or_nothing_is_refused(tmp_path, content, match):
    with pytest.raises(ValueError, match=match) as caught:
        read_text(tmp_path, content)
    assert "\n" not in str(caught.value)


def test_thousands_are_no_doubt_beside_true_decimals(tmp_path):
    loaded = read_text(tmp_path, "x;y\n1,234;5\n0,5;6\n")
    np.testing.assert_array_equal(loaded.views.view("a")[:, 0], [1.234, 0.5])


@pytest.mark.parametrize("mark", ["NA", "n/a", "", "NaN", "?", "#N/A", "<NA>", "null"])
def test_marks_of_missing_numbers(tmp_path, mark):
    with pytest.raises(ValueError, match=r"NaN: view 'a', row 1, column 0 \(column 'x'\)"):
        read_text(tmp_path, f"x,y\n1,2\n{mark},4\n")
    assert np.isnan(read_text(tmp_path, f"x,y\n1,2\n{mark},4\n", gaps=True).views.view("a")[1, 0])


def test_constant_columns_and_views_are_said(tmp_path):
    rows = "x,c,d\n1,5,0\n2,5,0\n"
    assert "view 'a': 2 of 3 columns hold one number for all samples and say nothing about them: 'c', 'd'" in (
        read_text(tmp_path, rows).notes
    )
    assert "view 'a' is constant: every sample has the same numbers" in read_text(tmp_path, "c\n5\n5\n").notes[0]


def test_a_wide_table_is_read(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 3000))
    pl.DataFrame(X, schema=[f"g{j}" for j in range(3000)]).write_csv(tmp_path / "w.csv")
    np.testing.assert_array_equal(read_views(tmp_path / "w.csv").views.view("w"), X)
