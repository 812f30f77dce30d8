"""Throw malformed input at the library and at the command, and count what comes out.

The only outcomes allowed are success and, for the library, a ValueError or TypeError in one line, for the command, exit
code 2 with one line on stderr that says what to change. Anything else is printed with what it takes to repeat it.

    python benchmarks/fuzz_input.py --files 2000 --arrays 2000 --seed 0
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "fuzz"))
from malformed import make_array_case, make_file_case
from outcomes import fresh, run_command, run_fit

from manyviews.cluster.registry import METHODS


def fuzz_files(count, seed):
    outcomes, kinds = Counter(), Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number in range(count):
            kind, argv = make_file_case(np.random.default_rng([seed, number]), fresh(Path(folder)))
            outcome, fault = run_command([*argv, "--out", "out", "--force"])
            outcomes[outcome] += 1
            kinds[kind] += 1
            if fault is not None:
                print(f"-- file {number} ({kind}): {outcome}: {' '.join(argv)}\n{fault[-1500:]}")
        os.chdir("/")
    return outcomes, kinds


def fuzz_arrays(count, seed):
    outcomes, kinds = Counter(), Counter()
    for number in range(count):
        kind, X, parameters = make_array_case(np.random.default_rng([seed, number]))
        method = METHODS[number % len(METHODS)].load()
        outcome, fault = run_fit(method, X, parameters)
        outcomes[outcome] += 1
        kinds[kind] += 1
        if fault is not None:
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
        outcomes, kinds = fuzz(count, args.seed)
        print(f"{name}: {count} tried: {dict(outcomes.most_common())}")
        print(f"   kinds: {dict(kinds.most_common())}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"{time.process_time() - start:.0f} s CPU, {peak:.0f} MB at most")


if __name__ == "__main__":
    run()
