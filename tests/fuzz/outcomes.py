"""What came out of a fit or a run of the command, and whether it may."""

import contextlib
import io
import os
import tempfile
import traceback
import warnings

import numpy as np

from manyviews.cli import main
from manyviews.cli.console import USER_INPUT


@contextlib.contextmanager
def both_streams():
    """Collect what is written on stdout and stderr, also by compiled code that goes past Python."""
    out, err = io.StringIO(), io.StringIO()
    before = os.dup(2)
    with tempfile.TemporaryFile() as below:
        os.dup2(below.fileno(), 2)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                yield err
        finally:
            os.dup2(before, 2)
            os.close(before)
            below.seek(0)
            err.write(below.read().decode(errors="replace"))


def run_command(argv):
    """Return the outcome of ``manyviews ARGV``, and what is wrong with it or None."""
    try:
        with both_streams() as err:
            code = main(argv)
    except BaseException:
        return "raised", traceback.format_exc()
    text = err.getvalue()
    remarks = [line for line in text.splitlines() if line.startswith("manyviews: ")]
    errors = [line for line in remarks if line.startswith("manyviews: error: ")]
    if "Traceback" in text or "panicked" in text:
        return "traceback", text
    if code == 0 and not errors:
        return "success", None
    if code == USER_INPUT and len(errors) == 1 and text.endswith(errors[0] + "\n"):
        return "exit 2", None
    return f"exit {code}", text


def run_fit(method, X, parameters):
    """Return the outcome of a fit, and what is wrong with it or None."""
    model = method(**parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        try:
            labels = model.fit(X).labels_
        except (ValueError, TypeError) as error:
            return type(error).__name__, None if str(error).strip() else "no text"
        except Exception:
            return "fault", traceback.format_exc()
    if labels.dtype != np.int64 or labels.min() < 0 or labels.max() >= parameters["n_clusters"]:
        return "bad labels", repr(labels[:5])
    return "success", None


def fresh(folder):
    """Return the folder without the files of an earlier case."""
    for entry in folder.iterdir():
        if entry.is_file():
            entry.unlink()
    return folder
