"""The memory bound: told before the fit, kept during it."""
import json
import os
import re
import subprocess

import numpy as np
import pytest
import scipy.sparse

N, P, MU, BATCH, HYPOTHESES = 500, 200, 20, 10, 4


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


def test_too_little_memory_is_refused(roofs, problem, tmp_path):
    (tmp_path / "out").mkdir()
    model = tmp_path / "out" / "model.json"
    done = roofs(*fit_args(*problem, "-o", model, "--max-memory", 1000), ok=False)
    assert done.returncode == 5 and list(model.parent.iterdir()) == []
    bound = needed(done.stderr)
    each = (MU + BATCH) * N * 8
    assert HYPOTHESES * each <= bound <= HYPOTHESES * (3 * each + 100 * N + 1_500_000)
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


def test_long_stream_takes_no_more_memory(roofs, problem, tmp_path):
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


# ---- gigabytes ---------------------------------------------------------------

STREAMED = int(os.environ.get("ROOFS_STREAMED", 1_200_000_000))   # bytes; `make test-long` streams six gigabytes


def told_bytes(roofs, *args):
    """What --explain says the fit takes, and the buffer it is read into."""
    told = roofs("fit", *args, "--explain").stdout
    units = {"KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30}
    size, unit = re.search(r"buffer for reading.* ([\d.]+) (\w+)\n", told).groups()
    return int(re.search(r"total of the fit +([\d,]+) bytes", told)[1].replace(",", "")), float(size) * units[unit]


@pytest.fixture
def no_sanitizer(sanitized):
    if sanitized:
        pytest.skip("the address sanitizer takes memory of its own")


def pour(block, features, to):
    """Writes a .npy array of `features` rows: the block again and again, each time from another value on."""
    count, n = block.shape
    np.lib.format.write_array_header_1_0(to, {"descr": "<f8", "fortran_order": False, "shape": (features, n)})
    values = memoryview(block).cast("B")
    for k in range(features // count):
        cut = 8 * (7919 * k % block.size)
        to.write(values[cut:])
        to.write(values[:cut])
    to.close()


def test_gigabytes_of_dense_features_fit_the_limit(program, roofs, write_npy, tmp_path, no_sanitizer):
    """They come through a pipe; the process never takes 10% more than was told."""
    n, batch, mu = 100_000, 100, 200
    rng = np.random.default_rng(1)
    block = rng.standard_normal((batch, n))
    y = write_npy("y.npy", np.where(np.arange(n) < n // 10, 50, block[:20].sum(0) + rng.standard_normal(n)))
    args = ["--y", y, "--mu", mu, "--method", "roofs"]
    fit, _ = told_bytes(roofs, *args, write_npy("X.npy", block))
    features = -(-STREAMED // (8 * n * batch)) * batch
    command = [program, "fit", *map(str, args), "-", "--json", "-o", str(tmp_path / "m.json")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        pour(block, features, process.stdin)
        told = json.loads(process.stdout.read())
    assert told["features_seen"] == features and told["selected"] == mu
    assert told["peak_bytes"] == pytest.approx(fit, rel=0.1)


def test_gigabytes_of_sparse_features_fit_the_limit(roofs, write_npy, tmp_path, no_sanitizer):
    """A tenth of the values are not zero. One file, as often as it takes."""
    n, filled, p, mu = 800_000, 80_000, 250, 200
    rng = np.random.default_rng(2)
    samples = np.arange(filled) * (n // filled) + rng.integers(0, n // filled, (p, filled))
    X = scipy.sparse.csc_matrix((rng.standard_normal(p * filled), samples.astype(np.int32).ravel(),
                                 np.arange(p + 1) * filled), (n, p))
    scipy.sparse.save_npz(tmp_path / "X.npz", X, compressed=False)
    signal = np.asarray(X[:, :20].sum(1)).ravel()
    y = write_npy("y.npy", np.where(np.arange(n) < n // 10, 50, 5 * signal + rng.standard_normal(n)))
    args = ["--y", y, "--mu", mu, "--method", "roofs", tmp_path / "X.npz"]
    times = -(-STREAMED // (12 * p * filled))
    told = json.loads(roofs("fit", *args, *args[-1:] * (times - 1), "--json", "-o", tmp_path / "m.json").stdout)
    assert told["features_seen"] == times * p and told["selected"] == mu
    assert told["peak_bytes"] == pytest.approx(sum(told_bytes(roofs, *args)), rel=0.1)
