"""Models come back as they were; foreign, damaged or hostile folders are refused."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from contextlib import ExitStack
from io import BytesIO

import numpy as np
import pytest
import skops.io
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

import manyviews
from few_members import few_votes, quick
from manyviews import Views
from manyviews.cluster.registry import METHODS
from manyviews.io import load_model
from manyviews.io import model as model_files
from manyviews.io.files import checksum
from manyviews.io.model import FORMAT, match_features, save_model
from manyviews.io.model_types import is_model_type
from manyviews.io.write import atomic_folder, model_folder

RNG = np.random.default_rng(0)
X = Views({"a": RNG.normal(size=(30, 4)), "b": RNG.normal(size=(30, 3))})


@pytest.fixture
def folder(tmp_path):
    save_model(KMeans(2, n_init=1, random_state=0).fit(X.concatenate()), tmp_path / "model", X)
    return tmp_path / "model"


def edit(folder, **changes):
    header = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps(header | changes))


@pytest.mark.parametrize("method", [method for method in METHODS if method.predicts], ids=lambda method: method.name)
def test_every_method_that_predicts_survives_the_round_trip(tmp_path, method, monkeypatch):
    few_votes(monkeypatch)
    plain = quick(method, random_state=0)
    variants = [plain]
    if "approximation" in plain.get_params():
        variants.append(clone(plain).set_params(approximation="nystrom", n_landmarks=10))
    for number, model in enumerate(variants):
        save_model(model.fit(X), tmp_path / str(number), X)
        loaded = load_model(tmp_path / str(number))
        assert type(loaded) is method.load()
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        np.testing.assert_array_equal(loaded.history_.objective, model.history_.objective)


def test_the_folder_names_methods_as_users_know_them(tmp_path):
    """A method may move to another file without making the models of users unreadable."""
    (tmp_path / "out").mkdir()
    save_model(manyviews.OPLFMVC(3, random_state=0).fit(X), tmp_path / "out" / "model", X)
    header = json.loads((tmp_path / "out/model/model.json").read_text())
    assert (header["class"], header["format"]) == ("OPLFMVC", FORMAT)
    with zipfile.ZipFile(tmp_path / "out/model/model.skops") as archive:
        schema = json.loads(archive.read("schema.json"))
    assert (schema["__module__"], schema["__class__"]) == ("manyviews", "OPLFMVC")
    assert ".op_lfmvc" not in json.dumps(schema)
    # the output folder of the command will do too
    assert isinstance(load_model(tmp_path / "out"), manyviews.OPLFMVC)


def test_scikit_learn_types_need_no_further_trust(folder):
    loaded = load_model(folder)
    assert loaded.predict(X.concatenate()).shape == (30,)


def test_types_that_no_model_has_are_refused(tmp_path, monkeypatch):
    model = manyviews.ConcatKMeans(2, random_state=0).fit(X)
    model.held_ = X
    with pytest.raises(TypeError, match=r"holds manyviews\.Views, which load_model would refuse"):
        save_model(model, tmp_path / "m", X)
    assert not (tmp_path / "m").exists()
    with monkeypatch.context() as careless:
        careless.setattr(model_files, "_refused", lambda asked: [])
        save_model(model, tmp_path / "m", X)
    with pytest.raises(ValueError, match=r"asks for manyviews.Views, which no manyviews model is made of"):
        load_model(tmp_path / "m")


class Trace:
    made = 0

    def __init__(self):
        self.value = 1

    def __setstate__(self, state):
        Trace.made += 1


def test_hostile_file_runs_nothing(tmp_path, folder):
    skops.io.dump({"model": Trace(), "call": os.system}, folder / "model.skops")
    edit(folder, sha256=checksum(folder / "model.skops"))
    with pytest.raises(ValueError, match="no manyviews model is made of"):
        load_model(folder)
    assert Trace.made == 0


def test_a_crafted_node_cannot_claim_to_be_of_a_trusted_class(folder):
    """Before skops 0.12 a method was checked by the class that the file claims, not by that of its object."""
    with zipfile.ZipFile(folder / "model.skops") as archive:
        members = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    schema = json.loads(members["schema.json"])
    with zipfile.ZipFile(BytesIO(skops.io.dumps(Trace()))) as archive:
        hostile = json.loads(archive.read("schema.json"))
    claimed = {"__class__": "OPLFMVC", "__module__": "manyviews"}
    node = claimed | {"__loader__": "MethodNode", "__id__": 1, "content": {"func": "__reduce__", "obj": hostile}}
    schema["content"]["content"]["cluster_centers_"] = node
    with zipfile.ZipFile(folder / "model.skops", "w") as archive:
        for name, content in (members | {"schema.json": json.dumps(schema).encode()}).items():
            archive.writestr(name, content)
    edit(folder, sha256=checksum(folder / "model.skops"))
    with pytest.raises(ValueError, match="cannot be read") as caught:
        load_model(folder)
    assert "Expected object of type manyviews.OPLFMVC" in str(caught.value.__cause__)
    assert Trace.made == 0


@pytest.mark.parametrize(
    ("name", "trusted"),
    [
        ("manyviews.OPLFMVC", True),
        ("manyviews.ViewImputer", True),
        ("manyviews.PerView", True),
        ("manyviews.Views", False),
        ("manyviews.datasets", False),
        ("manyviews.nope", False),
        ("manyviews.import_module", False),
        ("manyviews.cluster.late_fusion.op_lfmvc.OPLFMVC", False),
        ("manyviews.optim.history.History", True),
        ("manyviews.optim.alternating.alternate", False),
        ("manyviews.optim.history.np", False),
        ("manyviews.cluster.registry.import_module", False),
        ("manyviews.cluster.base.Views", False),
        ("manyviews.cluster.nope.Nope", False),
        ("manyviews.cluster..x", False),
        ("manyviews.views.Views", False),
        ("manyviews.__main__.main", False),
        ("os.system", False),
        ("", False),
    ],
)
def test_which_types_are_trusted(name, trusted):
    assert is_model_type(name) is trusted


def test_damage_is_noticed(folder):
    body = folder / "model.skops"
    content = body.read_bytes()
    body.write_bytes(content[:-10])
    with pytest.raises(ValueError, match="missing or damaged"):
        load_model(folder)
    edit(folder, sha256=checksum(body))
    with pytest.raises(ValueError, match=r"cannot be read .*fit and save the model again"):
        load_model(folder)
    body.unlink()
    with pytest.raises(ValueError, match="missing or damaged"):
        load_model(folder)


def test_foreign_and_newer_folders(tmp_path, folder):
    with pytest.raises(ValueError, match="no such model folder"):
        load_model(tmp_path / "nope")
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match=r"no model folder: it has no model\.json"):
        load_model(tmp_path / "other")
    for views in (None, {}, [], [{"name": "a"}]):
        edit(folder, views=views)
        with pytest.raises(ValueError, match=r"model\.json are damaged"):
            load_model(folder)
    edit(folder, views=[{"name": "a", "n_features": 1, "feature_names": None}])
    edit(folder, format=99)
    with pytest.raises(
        ValueError, match=rf"has format 99 \(written by manyviews .* reads format {FORMAT}; update manyviews$"
    ):
        load_model(folder)
    edit(folder, format=1)
    with pytest.raises(ValueError, match=rf"has format [12] .* reads format {FORMAT}; fit and save the model again$"):
        load_model(folder)
    edit(folder, format=FORMAT, **{"class": "OPLFMVC"})
    with pytest.raises(ValueError, match="do not belong together"):
        load_model(folder)
    for text in ("[]", "{}", '{"format": "x"}', "{", "\xff"):
        (folder / "model.json").write_text(text, encoding="latin-1")
        with pytest.raises(ValueError, match=r"model\.json"):
            load_model(folder)


def test_views_are_matched_by_name(folder):
    swapped = match_features(X.select(["b", "a"]), folder)
    assert swapped.names == ("a", "b")
    np.testing.assert_array_equal(swapped.arrays[0], X.arrays[0])
    with pytest.raises(ValueError, match=r"missing here: \['b'\], unknown here: \[\]; .*--view NAME=FILE"):
        match_features(X.select(["a"]), folder)
    with pytest.raises(ValueError, match=r"missing here: \['a'\], unknown here: \['c'\]"):
        match_features(Views({"c": X.arrays[0], "b": X.arrays[1]}), folder)
    with pytest.raises(ValueError, match="view 'b' has 4 features, but was fitted with 3"):
        match_features(Views({"a": X.arrays[0], "b": X.arrays[0]}), folder)


def test_columns_of_tables_are_matched_by_name(tmp_path):
    import polars as pl

    table = pl.DataFrame({"u": [1.0, 2.0], "v": [3.0, 4.0]})
    fitted = Views({"t": table})
    save_model(StandardScaler().fit(fitted.arrays[0]), tmp_path / "m", fitted)
    # The only view of a file may have any name.
    matched = match_features(Views({"other": table.select("v", "u")}, sample_names=["p", "q"]), tmp_path / "m")
    np.testing.assert_array_equal(matched.view("t"), fitted.view("t"))
    assert matched.sample_names.tolist() == ["p", "q"]
    with pytest.raises(ValueError, match=r"other columns .*missing here: \['v'\], unknown here: \['w'\]"):
        match_features(Views({"t": table.rename({"v": "w"})}), tmp_path / "m")
    with pytest.raises(ValueError, match="has 1 features"):
        match_features(Views({"t": np.ones((2, 1))}), tmp_path / "m")


def test_a_model_folder_reaches_nothing_outside_of_it(tmp_path, folder):
    """The description names no files, and members of the archive are looked up in it, never on the disk."""
    secret = tmp_path / "secret"
    (folder / "model.skops").rename(secret)
    edit(folder, file="../secret", body="../secret", sha256=checksum(secret))
    with pytest.raises(ValueError, match="missing or damaged"):
        load_model(folder)
    with zipfile.ZipFile(secret) as whole, zipfile.ZipFile(folder / "model.skops", "w") as archive:
        schema = json.loads(whole.read("schema.json"))
        np.save(tmp_path / "outside.npy", np.zeros(3))
        archive.writestr("schema.json", json.dumps(redirected(schema)))
    edit(folder, sha256=checksum(folder / "model.skops"))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match=r"cannot be read \(KeyError"):
        load_model(folder)
    assert sorted(tmp_path.rglob("*")) == before


def redirected(node):
    """Return a description of a model whose arrays are said to lie beside the folder."""
    if isinstance(node, dict):
        return {key: "../outside.npy" if key == "file" else redirected(value) for key, value in node.items()}
    return [redirected(item) for item in node] if isinstance(node, list) else node


@pytest.mark.parametrize(
    "views", [None, [], [{}], ["a"], [{"name": "a", "n_features": "4", "feature_names": None}], {}]
)
def test_a_damaged_description_of_the_views(folder, views):
    edit(folder, views=views)
    with pytest.raises(ValueError, match=r"the views in model\.json are damaged"):
        load_model(folder)


def test_a_model_fitted_in_python_is_saved_with_views_of_any_form(tmp_path):
    tables = {"a": X.arrays[0], "b": X.arrays[1]}
    model = manyviews.ConcatKMeans(2, random_state=0)
    with pytest.raises(NotFittedError):
        manyviews.io.save_model(model, tmp_path / "none", tables)
    assert not (tmp_path / "none").exists()
    model.fit(tables)
    whole = manyviews.ConcatKMeans(2, views=[4, 3], random_state=0).fit(X.concatenate())
    manyviews.io.save_model(model, tmp_path / "mapping", tables)
    manyviews.io.save_model(whole, tmp_path / "table", X.concatenate())
    assert [view["name"] for view in json.loads((tmp_path / "mapping" / "model.json").read_text())["views"]] == [
        "a",
        "b",
    ]
    np.testing.assert_array_equal(load_model(tmp_path / "mapping").predict(tables), model.labels_)
    np.testing.assert_array_equal(load_model(tmp_path / "table").predict(X.concatenate()), whole.labels_)
    with pytest.raises(FileExistsError, match="is there already; give the name of a new folder"):
        manyviews.io.save_model(model, tmp_path / "mapping", tables)
    manyviews.io.save_model(model, tmp_path / "turned", dict(reversed(tables.items())))
    assert [view["name"] for view in json.loads((tmp_path / "turned" / "model.json").read_text())["views"]] == [
        "a",
        "b",
    ]


def test_a_model_that_cannot_be_saved_leaves_no_folder(tmp_path, monkeypatch):
    model = manyviews.ConcatKMeans(2, random_state=0).fit(X)
    for others in (X.select(["a"]), [X.arrays[0], X.arrays[0]]):
        with pytest.raises(ValueError, match=r"fitted on views with 4, 3 columns, these have 4"):
            save_model(model, tmp_path / "m", others)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r"pip install .manyviews\[cli\]"):
        save_model(model, tmp_path / "m", X)
    monkeypatch.undo()
    assert not (tmp_path / "m").exists()
    save_model(model, tmp_path / "m", X)
    np.testing.assert_array_equal(load_model(tmp_path / "m").predict(X), model.labels_)


KILLED = """
import os, sys
import skops.io
import manyviews
from manyviews.io import save_model
from manyviews.io.write import atomic_folder

