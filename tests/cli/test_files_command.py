"""The command on files as people have them: one table for several views, ids, codes, new samples for a model."""

import csv

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import pairwise_distances

K = np.repeat([0, 1, 2], 12)
RNG = np.random.default_rng(0)
A = np.round(RNG.normal(size=(36, 4)) + 6 * K[:, None] * [1, -1, 0, 2], 3)
B = np.round(RNG.normal(size=(36, 3)) - 6 * K[:, None] * [0, 1, -2], 3)
SKUS = [f"p{i}" for i in range(36)]
FIT = ("-k", 3, "--method", "op-lfmvc", "--quiet")


@pytest.fixture
def products(folder):
    columns = {f"text_{i}": A[:, i] for i in range(4)} | {"price": B[:, 0], "discount": B[:, 1], "rating": B[:, 2]}
    table = pl.DataFrame({"sku": SKUS} | columns | {"colour": np.array(["red", "blue", "red"])[K], "kind": K})
    table.write_parquet("products.parquet")
    table.write_csv("products.csv")
    return folder


def labels(path="out/labels.csv"):
    with open(path, encoding="utf-8", newline="") as stream:
        return [(row[0], int(row[1])) for row in list(csv.reader(stream))[1:]]


TWO = ("--view", "text=products.parquet:text_*", "--view", "price=products.parquet:price..rating")


def test_one_table_for_several_views_and_predict_from_it(products, run):
    done = run("cluster", *TWO, "--id", "sku", "--truth", "kind", *FIT, "--out", "out")
    assert (done.code, done.err) == (0, "")
    found = labels()
    assert [key for key, _ in found] == SKUS
    assert len({(label, k) for (_, label), k in zip(found, K, strict=True)}) == 3
    for source in (("products.csv",), ("products.parquet",), TWO):
        result = run("predict", "out", *source, "--id", "sku")
        assert result.code == 0, result.err
        lines = [line.split(",") for line in result.out.splitlines()]
        assert lines[0] == ["sku", "cluster"]
        assert [(key, int(label)) for key, label in lines[1:]] == found


def test_columns_go_by_name_after_imputation(products, run):
    holed = pl.read_csv("products.csv").with_columns(
        text_1=pl.when(pl.col("sku") == "p3").then(None).otherwise("text_1")
    )
    holed.write_csv("holed.csv")
    source = ("holed.csv", "--columns", "text_*", "--id", "sku")
    assert run("cluster", *source, "--impute", "median", *FIT, "--out", "out").code == 0
    pl.read_csv("holed.csv").select("sku", "text_3", "text_1", "text_0", "text_2").write_csv("other.csv")
    result = run("predict", "out", "other.csv", "--id", "sku", "--out", "new.csv", "--quiet")
    assert result.code == 0, result.err
    assert labels("new.csv") == labels()
    pl.read_csv("other.csv").rename({"text_2": "texts_2"}).write_csv("renamed.csv")
    result = run("predict", "out", "renamed.csv", "--id", "sku")
    assert result.code == 2
    assert "missing here: ['text_2'], unknown here: ['texts_2'] (is 'texts_2' meant for 'text_2'?)" in result.err


def test_categories_are_made_columns_for_new_samples_too(products, run):
    source = ("products.csv", "--drop", "sku,kind", "--encode", "colour")
    assert run("cluster", *source, *FIT, "--out", "out").code == 0
    pl.read_csv("products.csv").filter(pl.col("colour") == "blue").write_csv("blue.csv")
    result = run("predict", "out", "blue.csv", "--quiet")
    assert result.code == 0, result.err
    assert [line.split(",")[1] for line in result.out.splitlines()[1:]] == [
        str(labels()[i][1]) for i in np.flatnonzero(K == 1)
    ]


def test_what_is_about_correctness_is_said_even_when_quiet(products, run):
    source = ("products.csv", "--columns", "kind,text_*")
    result = run("cluster", *source, *FIT, "--out", "out")
    assert (result.code, result.err) == (0, "")
    pl.read_csv("products.csv").drop("colour", "sku").rename({"kind": "class"}).write_csv("numbers.csv")
    result = run("cluster", "numbers.csv", *FIT, "--out", "out2")
    assert result.code == 0
    assert "warning: numbers.csv: column 'class' is used as a feature; if it holds classes, give --truth" in result.err


