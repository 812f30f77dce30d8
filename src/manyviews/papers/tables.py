"""A reproduction as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from manyviews.pages.wording import amount
from manyviews.papers.overall import RowScore, Stars, scores, stars
from manyviews.papers.paper import PublishedTable
from manyviews.papers.protocols import PROTOCOLS
from manyviews.papers.setup import Setup
from manyviews.papers.significance import LEADING_RULE, leading
from manyviews.papers.summaries import summaries
from manyviews.papers.verdict import RULE, Cell, Reproduction

__all__ = [
    "counted",
    "difference_text",
    "notes",
    "our_text",
    "published_text",
    "star",
    "to_csv",
    "to_latex",
    "to_markdown",
    "verdict_text",
    "why",
]

# A verdict from fewer runs says so.
FEW = 5
_LATEX = {"reproduced": "$=$", "better": "$+$", "worse": "$-$", "not comparable": "$\\cdot$"}
_LATEX_SPECIAL = {mark: f"\\{mark}" for mark in "&%$#_{}"} | {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
}


def to_markdown(reproduction: Reproduction) -> str:
    """Return a document with one table per published table and metric.

    Parameters
    ----------
    reproduction : Reproduction
        What to show.

    Returns
    -------
    str
        GitHub-flavoured Markdown.
    """
    paper, recipe = reproduction.paper, PROTOCOLS[reproduction.paper.name].recipe
    parts = [
        f"# {paper.title}: published and ours",
        f"{paper.citation}. {paper.link}".strip(),
        f"Runs of each setting: {reproduction.n_seeds}. {recipe}",
        RULE,
        LEADING_RULE,
        f"Rows that follow the paper: {counted(reproduction)}.",
    ]
    if any(cell.variant for cell in reproduction.cells):
        parts.append(f"Rows made otherwise, in brackets: {counted(reproduction, variants=True)}.")
    leaders, due = leading(reproduction.cells), stars(reproduction.cells, paper.name)
    for table, cells in _by_table(reproduction):
        header = ("row", "data", _origin(table), "ours", "difference", "verdict", "why")
        rows = [
            (
                cell.name,
                cell.dataset,
                published_text(cell) + star(cell, due.printed),
                (f"**{our_text(cell)}**" if id(cell) in leaders else our_text(cell)) + star(cell, due.ours),
                difference_text(cell),
                cell.verdict,
                why(cell),
            )
            for cell in cells
        ]
        # a column that says nothing is left out
        width = len(header) if any(row[-1] for row in rows) else len(header) - 1
        parts += [f"## {table.title}", _markdown_table(header[:width], [row[:width] for row in rows])]
        for part in summaries(paper, table, cells):
            parts += [f"### {part.title}", *filter(None, [part.note]), _markdown_table(part.header, part.rows)]
    remarks = notes(reproduction)
    if remarks:
        parts += ["## Notes", "\n".join(f"- {note}." for note in remarks)]
    return "\n\n".join(parts) + "\n"


def to_latex(reproduction: Reproduction) -> str:
    r"""Return one ``table`` environment (needs booktabs) per published table and metric.

    Parameters
    ----------
    reproduction : Reproduction
        What to show.

    Returns
    -------
    str
        LaTeX: ours with the sign of the verdict, the published figure in brackets.
    """
    return "\n\n".join(_latex_table(reproduction, table, cells) for table, cells in _by_table(reproduction)) + "\n"


def to_csv(reproduction: Reproduction) -> str:
    """Return one line per cell, with full precision and p-values.

    Parameters
    ----------
    reproduction : Reproduction
        What to write.

    Returns
    -------
    str
        CSV with a header.
    """
    leaders, due = leading(reproduction.cells), stars(reproduction.cells, reproduction.paper.name)
    of_row = _scores_of_rows(reproduction)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    fields: dict[str, Callable[[Cell], object]] = {
        "table": lambda cell: cell.table.number,
        "origin": lambda cell: cell.table.origin,
        "metric": lambda cell: cell.table.metric,
        "shown_as": lambda cell: cell.table.shown_as,
        "row": lambda cell: cell.row,
        "variant": lambda cell: cell.variant,
        "method": lambda cell: cell.method,
        "data": lambda cell: cell.dataset,
        "published_mean": lambda cell: None if cell.published is None else cell.published.mean,
        "published_deviation": lambda cell: None if cell.published is None else cell.published.deviation,
        "mean": lambda cell: cell.mean,
        "deviation": lambda cell: cell.deviation,
        "runs": lambda cell: cell.n_runs,
        "difference": lambda cell: cell.difference,
        "p_value": lambda cell: cell.p_value,
        "leading": lambda cell: int(id(cell) in leaders),
        "verdict": lambda cell: cell.verdict,
        "reason": lambda cell: cell.reason,
        "choice": lambda cell: cell.choice,
        "cpu_seconds": lambda cell: cell.cpu_seconds,
        "peak_bytes": lambda cell: cell.peak_bytes or None,
        "published_starred": lambda cell: int(id(cell) in due.printed),
        "starred": lambda cell: int(id(cell) in due.ours),
        "printed_score": lambda cell: of_row(cell).printed,
        "published_score": lambda cell: of_row(cell).published,
        "score": lambda cell: of_row(cell).ours,
    }
    writer.writerow(fields)
    for cell in reproduction.cells:
        writer.writerow([_plain(read(cell)) for read in fields.values()])
    return stream.getvalue()


def counted(reproduction: Reproduction, *, variants: bool = False) -> str:
    """Return how many cells have which verdict, in words."""
    counts = reproduction.counts(variants=variants)
    text = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    if variants:
        return text
    parts = [text]
    if reproduction.n_not_run:
        parts.append(f"{reproduction.n_not_run} of rows that were not run")
    if reproduction.absent:
        parts.append(f"{reproduction.n_absent} on data sets that were not run ({', '.join(reproduction.absent)})")
    return "; ".join(parts)


def published_text(cell: Cell) -> str:
    """Return the published figure as the paper prints it, a dash where there is none."""
    if cell.published is None:
        return "-"
    return _pair(cell.published.mean, cell.published.deviation, cell.table.decimals)


def our_text(cell: Cell) -> str:
    """Return our figure as the paper would print it, a dash where there is none."""
    return _pair(cell.mean, cell.deviation, cell.table.decimals)


def star(cell: Cell, due: frozenset[int]) -> str:
    """Return what follows a figure: an asterisk where one is due."""
    return " *" if id(cell) in due else ""


def difference_text(cell: Cell) -> str:
    """Return ours minus published, with its sign."""
    return "-" if cell.difference is None else f"{cell.difference:+.{cell.table.decimals}f}"


def verdict_text(cell: Cell) -> str:
    """Return the verdict, with the number of runs where it rests on few."""
    few = cell.verdict != "not comparable" and cell.n_runs < FEW
    return f"{cell.verdict}, {amount(cell.n_runs, 'run')}" if few else cell.verdict


def why(cell: Cell) -> str:
    """Return what the verdict rests on, how few runs, its p-value, and which of several settings ours is."""
    chosen = f"best of several by the classes: {cell.choice}" if cell.choice else ""
    judged = cell.verdict != "not comparable"
    few = f"from {amount(cell.n_runs, 'run')} only" if judged and cell.n_runs < FEW else ""
    p_value = "" if cell.p_value is None else f"p = {cell.p_value:.2g}"
    return "; ".join(filter(None, [few, cell.reason, p_value, chosen]))


def _by_table(reproduction: Reproduction) -> Iterator[tuple[PublishedTable, list[Cell]]]:
    for _, cells in groupby(reproduction.cells, key=lambda cell: id(cell.table)):
        held = list(cells)
        yield held[0].table, held


def _scores_of_rows(reproduction: Reproduction) -> Callable[[Cell], RowScore]:
    """Return what gives the scores of a cell's row over the data sets that were run; blank where none are printed."""
    found = {(id(table), row.name): row for table, cells in _by_table(reproduction) for row in scores(table, cells)}
    return lambda cell: found.get((id(cell.table), cell.name), RowScore(cell.name, None, None, None, 0))


