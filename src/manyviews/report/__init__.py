"""Results -> one HTML file that anybody can open.

The package itself can be called: ``manyviews.report(model, views)`` is ``manyviews.report.notebook.report``.
"""

import inspect
import sys
from types import ModuleType
from typing import Any

from manyviews.report.html import render_report, write_report
from manyviews.report.notebook import Report
from manyviews.report.notebook import report as _report
from manyviews.report.summary import summarize

__all__ = ["Report", "render_report", "summarize", "write_report"]


class _CallableModule(ModuleType):
    """A package that can be called; a function of the same name would hide it from ``import``."""

    __signature__ = inspect.signature(_report)  # what notebooks show

    def __call__(self, *args: Any, **kwargs: Any) -> Report:
        return _report(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule
