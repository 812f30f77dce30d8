"""Labels go into the obs of a copy; the input stays as it is unless that is asked for."""

import warnings

import numpy as np
import pytest

from manyviews.io import write_obs

pd = pytest.importorskip("pandas")
anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")


@pytest.fixture
def cells(tmp_path):
    obs = pd.DataFrame({"kind": pd.Categorical(list("aab"))}, index=["x", "y", "z"])
    made = anndata.AnnData(np.eye(3, dtype=np.float32), obs=obs)
    made.layers["counts"] = np.ones((3, 3))
    made.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path / "cells.h5ad"


def test_a_copy_has_the_labels_and_all_else(cells):
    before = cells.read_bytes()
    target = cells.with_name("labelled.h5ad")
    write_obs(cells, target, [1, 0], samples=["z", "x"], confidence=[0.5, 1.0])
    made = anndata.read_h5ad(target)
    assert pd.isna(made.obs["cluster"].iloc[1])
    assert made.obs["cluster"].dropna().tolist() == ["0", "1"]
    assert made.obs["cluster"].dtype == "category"
    np.testing.assert_array_equal(made.obs["cluster_confidence"], [1.0, np.nan, 0.5])
    assert made.obs["kind"].tolist() == list("aab")
    np.testing.assert_array_equal(made.layers["counts"], np.ones((3, 3)))
    assert cells.read_bytes() == before


def test_the_input_itself_is_written_to_only_by_force(cells):
    with pytest.raises(ValueError, match="is the input itself; choose another file, or give --force"):
        write_obs(cells, cells, [0, 0, 1], samples=list("xyz"))
    write_obs(cells, cells, [0, 0, 1], samples=list("xyz"), column="group", force=True)
    assert anndata.read_h5ad(cells).obs["group"].tolist() == ["0", "0", "1"]


def test_a_mudata_file_keeps_its_modalities(cells, tmp_path):
    adata = anndata.read_h5ad(cells)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = mudata.MuData({"rna": adata, "prot": adata[::-1].copy()})
        made.write_h5mu(tmp_path / "cells.h5mu")
        write_obs(tmp_path / "cells.h5mu", tmp_path / "labelled.h5mu", [2, 1, 0], samples=list("xyz"))
        again = mudata.read_h5mu(tmp_path / "labelled.h5mu")
    assert again.obs["cluster"][list("xyz")].tolist() == ["2", "1", "0"]
    assert list(again.mod) == ["rna", "prot"]
    np.testing.assert_array_equal(again["prot"].X, adata.X[::-1])


@pytest.mark.parametrize(
    ("target", "options", "said"),
    [
        ("labelled.h5mu", {}, "give it the same ending"),
        ("labelled.h5ad", {"column": "kind"}, "obs has a column 'kind' already"),
        ("there.h5ad", {}, "exists already"),
        ("labelled.h5ad", {"samples": ["p", "q", "r"]}, "none of its samples has a label"),
        ("labelled.h5ad", {"id_column": "kin"}, "obs has no column 'kin'"),
    ],
)
def test_nothing_is_written_where_something_is_wrong(cells, target, options, said):
    cells.with_name("there.h5ad").write_text("mine")
    before = sorted(path.name for path in cells.parent.iterdir())
    with pytest.raises(ValueError, match=said):
        write_obs(cells, cells.with_name(target), [0, 0, 1], **{"samples": list("xyz")} | options)
    assert sorted(path.name for path in cells.parent.iterdir()) == before
    assert cells.with_name("there.h5ad").read_text() == "mine"
