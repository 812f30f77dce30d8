"""What describes the samples: columns of a table matched by id, and columns of input tables that are no features."""

import numpy as np
import pytest

from manyviews.io import read_views
from manyviews.io.covariates import read_covariates

IDS = ["07", "1", "x"]


@pytest.fixture
def clinic(tmp_path):
    path = tmp_path / "clinic.csv"
    path.write_text("patient,age,stage,other\nx,61,II,\n07,54,III,5\n1,,I,7\n9,33,I,1\n")
    return path


def test_rows_are_matched_by_the_column_that_holds_the_ids(clinic):
    found = read_covariates(clinic, 3, IDS)
    assert {name: values.tolist() for name, values in found.columns.items()} == {
        "age": [54, None, 61],
        "stage": ["III", "I", "II"],
        "other": [5, 7, None],
    }
    assert found.notes == ()


def test_columns_are_chosen_and_samples_that_lack_are_said(clinic):
    found = read_covariates(clinic, 4, [*IDS, "y"], columns=["a*", "stage"], id_column="patient")
    assert list(found.columns) == ["age", "stage"]
    assert found.columns["stage"].tolist() == ["III", "I", "II", None]
    assert "lacks 1 of the 4 samples" in found.notes[0]


def test_without_ids_rows_are_matched_by_position(clinic):
    found = read_covariates(clinic, 4, None, columns=["age"])
    assert found.columns["age"].tolist() == [61, 54, None, 33]
    assert "matched by position" in found.notes[0]
    with pytest.raises(ValueError, match="has 4 rows for 3 samples, which have no ids"):
        read_covariates(clinic, 3, None)


@pytest.mark.parametrize(
    ("ids", "options", "said"),
    [
        (["a", "b"], {}, "has none of the 2 samples, such as 'a', 'b'"),
        (["a", "b"], {"id_column": "patient"}, "has none of the 2 samples"),
        (IDS, {"columns": ["agee"]}, "has no column 'agee'; did you mean 'age'"),
        (IDS, {"columns": ["patient"]}, "has no column left"),
        (["I", "II"], {"id_column": "stage"}, "occur more than once"),
    ],
)
def test_what_does_not_fit_is_said(clinic, ids, options, said):
    with pytest.raises(ValueError, match=said):
        read_covariates(clinic, len(ids), ids, **options)


def test_columns_of_an_input_table_that_describe_samples_are_no_features(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,days,y\np,1,10,2\nq,3,,4\n")
    (tmp_path / "b.csv").write_text("id,z\nq,6\np,5\n")
    data = read_views({"a": tmp_path / "a.csv", "b": tmp_path / "b.csv"}, id_column="id", about=["days"])
    assert data.views.feature_names == (("x", "y"), ("z",))
    assert data.about["days"].tolist() == [10, None]
    np.testing.assert_array_equal(data.views.view("b").ravel(), [5, 6])


def test_two_tables_that_disagree_about_a_sample_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,days\np,1,10\nq,3,11\n")
    (tmp_path / "b.csv").write_text("id,z,days\nq,6,12\np,5,10\n")
    sources = {"a": tmp_path / "a.csv", "b": tmp_path / "b.csv"}
    with pytest.raises(ValueError, match="disagree about column 'days'"):
        read_views(sources, id_column="id", about=["days"])
    with pytest.raises(ValueError, match="disagree about column 'days'"):
        read_views(sources, id_column="id", about=["days"], missing="union")
