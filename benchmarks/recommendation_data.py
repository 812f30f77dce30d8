"""Generated multi-view sets for recommendation.py: clusters of many shapes, with overlap, noise, conflict.

The rule of the recommendation was chosen with the real sets and ``first_sets`` in sight; ``second_sets`` were made
after that, to see whether it holds.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.datasets import make_circles, make_moons

from manyviews import Views
from manyviews.datasets import Dataset, make_blobs_views

BLOBS = {
    "blobs": (400, (30, 20, 10), 5, 10, {"view_noise": 0.35}),
    "overlap": (500, (40, 30, 20), 8, 20, {"view_noise": 0.6}),
    "noise": (400, (30, 20, 15), 6, 30, {"view_noise": (0.3, 0.4, 0.5), "noise_views": 1}),
    "conflict": (400, (30, 20, 15), 4, 40, {"view_noise": 0.3, "conflicting_views": 1}),
    "uneven": (500, (20, 20), 5, 50, {"view_noise": 0.4, "weights": [0.5, 0.25, 0.12, 0.08, 0.05]}),
    "hard": (300, (100, 50, 200, 20), 3, 60, {"view_noise": (0.5, 0.9, 0.9, 1.5)}),
}


def generated_sets(kind):
    """Yield the generated sets of a kind, "first" or "second", each drawn twice."""
    for repeat in range(2):
        yield from {"first": first_sets, "second": second_sets}[kind](repeat)


def first_sets(repeat):
    """Yield the sets that were in sight when the rule was chosen."""
    for name, (n, widths, k, seed, options) in BLOBS.items():
        data = make_blobs_views(n, widths, k, random_state=seed + repeat, **options)
        yield dataset(f"{name}{repeat}", data.views, data.labels)
    rng = np.random.default_rng(70 + repeat)
    for make in (moons_and_rings, spirals, topics, complementary, manifolds_and_graph):
        yield dataset(f"{make.__name__}{repeat}", *make(rng))


def second_sets(repeat):
    """Yield the sets that were made after the rule was fixed."""
    rng = np.random.default_rng(900 + repeat)
    for make in (stretched, heavy_tails, arcs_and_blobs, answers, friends, levels, scales):
        views, labels = make(rng, 300, repeat)
        order = np.random.default_rng(5).permutation(labels.size)
        views = {name: sparse.csr_array(X)[order] if sparse.issparse(X) else X[order] for name, X in views.items()}
        yield dataset(f"{make.__name__}{repeat}", views, labels[order])


def dataset(name, views, labels):
    views = views if isinstance(views, Views) else Views(views)
    return Dataset(name, views, labels, tuple(map(str, range(labels.max() + 1))), "generated", "none needed")


def moons_and_rings(rng):
    """The same two classes as half moons in one view, as rings in the other."""
    n, y = 500, np.repeat([0, 1], 250)

    def ordered(make, **options):
        X, z = make(n, random_state=int(rng.integers(1e6)), **options)
        return X[np.argsort(z, kind="stable")]

    order = rng.permutation(n)
    a = (ordered(make_moons, noise=0.09) @ rng.normal(size=(2, 8)))[order] + 0.05 * rng.normal(size=(n, 8))
    rings = ordered(make_circles, noise=0.08, factor=0.45)
    return {"a": a, "b": (rings @ rng.normal(size=(2, 6)))[order] + 0.05 * rng.normal(size=(n, 6))}, y[order]


def spirals(rng):
    """Three arms of a spiral, in both views."""
    n, y, t = 450, np.repeat(np.arange(3), 150), rng.uniform(0.5, 3, 450)

    def view(turn, noise):
        radius, angle = t * 2 + rng.normal(size=n) * noise, t * turn + y * 2 * np.pi / 3
        X = np.c_[radius * np.cos(angle), radius * np.sin(angle)] + rng.normal(size=(n, 2)) * noise
        return X @ np.linalg.qr(rng.normal(size=(10, 10)))[0][:2] + 0.05 * rng.normal(size=(n, 10))

    order = rng.permutation(n)
    return {"a": view(1.5, 0.25)[order], "b": view(1.2, 0.3)[order]}, y[order]


def topics(rng):
    """Word counts of short texts in three languages, each text a mixture of topics with one in front."""
    n, k, views = 400, 6, {}
    y = rng.integers(k, size=n)
    for v, (words, spread) in enumerate([(600, 0.05), (400, 0.08), (500, 0.1)]):
        base = rng.dirichlet(np.full(words, 0.3))
        topic = np.array([0.55 * base + 0.45 * rng.dirichlet(np.full(words, spread)) for _ in range(k)])
        mixture = np.array([rng.dirichlet(np.full(k, 0.25) + 3 * (np.arange(k) == c)) for c in y])
        counts = np.array([rng.multinomial(int(rng.integers(20, 90)), p) for p in mixture @ topic])
        views[f"t{v}"] = sparse.csr_array(counts.astype(float))
    return views, y


def complementary(rng):
    """Six clusters of which each view tells three pairs apart."""
    n, k, views = 480, 6, {}
    y = rng.integers(k, size=n)
    for v in range(3):
        seen = rng.permutation(k) // 2 if v else np.arange(k) // 2
        centres = rng.normal(size=(3, 15))
        views[f"v{v}"] = centres[seen[y]] * 1.3 + rng.normal(size=(n, 15)) * 1.0
    return views, y


def manifolds_and_graph(rng):
    """Curved images of the same hidden points, and a noisy graph."""
    n, k = 420, 5
    y = np.sort(rng.integers(k, size=n))
    hidden = rng.normal(size=(k, 3))[y] * 1.8 + rng.normal(size=(n, 3)) * np.array([1.2, 0.5, 0.3])

    def warped(width, noise):
        A = rng.normal(size=(3, 20))
        return np.tanh(hidden @ A + rng.normal(size=20)) @ rng.normal(size=(20, width)) + noise * rng.normal(
            size=(n, width)
        )

    chance = rng.random((n, n))
    edges = np.triu(chance < np.where(y[:, None] == y[None], 0.03, 0.004), 1).astype(float)
    edges, order = edges + edges.T + np.eye(n), rng.permutation(n)
    a, b = warped(40, 0.8)[order], warped(25, 1.2)[order]
    return {"a": a, "b": b, "link": sparse.csr_array(edges[order][:, order])}, y[order]


def stretched(rng, n, repeat):
    """Gaussians, each with a covariance of its own."""
    k, views = 4 + repeat, {}
    y = rng.integers(k, size=n)
    for v, d in enumerate((6, 10, 4)):
        centres = rng.normal(size=(k, d)) * 2.0
        shapes = [np.linalg.qr(rng.normal(size=(d, d)))[0] * rng.uniform(0.2, 2.2, size=d) for _ in range(k)]
        views[f"v{v}"] = np.array([centres[c] + rng.normal(size=d) @ shapes[c] for c in y])
    return views, y


def heavy_tails(rng, n, repeat):
    """Clusters with far outliers."""
    y = rng.integers(5, size=n)
    views = {
        f"v{v}": rng.normal(size=(5, d))[y] * 1.6 + rng.standard_t(2.5, size=(n, d)) for v, d in enumerate((12, 8))
    }
    return views, y


def arcs_and_blobs(rng, n, repeat):
    """Long arcs inside each other in one view, Gaussians that overlap in the other."""
    y = rng.integers(3, size=n)
    angle, radius = rng.uniform(0, 1.6 * np.pi, n), 1.0 + y * 1.1
    arcs = np.c_[radius * np.cos(angle), radius * np.sin(angle)] + 0.13 * rng.normal(size=(n, 2))
    arcs = arcs @ rng.normal(size=(2, 7)) + 0.05 * rng.normal(size=(n, 7))
    return {"arcs": arcs, "blobs": rng.normal(size=(3, 9))[y] * 0.9 + rng.normal(size=(n, 9))}, y


def answers(rng, n, repeat):
    """Yes and no to the questions of two questionnaires."""
    y = rng.choice(4, size=n, p=[0.45, 0.3, 0.15, 0.1])
    views = {}
    for v, d in enumerate((30, 20)):
        yes = rng.beta(0.6, 0.6, size=(4, d)) * 0.6 + 0.2
        views[f"q{v}"] = (rng.random((n, d)) < yes[y]).astype(float)
    return views, y


def friends(rng, n, repeat):
    """Two graphs with more edges inside the clusters, and a text."""
    y, views = rng.choice(5, size=n, p=[0.3, 0.25, 0.2, 0.15, 0.1]), {}
    for v, (inside, between) in enumerate(((0.10, 0.015), (0.06, 0.012))):
        chance = np.where(y[:, None] == y[None], inside, between)
        edges = np.triu(rng.random((n, n)) < chance, 1).astype(float)
        views[f"g{v}"] = sparse.csr_array(edges + edges.T + np.eye(n))
    words = 0.6 * rng.dirichlet(np.full(500, 0.2), size=1) + 0.4 * rng.dirichlet(np.full(500, 0.05), size=5)
    counts = np.array([rng.multinomial(int(rng.integers(15, 60)), words[c] / words[c].sum()) for c in y])
    return views | {"text": sparse.csr_array(counts.astype(float))}, y


def levels(rng, n, repeat):
    """Groups in groups: one view knows the coarse level only."""
    y = rng.integers(6, size=n)
    coarse = rng.normal(size=(3, 8))[y // 2] * 2.2 + rng.normal(size=(n, 8))
    fine = rng.normal(size=(3, 14))[y // 2] * 1.0 + rng.normal(size=(6, 14))[y] * 1.1 + rng.normal(size=(n, 14))
    return {"coarse": coarse, "fine": fine}, y


def scales(rng, n, repeat):
    """Uneven clusters that overlap, columns of very different scale, one view of noise."""
    y = rng.choice(4, size=n, p=[0.4, 0.3, 0.2, 0.1])
    views = {
        f"v{v}": (rng.normal(size=(4, d))[y] * apart + rng.normal(size=(n, d))) * np.exp(rng.normal(size=d))
        for v, (d, apart) in enumerate(((15, 0.9), (10, 0.7), (12, 0.0)))
    }
    return views, y
