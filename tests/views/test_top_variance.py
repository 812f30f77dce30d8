"""The columns that vary most: which ones, ties, sparse tables, new samples."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from manyviews import ConcatKMeans, PerView, Views
from manyviews.preprocessing import TopVariance


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 6)) * [1.0, 5.0, 0.1, 3.0, 0.0, 2.0] + 10


def test_it_is_a_transformer_of_scikit_learn():
    check_estimator(TopVariance(n_features=3))


def test_the_columns_of_largest_variance_are_kept_in_the_order_of_the_table(table):
    made = TopVariance(3).fit(table)
    np.testing.assert_array_equal(made.get_support(indices=True), [1, 3, 5])
    np.testing.assert_array_equal(made.transform(table), table[:, [1, 3, 5]])
    np.testing.assert_allclose(made.variances_, table.var(axis=0), atol=1e-12)


def test_of_equal_columns_the_first_are_kept_even_where_the_same_numbers_come_in_another_order():
    rng = np.random.default_rng(1)
    column = rng.normal(size=500) * 1e3
    X = np.column_stack([rng.permutation(column) for _ in range(8)])
    np.testing.assert_array_equal(TopVariance(3).fit(X).get_support(indices=True), [0, 1, 2])
    np.testing.assert_array_equal(TopVariance(3).fit(sparse.csr_matrix(X)).get_support(indices=True), [0, 1, 2])


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_sparse_table_keeps_what_a_dense_one_does_and_stays_sparse(offset):
    X = sparse.random(60, 50, density=0.2, random_state=0, format="csr", dtype=np.float32)
    X.data += np.float32(offset)
    dense, thin = TopVariance(9).fit(X.toarray()), TopVariance(9).fit(X)
    np.testing.assert_array_equal(dense.get_support(), thin.get_support())
    np.testing.assert_allclose(dense.variances_, thin.variances_, rtol=1e-9)
    kept = thin.transform(X)
    assert sparse.issparse(kept)
    assert kept.dtype == np.float32


def test_constant_columns_are_kept_only_where_nothing_varies(table):
    assert TopVariance(6).fit_transform(table).shape == (40, 5)
    # 0.1 has no finite binary form: the variance of a constant column can be a little more than 0
    still = np.full((7, 4), 0.1)
    assert TopVariance(3).fit_transform(still).shape == (7, 3)


def test_empty_cells_do_not_count(table):
    gappy = table.copy()
    gappy[3, 1] = gappy[:, 0] = np.nan
    made = TopVariance(1).fit(gappy)
    assert made.get_support(indices=True).tolist() == [1]
    assert made.variances_[0] == 0
    np.testing.assert_allclose(made.variances_[1], np.nanvar(gappy[:, 1]))


@pytest.mark.parametrize("n_features", [0, -1, 2.5, "many", None, True])
def test_the_number_of_columns_is_a_whole_number(n_features, table):
    with pytest.raises(ValueError, match="n_features must be a whole number of at least 1"):
        TopVariance(n_features).fit(table)


def test_per_view_keeps_names_and_new_samples_are_given_with_all_columns(table):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(table, columns=list("abcdef"))
    views = Views({"wide": frame, "narrow": table[:, :2]})
    chosen = PerView(TopVariance(3)).fit_transform(views)
    assert chosen.feature_names[0] == ("b", "d", "f")
    assert chosen.view("narrow").shape == (40, 2)
    model = make_pipeline(PerView(TopVariance(3)), ConcatKMeans(2, random_state=0)).fit(views)
    np.testing.assert_array_equal(model.predict(views), model[-1].labels_)


def test_samples_that_a_view_lacks_do_not_count_and_stay_so(table):
    wide = table.copy()
    wide[::2] = np.nan
    views = Views({"wide": wide, "other": table})
    chosen = PerView(TopVariance(2)).fit_transform(views)
    assert np.isnan(chosen.view("wide")[::2]).all()
    np.testing.assert_array_equal(chosen.view("wide")[1::2], table[1::2][:, [1, 3]])
