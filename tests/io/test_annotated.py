"""AnnData and MuData files: matrices by their names, samples by theirs, what describes them."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from manyviews.io import read_views

pd = pytest.importorskip("pandas")
anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")
h5py = pytest.importorskip("h5py")

N = 12


@pytest.fixture
def rna():
    rng = np.random.default_rng(0)
    counts = sparse.random(N, 7, density=0.5, random_state=0, format="csr", dtype=np.float32)
    obs = pd.DataFrame(
        {
            "cell_type": pd.Categorical(list("aabbccaabbcc")),
            "days": [*range(11), np.nan],
            "barcode": [f"c{i}" for i in range(N)],
        },
        index=[f"s{i}" for i in range(N)],
    )
    made = anndata.AnnData(counts, obs=obs, var=pd.DataFrame(index=[f"gene{j}" for j in range(7)]))
    made.layers["scaled"] = counts.toarray() * 2
    made.obsm["X_pca"] = rng.normal(size=(N, 3))
    made.obsm["scores"] = pd.DataFrame(rng.normal(size=(N, 2)), columns=["up", "down"], index=obs.index)
    return made


@pytest.fixture
def protein(rna):
    rng = np.random.default_rng(1)
    names = rna.obs_names[::-1]
    return anndata.AnnData(
        rng.normal(size=(N, 4)), obs=pd.DataFrame(index=names), var=pd.DataFrame(index=[f"p{j}" for j in range(4)])
    )


def multi(parts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = mudata.MuData(parts)
        made.update()
    return made


@pytest.fixture
def h5ad(rna, tmp_path):
    path = tmp_path / "cells.h5ad"
    rna.write_h5ad(path)
    return path


@pytest.fixture
def h5mu(rna, protein, tmp_path):
    path = tmp_path / "cells.h5mu"
    made = multi({"rna": rna, "prot": protein})
    made.obs["batch"] = np.arange(N) % 2
    made.obsm["joint"] = np.ones((N, 2)) * np.arange(N)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.write_h5mu(path)
    return path


def test_an_h5ad_alone_is_its_x_with_names_and_says_what_else_there_is(h5ad, rna):
    data = read_views(h5ad)
    assert data.views.names == ("cells",)
    assert sparse.issparse(data.views.arrays[0])
    assert data.views.arrays[0].dtype == np.float32
    np.testing.assert_array_equal(data.views.arrays[0].toarray(), rna.X.toarray())
    assert data.views.sample_names.tolist() == list(rna.obs_names)
    assert data.views.feature_names[0] == tuple(rna.var_names)
    assert any("'layers/scaled', 'obsm/X_pca', 'obsm/scores'" in note for note in data.notes)


def test_layers_and_low_dimensional_forms_are_views(h5ad, rna):
    sources = {
        "a": (h5ad, ["layers/scaled"]),
        "b": (h5ad, ["obsm/X_pca"]),
        "c": (h5ad, ["obsm/scores"]),
    }
    views = read_views(sources).views
    np.testing.assert_array_equal(views.view("a"), rna.layers["scaled"])
    np.testing.assert_array_equal(views.view("b"), rna.obsm["X_pca"])
    assert views.feature_names == (tuple(rna.var_names), None, ("up", "down"))


def test_an_h5mu_alone_has_a_view_for_each_modality_matched_by_name(h5mu, protein):
    data = read_views(h5mu)
    assert data.views.names == ("rna", "prot")
    np.testing.assert_array_equal(data.views.view("prot"), protein.X[::-1])
    assert data.views.sample_names.tolist() == [f"s{i}" for i in range(N)]


def test_matrices_of_an_h5mu_by_their_names(h5mu, rna):
    sources = {
        "x": (h5mu, ["rna"]),
        "p": (h5mu, ["prot/X"]),
        "pca": (h5mu, ["rna/obsm/X_pca"]),
        "j": (h5mu, ["obsm/joint"]),
    }
    views = read_views(sources).views
    np.testing.assert_array_equal(views.view("pca"), rna.obsm["X_pca"])
    assert [array.shape[1] for array in views.arrays] == [7, 4, 3, 2]
    several = read_views(h5mu, columns=["rna/*"], drop=["gene1"]).views
    assert several.names == ("rna", "rna/layers/scaled", "rna/obsm/X_pca", "rna/obsm/scores")
    assert [array.shape[1] for array in several.arrays] == [6, 6, 3, 2]


def test_modalities_of_different_samples_need_a_word(rna, protein, tmp_path):
    path = tmp_path / "part.h5mu"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        multi({"rna": rna[:9].copy(), "prot": protein}).write_h5mu(path)
    with pytest.raises(ValueError, match="do not have the same ids"):
        read_views(path)
    kept = read_views(path, missing="union").views
    assert kept.observed.sum(axis=0).tolist() == [9, 12]
    assert len(read_views(path, missing="intersection").views) == 9


@pytest.mark.parametrize("truth", ["cell_type", "obs:cell_type"])
def test_classes_and_what_describes_samples_come_from_obs(h5ad, h5mu, truth):
    for path in (h5ad, h5mu):
        data = read_views(path, truth=truth, about=["days"])
        assert data.labels.tolist() == list("aabbccaabbcc")
        assert data.about["days"].tolist() == [*range(11), None]
    assert read_views(h5mu, about=["batch"]).about["batch"].tolist() == [i % 2 for i in range(N)]


def test_a_column_of_obs_may_hold_the_ids(h5ad, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("barcode,v\n" + "".join(f"c{i},{i}\n" for i in range(N - 1, -1, -1)))
    data = read_views({"rna": h5ad, "other": other}, id_column="barcode")
    np.testing.assert_array_equal(data.views.view("other").ravel(), np.arange(N))


def test_ids_of_a_mudata_may_be_in_the_obs_of_the_whole(h5mu):
    with h5py.File(h5mu, "r+") as file:
        obs = anndata.io.read_elem(file["obs"])
        obs["patient"] = [f"patient {name}" for name in obs.index]
        anndata.io.write_elem(file, "obs", obs)
    names = read_views(h5mu, id_column="patient").views.sample_names
    assert names.tolist() == [f"patient s{i}" for i in range(N)]


def test_raw_counts_have_the_names_of_all_genes(rna, tmp_path):
    rna.raw = rna
    small = rna[:, :3].copy()
    path = tmp_path / "raw.h5ad"
    small.write_h5ad(path)
    views = read_views({"raw": (path, ["raw/X"])}).views
    assert views.feature_names[0] == tuple(rna.raw.var_names)
    np.testing.assert_array_equal(views.view("raw").toarray(), rna.X.toarray())


def test_without_x_the_message_says_what_there_is(rna, tmp_path):
    path = tmp_path / "no_x.h5ad"
    bare = anndata.AnnData(obs=rna.obs, obsm={"X_pca": rna.obsm["X_pca"]})
    bare.write_h5ad(path)
    with pytest.raises(ValueError, match=r"has no X; name what is meant, as --view NAME=.*:obsm/X_pca"):
        read_views(path)
    assert read_views({"pca": (path, ["obsm/X_pca"])}).views.arrays[0].shape == (N, 3)


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        (["layers/scald"], {}, "has no matrix 'layers/scald'; did you mean 'layers/scaled'"),
        (["layers/*", "obsm/*"], {}, "holds 3 views, but was given as the one view 'a'"),
        (None, {"id_column": "barcodes"}, "obs has no column 'barcodes' to match samples by; did you mean 'barcode'"),
        (
            None,
            {"truth": "obs:cell_typ"},
            "file 'obs:cell_typ' to take the classes from in .*; did you mean 'cell_type'",
        ),
        (None, {"truth": "cell_typ"}, "there is no column, labelling or file 'cell_typ'"),
        (None, {"about": ["day"]}, "there is no column 'day' that describes the samples in .*; did you mean 'days'"),
        (None, {"transpose": ["a"]}, "the samples of a .h5ad file are its rows"),
        (None, {"id_column": "days"}, "the id column 'days' of obs is empty in row 11"),
        (None, {"id_column": "cell_type"}, "occur more than once"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(h5ad, columns, options, said):
    with pytest.raises(ValueError, match=said):
        read_views({"a": (h5ad, columns)}, **options)


def test_foreign_and_damaged_files_are_refused(h5ad, h5mu, tmp_path):
    text = tmp_path / "text.h5ad"
    text.write_text("no HDF5 at all")
    with pytest.raises(ValueError, match=r"cannot be read as an \.h5ad file"):
        read_views(text)
    wrong = tmp_path / "wrong.h5ad"
    wrong.write_bytes(h5mu.read_bytes())
    with pytest.raises(ValueError, match=r"is no \.h5ad file: it has no single table, but modalities"):
        read_views(wrong)
    renamed = tmp_path / "renamed.h5mu"
    renamed.write_bytes(h5ad.read_bytes())
    with pytest.raises(ValueError, match="it has no modalities"):
        read_views(renamed)
    whole = h5ad.read_bytes()
    for share in (0.2, 0.6, 0.95):
        h5ad.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(ValueError, match=r"cannot be read as an \.h5ad file"):
            read_views(h5ad)


def test_indices_out_of_bounds_and_links_to_other_files_are_refused(h5ad, tmp_path):
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["x"] = np.ones((N, 7))
    with h5py.File(h5ad, "r+") as file:
        file["X/indices"][0] = 1000
    with pytest.raises(ValueError, match=r"cannot be read as an \.h5ad file"):
        read_views(h5ad)
    with h5py.File(h5ad, "r+") as file:
        del file["X"]
        file["X"] = h5py.ExternalLink(str(secret), "x")
    with pytest.raises(ValueError, match="only what lies in the file itself is read"):
        read_views(h5ad)


def test_a_file_that_promises_more_than_memory_takes_is_refused(h5ad):
    with h5py.File(h5ad, "r+") as file:
        del file["X"]
        X = file.create_dataset("X", shape=(10**7, 10**7), dtype="f4", chunks=(100, 100))
        X.attrs["encoding-type"], X.attrs["encoding-version"] = "array", "0.2.0"
    with pytest.raises(ValueError, match="memory"):
        read_views(h5ad)


def test_names_that_repeat_are_said_with_the_remedy(rna, tmp_path):
    rna.obs_names = ["s0", *rna.obs_names[:-1]]
    path = tmp_path / "twice.h5ad"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rna.write_h5ad(path)
    with pytest.raises(ValueError, match="obs_names_make_unique"):
        read_views(path)