def test_new_samples_without_a_view_are_said_to_lack_it(products, run):
    assert run("cluster", *TWO, "-k", 3, "--quiet", "--out", "out", "--method", "rmkmc").code == 0
    result = run("predict", "out", TWO[0], TWO[1], "--quiet")
    assert result.code == 0
    assert "views ['price'] are not given; every sample counts as not observed in them" in result.err
    result = run("predict", "out", "--view", TWO[1], "--view", "prize=products.parquet:price..rating")
    assert result.code == 2
    assert "missing here: ['price'], unknown here: ['prize'] (is 'prize' meant for 'price'?)" in result.err


def test_lists_on_the_command_line(products, run):
    np.save("a.npy", A)
    pl.DataFrame({"sku": SKUS}).write_csv("ids.csv")
    other = pl.DataFrame({"sku": SKUS, "y": B[:, 0], "z": [".", *map(str, B[1:, 1])]}).sample(36, shuffle=True, seed=1)
    other.write_csv("b.csv")
    argv = ("--view", "a=a.npy", "--view", "b=b.csv", "--ids", "ids.csv", "--id", "sku", "--impute", "median")
    result = run("cluster", *argv, "--missing-values", "b=.,<0.05", *FIT, "--out", "out")
    assert result.code == 0, result.err
    assert [key for key, _ in labels()] == SKUS
    result = run("cluster", *argv, "--missing-values", "c=.", *FIT, "--out", "out3")
    assert result.code == 2
    assert "--missing-values names 'c'; the views are 'a', 'b'" in result.err


def test_a_file_with_a_colon_in_its_name(products, run):
    pl.DataFrame(A).write_csv("a:b.csv")
    assert run("cluster", "--view", "a=a:b.csv", *FIT, "--out", "out").code == 0
    assert run("cluster", "--view", "a=a:b.csv:column_0..column_2", *FIT, "--out", "out2").code == 0
    result = run("cluster", "--view", "a=nothing.csv:x,y", *FIT, "--out", "out3")
    assert "nothing.csv: there is no such file" in result.err


def test_classes_of_some_samples_are_scored(products, run):
    pl.DataFrame({"sku": SKUS[:20], "kind": K[:20]}).write_csv("truth.csv")
    result = run("cluster", *TWO, "--id", "sku", "--truth", "truth.csv", *FIT[:-1], "--out", "out")
    assert result.code == 0, result.err
    assert "20 of the 36 samples have a class" in result.err
    assert "ari" in result.out


def test_distances_between_samples_from_files(folder, run):
    np.save("a.npy", pairwise_distances(A))
    np.savetxt("b.csv", pairwise_distances(B), delimiter=",")
    given = ("cluster", "--view", "a=a.npy", "--view", "b=b.csv", "-k", 3, "--set")
    for method, setting in (("sum-spectral", "affinity"), ("op-lfmvc", "base")):
        done = run(*given, f"{setting}=distance", "--method", method, "--out", method)
        assert done.code == 0, done.err
        found = [label for _, label in labels(f"{method}/labels.csv")]
        assert len(set(zip(found, K.tolist(), strict=True))) == 3
    np.save("new-a.npy", pairwise_distances(A[:5], A))
    np.savetxt("new-b.csv", pairwise_distances(B[:5], B), delimiter=",")
    done = run("predict", "op-lfmvc", "--view", "a=new-a.npy", "--view", "b=new-b.csv")
    assert [int(line.split(",")[1]) for line in done.out.splitlines()[1:]] == found[:5]
    refused = run(*given, "affinity=distance", "--method", "kcc")
    assert refused.code == 2
    assert "KCC takes no distances; use " in refused.err
    assert "OPLFMVC (base=distance)" in refused.err
    assert "SumSpectral (affinity=distance)" in refused.err
    refused = run(*given, "affinity=distance", "--method", "op-lfmvc")
    assert (refused.code, "OPLFMVC takes distances by --set base=distance" in refused.err) == (2, True)
