"""Named recipes give the settings of the papers and of the released codes."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from manyviews import MSPL, MVEC, OPLFMVC, UDBGL, FastMICE
from manyviews.graphs.components import Components, largest_components

SYSTEMS = (FastMICE, OPLFMVC, MVEC, MSPL, UDBGL)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("recipe", ["as_published", "as_printed"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_recipes_are_estimators_that_fit(system, recipe, three_views):
    model = getattr(system, recipe)(3, random_state=0)
    assert type(model) is system
    assert clone(model).get_params() == model.get_params()
    labels = model.fit(three_views[0]).labels_
    assert labels.shape == (len(three_views[0][0]),)
    assert set(labels) <= {0, 1, 2}


@pytest.mark.parametrize("system", SYSTEMS)
def test_text_code_and_default_are_three_things(system):
    settings = [repr(make.get_params()) for make in (system(4), system.as_published(4), system.as_printed(4))]
    assert len(set(settings)) == 3


def test_a_recipe_may_be_changed():
    assert FastMICE.as_published(4, n_base_clusterings=3).n_base_clusterings == 3
    assert FastMICE.as_published(4).n_base_clusterings == 20
    assert OPLFMVC.as_printed(4).tol == 1e-3
    assert OPLFMVC.as_published(4).update_order == "released"


def test_udbgl_without_fall_back_labels_by_components(three_views):
    with pytest.warns(ConvergenceWarning, match="the labels are its components"):
        model = UDBGL(3, rank_rule="released", max_passes=1, fallback=False, random_state=0).fit(three_views[0])
    assert model.n_components_ != 3
    assert len(set(model.labels_)) == min(model.n_components_, 3)


def test_more_components_than_clusters_end_in_the_last_cluster():
    found = Components(4, np.array([0, 1, 1, 1, 2, 3, 3]), np.array([1, -1, 3, 0, 2]))
    anchors, samples = largest_components(found, 3)
    np.testing.assert_array_equal(samples, [2, 0, 0, 0, 2, 1, 1])
    np.testing.assert_array_equal(anchors, [0, -1, 1, 2, 2])
