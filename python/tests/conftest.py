"""What the tests of the Python package share."""
import os
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="session")
def program():
    """The program of this build, to compare with."""
    path = Path(os.environ.get("ROOFS") or ROOT / "build" / "roofs").resolve()
    if not path.exists():
        pytest.skip(f"{path} is not there: build it, or set ROOFS")
    return path


@pytest.fixture(scope="session")
def build(program):
    return Path(os.environ.get("ROOFS_BUILD") or program.parent)


def problem(n=150, p=260, seed=0, corrupt=0.2):
    """Features in columns, responses of which a share is wrong, and which are."""
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
