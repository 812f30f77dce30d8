"""AnnData and MuData in memory: samples are matched by name, sparse counts stay sparse, labels go back into obs."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from manyviews import ConcatKMeans, Consensus, Views

pd = pytest.importorskip("pandas")
anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")


def annotated(values, names, prefix):
    columns = pd.DataFrame(index=[f"{prefix}{j}" for j in range(values.shape[1])])
    return anndata.AnnData(values, obs=pd.DataFrame(index=list(names)), var=columns)


@pytest.fixture
def parts():
    rng = np.random.default_rng(0)
    group = np.arange(30) % 3
    names = np.array([f"cell{i}" for i in range(30)])
    rna = rng.poisson(1 + 4 * (group[:, None] == np.arange(6) % 3)).astype(np.float32)
    protein = group[:, None] + rng.normal(scale=0.1, size=(30, 2))
    order = rng.permutation(30)
    return annotated(sparse.csr_matrix(rna), names, "g"), annotated(protein[order], names[order], "p"), protein


def multi(parts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mudata.MuData(parts)


def test_two_annotated_tables_join_by_name(parts):
    rna, shuffled, protein = parts
    views = Views({"rna": rna, "protein": shuffled})
    np.testing.assert_array_equal(views.view("protein"), protein)
    assert sparse.issparse(views.view("rna"))
    assert views.view("rna").dtype == np.float32
    assert views.sample_names.tolist() == rna.obs_names.tolist()
    assert views.feature_names[1] == ("p0", "p1")


def test_other_samples_are_refused_with_the_remedy_and_aligned_on_request(parts):
    rna, shuffled, _ = parts
    with pytest.raises(ValueError, match=r"20 obs_names are in both, of 30 and 20; keep those with Views\.align"):
        Views({"rna": rna, "protein": shuffled[:20]})
    assert len(Views.align({"rna": rna, "protein": shuffled[:20]})) == 20
    assert Views.align({"rna": rna, "protein": shuffled[:20]}, how="outer").observed.sum() == 50


def test_names_that_repeat_are_refused_where_they_would_have_to_match(parts):
    rna, shuffled, _ = parts
    twice = shuffled.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twice.obs_names = ["cell0", *twice.obs_names[:-1]]
    with pytest.raises(ValueError, match="obs_names_make_unique"):
        Views({"rna": rna, "protein": twice})


def test_a_table_with_an_index_beside_annotated_ones_must_have_their_order(parts):
    rna, shuffled, protein = parts
    frame = pd.DataFrame(protein, index=rna.obs_names)
    views = Views({"rna": rna, "protein": shuffled, "frame": frame})
    np.testing.assert_array_equal(views.view("frame"), views.view("protein"))
    with pytest.raises(ValueError, match="indexes of views 'rna' and 'frame' differ"):
        Views({"rna": rna, "protein": shuffled, "frame": frame[::-1]})


def test_labels_of_a_mudata_go_straight_into_its_obs(parts):
    rna, shuffled, _ = parts
    mdata = multi({"rna": rna[5:].copy(), "protein": shuffled})
    model = Consensus(3, n_base_clusterings=8, random_state=0).fit(mdata)
    mdata.obs["cluster"] = pd.Categorical(model.labels_)
    by_name = mdata.obs["cluster"].astype(int)[[f"cell{i}" for i in range(30)]].to_numpy()
    assert len({(a, b) for a, b in zip(by_name, np.arange(30) % 3, strict=True)}) == 3


def test_new_samples_of_the_same_kind_are_labelled(parts):
    rna, shuffled, _ = parts
    model = ConcatKMeans(3, random_state=0).fit({"rna": rna, "protein": shuffled})
    again = model.predict({"protein": shuffled[::-1], "rna": rna[::-1]})
    assert len(again) == 30
    views = {"rna": rna[:7], "protein": shuffled[[list(shuffled.obs_names).index(key) for key in rna.obs_names[:7]]]}
    np.testing.assert_array_equal(model.predict(views), model.labels_[:7])


def test_a_file_that_is_read_when_needed_and_one_without_x(parts, tmp_path):
    rna, _, _ = parts
    rna.write_h5ad(tmp_path / "rna.h5ad")
    backed = anndata.read_h5ad(tmp_path / "rna.h5ad", backed="r")
    view = Views({"rna": backed}).view("rna")
    backed.file.close()
    np.testing.assert_array_equal(view.toarray(), rna.X.toarray())
    with pytest.raises(ValueError, match=r"view 'rna' is an AnnData without X; give .* adata\.obsm"):
        Views({"rna": anndata.AnnData(obs=rna.obs)})


def test_matrices_of_a_part_are_plain_arrays(parts):
    rna, shuffled, _ = parts
    views = Views([rna[:9].X, shuffled[:9].X, rna[:9]])
    assert [type(array) for array in views.arrays] == [sparse.csr_matrix, np.ndarray, sparse.csr_matrix]
