"""Results -> one HTML file that anybody can open."""

from manyviews.report.html import render_report, write_report
from manyviews.report.summary import summarize

__all__ = ["render_report", "summarize", "write_report"]
