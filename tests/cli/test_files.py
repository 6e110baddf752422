"""Only files that the command names are touched, whatever stands beside them; what they replace keeps its permissions;
pipes, links and closed descriptors do what they do with other programs."""
import os
import shutil
import signal
import stat
import subprocess
import threading
import time

import numpy as np
import pytest
from conftest import npy

FIT = ["fit", "--y", "y.npy", "--mu", 3, "--batch", 4, "--passes", 1, "--threads", 1, "x.npy", "-q"]


@pytest.fixture
def data(tmp_path, program):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((40, 50))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", 2 * x[3] - x[20] + 0.1 * rng.standard_normal(50))
    subprocess.run([program, *map(str, FIT), "-o", "model.json", "--trace", "trace.jsonl", "--checkpoint", "ck"],
                   cwd=tmp_path, check=True)
    for name in ("model.json", "trace.jsonl", "ck"):
        shutil.move(tmp_path / name, tmp_path / f"given-{name}")
    return tmp_path


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


# Every way to write a file: the command, and what it writes.
WRITERS = {
    "fit -o": ([*FIT, "-o", "out.json"], "out.json"),
    "fit --trace": ([*FIT, "-o", "model.json", "--trace", "out.jsonl"], "out.jsonl"),
    "fit --checkpoint": ([*FIT, "-o", "model.json", "--checkpoint", "out.ck", "--checkpoint-every", 2], "out.ck"),
    "resume": (["resume", "given-ck", "-o", "out.json", "-q"], "out.json"),
    "resume, checkpoint": (["resume", "given-ck", "-o", "model.json", "-q"], "given-ck"),
    "predict": (["predict", "given-model.json", "x.npy", "-o", "out.npy"], "out.npy"),
    "predict, text": (["predict", "given-model.json", "x.npy", "-o", "out.txt"], "out.txt"),
    "convert .npy": (["convert", "x.npy", "--orient", "features", "-o", "out.npy", "-q"], "out.npy"),
    "convert .npz": (["convert", "x.npy", "--orient", "features", "-o", "out.npz", "-q"], "out.npz"),
    "convert .csv": (["convert", "x.npy", "--orient", "features", "-o", "out.csv", "-q"], "out.csv"),
    "convert --save-y": (["convert", "x.npy", "--orient", "features", "-o", "x.svm", "-q", "--y", "y.npy", "--save-y",
                          "out.txt"], "out.txt"),
    "report": (["report", "given-model.json", "-o", "out.html"], "out.html"),
    "simulate": (["simulate", "-o", "sim", "--n", 20, "--p", 5, "--mu", 2, "-q"], "sim/X.npy"),
}


@pytest.fixture(params=WRITERS, ids=lambda name: name.replace(" ", "-"))
def writer(request, roofs, data):
    if request.param == "report" and not shutil.which("gnuplot"):
        pytest.skip("no gnuplot here")
    args, name = WRITERS[request.param]
    return lambda **more: roofs(*args, cwd=data, **more), data / name


def snapshot(folder):
    """What every file is, but not that of the writer."""
    found = {}
    for path in folder.rglob("*"):
        info = path.lstat()
        what = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[path.relative_to(folder)] = (stat.S_IFMT(info.st_mode), info.st_mode, what)
    return found


# ---- permissions --------------------------------------------------------------------------------

@pytest.mark.parametrize("wanted", [0o600, 0o466])
def test_replaced_file_keeps_its_permissions(writer, wanted):
    run, path = writer
    run()
    path.chmod(wanted)
    before = path.stat().st_ino
    run()
    assert mode(path) == wanted and path.stat().st_ino != before


def test_owner_is_kept(writer):
    run, path = writer
    if os.geteuid() != 0:
        pytest.skip("only root can give files to others")
    run()
    os.chown(path, 1234, 2345)
    path.chmod(0o640)
    run()
    assert (path.stat().st_uid, path.stat().st_gid, mode(path)) == (1234, 2345, 0o640)


def test_new_file_follows_umask(writer):
    run, path = writer
    path.unlink(missing_ok=True)
    if path.name == "given-ck":
        pytest.skip("resume needs it")
    run(preexec_fn=lambda: os.umask(0o077))
    assert mode(path) == 0o600


# ---- links ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", ["file", "dangling in a folder", "dangling chain"])
def test_links_stay_links(writer, data, kind):
    run, path = writer
    path.parent.mkdir(exist_ok=True)
    (data / "deep").mkdir()
    target = data / "deep" / "real"
    if path.exists():
        shutil.copy(path, target)
        path.unlink()
    elif "dangling" not in kind:
        target.write_text("old")
    link = data / "deep" / "first" if "chain" in kind else target
    if link != target:
        link.symlink_to("real")
    path.symlink_to(os.path.relpath(link, path.parent) if "folder" in kind else link)
    run()
    assert path.is_symlink() and target.is_file() and not target.is_symlink() and target.read_bytes()[:3] != b"old"
    assert sorted(p.name for p in (data / "deep").iterdir()) == sorted({"real", link.name})


