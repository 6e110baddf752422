"""Fixtures of all tests of the program: they find it, run it, and write its inputs."""
import io
import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:   # tests in the background: the program would ignore it, too
    signal.signal(signal.SIGINT, signal.default_int_handler)
PROGRAM = Path(os.environ.get("ROOFS") or ROOT / "build" / "roofs").resolve()


@pytest.fixture(scope="session")
def program():
    if not PROGRAM.exists():
        pytest.fail(f"{PROGRAM} does not exist: build it, or set ROOFS")
    return str(PROGRAM)


def pytest_collection_modifyitems(items):
    """Sanitizers watch the program: what does not run it is tested in the other build."""
    if Path(os.environ.get("ROOFS_BUILD") or PROGRAM.parent).name == "asan":
        for item in items:
            if "program" not in item.fixturenames:
                item.add_marker(pytest.mark.skip(reason="does not run the program"))


@pytest.fixture(scope="session")
def sanitized(program):
    """Whether this build has the address sanitizer: it is slower, and takes memory of its own."""
    return b"__asan_init" in Path(program).read_bytes()


@pytest.fixture(scope="session")
def roofs(program):
    """roofs("fit", path, ..., ok=True): runs the program. With ok=True (the default) it must succeed."""
    def run(*args, ok=True, env=None, **more):
        more.setdefault("timeout", 120)
        if "input" not in more:
            more.setdefault("stdin", subprocess.DEVNULL)
        if not isinstance(more.get("input", b""), bytes):
            more["input"] = more["input"].encode()
        done = subprocess.run([program, *map(str, args)], capture_output=True, env={**os.environ, **(env or {})},
                              **more)
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        if ok:
            assert done.returncode == 0, f"{done.args}: exit {done.returncode}\n{done.stderr}"
        return done
    return run


@pytest.fixture
def memory_path(tmp_path):
    """A folder of the test's own, in memory if the system has /dev/shm: syncing to a disk is slow."""
    memory = "/dev/shm"
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="roofs-", dir=memory) as folder:
        yield Path(folder)


@pytest.fixture
def write_npy(tmp_path):
    """write_npy("X.npy", array, dtype=None): the path of the file, in the test's folder."""
    def write(name, values, dtype=None):
        path = tmp_path / name
        np.save(path, np.asarray(values, dtype))
        return path
    return write


@pytest.fixture
def write_text(tmp_path):
    """write_text("X.csv", header, columns): a text table of these columns, 17 digits."""
    def write(name, header, columns, separator=","):
        path = tmp_path / name
        rows = [separator.join(header)] if header else []
        rows += [separator.join(f"{v:.17g}" for v in row) for row in np.transpose(columns)]
        path.write_text("\n".join(rows) + "\n")
        return path
    return write


@pytest.fixture
def fit(roofs, tmp_path):
    """fit(y, X..., "--mu", 3): the model as read from the file the program wrote."""
    def run(y, *args, name="model.json", **more):
        model = tmp_path / name
        roofs("fit", "--y", y, *args, "-o", model, "--quiet", **more)
        return json.loads(model.read_text())
    return run


@pytest.fixture
def make_problem(write_npy):
    """A small clean problem in X.npy (features in rows) and y.npy: (X, y, path of X, path of y)."""
    def make(n=40, p=6, seed=0, noise=0.01):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((p, n))
        y = 2 * x[0] - x[min(1, p - 1)] + 3 + noise * rng.standard_normal(n)
        return x, y, write_npy("X.npy", x), write_npy("y.npy", y)
    return make


def npy(array, **more):
    """The bytes of a .npy file."""
    file = io.BytesIO()
    np.save(file, array, **more)
    return file.getvalue()


def support(model):
    return [f["index"] for f in model["features"]]


def coefs(model):
    return np.array([f["coef"] for f in model["features"]])
