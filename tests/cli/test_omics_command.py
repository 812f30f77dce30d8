"""The biologist's case: a MuData file, survival, covariates, a batch, the columns that vary most, labels in obs."""

import json
import warnings

import numpy as np
import polars as pl
import pytest

pd = pytest.importorskip("pandas")
anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")
pytest.importorskip("lifelines")

N = 36
GROUP = np.arange(N) % 3


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a MuData file of three groups, whose modalities have different orders, and a clinical table."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    names = np.array([f"TCGA-{i:02d}" for i in range(N)])
    parts = {}
    for kind, width in (("rna", 30), ("meth", 12)):
        values = rng.normal(size=(N, width)).astype(np.float32)
        values[:, :6] += 6 * (GROUP[:, None] == np.arange(6) % 3)
        order = rng.permutation(N) if kind == "meth" else np.arange(N)
        obs, var = pd.DataFrame(index=names[order]), pd.DataFrame(index=[f"{kind}{j}" for j in range(width)])
        parts[kind] = anndata.AnnData(values[order], obs=obs, var=var)
    parts["rna"].obsm["X_pca"] = parts["rna"].X[:, :4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = mudata.MuData(parts)
        made.obs["subtype"] = [f"subtype {g}" for g in GROUP]
        made.obs["days"] = rng.exponential(100 * (1 + 4 * GROUP)).round(1)
        made.obs["died"] = (np.arange(N) % 5 > 0).astype(int)
        made.obs["site"] = np.array(["A", "B"])[np.arange(N) // 2 % 2]
        made.write_h5mu("cohort.h5mu")
    clinic = {"patient": names[::-1].tolist(), "age": rng.normal(60, 9, N).round(), "stage": ["I", "II"] * 18}
    clinic |= {"os": made.obs["days"].to_numpy()[::-1].tolist(), "dead": made.obs["died"].to_numpy()[::-1].tolist()}
    pl.DataFrame(clinic).write_csv("clinic.csv")
    return tmp_path


def record_of(folder):
    return json.loads((folder / "run.json").read_text())


def test_one_command_from_a_mudata_file_to_the_page(folder, drawn, run):
    words = "cluster cohort.h5mu -k 3 --truth subtype --outcome time=days,event=died --batch site --out out --seed 1"
    done = run(
        *words.split(), "--covariates", "clinic.csv:age,stage", "--write-obs", "labelled.h5mu", "--top-variance", "10"
    )
    assert done.code == 0, done.err
    assert "survival: log-rank p" in done.out
    assert "covariates: 2 columns tested, 0 with adjusted p < 0.05" in done.out
    assert "batch: The clusters do not follow the batch column site" in done.out
    record = record_of(folder / "out")
    assert record["scores"]["acc"] == 1.0
    assert record["data"]["views"] == {"rna": 10, "meth": 10}
    assert record["clinical"]["survival"]["n_used"] == N
    assert {row["name"] for row in record["clinical"]["covariates"]} == {"age", "stage"}
    assert "clinic.csv" in record["inputs"]
    page = (folder / "out" / "report.html").read_text()
    assert '<section id="clinical">' in page
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = mudata.read_h5mu("labelled.h5mu")
    labels = pl.read_csv("out/labels.csv")
    assert made.obs["cluster"][labels["sample"].to_list()].astype(int).tolist() == labels["cluster"].to_list()
    assert "cluster_confidence" in made.obs


def test_matrices_by_name_and_new_samples(folder, run):
    views = ["--view", "rna=cohort.h5mu:rna/X", "--view", "pca=cohort.h5mu:rna/obsm/X_pca"]
    assert run("cluster", *views, "-k", 3, "--top-variance", "rna=8", "--out", "out").code == 0
    told = run("predict", "out", *views, "--out", "new.csv", "--write-obs", "new.h5mu:group")
    assert told.code == 0, told.err
    assert "does not know" not in told.err
    assert pl.read_csv("new.csv")["cluster"].to_list() == pl.read_csv("out/labels.csv")["cluster"].to_list()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert mudata.read_h5mu("new.h5mu").obs["group"].notna().all()


@pytest.mark.parametrize("kind", ["npy", "csv", "kept"])
def test_a_model_that_keeps_columns_takes_the_whole_table(folder, run, kind):
    X = np.random.default_rng(0).normal(size=(N, 9)) + 7 * (GROUP[:, None] == np.arange(9) % 4)
    names = [f"g{j}" for j in range(9)]
    suffix = "npy" if kind == "npy" else "csv"
    np.save("a.npy", X)
    pl.DataFrame(X, schema=names).write_csv("a.csv")
    assert run("cluster", f"a.{suffix}", "-k", 3, "--top-variance", 5, "--out", "out").code == 0
    header = json.loads((folder / "out" / "model" / "model.json").read_text())
    kept = header["views"][0]["kept"]
    assert (kept["n_given"], len(kept["positions"])) == (9, 5)
    if kind == "kept":
        pl.DataFrame(X, schema=names)[:, kept["positions"]].with_columns(strange=1.0).write_csv("a.csv")
    told = run("predict", "out", f"a.{suffix}", "--out", "new.csv")
    assert told.code == 0, told.err
    assert ("does not know" in told.err) == (kind == "kept")
    assert pl.read_csv("new.csv")["cluster"].to_list() == pl.read_csv("out/labels.csv")["cluster"].to_list()
    np.save("a.npy", X[:, :7])
    if kind == "npy":
        told = run("predict", "out", "a.npy")
        assert (told.code, "was given 9 and keeps 5 of them" in told.err) == (2, True)


def test_what_is_kept_is_chosen_before_cells_are_filled_and_compare_and_sweep_do_it_too(folder, run):
    X = np.random.default_rng(0).normal(size=(N, 6)) * [1, 9, 8, 1, 7, 1] + 20 * GROUP[:, None]
    X[3, 1] = np.nan
    np.save("a.npy", X)
    words = ("-k", 3, "--top-variance", 3, "--impute", "median", "--seeds", 1)
    assert run("cluster", "a.npy", *words[:-2], "--out", "out").code == 0
    assert record_of(folder / "out")["data"]["views"] == {"a": 3}
    assert run("predict", "out", "a.npy", "--out", "new.csv").code == 0
    told = run("compare", "a.npy", *words, "--methods", "concat-kmeans,average-kkm", "--parts", 0, "--out", "c")
    assert told.code == 0, told.err
    assert "--top-variance 3" in record_of(folder / "c")["repeat_with"]
    told = run("sweep", "a.npy", *words, "--method", "concat-kmeans", "--vary", "n_init=1,2", "--out", "s")
    assert told.code == 0, told.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--outcome time=days", "write --outcome time=COLUMN,event=COLUMN"),
        ("--outcome time=day,event=died", "there is no column 'day' that describes the samples"),
        (
            "--outcome time=subtype,event=died",
            "column 'subtype' has 'subtype 0' for sample TCGA-00; a time is",
        ),
        ("--outcome time=days,event=days", "write 1 where the event was seen and 0"),
        (
            "--outcome time=oss,event=dead --covariates clinic.csv",
            "clinic.csv has no column 'oss'; did you mean 'os'? Nor do the data",
        ),
        ("--batch zzz --outcome time=days,event=dead --covariates clinic.csv", "'. Nor do the data: there is no"),
        ("--batch sites", "there is no column 'sites' that describes the samples in cohort.h5mu; did you mean 'site'"),
        ("--covariates none.csv", "there is no such file"),
        ("--covariates clinic.csv:agee", "has no column 'agee'; did you mean 'age'"),
        ("--covariates other.csv", "has none of the 36 samples"),
        ("--top-variance 0", "give a whole number of columns"),
        ("--top-variance gene=5", "there is no such view; the views are rna, meth"),
        ("--top-variance 5 --top-variance rna=3", "give one number for all views, or VIEW=NUMBER"),
        ("--write-obs labelled.csv", "name a new .h5ad or .h5mu file"),
        ("--write-obs labelled.h5ad", "give it the same ending"),
        ("--write-obs cohort.h5mu", "is the input itself"),
        ("--write-obs new.h5mu:site", "obs has a column 'site' already"),
        ("--write-obs out/new.h5mu", "lies in the output folder out"),
        ("--transpose rna", "the samples of a .h5mu file are its rows"),
    ],
)
def test_wrong_input_is_said_in_one_line_and_nothing_is_written(folder, run, words, said):
    pl.DataFrame({"id": ["a", "b"], "age": [1, 2]}).write_csv("other.csv")
    before = sorted(path.name for path in folder.iterdir())
    done = run("cluster", "cohort.h5mu", "-k", 3, "--out", "out", *words.split())
    assert done.code == 2
    assert said in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert sorted(path.name for path in folder.iterdir()) == before


