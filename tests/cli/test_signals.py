"""A signal ends every verb soon, with a file that is whole or not there, and with nothing beside it."""
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

SOON = 8   # seconds; the program promises two

FIT = ["fit", "--y", "y.npy", "--mu", 15, "--batch", 20, "--passes", 1, "--threads", 1, "x.npy", "-q"]
VERBS = {   # the command, and the file that it writes
    "fit": ([*FIT, "-o", "out"], "out"),
    "fit --checkpoint": ([*FIT, "-o", "out", "--checkpoint", "ck", "--checkpoint-every", 3], "out"),
    "fit --trace": ([*FIT, "-o", "m.json", "--trace", "out"], "out"),
    "fit --mu auto": (["fit", "--y", "y.npy", "--mu", "auto", "--batch", 20, "--passes", 1, "--threads", 1, "few.npy",
                       "-q", "-o", "out"], "out"),
    "resume": (["resume", "given.ck", "-o", "out", "-q"], "out"),
    "convert .npy": (["convert", "wide.csv", "-o", "out.npy", "-q"], "out.npy"),
    "convert .npz": (["convert", "wide.csv", "-o", "out.npz", "-q"], "out.npz"),
    "convert .csv": (["convert", "x.npy", "--orient", "features", "-o", "out.csv", "-q"], "out.csv"),
    "convert .svm": (["convert", "x.npy", "--orient", "features", "-o", "out.svm", "-q"], "out.svm"),
    "predict": (["predict", "model.json", "wide.csv", "-o", "out.txt"], "out.txt"),
    "report": (["report", "model.json", "-o", "out.html"], "out.html"),
    "simulate": (["simulate", "-o", "sim", "--n", 400, "--p", 20000, "--mu", 20, "-q", "--threads", 1], "sim/X.npy"),
    "evaluate": (["evaluate", "model.json", "given"], None),
    "inspect": (["inspect", "model.json"], None),
}


@pytest.fixture(scope="module")
def master(tmp_path_factory, program):
    """The inputs; every test has links to them."""
    folder = tmp_path_factory.mktemp("inputs")
    subprocess.run([program, "simulate", "-o", "given", "--n", "300", "--p", "1500", "--mu", "20", "-q", "--order",
                    "random"], cwd=folder, check=True)
    x = np.load(folder / "given" / "X.npy")
    shutil.copy(folder / "given" / "X.npy", folder / "x.npy")
    shutil.copy(folder / "given" / "y.npy", folder / "y.npy")
    np.save(folder / "few.npy", x[:60])
    with open(folder / "wide.csv", "w") as file:
        file.write(",".join(f"f{j}" for j in range(len(x))) + "\n")
        np.savetxt(file, x.T, fmt="%.6g", delimiter=",")
    subprocess.run([program, *map(str, FIT), "-o", "model.json", "--checkpoint", "given.ck"], cwd=folder, check=True)
    return folder


@pytest.fixture
def data(master, tmp_path):
    for name in ("x.npy", "y.npy", "few.npy", "wide.csv", "model.json", "given"):
        (tmp_path / name).symlink_to(master / name)
    shutil.copy(master / "given.ck", tmp_path / "given.ck")
    return tmp_path


def leftovers(folder):
    return [p.name for p in folder.rglob("*") if p.name.endswith((".tmp", ".lock")) or p.name.startswith(".roofs")]


def end(process, number):
    """The exit code after a signal, as a shell reports it, and how long it took."""
    process.send_signal(number)
    began = time.monotonic()
    try:
        process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    code = process.returncode
    return 128 - code if code < 0 else code, time.monotonic() - began


@pytest.fixture(scope="module")
def undisturbed():
    """undisturbed(args, folder, name): how long the command takes, and the file that it writes; run once."""
    known = {}

    def run(args, folder, name):
        if tuple(args) not in known:
            began = time.monotonic()
            subprocess.run(args, cwd=folder, check=True, capture_output=True)
            known[tuple(args)] = time.monotonic() - began, (folder / name).read_bytes() if name else b""
        return known[tuple(args)]
    return run


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL],
                         ids=lambda number: number.name)
