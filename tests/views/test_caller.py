"""Warnings name the line of the user's own code, whatever lies between."""

import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import manyviews
from manyviews import MVEC, OPLFMVC, RMKMC, FastMICE, PerView, Views
from manyviews.cluster import memory
from manyviews.views.caller import warn_user


@pytest.fixture
def views():
    rng = np.random.default_rng(0)
    centers = 5.0 * rng.standard_normal((3, 4))
    y = np.repeat(np.arange(3), 20)
    return [centers[y] + rng.standard_normal((60, 4)), centers[y] + rng.standard_normal((60, 4))]


def lines_of(call, *categories):
    """Return file and line of the warnings of a call, and the line that it stands on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    kept = [w for w in caught if not categories or w.category in categories]
    assert kept, "nothing was warned of"
    return {(w.filename, w.lineno) for w in kept}


def here(call):
    return {(__file__, call.__code__.co_firstlineno)}


@pytest.mark.parametrize("method", [MVEC, RMKMC])
def test_fit_that_does_not_converge(views, method):
    call = lambda: method(3, max_iter=1, random_state=0).fit(views)  # noqa: E731
    assert lines_of(call, ConvergenceWarning) == here(call)


@pytest.mark.parametrize("method", [MVEC, RMKMC, OPLFMVC])
def test_fit_with_a_constant_view(views, method):
    call = lambda: method(3, random_state=0).fit([*views, np.ones((60, 2))])  # noqa: E731
    assert lines_of(call, UserWarning) == here(call)


def test_fit_when_memory_is_short(views, monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", lambda: (10**9, 10))
    call = lambda: FastMICE(3, random_state=0).fit(views)  # noqa: E731
    assert lines_of(call) == here(call)


def test_fit_by_other_ways_in(views):
    scaled = make_pipeline(PerView(StandardScaler()), MVEC(3, max_iter=1, random_state=0))
    call = lambda: MVEC(3, max_iter=1, random_state=0).fit_predict(views)  # noqa: E731
    assert lines_of(call) == here(call)
    call = lambda: scaled.fit(views)  # noqa: E731
    assert lines_of(call) == here(call)


def test_fit_by_a_search_of_parameters(views):
    search = GridSearchCV(
        RMKMC(3, max_iter=1, random_state=0), {"weight_exponent": [2.0]}, cv=2, scoring=lambda *_: 0.0
    )
    call = lambda: search.fit(Views(views))  # noqa: E731
    assert lines_of(call, ConvergenceWarning) == here(call)


def test_predict_on_a_table_without_the_names_of_the_fit(views):
    import pandas as pd

    frame = pd.DataFrame(np.hstack(views), columns=list("abcdefgh"))
    model = FastMICE(3, views=[4, 4], random_state=0).fit(frame)
    call = lambda: model.predict(frame.to_numpy())  # noqa: E731
    assert lines_of(call) == here(call)


def test_align_of_tables_with_few_ids_in_common():
    import pandas as pd

    a = pd.DataFrame({"x": np.arange(50.0)}, index=[f"s{i}" for i in range(50)])
    b = pd.DataFrame({"y": np.arange(50.0)}, index=[f"s{i}" for i in range(49, 99)])
    call = lambda: Views.align({"a": a, "b": b}, how="outer")  # noqa: E731
    assert lines_of(call) == here(call)


def test_predict_without_one_of_the_views(views):
    model = FastMICE(3, n_base_clusterings=20, random_state=0).fit({"a": views[0], "b": views[1]})
    call = lambda: model.predict({"a": views[0]})  # noqa: E731
    assert lines_of(call) == here(call)


def test_report(views, monkeypatch):
    from manyviews.report import notebook

    # nothing warns in a report today, so code of the package that does is put in
    code = compile("lambda *_, **__: warn_user('told')", notebook.__file__, "eval")
    monkeypatch.setattr(notebook, "summarize", eval(code, vars(notebook) | {"warn_user": warn_user}))
    call = lambda: manyviews.report(FastMICE(3, random_state=0).fit(views), views)  # noqa: E731
    assert lines_of(call) == here(call)


def test_a_user_of_a_user_is_named_by_the_nearest_line_of_their_code():
    call = lambda: warn_user("told")  # noqa: E731
    assert lines_of(lambda: Parallel(1)([delayed(call)()])) == here(call)


def test_a_package_of_the_user_with_a_name_that_begins_like_ours(tmp_path, monkeypatch):
    (tmp_path / "manyviews_plus.py").write_text("from manyviews.views.caller import warn_user\nwarn_user('told')\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert lines_of(lambda: __import__("manyviews_plus")) == {(str(tmp_path / "manyviews_plus.py"), 2)}


def test_code_that_is_in_no_file():
    code = "from manyviews.views.caller import warn_user\nwarn_user('told')"
    for arguments, given in ((["-c", code], None), (["-"], code)):
        done = subprocess.run([sys.executable, *arguments], input=given, capture_output=True, text=True, check=True)
        assert ":2: UserWarning: told" in done.stderr


def test_a_thread_of_ours_has_no_line_of_the_user_and_still_warns():
    thread = threading.Thread(target=warn_user, args=("told",))
    found = lines_of(lambda: (thread.start(), thread.join()))
    assert len(found) == 1


def test_nothing_but_this_helper_warns():
    """A warning by ``warnings.warn`` would name a line of this package."""
    import ast
    from pathlib import Path

    direct = []
    for path in Path(manyviews.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("warn", "warn_explicit"):
                direct.append((path.name, ast.unparse(node)))
    assert direct == [("caller.py", "warnings.warn_explicit")]
    assert sys.modules["manyviews.views.caller"].__all__ == ["relayed_warnings", "warn_user"]
