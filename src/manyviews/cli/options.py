"""Options that several commands share: how they are written, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

from cyclopts import Parameter

from manyviews.cli.console import UsageError
from manyviews.cli.inputs import whole_number

__all__ = [
    "HEADER",
    "AsJson",
    "Header",
    "IdColumn",
    "MemorySize",
    "Missing",
    "NClusters",
    "Numbers",
    "NumbersOfClusters",
    "Switch",
    "Texts",
    "ViewFiles",
    "Weights",
    "Whole",
    "check_jobs",
    "check_limit",
    "check_seed",
    "listed",
    "memory_size",
]

# the range that -k auto chooses from
AUTO = (2, 10)
_UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


def memory_size(_: Any, tokens: Sequence[Any]) -> int:
    """Return the bytes of a memory size with its unit, such as 8GB or 500MB.

    Raises
    ------
    ValueError
        If it is no such size.
    """
    text = tokens[0].value
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*", text)
    factor = _UNITS.get(found[2].casefold()) if found else None
    size = 0 if found is None or factor is None else int(float(found[1]) * factor)
    if size < 1:
        raise ValueError(f"{text!r} is not a memory size; give a number with its unit, such as 8GB or 500MB")
    return size


class Numbers(NamedTuple):
    """What -k was given: one number of clusters, or the first and last to choose from.

    ``automatic`` for "auto", which is cut to what few samples allow.
    """

    first: int
    last: int
    automatic: bool = False


def numbers_of_clusters(_: Any, tokens: Sequence[Any]) -> Numbers:
    """Return the numbers of clusters that ``6``, ``2-10`` or ``auto`` stands for.

    Raises
    ------
    ValueError
        If it is none of these, or a range of fewer than two numbers.
    """
    text = tokens[0].value.strip()
    if text.casefold() == "auto":
        return Numbers(*AUTO, automatic=True)
    found = re.fullmatch(r"(\d+)\s*-\s*(\d+)", text)
    if found is None:
        try:
            return Numbers(int(text), int(text))
        except ValueError:
            raise ValueError(f"{text!r} is not a whole number, nor a range such as 2-10, nor auto") from None
    numbers = Numbers(int(found[1]), int(found[2]))
    if not 2 <= numbers.first < numbers.last:
        raise ValueError(
            f"{text!r} is no range of numbers of clusters; give two rising ones of 2 or more, such as 2-10"
        )
    return numbers


Texts = list[str] | None
Weights = Annotated[Texts, Parameter(name="--weight", negative=())]
ViewFiles = Annotated[Texts, Parameter(name="--view", negative=())]
IdColumn = Annotated[str | None, Parameter(name="--id")]
Missing = Literal["union", "intersection"] | None
Header = Literal["auto", "yes", "no"]
HEADER = {"auto": None, "yes": True, "no": False}
Switch = Annotated[bool, Parameter(negative=(), show_default=False)]
AsJson = Annotated[bool, Parameter(name="--json", negative=(), show_default=False)]
Whole = Annotated[int, Parameter(converter=whole_number)]
NClusters = Annotated[int, Parameter(name=("--n-clusters", "-k"), converter=whole_number)]
NumbersOfClusters = Annotated[
    Numbers, Parameter(name=("--n-clusters", "-k"), converter=numbers_of_clusters, n_tokens=1, accepts_keys=False)
]
MemorySize = Annotated[int | None, Parameter(converter=memory_size)]


def listed(text: str, option: str) -> list[str]:
    """Return the names that an option gives with commas between, each once."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError(f"{option} is empty; give names with commas between")
    return list(dict.fromkeys(names))


def check_jobs(jobs: int) -> None:
    """Raise UsageError unless ``--jobs`` is a number of processes."""
    if jobs < 1 and jobs != -1:
        raise UsageError(f"--jobs {jobs}: give -1 for one process per core, or at least 1")


def check_seed(seed: int) -> None:
    """Raise UsageError unless ``--seed`` is one."""
    if seed < 0:
        raise UsageError(f"--seed {seed}: the seed must be 0 or more")


def check_limit(time_limit: float | None) -> None:
    """Raise UsageError unless ``--time-limit`` is left out or a time."""
    if time_limit is not None and not time_limit > 0:
        raise UsageError(f"--time-limit {time_limit:g}: give a positive number of seconds")
