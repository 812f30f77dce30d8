"""Comparisons and sweeps, whose processes outlive a test."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def _processes(kept_processes):
    """Let the fits of all tests here share processes."""
