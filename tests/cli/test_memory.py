"""The memory bound: told before the fit, kept during it."""
import json
import re

import numpy as np
import pytest

N, P, MU, BATCH = 500, 200, 20, 10


@pytest.fixture
def problem(write_npy):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((P, N))
    return write_npy("y.npy", x[0]), write_npy("X.npy", x)


def fit_args(y, x, *more):
    return ["fit", "--y", y, "--mu", MU, "--batch", BATCH, x, *more]


def needed(message):
    """The number of bytes the program says it needs: the largest whole number in its message."""
    return max(int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", message))


def test_too_little_memory(roofs, problem, tmp_path):
    (tmp_path / "out").mkdir()
    model = tmp_path / "out" / "model.json"
    done = roofs(*fit_args(*problem, "-o", model, "--max-memory", 1000), ok=False)
    assert done.returncode == 5 and list(model.parent.iterdir()) == []
    bound = needed(done.stderr)
    assert (MU + BATCH) * N * 8 <= bound <= 3 * (MU + BATCH) * N * 8 + 100 * N + 10 ** 6
    assert roofs(*fit_args(*problem, "-o", model, "--max-memory", bound - 1), ok=False).returncode == 5
    assert list(model.parent.iterdir()) == []
    roofs(*fit_args(*problem, "-o", model, "--max-memory", bound))
    assert model.exists()


def test_limit_is_checked_before_any_work(roofs, problem, write_npy, tmp_path):
    """The first feature is bad; whoever had looked at it would have said so, with exit code 3."""
    bad = write_npy("bad.npy", np.full((P, N), np.nan))
    args = fit_args(problem[0], bad, "-o", tmp_path / "model.json")
    assert roofs(*args, ok=False).returncode == 3
    assert roofs(*args, "--max-memory", 1000, ok=False).returncode == 5


def test_explain_prints_the_bound(roofs, problem, tmp_path):
    told = roofs(*fit_args(*problem, "--explain"))
    bound = needed(roofs(*fit_args(*problem, "-o", tmp_path / "m.json", "--max-memory", 1000), ok=False).stderr)
    assert re.search(rf"\b{bound}\b", (told.stdout + told.stderr).replace(",", ""))


def test_f32_halves_the_columns(roofs, problem, write_npy, tmp_path):
    y, x = problem
    small = write_npy("X32.npy", np.load(x), "f4")
    bounds = [needed(roofs(*fit_args(y, file, "-o", tmp_path / "m.json", "--max-memory", 1000), ok=False).stderr)
              for file in (x, small)]
    assert bounds[0] - bounds[1] >= (MU + BATCH) * N * 4


def test_a_long_stream_takes_no_more(roofs, problem, tmp_path):
    """200 features or 24,000: what is taken has a bound far below the 96 MB that pass by."""
    y, x = problem
    peaks = []
    for times in (1, 120):
        done = roofs("fit", "--y", y, "--mu", MU, "--batch", BATCH, *[x] * times, "-o", tmp_path / "m.json", "--json",
                     env={"ASAN_OPTIONS": "quarantine_size_mb=1"})
        told = json.loads(done.stdout)
        assert told["features_seen"] == times * P
        peaks.append(told["peak_bytes"])
    assert 0 < peaks[0] <= peaks[1] <= peaks[0] + 16_000_000
