"""Figures of a result: what they draw is what the data say; names are escaped; the model is left alone."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from manyviews import Views, plots
from manyviews.findings.heat import feature_scores
from manyviews.findings.result import read_result
from manyviews.findings.silhouettes import silhouettes_by_view
from manyviews.findings.together import pairs_together
from manyviews.papers.figure_parts import Score, line_figure
from manyviews.plots.labels import label_places, label_size

pytest.importorskip("plotly")

BAD = "<b>bold</b>"


@pytest.fixture
def result():
    """Three groups of 20, seen by the first view and not by the second, which misses a sample."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 20)
    clear = 9.0 * np.eye(3)[labels] + rng.normal(size=(60, 3))
    noise = rng.normal(size=(60, 2))
    noise[5] = np.nan
    base = np.column_stack([labels, labels, np.minimum(labels, 1), labels])
    model = SimpleNamespace(labels_=labels, base_labels_=base, view_weights_=np.array([0.75, 0.25]))
    return model, Views({"clear": clear, BAD: noise})


def test_co_association_is_the_share_of_the_base_clusterings(result):
    model, views = result
    figure = plots.co_association(model, views)
    z = np.array(figure.data[0].z)
    assert z.shape == (60, 60)
    assert (np.diag(z) == 100).all()
    assert (z[:20, 20:] == 0).all()
    assert (z[20:40, 40:] == 25).all()
    assert list(figure.layout.xaxis.ticktext) == ["C0", "C1", "C2"]
    assert list(figure.layout.xaxis.tickvals) == [9.5, 29.5, 49.5]


def test_without_base_clusterings_the_views_by_themselves_are_asked(result):
    model, views = result
    lone = SimpleNamespace(labels_=model.labels_)
    z = np.array(plots.co_association(lone, views).data[0].z)
    assert set(np.unique(z[:20, 20:])) <= {0, 50}  # the clear view keeps them apart, the other may not
    with pytest.raises(ValueError, match="two clusterings"):
        plots.co_association(lone, views.select(["clear"]))


def test_samples_left_out_of_a_base_clustering_do_not_count():
    base = np.array([[0, 0.0], [0, np.nan], [-1, 0]])
    found = pairs_together(base, np.zeros(3, dtype=int), np.arange(3))
    shares = np.zeros((3, 3))
    shares[np.ix_(found["rows"], found["rows"])] = found["percent"]
    assert (shares[0, 1], shares[0, 2], shares[1, 2]) == (100, 100, 0)


def test_silhouettes_are_those_of_scikit_learn(result):
    from sklearn.metrics import silhouette_score
    from sklearn.preprocessing import StandardScaler

    model, views = result
    found = silhouettes_by_view(read_result(model, views), np.arange(60), random_state=0)
    assert [each["name"] for each in found] == ["All views together", "clear", BAD]
    clear = StandardScaler().fit_transform(views.view("clear"))
    assert found[1]["mean"] == pytest.approx(silhouette_score(clear, model.labels_))
    assert [len(values) for values in found[2]["values"]] == [19, 20, 20]
    assert found[1]["values"][0] == sorted(found[1]["values"][0], reverse=True)
    titles = [note.text for note in plots.silhouettes(model, views).layout.annotations]
    assert titles[2].startswith("&lt;b&gt;")
    with pytest.raises(ValueError, match="two clusters"):
        plots.silhouettes(SimpleNamespace(labels_=np.zeros(60, dtype=int)), views)


def test_z_scores_of_the_telling_columns_by_view(result):
    model, views = result
    found = feature_scores(read_result(model, views), np.arange(60))
    assert [each["view"] for each in found["features"]][:3] == ["clear"] * 3
    assert found["features"][0]["name"] == "column 0"  # the first cluster's
    X = views.view("clear")
    np.testing.assert_allclose(found["z"][0], (X[:, 0] - X[:, 0].mean()) / X[:, 0].std(), atol=0.051)
    missing = [row[5] for row, each in zip(found["z"], found["features"], strict=True) if each["view"] == BAD]
    assert missing
    assert set(missing) == {None}
    figure = plots.features(model, views, max_features=2)
    assert len(figure.data[0].z) <= 2
    same = SimpleNamespace(labels_=np.arange(60) % 2)
    with pytest.raises(ValueError, match="no column tells"):
        plots.features(same, [np.ones((60, 2))])


def test_columns_of_sparse_views_are_scored():
    labels = np.repeat([0, 1], 10)
    words = sparse.csr_matrix(np.where(labels[:, None] == [0, 1], 2.0, 0.0))
    found = feature_scores(read_result(SimpleNamespace(labels_=labels), [words]), np.arange(20))
    assert found["z"][0] == [1.0] * 10 + [-1.0] * 10


def test_flows_go_straight_where_a_view_knows_the_clusters(result):
    model, views = result
    figure = plots.contingency(model, views)
    clear, noise = figure.data
    assert list(clear.link.value) == [20, 20, 20]
    assert [b - a for a, b in zip(clear.link.source, clear.link.target, strict=True)] == [3, 3, 3]
    assert sum(noise.link.value) == 59
    assert "&lt;b&gt;" in noise.node.customdata[0]
    assert len(plots.contingency(model, views, view="clear").data) == 1
    with pytest.raises(ValueError, match="there is no view 'x'"):
        plots.contingency(model, views, view="x")
    with pytest.raises(ValueError, match="2 to 30 clusters"):
        plots.contingency(SimpleNamespace(labels_=np.arange(60)), views)