# ---- files that stand beside ---------------------------------------------------------------------

def beside(path):
    """Names that the program might use, and that belong to the user."""
    name = path.name
    return [path.with_name(other) for other in
            (f"{name}.lock", f"{name}.tmp", f"{name}.1234-0.tmp", f"{name}.{os.getpid()}-0.tmp", f"{name}.1-0",
             f".roofs-{os.getpid()}-0.tmp", f".roofs-{os.getpid()}-0-0123456789abcdef.tmp", f".{name}.swp",
             f"{name}.bak", f"{name}~")]


@pytest.mark.parametrize("content", [b"mine", b"", b"123\n"])
def test_files_of_the_user_stay(writer, content):
    run, path = writer
    path.parent.mkdir(exist_ok=True)
    for other in beside(path):
        other.write_bytes(content)
        other.chmod(0o604)
    run()
    assert path.exists()
    assert {other.name: (other.read_bytes(), mode(other)) for other in beside(path) if other.exists()} \
        == {other.name: (content, 0o604) for other in beside(path)}


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "hard link"])
def test_strange_files_beside_are_not_used(writer, data, kind):
    """The program may refuse to run, but it neither changes nor follows them, and does not hang."""
    run, path = writer
    path.parent.mkdir(exist_ok=True)
    precious = data / "precious"
    precious.write_bytes(b"of the user")
    for other in beside(path):
        if kind == "link":
            other.symlink_to(precious)
        elif kind == "dangling link":
            other.symlink_to(data / "nowhere")
        elif kind == "pipe":
            os.mkfifo(other)
        else:
            os.link(precious, other)
    before = {other: snapshot(data)[other.relative_to(data)] for other in beside(path)}
    done = run(ok=False, timeout=20)
    after = snapshot(data)
    assert precious.read_bytes() == b"of the user" and not (data / "nowhere").exists()
    assert {other: after.get(other.relative_to(data)) for other in beside(path)} == before
    if done.returncode != 0:
        assert done.returncode in (1, 3) and ".lock" in done.stderr and done.stderr.count("\n") == 1


def test_nothing_is_left_beside(writer, data):
    run, path = writer
    before = set(snapshot(data))
    run()
    extra = {str(name) for name in set(snapshot(data)) - before}
    allowed = {str(path.relative_to(data)), "model.json", "x.svm", "sim", "sim/y.npy", "sim/beta.npy",
               "sim/clean.npy", "sim/truth.json"}
    assert extra <= allowed


# ---- locks -----------------------------------------------------------------------------------------

def waiting(program, data, *args, **more):
    """A fit that has begun and waits for more features, with its checkpoint locked."""
    process = subprocess.Popen([program, *map(str, args)], cwd=data, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, **more)
    process.stdin.write(npy(np.load(data / "x.npy"))[:8000])
    process.stdin.flush()
    return process


def until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("how", ["name", "link", "hard link", "link to a hard link", "other folder",
                                 "hard link made later"])
@pytest.mark.parametrize("rewritten", [False, True])
def test_checkpoint_in_use_is_refused_by_any_name(roofs, program, data, how, rewritten):
    pipe_fit = [a if a != "x.npy" else "-" for a in FIT]
    if "later" in how and not rewritten:
        pytest.skip("the file must have been written")
    (data / "sub").mkdir()
    shutil.copy(data / "given-ck", data / "ck")
    if how == "hard link":
        os.link(data / "ck", data / "other")
    elif how == "link to a hard link":
        os.link(data / "ck", data / "sub" / "hard")
        (data / "other").symlink_to("sub/hard")
    elif how == "link":
        (data / "other").symlink_to("ck")
    elif how == "other folder":
        (data / "link").symlink_to(".")
    before = (data / "ck").read_bytes()
    process = waiting(program, data, *pipe_fit, "--checkpoint", "ck", "--checkpoint-every", 1 if rewritten else 1000)
    try:
        until((data / "ck.lock").exists)
        if rewritten:
            until(lambda: (data / "ck").read_bytes() != before)
            time.sleep(0.3)   # it has written all it can and waits
        if "later" in how:
            os.link(data / "ck", data / "other")
        name = {"name": "ck", "other folder": "link/ck"}.get(how, "other")
        content = (data / name).read_bytes()
        done = roofs("resume", name, "x.npy", "-o", "m.json", "-q", cwd=data, ok=False)
        assert done.returncode == 1 and "in use by" in done.stderr and not (data / "m.json").exists()
        assert (data / name).read_bytes() == content
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (0, 1, 2)])
def test_lock_holds_with_closed_descriptors(roofs, program, data, closed):
    """Descriptor 0 is a descriptor like others."""
    os.mkfifo(data / "x.fifo")
    fit = [a if a != "x.npy" else "x.fifo" for a in FIT]
    process = subprocess.Popen([program, *map(str, fit), "--orient", "features", "--checkpoint", "ck", "-o", "m1.json"],
                               cwd=data, preexec_fn=lambda: [os.close(fd) for fd in closed])
    with open(data / "x.fifo", "wb") as feed:
        feed.write(npy(np.load(data / "x.npy"))[:8000])
        feed.flush()
        until((data / "ck.lock").exists)
        time.sleep(0.05)
        done = roofs(*FIT, "--checkpoint", "ck", "-o", "m2.json", cwd=data, ok=False)
        assert done.returncode == 1 and "in use by process" in done.stderr
    process.wait()
    assert not (data / "ck.lock").exists()   # the fit ended, with an error: the pipe was cut off


