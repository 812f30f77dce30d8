"""Tables and arrays of other libraries give the labels of the same numbers in NumPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manyviews import ConcatKMeans, Views


class Lent:
    """An array that hands its numbers over by the newer protocol only."""

    def __init__(self, array):
        self.array, self.shape, self.ndim = array, array.shape, array.ndim

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Held(Lent):
    """An array that does not hand its numbers over, as one on a GPU."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("can't convert cuda:0 device type tensor")


@pytest.fixture
def arrays(three_views):
    return [np.ascontiguousarray(X) for X in three_views[0][:2]]


@pytest.fixture
def expected(arrays):
    return labels_of(arrays)


def labels_of(X, **parameters):
    model = ConcatKMeans(3, random_state=0, **parameters).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    return model.labels_


def labelled(xarray, array, prefix="f"):
    ids = [f"s{i}" for i in range(len(array))]
    columns = [f"{prefix}{j}" for j in range(array.shape[1])]
    return xarray.DataArray(array, dims=("sample", "feature"), coords={"sample": ids, "feature": columns})


def test_exchange_protocols_are_followed(arrays, expected):
    np.testing.assert_array_equal(labels_of([Lent(X) for X in arrays]), expected)
    np.testing.assert_array_equal(labels_of(Lent(np.hstack(arrays)), views=[5, 3]), expected)


def test_numbers_that_are_out_of_reach_are_an_error_that_says_what_to_write(arrays):
    with pytest.raises(TypeError, match=r"view 'view_0' is a \w+ Held .*cpu\(\).float\(\).numpy\(\)"):
        Views([Held(arrays[0]), arrays[1]])
    with pytest.raises(TypeError, match=r"^X is a"):
        ConcatKMeans(3).fit(Held(arrays[0]))


def test_tensors_of_torch(arrays, expected):
    torch = pytest.importorskip("torch")
    tensors = [torch.from_numpy(X) for X in arrays]
    np.testing.assert_array_equal(labels_of(tensors), expected)
    np.testing.assert_array_equal(labels_of({"a": tensors[0].clone().requires_grad_(), "b": tensors[1]}), expected)
    np.testing.assert_array_equal(labels_of(torch.hstack(tensors), views=[5, 3]), expected)
    with pytest.raises(TypeError, match=r"torch Tensor .*BFloat16"):
        Views([tensors[0].bfloat16()])
    with pytest.raises(ValueError, match="give one 2-D array per view"):
        ConcatKMeans(3).fit(torch.ones(2, 4, 3))


def test_arrays_of_xarray_bring_their_labels(arrays, expected):
    xarray = pytest.importorskip("xarray")
    tables = {name: labelled(xarray, X, name) for name, X in zip("ab", arrays, strict=True)}
    np.testing.assert_array_equal(labels_of(tables), expected)
    views = Views(tables)
    assert views.feature_names[1] == ("b0", "b1", "b2")
    assert views.sample_names[:2].tolist() == ["s0", "s1"]
    with pytest.raises(ValueError, match="the indexes of views 'a' and 'b' differ"):
        Views(tables | {"b": tables["b"][::-1]})
    aligned = Views.align(tables | {"b": tables["b"][::-1]})
    np.testing.assert_array_equal(aligned.view("b"), arrays[1])


def test_one_array_of_xarray_is_cut_and_a_data_set_holds_views(arrays, expected):
    xarray = pytest.importorskip("xarray")
    table = labelled(xarray, np.hstack(arrays))
    np.testing.assert_array_equal(labels_of(table, views=[5, 3]), expected)
    by_name = {"a": [f"f{j}" for j in range(5)], "b": ["f5", "f6", "f7"]}
    np.testing.assert_array_equal(labels_of(table, views=by_name), expected)
    plain = xarray.Dataset({name: (("n", f"d_{name}"), X) for name, X in zip("ab", arrays, strict=True)})
    np.testing.assert_array_equal(labels_of(plain), expected)
    assert Views(plain).sample_names is None


def test_record_batches_with_empty_cells_and_booleans():
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"x": pyarrow.array([1.0, None, 3.0]), "flag": pyarrow.array([True, False, None])}
    batch = pyarrow.RecordBatch.from_pydict(columns)
    for table in (batch, pyarrow.Table.from_batches([batch])):
        np.testing.assert_array_equal(Views([table]).arrays[0], [[1, 1], [np.nan, 0], [3, np.nan]])


def test_a_lazy_frame_is_an_error_that_says_what_to_write(arrays):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(arrays[0])
    for X in (frame.lazy(), [frame.lazy(), frame]):
        with pytest.raises(TypeError, match=r"give frame\.collect\(\)"):
            ConcatKMeans(3).fit(X)


def test_sparse_frames_of_pandas_stay_sparse_where_zeros_are_left_out(arrays):
    counts = sparse.random(60, 8, 0.4, format="csr", random_state=0)
    frame = pd.DataFrame.sparse.from_spmatrix(counts)
    (kept,) = Views([frame]).arrays
    assert sparse.issparse(kept)
    np.testing.assert_array_equal(kept.toarray(), counts.toarray())
    partly = frame.assign(dense=arrays[0][:, 0])
    (filled,) = Views([partly]).arrays
    np.testing.assert_array_equal(filled, np.column_stack([counts.toarray(), arrays[0][:, 0]]))
