"""What notebooks show: tables in which every name is escaped."""

import numpy as np
import pytest
import sklearn
from scipy import sparse

from manyviews import RMKMC, ConcatKMeans, FastMICE, Views
from manyviews.datasets.dataset import Dataset
from manyviews.views.markup import MOST_ROWS, html_table

BAD = '<img src=x onerror="alert(1)">'


def test_a_table_is_escaped_and_long_ones_are_counted():
    page = html_table(BAD, [BAD, "n"], [(BAD, 1)] * (MOST_ROWS + 2), note=BAD)
    assert "<img" not in page
    assert page.count("&lt;img") == MOST_ROWS + 3
    assert "and 2 more" in page


def test_views_show_widths_storage_and_missing_samples():
    first = np.ones((3, 2), dtype=np.float32)
    first[1] = np.nan
    page = Views({BAD: first, "text": sparse.eye(3, format="csr")})._repr_html_()
    assert "<img" not in page
    assert "Views of 3 samples" in page
    assert "float32" in page
    assert "sparse float64" in page
    assert '<td style="text-align:right">1</td>' in page


def test_a_data_set_shows_classes_with_sizes():
    views = Views([np.eye(3)])
    page = Dataset(BAD, views, np.array([0, 0, 1]), (BAD, "b"), "a lab", "CC0")._repr_html_()
    assert "<img" not in page
    assert "(2), b (1)" in page
    assert "a lab" in page
    assert "no labels" in Dataset("x", views, None, (), "", "")._repr_html_()


def test_a_fitted_model_shows_sizes_and_weights_below_its_parameters(three_views):
    views, _ = three_views
    model = FastMICE(3, random_state=0)
    assert "clusters" not in model._repr_html_().partition("</style>")[2].replace("n_clusters", "")
    model.fit(dict(zip(["a", BAD, "c"], views, strict=True)))
    for page in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "60 samples in 3 clusters: 20, 20, 20" in page
        assert "<img" not in page
        assert page.count("60 samples in") == 1
    weighted = RMKMC(3, random_state=0).fit(views)
    assert f"{weighted.view_weights_[0]:.3f}" in weighted._repr_html_()


def test_text_is_shown_where_scikit_learn_is_told_so(three_views):
    model = ConcatKMeans(3, random_state=0).fit(three_views[0])
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        with pytest.raises(AttributeError, match="diagram"):
            _ = model._repr_html_