# ---- closed descriptors --------------------------------------------------------------------------------

PRINTERS = {
    "fit": [*FIT, "--trace", "t.jsonl", "--checkpoint", "k", "--checkpoint-every", 2],
    "fit --json": [*FIT, "--json", "--trace", "t.jsonl"],
    "resume": ["resume", "given-ck", "--trace", "t.jsonl"],
    "predict": ["predict", "given-model.json", "x.npy"],
    "inspect": ["inspect", "given-model.json"],
    "help": ["help"],
}


@pytest.mark.parametrize("verb", PRINTERS)
@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (0, 1, 2)])
def test_closed_descriptors_are_never_files(program, data, verb, closed):
    """What is printed must not end in a file that happens to get the number of standard output."""
    args = [program, *map(str, PRINTERS[verb])]
    good = subprocess.run(args, cwd=data, capture_output=True, stdin=subprocess.DEVNULL)
    assert good.returncode == 0 and len(good.stdout) > 50
    for name in ("t.jsonl", "k"):
        (data / name).unlink(missing_ok=True)
    done = subprocess.run(args, cwd=data, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=lambda: [os.close(fd) for fd in closed])
    assert done.returncode == (1 if 1 in closed else 0)
    if 1 in closed and 2 not in closed:
        assert b"standard output" in done.stderr and b"Bad file descriptor" in done.stderr
    for path in data.iterdir():
        if path.name not in ("x.npy", "y.npy") and not path.name.startswith("given-model"):
            content = path.read_bytes()
            assert b'"coef"' not in content and good.stdout[:40] not in content and b"roofs:" not in content, path


def test_closed_output_is_refused_before_the_fit(program, data):
    """Not after hours: the features are never read."""
    done = subprocess.run([program, *map(str, FIT[:-2]), "missing.npy", "-q"], cwd=data, stderr=subprocess.PIPE,
                          text=True, preexec_fn=lambda: os.close(1))
    assert done.returncode == 1 and "standard output: cannot be written" in done.stderr


# ---- pipes --------------------------------------------------------------------------------------------

def test_pipe_receives_the_whole_output(writer, data):
    run, path = writer
    if path.name in ("given-ck", "out.ck"):
        pytest.skip("checkpoints are files")
    path.parent.mkdir(exist_ok=True)
    if path.parent != data:
        pytest.skip("a pipe for one of five files")
    run()
    wanted = path.read_bytes()
    path.unlink()
    os.mkfifo(path)
    got = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()), daemon=True)
    reader.start()
    done = run(timeout=20, ok=False)
    reader.join(20)
    assert path.is_fifo()
    if path.suffix in (".npy", ".npz") and done.returncode == 1:   # their headers are written last
        assert "cannot be written: Illegal seek" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    if path.suffix == ".jsonl":   # times and memory differ
        assert got and got[0].count(b"\n") == wanted.count(b"\n")
    else:
        assert got == [wanted]


def test_pipe_without_reader_is_refused(program, data):
    """A pipe that is never opened ends the program with a reason."""
    os.mkfifo(data / "pipe")
    began = time.monotonic()
    done = subprocess.run([program, *map(str, FIT), "-o", "pipe"], cwd=data, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "no process reads this pipe" in done.stderr and time.monotonic() - began < 30


def test_wait_for_a_reader_can_be_interrupted(program, data):
    os.mkfifo(data / "pipe")
    process = subprocess.Popen([program, "predict", "given-model.json", "x.npy", "-o", "pipe"], cwd=data,
                               stderr=subprocess.PIPE)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(5) == 143
    process.communicate()
