import hashlib
import re
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from manyviews import datasets

FOLDER = Path(__file__).parents[3] / "shared" / "data"
ENTRIES = datasets.available()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_entry_is_complete(entry):
    assert re.fullmatch("[a-z0-9_]+", entry.name)
    assert entry.title
    assert entry.source
    assert entry.licence
    assert entry.get.endswith(".")
    assert entry.n_samples >= entry.n_clusters >= 2
    assert entry.n_views >= 2
    assert not entry.views or len(entry.views) == entry.n_views
    assert all(width > 0 for _, width in entry.views)
    assert len({name for name, _ in entry.views}) == len(entry.views)
    for checksum in (entry.sha256, entry.original_sha256):
        assert checksum is None or re.fullmatch("[0-9a-f]{64}", checksum)
    assert entry.file == f"{entry.name}.npz"


def test_names_and_aliases_are_unique():
    spoken = [re.sub("[-_ ]", "", name) for entry in ENTRIES for name in (entry.name, *entry.aliases)]
    assert len(spoken) == len(set(spoken))


def test_only_open_data_are_bundled():
    assert [entry.name for entry in ENTRIES if entry.bundled] == ["mfeat"]
    assert datasets.names()[0] == "mfeat"
    assert list(datasets.names()[1:]) == sorted(datasets.names()[1:])


@pytest.mark.parametrize("spelling", ["3sources", "3-Sources", "3 SOURCES", "3_sources"])
def test_spelling_does_not_matter(spelling):
    assert datasets.info(spelling).name == "3sources"


@pytest.mark.parametrize(
    ("alias", "name"), [("Handwritten", "mfeat"), ("cal-20", "caltech101_20"), ("AwA", "animals_with_attributes")]
)
def test_aliases(alias, name):
    assert datasets.info(alias).name == name


def test_unknown_name_suggests_a_close_one():
    with pytest.raises(ValueError, match=r"no data set is called '3source'\. Did you mean '3sources'"):
        datasets.info("3source")
    with pytest.raises(ValueError, match="Did you mean 'mfeat'"):
        datasets.info("handwriten")
    with pytest.raises(ValueError, match="Known sets: mfeat, ") as caught:
        datasets.info("qqqqq")
    assert "mean" not in str(caught.value)


def test_entries_are_frozen():
    with pytest.raises(FrozenInstanceError):
        ENTRIES[0].licence = "mine"


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.sha256], ids=lambda entry: entry.name)
def test_facts_match_the_files(entry):
    path = FOLDER / entry.file
    if not path.exists():
        pytest.skip(f"{entry.file} is not in {FOLDER}")
    if not entry.bundled:
        assert hashlib.sha256(path.read_bytes()).hexdigest() == entry.sha256
    data = datasets.load(path)
    assert [(name, array.shape) for name, array in data.views.items()] == [
        (name, (entry.n_samples, width)) for name, width in entry.views
    ]
    assert len(data.class_names) == entry.n_clusters == data.labels.max() + 1
    assert data.labels.min() == 0
