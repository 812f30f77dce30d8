"""Views and fitted models in small, and names that try to break out of the page."""

from types import SimpleNamespace

import numpy as np

from manyviews.views import Views

SCRIPT = "<script>alert(1)</script>"
CLOSING = "</script><!--"
LONG = "W" * 150
BOLD = "<b>bold</b> & &lt;i&gt;"


def make_model(labels, **attributes):
    return SimpleNamespace(labels_=np.asarray(labels), **attributes)


def make_blobs():
    """Return three groups of 60 samples in two views, and a model with all attributes that one may have."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [25, 20, 15])
    centres = np.array([[0.0, 9.0], [9.0, 0.0], [-9.0, -9.0]])
    views = Views({"shape": centres[labels] + rng.normal(size=(60, 2)), "colour": rng.normal(size=(60, 4))})
    history = SimpleNamespace(objective=np.array([5.0, 3.0, 2.5]), n_iter=3, converged=True)
    model = make_model(
        labels,
        n_clusters=3,
        view_weights_=np.array([0.75, 0.25]),
        embedding_=centres[labels] + rng.normal(size=(60, 2)),
        history_=history,
        n_iter_=3,
        converged_=True,
        confidence_=np.full(60, 0.5),
    )
    return views, model


def make_hostile():
    """Return a model and views whose every name is an attack."""
    rng = np.random.default_rng(1)
    labels = np.arange(30) % 3
    data = {name: rng.normal(size=(30, 3)) + labels[:, None] for name in (SCRIPT, CLOSING, BOLD, LONG)}
    samples = [f"<img src=x onerror=alert({i})> $x^2$ %{{x}} \u202e" for i in range(30)]
    model = make_model(
        labels, view_weights_=np.array([0.0, 0.3, 0.2, 0.5]), history_=SimpleNamespace(objective=[1.0, 0.5])
    )
    run = {"method": SCRIPT, "long": LONG, "command": CLOSING, "inputs": {BOLD: "\udc80"}, "parameters": {SCRIPT: BOLD}}
    truth = [f"<u>class {label}</u>{LONG}" for label in labels]
    return {"model": model, "views": Views(data, sample_names=samples), "title": SCRIPT, "run": run, "truth": truth}
