"""Named recipes: a method with the settings of its paper's text, or of what its authors released."""

from __future__ import annotations

from typing import Any, ClassVar, Self

__all__ = ["PublishedRecipes"]


class PublishedRecipes:
    """Adds ``as_published`` and ``as_printed`` to a method, from two mappings that it states."""

    _published: ClassVar[dict[str, Any]] = {}
    _printed: ClassVar[dict[str, Any]] = {}

    @classmethod
    def as_published(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """Return the method as its published figures came about; see Notes of the class.

        That is the authors' released code where there is one, and else the reading of the text that gives the printed
        figures.

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **parameters
            What is to be different, or is no part of the recipe, such as ``random_state``.

        Returns
        -------
        estimator
            Not fitted.
        """
        make: Any = cls
        made: Self = make(n_clusters, **{**cls._published, **parameters})
        return made

    @classmethod
    def as_printed(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """Return the method as the text of its paper has it, to the letter; see Notes of the class.

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **parameters
            What is to be different, or is no part of the recipe, such as ``random_state``.

        Returns
        -------
        estimator
            Not fitted.
        """
        make: Any = cls
        made: Self = make(n_clusters, **{**cls._printed, **parameters})
        return made
