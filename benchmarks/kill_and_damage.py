"""Kill commands at random moments and flip bytes of every format that is read, and count what comes out.

After a kill what is visible must be whole, the inputs and an earlier output as they were, and the same command must go
on or start anew and leave nothing hidden; an interrupt or a closed terminal must leave nothing at all but a sentence.
A damaged file must be read or refused in one line. Anything else is printed with what it takes to repeat it.

    python benchmarks/kill_and_damage.py --kills 100 --flips 1000 --seed 0
"""

import argparse
import gzip
import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
from scipy import io as scipy_io
from scipy import sparse

from manyviews import OPLFMVC, datasets
from manyviews.io import load_model, read_multiview_file, read_views
from manyviews.io.model import save_model

COMMAND = [sys.executable, "-m", "manyviews"]
FEW = ["--quiet"]
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGHUP)
# what a command may end with by a signal that it can answer: 0 where it was done, 130 and 129 as shells have it
ENDS = {signal.SIGKILL: (0, -9), signal.SIGINT: (0, 130, -2), signal.SIGHUP: (0, 129, -1)}
TABLES = (".csv", ".tsv", ".txt", ".gz", ".parquet", ".arrow", ".feather", ".xlsx")
N = 60
SLOW = 20.0


def small_views(seed=0):
    data = datasets.make_blobs_views(n_samples=N, n_features=(5, 4), n_clusters=3, random_state=seed)
    return list(data.views.arrays), data.labels


def commands():
    quick = ["--method", "concat-kmeans", "--refit-seconds", "0", *FEW]
    return {
        "cluster": ["cluster", "m.npz", "-k", "3", *quick, "--out", "out"],
        "cluster --force": ["cluster", "m.npz", "-k", "3", *quick, "--out", "earlier", "--force"],
        "predict": ["predict", "earlier", "m.npz", "--out", "new.csv", *FEW],
        "predict --force": ["predict", "earlier", "m.npz", "--out", "kept.csv", "--force", *FEW],
        "compare": ["compare", "m.npz", "-k", "3", "--methods", "concat-kmeans,average-kkm", "--seeds", "2", "--parts",
                    "0", "--out", "compared", *FEW],
        "bench": ["bench", "mspl", "--datasets", "mfeat", "--methods", "MOR", "--seeds", "2", "--out", "benched", *FEW],
        "sweep": ["sweep", "m.npz", "-k", "3", "--method", "concat-kmeans", "--vary", "n_init=1,2", "--seeds", "2",
                  "--out", "swept", *FEW],
    }  # fmt: skip


def prepare(folder):
    views, labels = small_views()
    np.savez(folder / "m.npz", view_0=views[0], view_1=views[1], labels=labels)
    (folder / "kept.csv").write_text("mine\n", encoding="utf-8")
    first = [*COMMAND, *commands()["cluster"][:-1], "earlier"]
    subprocess.run(first, cwd=folder, check=True, capture_output=True)


