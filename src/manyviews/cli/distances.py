"""Which methods take distances between samples, in words of the command line."""

from __future__ import annotations

from manyviews.cli.console import UsageError

__all__ = ["check_takes_distances"]


def check_takes_distances(method: str, name: str) -> None:
    """Refuse distances between samples for a method that takes none, or says so by another parameter."""
    from manyviews.cluster.alternatives import distance_settings

    settings = distance_settings()
    if method not in settings:
        takers = ", ".join(f"{taker} ({setting})" for taker, setting in settings.items())
        raise UsageError(f"--set {name}=distance: {method} takes no distances; use {takers}")
    if settings[method] != f"{name}=distance":
        raise UsageError(f"--set {name}=distance: {method} takes distances by --set {settings[method]}")