dump = skops.io.dump

def dies(estimator, path):
    dump(estimator, path)
    os.kill(os.getpid(), 9)

skops.io.dump = dies
X = [[[0.0], [0.1], [5.0], [5.1]]] * 2
model = manyviews.ConcatKMeans(2, random_state=0).fit(X)
if sys.argv[1] == "alone":
    save_model(model, "m", X)
with atomic_folder("m") as folder:  # as the commands do
    save_model(model, folder / "model", X)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="locks and signals of POSIX")
@pytest.mark.parametrize("place", ["alone", "in an output folder"])
def test_what_a_kill_left_of_a_model_is_removed_at_the_next_start(tmp_path, place):
    """Whatever is written to the place next: the model alone, or an output folder with one."""
    subprocess.run([sys.executable, "-c", KILLED, place], cwd=tmp_path, check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".m.")
    assert [path.name for path in left.rglob("*.part")] == ["model.part"]
    again = tmp_path / "again" / left.name
    shutil.copytree(left, again)
    model = manyviews.ConcatKMeans(2, random_state=0).fit(X)
    save_model(model, tmp_path / "m", X)
    assert [path.name for path in tmp_path.iterdir() if path.name != "again"] == ["m"]
    with atomic_folder(tmp_path / "again" / "m") as folder:
        save_model(model, folder / "model", X)
    assert [path.name for path in again.parent.iterdir()] == ["m"]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("", "is empty; give one"),
        ("n" * 300, "cannot be written .*too long"),
        ("file/m", "file is a file, not a folder"),
    ],
)
def test_places_that_no_model_can_be_written_to(tmp_path, monkeypatch, place, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    model = manyviews.ConcatKMeans(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match=words) as caught:
        save_model(model, place, X)
    assert "--" not in str(caught.value)  # no words of the command
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_of_two_that_write_one_model_the_first_to_end_stays(tmp_path):
    model = manyviews.ConcatKMeans(2, random_state=0).fit(X)
    with ExitStack() as stack:
        other = stack.enter_context(model_folder(tmp_path / "m"))
        save_model(model, tmp_path / "m", X)
        assert other.is_dir()
        with pytest.raises(FileExistsError, match="is there already"):
            stack.close()
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    assert isinstance(load_model(tmp_path / "m"), manyviews.ConcatKMeans)