@pytest.mark.parametrize("verb", VERBS)
def test_signal_ends_every_verb(program, sanitized, undisturbed, data, verb, number):
    args, name = VERBS[verb]
    if verb == "report" and not shutil.which("gnuplot"):
        pytest.skip("no gnuplot here")
    if sanitized and number != signal.SIGTERM:
        pytest.skip("the same code as SIGTERM, or none")
    args = [program, *map(str, args)]
    seconds, whole = undisturbed(args, data, name)
    for at in (0.2, 0.5, 0.9):
        for made in ("sim", "ck", "m.json", *([name] if name else [])):
            path = data / made
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        if name and "/" not in name:
            (data / name).write_bytes(b"old")
        process = subprocess.Popen(args, cwd=data, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            process.wait(at * seconds)
        except subprocess.TimeoutExpired:
            pass
        code, took = end(process, number)
        assert code in (0, 128 + number) and took < SOON, (code, took)
        content = (data / name).read_bytes() if name and (data / name).exists() else b"old"
        if code != 0:
            assert content in (b"old", whole) or "--trace" in verb
        elif name:
            assert len(content) == len(whole) or "--trace" in verb
        if number != signal.SIGKILL:
            assert leftovers(data) == []
        else:
            assert [x for x in leftovers(data) if not x.endswith(".lock")] == []   # the system releases the lock


def test_signal_during_a_long_last_step_is_not_ignored(program, data):
    """A table is written when all features are there, and that takes most of the time."""
    x = np.load(data / "x.npy")
    np.save(data / "many.npy", np.tile(x, (4, 1)))
    args = [program, "convert", "many.npy", "--orient", "features", "-o", "out.csv", "-q"]
    began = time.monotonic()
    subprocess.run(args, cwd=data, check=True)
    seconds = time.monotonic() - began
    (data / "out.csv").unlink()
    for at in (0.3, 0.6):
        process = subprocess.Popen(args, cwd=data, stderr=subprocess.PIPE)
        time.sleep(at * seconds)
        code, took = end(process, signal.SIGTERM)
        assert code == 143 and took < SOON and not (data / "out.csv").exists() and leftovers(data) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("verb", ["fit", "convert", "predict"])
def test_signal_between_two_reads_of_a_silent_pipe_is_not_lost(program, data, verb, number):
    """A signal that comes while the program computes must also end the next read, which may wait for hours. Pauses
    of several lengths try both."""
    x = np.load(data / "x.npy")
    args = {"fit": [*(a if a != "x.npy" else "-" for a in FIT), "-o", "out"],
            "convert": ["convert", "-", "--orient", "features", "-o", "out.csv", "-q"],
            "predict": ["predict", "model.json", "-", "--orient", "features", "-o", "out.txt"]}[verb]
    head = (data / "x.npy").read_bytes()[:len(x[0]) * 8 * 1000]
    for pause in (0, 0.003, 0.01, 0.05):
        process = subprocess.Popen([program, *map(str, args)], cwd=data, stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        kept = os.dup(process.stdin.fileno())   # communicate closes the other one; the pipe must stay silent and open
        process.stdin.write(head)
        process.stdin.flush()
        time.sleep(pause)
        code, took = end(process, number)
        os.close(kept)
        assert code == 128 + number and took < SOON and leftovers(data) == []


@pytest.mark.parametrize("at", [0.3, 0.45, 0.6, 0.7, 0.8, 0.9])
def test_signal_while_a_file_is_read_again_loses_nothing(program, undisturbed, roofs, data, at):
    """A table with one sample per line is read completely before its first feature, in each pass: most of the time of
    this fit. It is stopped there, and resumed."""
    args = ["fit", "--y", "y.npy", "--mu", 2, "--method", "roofs", "--batch", 1500, "--passes", 4, "--threads", 1,
            "wide.csv", "-q"]
    seconds, whole = undisturbed([program, *map(str, args), "-o", "whole"], data, "whole")
    process = subprocess.Popen([program, *map(str, args), "-o", "out", "--checkpoint", "ck"], cwd=data,
                               stderr=subprocess.PIPE)
    time.sleep(at * seconds)
    code, took = end(process, signal.SIGTERM)
    assert code in (0, 143) and took < SOON and leftovers(data) == []
    if code:
        roofs("resume", "ck", "-o", "out", "-q", cwd=data)
    assert (data / "out").read_bytes() == whole


def test_ignored_signals_stay_ignored(program, data):
    """As under nohup."""
    process = subprocess.Popen([program, *map(str, VERBS["fit"][0])], cwd=data, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    time.sleep(0.05)
    assert end(process, signal.SIGHUP)[0] == 0 and (data / "out").exists()


def is_writing(pid):
    """Whether the process has written a mebibyte to a file without a name; files may be closed meanwhile."""
    try:
        return any("/#" in os.readlink(f) and f.stat().st_size > 1 << 20 for f in open_files(pid))
    except FileNotFoundError:
        return False


def test_killed_writer_leaves_nothing(program, data):
    """The unfinished file has no name, so that it ends with the process; and it was being written."""
    code = "import os; os.close(os.open('.', os.O_TMPFILE | os.O_RDWR))"
    if subprocess.run([sys.executable, "-c", code], cwd=data, capture_output=True).returncode != 0:
        pytest.skip("no files without a name on this file system")
    process = subprocess.Popen([program, "simulate", "-o", "sim", "--n", "1000", "--p", "20000", "--mu", "5", "-q"],
                               cwd=data)
    until = time.monotonic() + 20
    while not is_writing(process.pid):
        assert time.monotonic() < until and process.poll() is None
    process.kill()
    process.wait()
    assert list((data / "sim").iterdir()) == []


def test_leftover_is_removed_by_the_next_run(roofs, program, data):
    """Where unfinished files need a name, a killed process leaves one. The next run on that file removes it, but not
    that of a process that still runs, and not what the user has by a similar name."""
    shim = Path(os.environ.get("ROOFS_BUILD") or Path(program).parent) / "tests" / "libroofs_power.so"
    if not shim.exists() or shim.parent.parent.name == "asan":
        pytest.skip("no shim in this build")
    (data / ".roofs-1234-0.tmp").write_text("mine")
    (data / "big").mkdir()
    args = [program, "simulate", "-o", "big", "--n", "1000", "--p", "20000", "--mu", "5", "-q"]
    fit = [program, *map(str, VERBS["fit --trace"][0])]
    env = {**os.environ, "LD_PRELOAD": str(shim), "POWER_NAMED": "1"}
    process, running = subprocess.Popen(args, cwd=data, env=env), subprocess.Popen(fit, cwd=data, env=env)
    until = time.monotonic() + 20
    while len(list((data / "big").iterdir())) < 5 or len(leftovers(data)) < 7:
        assert time.monotonic() < until
    process.kill()
    process.wait()
    running.send_signal(signal.SIGSTOP)
    kept = [p.name for p in data.iterdir() if p.name.startswith(".roofs") and p.name != ".roofs-1234-0.tmp"]
    assert len(list((data / "big").iterdir())) == 5 and len(kept) == 1
    roofs("simulate", "-o", "big", "--n", 20, "--p", 5, "--mu", 2, "-q", cwd=data)
    assert sorted(p.name for p in (data / "big").iterdir()) == ["X.npy", "beta.npy", "clean.npy", "truth.json", "y.npy"]
    for trace in ("out", "other"):
        roofs("fit", "--y", "y.npy", "few.npy", "--mu", 2, "-q", "-o", "m2.json", "--trace", trace, cwd=data)
    assert (data / kept[0]).exists() and (data / ".roofs-1234-0.tmp").read_text() == "mine"
    running.send_signal(signal.SIGCONT)
    assert running.wait(60) == 0 and not (data / kept[0]).exists()


def open_files(pid):
    for path in Path(f"/proc/{pid}/fd").iterdir():
        try:
            path.stat()
            yield path
        except OSError:
            pass