def _origin(table: PublishedTable) -> str:
    return table.number if table.origin == "measured" else "paper"


def _pair(mean: float | None, deviation: float | None, decimals: int) -> str:
    if mean is None:
        return "-"
    return f"{mean:.{decimals}f}" if deviation is None else f"{mean:.{decimals}f} ± {deviation:.{decimals}f}"


def notes(reproduction: Reproduction) -> list[str]:
    """Return what there is to know of the rows that were run."""
    return [f"{setup.name}: {setup.note}" for setup in _noted(reproduction)]


def _noted(reproduction: Reproduction) -> list[Setup]:
    shown = {cell.name for cell in reproduction.cells if cell.method}
    return [setup for setup in PROTOCOLS[reproduction.paper.name].setups if setup.note and setup.name in shown]


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_one_cell(cell) for cell in line) + " |" for line in lines)


def _one_cell(text: str) -> str:
    """Keep a text from ending its cell or being taken for a tag: reasons may quote names from files."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _latex_table(reproduction: Reproduction, table: PublishedTable, cells: Sequence[Cell]) -> str:
    datasets = list(dict.fromkeys(cell.dataset for cell in cells))
    names = list(dict.fromkeys(cell.name for cell in cells))
    by_place = {(cell.name, cell.dataset): cell for cell in cells}
    scored = {row.name: row for row in scores(table, cells)}
    marks = leading(cells), stars(cells, reproduction.paper.name)
    columns = [*datasets, *(["score"] if scored else [])]
    lines = [
        "\\begin{table}",
        f"\\caption{{{_tex(reproduction.paper.citation)}, {_tex(table.title)}: ours (published)}}",
        f"\\begin{{tabular}}{{l{'r' * len(columns)}}}",
        "\\toprule",
        " & ".join(["", *map(_tex, columns)]) + " \\\\",
        "\\midrule",
    ]
    for name in names:
        entries = [_latex_cell(by_place.get((name, dataset)), *marks) for dataset in datasets]
        entries += [_latex_score(scored[name])] if scored else []
        lines.append(" & ".join([_tex(name), *entries]) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", "\\end{table}"])


def _latex_score(row: RowScore) -> str:
    """Both over the data sets that were run."""
    ours, published = ("-" if value is None else f"{value:.2f}" for value in (row.ours, row.published))
    return f"{ours} ({published})"


def _latex_cell(cell: Cell | None, leaders: frozenset[int], due: Stars) -> str:
    if cell is None:
        return ""
    ours = f"\\textbf{{{our_text(cell)}}}" if id(cell) in leaders else our_text(cell)
    ours, published = ours + star(cell, due.ours), published_text(cell) + star(cell, due.printed)
    text = f"{ours} ({published})".replace("±", "$\\pm$").replace(" *", "$^*$")
    return f"{text} {_LATEX[cell.verdict]}"


def _tex(text: str) -> str:
    return "".join(_LATEX_SPECIAL.get(mark, mark) for mark in text)


def _plain(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value