def test_an_outcome_in_an_input_table_is_no_feature(folder, run):
    X = np.random.default_rng(0).normal(size=(N, 3)) + 9 * GROUP[:, None]
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(os=pl.lit(5.0), dead=pl.lit(1))
    frame.write_csv("t.csv")
    assert run("cluster", "t.csv", "-k", 3, "--outcome", "time=os,event=dead", "--out", "out").code == 0
    record = record_of(folder / "out")
    assert record["data"]["views"] == {"t": 3}
    assert record["clinical"]["survival"]["n_used"] == N


def test_a_table_of_covariates_has_outcome_and_batch_too(folder, run):
    words = ["--covariates", "clinic.csv", "--outcome", "time=os,event=dead", "--batch", "stage"]
    done = run("cluster", "cohort.h5mu", "-k", 3, "--out", "out", *words)
    assert done.code == 0, done.err
    record = record_of(folder / "out")
    assert [row["name"] for row in record["clinical"]["covariates"]] == ["age"]
    from_obs = run("cluster", "cohort.h5mu", "-k", 3, "--out", "obs", "--outcome", "time=days,event=died")
    assert from_obs.code == 0
    assert record["clinical"]["survival"] == record_of(folder / "obs")["clinical"]["survival"]


def test_without_the_packages_the_extra_is_named(folder, run, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "lifelines", None)
    done = run("cluster", "cohort.h5mu", "-k", 3, "--out", "out", "--outcome", "time=days,event=died")
    assert (done.code, "manyviews[omics]" in done.err) == (2, True)
    monkeypatch.setitem(__import__("sys").modules, "anndata.io", None)
    done = run("cluster", "cohort.h5mu", "-k", 3, "--out", "out")
    assert (done.code, "pip install 'manyviews[omics]'" in done.err) == (2, True)
