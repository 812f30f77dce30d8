"""Files with different samples: refused, cut to the common ones, or kept with their gaps; and who is where."""

import numpy as np
import polars as pl
import pytest

from manyviews.io import read_views
from manyviews.io.matching import who_is_where


@pytest.fixture
def files(tmp_path):
    tables = {
        "a": pl.DataFrame({"id": ["p", "q", "r", "s"], "x": [0.0, 1.0, 2.0, 3.0], "kind": [0, 0, 1, 1]}),
        "b": pl.DataFrame({"id": ["r", "p", "t"], "y": [12.0, 10.0, 14.0]}),
        "c": pl.DataFrame({"id": ["t", "s", "r", "p"], "z": [24.0, 23.0, 22.0, 20.0]}),
    }
    for name, table in tables.items():
        table.write_csv(tmp_path / f"{name}.csv")
    return {name: tmp_path / f"{name}.csv" for name in tables}


def truthless(files):
    pl.read_csv(files["a"]).drop("kind").write_csv(files["a"])
    return files


def test_they_are_refused_by_default_with_the_remedy(files):
    with pytest.raises(
        ValueError, match=r"of 5 ids, view 'a' lacks 1, such as 't'; view 'b' lacks 2, .*--missing inter"
    ):
        read_views(files, id_column="id", truth="kind")
    with pytest.raises(ValueError, match="missing must be 'union', 'intersection' or None, got 'all'"):
        read_views(files, id_column="id", missing="all")


def test_intersection_keeps_the_common_samples_in_the_order_of_the_first_view(files):
    loaded = read_views(files, id_column="id", truth="kind", missing="intersection")
    assert loaded.views.sample_names.tolist() == ["p", "r"]
    for name, values in {"a": [0, 2], "b": [10, 12], "c": [20, 22]}.items():
        assert loaded.views.view(name).ravel().tolist() == values
    assert loaded.labels.tolist() == [0, 1]
    assert "of 5 ids 2 are in every view; the other 3 are left out (--missing intersection)" in loaded.notes


def test_union_keeps_all_samples_with_their_gaps(files):
    loaded = read_views(truthless(files), id_column="id", missing="union")
    assert loaded.views.sample_names.tolist() == ["p", "q", "r", "s", "t"]
    np.testing.assert_array_equal(loaded.views.view("b").ravel(), [10, np.nan, 12, np.nan, 14])
    assert loaded.views.observed.tolist() == [[1, 1, 1], [1, 0, 0], [1, 1, 1], [1, 0, 1], [0, 1, 1]]
    assert loaded.views.feature_names == (("x",), ("y",), ("z",))
    found = [(row.views, row.ids) for row in loaded.presence]
    assert found == [(("a", "b", "c"), ["p", "r"]), (("a",), ["q"]), (("a", "c"), ["s"]), (("b", "c"), ["t"])]


def test_a_sample_of_the_union_without_a_class_has_none(files):
    labels = read_views(files, id_column="id", truth="kind", missing="union").labels.tolist()
    assert labels[-1] is None
    assert None not in labels[:-1]


def test_a_file_of_classes_may_know_more_samples_than_are_left(files, tmp_path):
    truth = tmp_path / "truth.csv"
    truth.write_text("id,kind\nt,9\np,5\nq,6\nr,7\ns,8\n")
    loaded = read_views(truthless(files), id_column="id", truth=str(truth), missing="intersection")
    assert loaded.labels.tolist() == [5, 7]
    truth.write_text("id,kind\nt,9\nq,6\nr,7\ns,8\n")
    loaded = read_views(files, id_column="id", truth=str(truth), missing="intersection")
    assert loaded.labels.tolist() == [None, 7]
    truth.write_text("id,kind\nx,9\ny,6\n")
    with pytest.raises(ValueError, match=r"truth.csv has a class for none of the 2 samples, such as 'p', 'r'"):
        read_views(files, id_column="id", truth=str(truth), missing="intersection")


def test_tables_that_disagree_about_a_class_are_refused(files):
    pl.read_csv(files["b"]).with_columns(kind=pl.Series([0, 0, 1])).write_csv(files["b"])
    with pytest.raises(ValueError, match="disagree about the classes"):
        read_views(files, id_column="id", truth="kind", missing="intersection")


def test_nothing_in_common(files):
    files["b"].write_text("id,y\nu,1\nv,2\n")
    with pytest.raises(ValueError, match="no sample id in common; check that the ids are written alike"):
        read_views(files, id_column="id", truth="kind", missing="intersection")


def test_equal_sets_are_only_put_in_order(files):
    pl.read_csv(files["c"])[::-1].head(3).write_csv(files["c"])
    files["b"].write_text("id,y\ns,13\nr,12\np,10\n")
    files = {name: files[name] for name in ("b", "c")}
    loaded = read_views(files, id_column="id", missing="union")
    assert loaded.views.view("c").ravel().tolist() == [23, 22, 20]
    assert loaded.presence == ()


def test_who_is_where_is_sorted_by_size_after_the_complete_ones():
    rows = who_is_where({"a": ["1", "2", "3"], "b": ["3", "4", "5", "6"]})
    assert [(row.views, row.ids) for row in rows] == [
        (("a", "b"), ["3"]),
        (("b",), ["4", "5", "6"]),
        (("a",), ["1", "2"]),
    ]
