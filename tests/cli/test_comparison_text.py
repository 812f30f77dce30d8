"""The choice of a comparison says what it cannot do."""

import pytest

from manyviews.cli.comparison_text import _no_new_samples
from manyviews.cluster.registry import METHODS


@pytest.mark.parametrize("row", METHODS, ids=lambda row: row.name)
def test_a_choice_that_cannot_label_new_samples_is_said(row):
    others = [{"name": name, "criteria": {"structure": 1.0}} for name in ("fastmice", row.name)]
    text = _no_new_samples({"recommendation": {"method": row.name}, "methods": others})
    if row.predicts:
        assert text == ""
    else:
        assert text == f"{row.name} gives no labels to new samples (manyviews predict); of these methods fastmice do"
