"""The report as an object that a notebook shows: what ``manyviews.report(model, views)`` returns."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from manyviews.report.html import render_summary
from manyviews.report.summary import REFIT_SECONDS, summarize

__all__ = ["Report", "report"]

HEIGHT = 900


class Report:
    """A finished report: shown in a notebook, saved to a file, or read as plain data.

    Parameters
    ----------
    summary : dict
        From ``summarize``.

    Attributes
    ----------
    summary : dict
        All that the report says, as plain data.
    html : str
        The page; made when it is first asked for.
    """

    def __init__(self, summary: dict[str, Any]) -> None:
        self.summary = summary
        self._html: str | None = None

    @property
    def html(self) -> str:
        """The whole page, which needs nothing else."""
        if self._html is None:
            self._html = render_summary(self.summary)
        return self._html

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file.

        Parameters
        ----------
        path : path-like
            The file, overwritten if it exists.

        Raises
        ------
        ImportError
            If plotly or jinja2 is not installed.
        OSError
            If the file cannot be written.
        """
        Path(path).write_text(self.html, encoding="utf-8", newline="\n")

    def __repr__(self) -> str:
        """Return the result in words, for terminals."""
        trust = self.summary["trust"]["sentences"]
        return "\n".join(part for part in (self.summary["headline"], *trust[:1]) if part)

    def _repr_html_(self) -> str:
        # A frame of its own: neither can the page's style reach the notebook, nor the notebook's the page. Without
        # "allow-same-origin" nothing in it can reach the notebook's other contents either.
        return (
            f'<iframe title="manyviews report" sandbox="allow-scripts" style="width:100%;height:{HEIGHT}px;border:0" '
            f'srcdoc="{html.escape(self.html)}"></iframe>'
        )


def report(
    model: Any,
    views: Any,
    *,
    title: str | None = None,
    run: Mapping[str, Any] | None = None,
    truth: Iterable[Any] | None = None,
    outcome: Any = None,
    covariates: Any = None,
    batch: Any = None,
    refit_seconds: float = REFIT_SECONDS,
    random_state: int = 0,
) -> Report:
    """Explain a result: which groups, how sure, which view says what, what makes a group.

    Parameters
    ----------
    model : estimator
        Fitted; ``labels_`` is needed, the other attributes are used where they are. It is not changed.
    views : Views, sequence, mapping or table
        What the model was fitted on.
    title : str, default=None
        Title of the page; by default made from the numbers of samples and clusters.
    run : mapping, default=None
        Record of the run: method, parameters, seed, versions, inputs, timings, scores, command; all optional.
    truth : iterable of length n, default=None
        Known class of each sample; None, NaN and "" where it is not known.
    outcome : mapping, frame or pair, default=None
        Time to an event and whether it was seen (1) or not (0), the columns ``time`` and ``event``, for a
        Kaplan-Meier curve per cluster and a log-rank test. Needs lifelines.
    covariates : mapping or frame, default=None
        Columns that describe the samples, each tested against the clusters.
    batch : array-like of shape (n,), default=None
        Where each sample comes from, such as a site or a plate; the page says whether the clusters follow it.
    refit_seconds : float, default=15.0
        Time for fitting copies of the model again, to see how stable the result is; 0 to leave it out.
    random_state : int, default=0
        Seed of the choice of points to draw, of the maps, and of the fits that are repeated.

    Returns
    -------
    Report
        A notebook shows it; ``save(path)`` writes it to one file; ``summary`` holds its numbers.

    Raises
    ------
    ValueError
        If the model is not fitted, or labels, truth or what else is known do not have one entry per sample, or an
        outcome is no time of 0 or more and an event of 0 or 1.

    Examples
    --------
    >>> import manyviews
    >>> from manyviews import AverageKKM, datasets
    >>> data = datasets.make_blobs_views(60, (4, 3), n_clusters=3, random_state=0)
    >>> model = AverageKKM(n_clusters=3, random_state=0).fit(data.views)
    >>> page = manyviews.report(model, data.views)
    >>> print(page.summary["headline"])
    AverageKKM sorted 60 samples, known by 2 views taken together, into 3 clusters of 20 samples each.
    """
    return Report(
        summarize(
            model,
            views,
            title=title,
            run=run,
            truth=truth,
            outcome=outcome,
            covariates=covariates,
            batch=batch,
            refit_seconds=refit_seconds,
            random_state=random_state,
        )
    )
