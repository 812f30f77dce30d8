"""What only a process of its own shows: killed runs, pipes, terminals."""

import os
import signal
import subprocess
import sys
import time

import pytest
from command_data import table

COMMAND = (sys.executable, "-m", "manyviews")
CLUSTER = ("cluster", "m.npz", "-k", "3", "--method", "concat-kmeans", "--refit-seconds", "0")
CLUSTER += ("--out", "sub/out", "--quiet")

# Put on the path of the child: stops it in the middle of writing the output folder.
HOOK = """
import time
import manyviews.io.model as model

save = model.save_model

def slow(estimator, folder, views, **options):
    save(estimator, folder, views, **options)
    open("reached", "w").close()
    time.sleep(60)

model.save_model = slow
"""


@pytest.fixture
def stopped(folder):
    """A ``manyviews cluster`` that waits in the middle of writing."""
    (folder / "hook").mkdir()
    (folder / "hook" / "sitecustomize.py").write_text(HOOK)
    path = os.pathsep.join(filter(None, [str(folder / "hook"), os.environ.get("PYTHONPATH")]))
    child = subprocess.Popen(
        [*COMMAND, *CLUSTER],
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.PIPE,
        text=True,
        # a shell may start this in the background, where the interrupt is ignored and children inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 (no threads here)
    )
    deadline = time.monotonic() + 60
    while not (folder / "reached").exists():
        assert child.poll() is None, child.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    yield child
    child.kill()
    child.wait()
    child.stderr.close()


def test_kill_leaves_no_folder_under_the_final_name(folder, stopped, run):
    stopped.kill()
    stopped.wait()
    left = os.listdir(folder / "sub")
    assert len(left) == 1
    assert left[0].startswith(".out.")
    # The next run is not in the way of what was left.
    assert run(*CLUSTER).code == 0
    assert (folder / "sub" / "out" / "labels.csv").exists()


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_run_cleans_up(folder, stopped, number, code):
    stopped.send_signal(number)
    _, err = stopped.communicate(timeout=30)
    assert stopped.returncode == code
    assert err == ("manyviews: interrupted\n" if number == signal.SIGINT else "")
    assert not (folder / "sub").exists()


def test_reader_that_leaves_early():
    child = subprocess.Popen([*COMMAND, "data"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    child.stdout.close()
    assert child.stderr.read() == ""
    assert child.wait(60) == 0
    child.stderr.close()


def test_terminal_that_knows_only_ascii(folder):
    done = subprocess.run(
        [*COMMAND, "methods"], env=os.environ | {"PYTHONIOENCODING": "ascii"}, capture_output=True, check=True
    )
    assert b"op-lfmvc" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="pseudo terminals")
def test_on_a_terminal(folder):
    """Tables are drawn, names stay text, progress leaves no trace in the output."""
    import pty

    leader, follower = pty.openpty()
    table(4).drop("id").write_csv("other.csv")
    argv = [*COMMAND, "cluster", "--view", "a [red]b[/red]=plain.csv", "--view", "b=other.csv", "-k", "3"]
    argv += ["--method", "op-lfmvc", "--refit-seconds", "1", "--no-model"]
    child = subprocess.Popen(argv, stdin=follower, stdout=follower, stderr=follower, close_fds=True)
    os.close(follower)
    shown = b""
    while True:
        try:
            block = os.read(leader, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not block:
            break
        shown += block
    os.close(leader)
    assert child.wait(60) == 0
    assert b"a [red]b[/red]" in shown
    assert "report.html" in shown.decode()


def test_slow_work_says_what_it_does(folder, monkeypatch, capsys):
    from manyviews.cli import console

    monkeypatch.setattr(console, "_SECONDS_BEFORE_PROGRESS", 0.01)
    progress = console.Stages()
    with progress.stage("fit", "working\non it"):
        time.sleep(0.2)
    assert capsys.readouterr().err == "working on it ...\n"
    assert progress.timings["fit"] >= 0.2
    quiet = console.Stages(quiet=True)
    with quiet.stage("fit", "working"):
        time.sleep(0.1)
    quiet.note("nothing")
    assert capsys.readouterr().err == ""
