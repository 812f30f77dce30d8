"""Throw malformed input at the library and at the command, and count what comes out.

The only outcomes allowed are success and, for the library, a ValueError or TypeError in one line, for the command, exit
code 2 with one line on stderr that says what to change. Anything else is printed with what it takes to repeat it.

    python benchmarks/fuzz_input.py --files 2000 --arrays 2000 --seed 0
"""

import argparse
import contextlib
import io
import os
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "fuzz"))
from malformed import make_array_case, make_file_case

from manyviews.cli import main
from manyviews.cluster.registry import METHODS


def try_command(argv):
    """Return (outcome, fault) of one run of the command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(argv)
    lines = [
        line
        for line in err.getvalue().splitlines()
        if not line.startswith(("manyviews: note: ", "manyviews: warning: "))
    ]
    lines = [line for line in lines if line.startswith("manyviews: ") or "  " not in line]
    if code == 0:
        return "success", None
    if code == 2 and len(lines) == 1 and "bug" not in lines[0]:
        return "exit 2", None
    return f"exit {code}", err.getvalue()


def try_fit(method, X, parameters):
    """Return (outcome, fault) of one fit."""
    try:
        labels = method(**parameters).fit(X).labels_
    except (ValueError, TypeError) as error:
        text = str(error)
        return (type(error).__name__, None) if text else ("unclear error", repr(text))
    except Exception:
        return "fault", traceback.format_exc()
    if labels.dtype != np.int64 or labels.min() < 0 or labels.max() >= parameters["n_clusters"]:
        return "fault", f"labels {labels[:5]}"
    return "success", None


def fuzz_files(count, seed, show):
    outcomes, kinds = Counter(), Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number in range(count):
            for old in os.listdir():
                if os.path.isfile(old):
                    os.remove(old)
            kind, argv = make_file_case(np.random.default_rng([seed, number]), Path(folder))
            outcome, fault = try_command([*argv, "--out", "out", "--force"])
            outcomes[outcome] += 1
            kinds[kind] += 1
            if fault is not None and show:
                print(f"-- file {number} ({kind}): {outcome}: {' '.join(argv)}\n{fault[-1500:]}")
    return outcomes, kinds


def fuzz_arrays(count, seed, show):
    outcomes, kinds = Counter(), Counter()
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        kind, X, parameters = make_array_case(rng)
        method = METHODS[int(rng.integers(len(METHODS)))].load()
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            outcome, fault = try_fit(method, X, parameters)
        outcomes[outcome] += 1
        kinds[kind] += 1
        if fault is not None and show:
            print(f"-- array {number} ({kind}): {method.__name__}({parameters})\n{fault[-1500:]}")
    return outcomes, kinds


def run():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--arrays", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    start = time.process_time()
    for name, fuzz, count in (("files", fuzz_files, args.files), ("arrays", fuzz_arrays, args.arrays)):
        outcomes, kinds = fuzz(count, args.seed, show=True)
        print(f"{name}: {count} tried: {dict(outcomes.most_common())}")
        print(f"   kinds: {dict(kinds.most_common())}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"{time.process_time() - start:.0f} s CPU, {peak:.0f} MB at most")


if __name__ == "__main__":
    run()
