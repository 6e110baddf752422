"""Reading ahead changes nothing but the time: models, checkpoints, counts and errors are the same as without --ahead.
A fit on a GPU always reads ahead."""
import json
import signal
import subprocess
import time

import numpy as np
import pytest
import test_checkpoint
from conftest import npy
from test_checkpoint import options, start, stop_when

data = test_checkpoint.data


@pytest.fixture
def same(roofs, data):
    """same(*files): the model and the counts of a fit, with and without reading ahead."""
    def check(*args):
        printed = []
        for name, more in (("turn.json", []), ("ahead.json", ["--ahead"])):
            done = roofs("fit", "--y", "y.npy", *args, *more, "--json", "-o", name, cwd=data)
            printed.append({key: value for key, value in json.loads(done.stdout).items() if "seconds" not in key
                         and key != "peak_bytes"})
        assert printed[0] == printed[1] and (data / "turn.json").read_bytes() == (data / "ahead.json").read_bytes()
        return printed[1]
    return check


@pytest.mark.parametrize("files",
                         [["long64.npy"], ["long32.npz"], ["named.csv"], ["triplets.csv.gz"],
                          ["x64-0.npy", "x32-1.npy", "x64-2.npy"]])
@pytest.mark.parametrize("more", [[], ["--passes", 2], ["--batch", 1], ["--checkpoint", "ck", "--checkpoint-every", 1]])
def test_model_is_the_same(same, files, more):
    same(*options("roofs-bayes"), *more, *files)


def test_missing_values_are_counted_once(same, roofs, data):
    x = np.load(data / "x64.npy")
    x[[3, 3, 60, 118], [5, 6, 7, 8]] = np.nan
    np.save(data / "holes.npy", x)
    printed = same(*options("roofs"), "holes.npy", "--missing", "median", "--checkpoint", "ck", "--checkpoint-every", 7)
    assert (printed["missing_values"], printed["missing_features"]) == (4, 3)
    again = json.loads(roofs("resume", "ck", "--json", cwd=data).stdout)
    assert (again["missing_values"], again["missing_features"]) == (4, 3)


@pytest.mark.parametrize("files",
                         [["long64.npy"], ["long64.npz"], ["x64-0.npy", "x64-1.npy", "long64.npy", "x64-2.npy"]])
@pytest.mark.parametrize("method", ["roofs", "roofs-bayes"])
def test_interrupted_fit_is_resumed(roofs, program, data, method, files):
    fit = ["fit", "--y", "y.npy", *options(method), *files, "-q"]
    roofs(*fit, "-o", "whole.json", cwd=data)
    code = stop_when(start(program, data, *fit, "-o", "model.json", "--checkpoint", "ck", "--checkpoint-every", 1,
                           "--ahead"), (data / "ck").exists)
    assert code in (143, 0) and not list(data.glob("*.tmp"))
    roofs("resume", "ck", "-o", "model.json", "-q", "--ahead", cwd=data)
    assert (data / "model.json").read_bytes() == (data / "whole.json").read_bytes()


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_silent_pipe_can_be_interrupted(roofs, program, data, number, code):
    """Interrupted while a thread waits for data, the fit is saved."""
    x = np.load(data / "x64.npy")
    fit = ["fit", "--y", "y.npy", *options("roofs"), "-q"]
    roofs(*fit, "x64.npy", "-o", "whole.json", cwd=data)
    process = start(program, data, *fit, "-", "-o", "model.json", "--checkpoint", "ck", "--ahead",
                    stdin=subprocess.PIPE)
    process.stdin.write(npy(x)[:30000])
    process.stdin.flush()
    time.sleep(0.3)
    process.send_signal(number)
    assert process.wait(timeout=20) == code   # the pipe is still open
    _, printed = process.communicate()
    assert b"roofs resume ck" in printed and not (data / "model.json").exists()
    roofs("resume", "ck", "-", "-o", "model.json", "-q", "--ahead", input=npy(x), cwd=data)
    assert (data / "model.json").read_bytes() == (data / "whole.json").read_bytes()


def test_failed_fit_does_not_wait_for_the_rest(program, data):
    """The second batch cannot be used, and the third never comes."""
    x = np.load(data / "x64.npy")
    (data / "names").write_text("".join(f"{min(k, 4)}\n" if k < 6 else f"{k}\n" for k in range(120)))
    process = start(program, data, "fit", "--y", "y.npy", *options("roofs"), "-", "-o", "model.json", "--ahead",
                    "--names", "names",
                    stdin=subprocess.PIPE)
    process.stdin.write(npy(x)[:128 + 80 * 8 * 9])
    process.stdin.flush()
    code = process.wait(timeout=20)
    assert code == 3 and b"feature 5: the name '4' was used before" in process.communicate()[1]


def test_unreadable_files_are_reported_in_order(roofs, data):
    """The file ends too early: what came before it is in the checkpoint, as without reading ahead."""
    whole = (data / "long64.npy").read_bytes()
    (data / "cut.npy").write_bytes(whole[:-80 * 8 * 3 - 5])
    printed = []
    for more in ([], ["--ahead"]):
        done = roofs("fit", "--y", "y.npy", *options("roofs"), "x64.npy", "-", "-o", "model.json", "--checkpoint", "ck",
                     *more, ok=False, cwd=data,
                     input=(data / "cut.npy").read_bytes())
        shown = json.loads(roofs("inspect", "ck", "--json", cwd=data).stdout)
        printed.append((done.returncode, done.stderr, shown))
    assert printed[0] == printed[1] and printed[0][0] == 3 and printed[0][2]["position"] > 120


def test_second_buffer_is_explained(roofs, data):
    printed = roofs("fit", "--y", "y.npy", *options("roofs"), "x64.npy", "--explain", "--ahead", cwd=data).stdout
    assert "buffer for reading     2 batch" in printed
