"""Counts with their nouns."""

import pytest

from manyviews.pages.wording import clusters_of


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ([7], "a single cluster of 7 samples"),
        ([1], "a single cluster of 1 sample"),
        ([1, 1], "2 clusters of 1 sample each"),
        ([3, 3, 3], "3 clusters of 3 samples each"),
        ([1, 1200], "2 clusters of 1 to 1,200 samples"),
    ],
)
def test_clusters_are_told_with_their_sizes(sizes, words):
    assert clusters_of(sizes) == words
