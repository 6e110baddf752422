"""Fixtures and data of the tests of the Python package."""
import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from roofs import _library

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="session")
def program():
    """The program of this build."""
    path = Path(os.environ.get("ROOFS") or ROOT / "build" / "roofs").resolve()
    if not path.exists():
        pytest.skip(f"{path} does not exist; build it, or set ROOFS")
    return path


@pytest.fixture(scope="session")
def build(program):
    return Path(os.environ.get("ROOFS_BUILD") or program.parent)


def problem(n=150, p=260, seed=0, corrupt=0.2):
    """Features in columns, responses of which a share is corrupted, and the mask of these."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = 3 * X[:, 7] - 2 * X[:, 131] + X[:, 207] + 1 + 0.1 * rng.standard_normal(n)
    wrong = rng.random(n) < corrupt
    y[wrong] = rng.uniform(-20, 20, wrong.sum())
    return X, y, wrong


@pytest.fixture
def saved(tmp_path):
    """The bytes of the model file of an estimator."""
    def save(estimator):
        estimator.save(tmp_path / "saved.json")
        return (tmp_path / "saved.json").read_bytes()
    return save


@contextmanager
def interrupted_when(condition):
    """Ctrl-C in every round in which condition() is true."""
    define = _library.ffi.def_extern(name="roofs_python_monitor", error=_library.lib.ROOFS_MONITOR_UNDO,
                                     onerror=_library.keep_exception)

    def monitor(user, now):
        if condition():
            raise KeyboardInterrupt
        return 0
    define(monitor)
    try:
        yield
    finally:
        define(lambda user, now: 0)