def state(folder):
    """Return the checksums of all files by their names."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def outputs_whole(folder):
    """Return what is wrong with the outputs that can be seen, or nothing."""
    for name in ("out", "earlier"):
        place = folder / name
        if place.exists():
            record = json.loads((place / "run.json").read_text(encoding="utf-8"))
            lines = (place / "labels.csv").read_text(encoding="utf-8").splitlines()
            if "manyviews" not in record or len(lines) != N + 1 or not (place / "report.html").exists():
                return f"{name} is not whole"
    for name in ("new.csv", "kept.csv"):
        place = folder / name
        text = place.read_text(encoding="utf-8") if place.exists() else "mine\n"
        if text != "mine\n" and len(text.splitlines()) != N + 1:
            return f"{name} is not whole"
    return ""


def hidden(folder):
    return [str(path.relative_to(folder)) for path in folder.rglob(".*")]


def one_kill(rng, folder, times):
    """Return the command, the signal, what came out, and what is wrong with it or None."""
    name = str(rng.choice(list(times)))
    number = SIGNALS[int(rng.integers(len(SIGNALS)))]
    argv, before = commands()[name], state(folder)
    started = subprocess.Popen(
        [*COMMAND, *argv], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    time.sleep(float(rng.uniform(0.0, times[name])))
    done = started.poll() is not None
    if not done:
        os.killpg(started.pid, number)
    _, err = started.communicate(timeout=300)
    text = err.decode(errors="replace")
    outcome = "done" if started.returncode == 0 else number.name
    faults = []
    if not done and started.returncode not in ENDS[number]:
        faults.append(f"ended with {started.returncode}")
    if "Traceback" in text:
        faults.append(f"traceback: {text[-800:]}")
    after = state(folder)
    changed = [file for file in before if file.startswith(("m.npz", "kept.csv", "earlier")) and
               after.get(file) != before[file]]  # fmt: skip
    mine = ("kept.csv",) if name == "predict --force" else ("earlier",) if name == "cluster --force" else ()
    lost = [file for file in changed if not file.startswith(mine)] if mine else changed
    if lost:
        faults.append(f"changed or lost: {lost}")
    aside = [place for place in hidden(folder) if place.endswith(".old")]
    if not aside and (wrong := outputs_whole(folder)):
        faults.append(wrong)
    if number != signal.SIGKILL and (left := hidden(folder)):
        faults.append(f"left behind: {left}")
    # a process may be killed after its output is in place
    ended = {"cluster": "out", "predict": "new.csv"}.get(name)
    ended = ended is not None and (folder / ended).exists()
    again = [*COMMAND, *argv] + (["--force"] if ended else [])
    repeated = subprocess.run(again, cwd=folder, capture_output=True, check=False)
    if repeated.returncode != 0:
        faults.append(f"again: {repeated.returncode} {repeated.stderr.decode(errors='replace')[-400:]}")
    if (wrong := outputs_whole(folder)) or (left := hidden(folder)):
        faults.append(f"after the next start: {wrong or left}")
    return name, number.name, outcome, "; ".join(faults) or None


def kills(count, seed):
    outcomes = Counter()
    with tempfile.TemporaryDirectory() as place:
        template = Path(place) / "template"
        template.mkdir()
        prepare(template)
        times = {}
        for name, argv in commands().items():
            folder = Path(place) / "timed"
            shutil.copytree(template, folder)
            start = time.monotonic()
            subprocess.run([*COMMAND, *argv], cwd=folder, capture_output=True, check=True)
            times[name] = time.monotonic() - start
            shutil.rmtree(folder)
        for case in range(count):
            folder = Path(place) / f"case-{case}"
            shutil.copytree(template, folder)
            name, number, outcome, fault = one_kill(np.random.default_rng([seed, case]), folder, times)
            outcomes[f"{name}: {outcome}"] += 1
            if fault is not None:
                outcomes["faults"] += 1
                print(f"-- kill {case} ({name}, {number}): {fault}", flush=True)
            shutil.rmtree(folder)
    return outcomes


def write_formats(folder):
    """Write the same two views in every format, and return the file of each and what reads it."""
    views, labels = small_views()
    X, counts = views[0], np.rint(np.exp(views[0])).astype(np.int64)
    frame = pl.DataFrame({"id": [f"s{i}" for i in range(N)]} | {f"f{j}": X[:, j] for j in range(X.shape[1])})
    text = frame.write_csv()
    (folder / "a.csv").write_text(text, encoding="utf-8")
    (folder / "a.tsv").write_text(frame.write_csv(separator="\t"), encoding="utf-8")
    (folder / "a.txt").write_text(text.replace(",", " "), encoding="utf-8")
    (folder / "a.csv.gz").write_bytes(gzip.compress(text.encode()))
    gct = "#1.2\n5\t60\nName\tDescription\t" + "\t".join(f"s{i}" for i in range(N)) + "\n"
    gct += "".join(f"g{j}\tg\t" + "\t".join(map(str, X[:, j])) + "\n" for j in range(5))
    (folder / "a.gct").write_text(gct, encoding="utf-8")
    frame.write_parquet(folder / "a.parquet")
    frame.write_ipc(folder / "a.arrow")
    frame.write_ipc(folder / "a.feather")
    np.save(folder / "a.npy", X)
    np.savez_compressed(folder / "a.npz", view_0=X, view_1=views[1], labels=labels)
    np.savez(folder / "b.npz", view_0=X, view_1=views[1], labels=labels)
    sparse.save_npz(folder / "c.npz", sparse.csr_matrix(counts))
    scipy_io.mmwrite(folder / "a.mtx", sparse.coo_matrix(counts))
    (folder / "b.mtx.gz").write_bytes(gzip.compress((folder / "a.mtx").read_bytes()))
    scipy_io.savemat(folder / "a.mat", {"X": np.array([*views, None], dtype=object)[:2], "Y": labels[:, None] + 1})
    written = sorted(folder.iterdir())
    try:
        import h5py

        with h5py.File(folder / "b.mat", "w", userblock_size=512) as file:
            for v, array in enumerate(views):
                file[f"X{v}"] = array.T
            file["Y"] = labels[None].astype(np.float64)
        content = (folder / "b.mat").read_bytes()
        head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM"
        (folder / "b.mat").write_bytes(head.ljust(512, b"\0") + content[512:])
    except ImportError:
        print("h5py is not there: no MATLAB 7.3 files")
    try:
        frame.write_excel(folder / "a.xlsx")
    except ImportError:
        print("xlsxwriter is not there: no workbooks")
    return sorted(folder.iterdir()) or written


def flipped(rng, content):
    """Return the bytes with one to eight of them changed, or the end cut off."""
    data = bytearray(content)
    if rng.random() < 0.1:
        return bytes(data[: int(rng.integers(len(data)))])
    for _ in range(int(rng.integers(1, 9))):
        # the beginning, where headers are, twice as often
        end = len(data) if rng.random() < 0.5 else min(len(data), 256)
        data[int(rng.integers(end))] = int(rng.integers(256))
    return bytes(data)


def read_one(path):
    several = path.suffix in (".npz", ".mat")
    ids = "id" if path.suffix in TABLES and path.name != "b.mtx.gz" else None
    return read_multiview_file(path) if several else read_views({"a": path}, id_column=ids)


def load_one(path):
    return load_model(path.parent)


def outcome_of(call, *given):
    """Return what comes out of a call, and what is wrong with it or None."""
    start = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(*given)
            outcome, fault = "read", None
        except (ValueError, TypeError) as error:
            text = str(error).strip()
            outcome, fault = "refused", None if text and "\n" not in text else f"no single line: {text[:300]!r}"
        except BaseException as error:  # whatever else is a fault, also what would end the process
            outcome, fault = "fault", f"{type(error).__name__}: {error}"[:400]
    seconds = time.monotonic() - start
    return outcome, fault or (f"took {seconds:.0f} s" if seconds > SLOW else None)


def damage_file(original, target, call, seed, numbers, queue):
    """Change a file by each of some seeds, and put what comes out into a queue: for a process of its own."""
    content = original.read_bytes()
    for number in numbers:
        target.write_bytes(flipped(np.random.default_rng([seed, number]), content))
        queue.put((number, None, None))
        queue.put((number, *outcome_of(call, target)))


def damaged(name, original, target, call, count, seed):
    outcomes, spawn = Counter(), multiprocessing.get_context("spawn")
    start = 0
    while start < count:
        queue = spawn.SimpleQueue()
        process = spawn.Process(target=damage_file, args=(original, target, call, seed, range(start, count), queue))
        process.start()
        last = start
        while last < count:
            if queue.empty():
                if not process.is_alive() and queue.empty():
                    break
                time.sleep(0.001)
                continue
            number, outcome, fault = queue.get()
            last = number if outcome is None else number + 1
            if outcome is not None:
                outcomes[outcome if fault is None else "fault"] += 1
                if fault is not None:
                    print(f"-- {name} {number}: {fault}", flush=True)
        process.join()
        if last < count:
            outcomes["crash"] += 1
            print(f"-- {name} {last}: the process ended with {process.exitcode}", flush=True)
        start = last + 1
    return outcomes


def flips(count, seed, only):
    with tempfile.TemporaryDirectory() as place:
        originals, work = Path(place) / "originals", Path(place) / "work"
        originals.mkdir(), work.mkdir()
        for original in [path for path in write_formats(originals) if only is None or path.name in only]:
            intact, fault = outcome_of(read_one, original)
            target = work / original.name
            found = damaged(original.name, original, target, read_one, count, seed)
            print(f"{original.name}: intact {intact}{fault or ''}, {count} damaged: {dict(found)}", flush=True)
        model = Path(place) / "model"
        views, _ = small_views()
        fitted = OPLFMVC(3, random_state=0).fit(views)
        save_model(fitted, model, fitted._check_views(views, reset=False))
        files = sorted(path for path in model.iterdir() if path.is_file())
        for file in [path for path in files if only is None or path.name in only]:
            original = originals / file.name
            shutil.copy(file, original)
            found = damaged(f"model/{file.name}", original, file, load_one, count, seed)
            shutil.copy(original, file)
            print(f"model/{file.name}: {count} damaged: {dict(found)}", flush=True)


def run():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--only", nargs="+", help="names of the files to damage, such as a.mat or model.skops")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if args.kills:
        print(f"{args.kills} kills: {dict(sorted(kills(args.kills, args.seed).items()))}", flush=True)
    if args.flips:
        flips(args.flips, args.seed, args.only)


if __name__ == "__main__":
    run()
