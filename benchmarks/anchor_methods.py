"""CPU seconds (one thread), peak memory and scores of the methods that are linear in n, with their growth exponents.

    python benchmarks/anchor_methods.py 10000 100000 1000000
    python benchmarks/anchor_methods.py 1000 10000 100000 1000000 --methods FastMICE LMVSC UDBGL --figure scaling.html

LMVSC, SMVSC, FPMVS-CAG and BMVC with default parameters beside FastMICE, on the same made data: views of 64, 32 and 16
columns, float32, 10 overlapping clusters. Every fit runs in a process of its own; the peak is that of the resident set
during ``fit`` less what was resident before it. Needs Linux.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

METHODS = ("FastMICE", "LMVSC", "SMVSC", "FPMVSCAG", "BMVC")
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
COLUMNS = (64, 32, 16)


def status(key):
    """A line of /proc/self/status, in MB."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.partition(f"{key}:")[2].split()[0]) / 1024


def measure(name, n, noise):
    """One fit, as a mapping."""
    import manyviews
    from manyviews import datasets
    from manyviews.metrics import nmi_score

    method = getattr(manyviews, name)
    method(3, random_state=0).fit(datasets.make_blobs_views(300, COLUMNS, 3, dtype="float32", random_state=0).views)
    data = datasets.make_blobs_views(n, COLUMNS, 10, view_noise=noise, dtype="float32", random_state=0)
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak counts from here on
    start = time.process_time()
    model = method(10, random_state=0, n_jobs=1).fit(data.views)
    seconds = time.process_time() - start
    peak = status("VmHWM") - before
    start = time.process_time()
    agree = float((model.predict(data.views) == model.labels_).mean())
    return {
        "seconds": seconds,
        "peak": peak,
        "predict": time.process_time() - start,
        "agree": agree,
        "iterations": model.n_iter_,
        "nmi": nmi_score(data.labels, model.labels_),
    }


def growth(points):
    """The exponent of growth between the last two sizes, as text; empty for one size."""
    if len(points) < 2:
        return ""
    (n, before), (m, after) = points[-2:]
    return f"{math.log(after / before) / math.log(m / n):.2f}"


def draw(measured, path):
    """Write CPU seconds against n on log axes; the legend has the exponent between the last two sizes."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, points in measured.items():
        sizes, seconds = zip(*points, strict=True)
        label = f"{name}, n^{growth(points)}" if len(points) > 1 else name
        figure.add_scatter(x=sizes, y=seconds, name=label, mode="lines+markers")
    figure.update_xaxes(type="log", title="samples n")
    figure.update_yaxes(type="log", title="CPU seconds of a fit, one thread")
    figure.write_html(path, include_plotlyjs=True)


def main():
    """Measure every method at every size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--noise", type=float, default=0.3, help="noise of the views; more of it overlaps clusters")
    parser.add_argument("--figure", type=Path, help="also draw CPU seconds against n, as a page (needs plotly)")
    parser.add_argument("--one", action="store_true", help="measure here, one method and size; for the script itself")
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.methods[0], args.sizes[0], args.noise)))
        return
    print(
        f"{'method':10s} {'n':>9s} {'CPU s':>8s} {'peak MB':>8s} {'exponent':>8s} {'NMI':>6s} {'iter':>5s} "
        f"{'predict s':>9s}"
    )
    measured = {name: [] for name in args.methods}
    for n in args.sizes:
        for name in args.methods:
            command = [sys.executable, "-W", "ignore", __file__, str(n), "--methods", name, "--one"]
            run = subprocess.run(
                [*command, "--noise", str(args.noise)],
                capture_output=True,
                text=True,
                check=True,
                env=os.environ | THREADS,
            )
            found = json.loads(run.stdout.splitlines()[-1])
            measured[name].append((n, found["seconds"]))
            exponent = growth(measured[name])
            print(
                f"{name:10s} {n:9d} {found['seconds']:8.1f} {found['peak']:8.0f} {exponent:>8s} {found['nmi']:6.3f} "
                f"{found['iterations']:5d} {found['predict']:9.1f}   predict agrees {found['agree']:.4f}",
                flush=True,
            )
        if args.figure:
            draw(measured, args.figure)


if __name__ == "__main__":
    main()