@pytest.mark.parametrize("method", ["pca", "tsne"])
def test_maps_have_a_trace_per_cluster_and_are_the_same_again(result, method):
    model, views = result
    figure = plots.sample_map(model, views, method=method)
    assert [trace.name for trace in figure.data] == ["cluster C0", "cluster C1", "cluster C2"]
    assert sum(len(trace.x) for trace in figure.data) == 60
    assert figure == plots.sample_map(model, views, method=method)


def test_a_map_of_one_view_leaves_out_what_it_did_not_observe(result):
    model, views = result
    figure = plots.sample_map(model, views, view=BAD)
    assert sum(len(trace.x) for trace in figure.data) == 59
    with pytest.raises(ValueError, match="there is no view"):
        plots.sample_map(model, views, view="x")
    with pytest.raises(ValueError, match="'pca', 'tsne' or 'umap'"):
        plots.sample_map(model, views, method="isomap")
    with pytest.raises(ValueError, match="8 samples"):
        plots.sample_map(SimpleNamespace(labels_=np.array([0, 1])), [np.eye(2)], method="tsne")


@pytest.mark.filterwarnings("ignore")  # of umap's own
def test_a_map_by_umap(result):
    pytest.importorskip("umap")
    figure = plots.sample_map(*result, method="umap")
    assert sum(len(trace.x) for trace in figure.data) == 60


def on_screen(xy, label, width, height):
    """Pixels of a name on a map of this size, both axes of which have one scale."""
    scale = min(np.array([width, height]) / np.ptp(xy, axis=0))
    return scale * np.array([label.x, label.y]) + [label.right, label.up]


@pytest.mark.parametrize("size", [(270, 285), (330, 300), (480, 430), (1000, 440)])  # from a telephone to a desk
@pytest.mark.parametrize("spread", [1.0, 0.03, 0.0])  # of each group of clusters, of which the others are far away
def test_names_of_clusters_do_not_cover_each_other_on_any_screen(size, spread):
    rng = np.random.default_rng(0)
    xy = np.vstack([spread * rng.normal(size=(300, 2)), [[10, 4], [-8, 12]] + spread * rng.normal(size=(2, 2))])
    flat = {"x": xy[:, 0].tolist(), "y": xy[:, 1].tolist(), "n_axes": 2}
    members = [*np.arange(300).reshape(6, 50).tolist(), [300], [301]]
    names = ["C0", "C1", "C2", "C10", "C11", "a longer one", "C3", "C4"]
    labels = label_places(flat, members, names)
    assert labels == label_places(flat, members, names)
    for cluster, label in labels.items():
        assert (label.x, label.y) in {(flat["x"][i], flat["y"][i]) for i in members[cluster]}
        for other in range(cluster):
            room = np.add(label_size(names[cluster]), label_size(names[other])) / 2
            apart = np.abs(np.subtract(*(on_screen(xy, labels[i], *size) for i in (cluster, other))))
            assert (apart >= room - 1e-9).any()
    assert spread == 1.0 or any(label.aside for label in labels.values())


@pytest.mark.parametrize("xy", [np.zeros((6, 2)), np.column_stack([np.arange(6.0), np.zeros(6)])])
@pytest.mark.parametrize("n_axes", [1, 2])
def test_names_have_places_where_points_coincide(xy, n_axes):
    flat = {"x": xy[:, 0].tolist(), "y": xy[:, 1].tolist(), "n_axes": n_axes}
    labels = label_places(flat, [[0, 1], [], [2, 3, 4, 5]], ["C0", "C1", "C2"])
    assert list(labels) == [0, 2]
    assert np.isfinite([tuple(label) for label in labels.values()]).all()


def test_weights_are_drawn_with_the_largest_on_top(result):
    model, _ = result
    assert list(plots.view_weights(model).data[0].x) == [0.25, 0.75]
    with pytest.raises(ValueError, match="no view_weights_"):
        plots.view_weights(SimpleNamespace(labels_=[0]))


def test_axes_do_not_go_beyond_what_is_drawn_can_be(result):
    model, views = result
    weights = plots.view_weights(model).layout.xaxis
    assert (weights.minallowed, weights.maxallowed) == (0, 1)
    panels = plots.silhouettes(model, views)
    axes = [panels.layout[name] for name in panels.layout if name.startswith("xaxis")]
    assert {(axis.minallowed, axis.maxallowed) for axis in axes} == {(-1, 1)}
    for score, ends in ((Score("nmi", "NMI", 100.0), (0, 100)), (Score("ari", "ARI"), (-1, 1))):
        axis = line_figure("", "", "", [], "", score).draw({})["layout"]["yaxis"]
        assert (axis["minallowed"], axis["maxallowed"]) == ends


def test_models_that_are_not_fitted_on_these_views_are_refused(result):
    model, views = result
    for draw in (plots.co_association, plots.silhouettes, plots.features, plots.contingency, plots.sample_map):
        with pytest.raises(ValueError, match="60 samples"):
            draw(SimpleNamespace(labels_=model.labels_[:9]), views)
