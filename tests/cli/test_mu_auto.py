"""--mu auto: how many features to keep."""
import json
import os
import pty
import re
import subprocess

import numpy as np
import pytest
import scipy.sparse


def corrupted(n=400, p=120, k=6, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((p, n))
    y = 2 * X[:k].sum(axis=0) + 0.5 * rng.standard_normal(n)
    y[:int(share * n)] = rng.uniform(-30, 30, int(share * n))   # all in a row: the folds must be shuffled
    return X, y


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_number_of_features_is_found(fit, write_npy, share):
    """The path to all 120 features is 2 4 6 12 21 37 67 120: six features matter. More of them cost little, and
    probabilities select."""
    X, y = corrupted(share=share)
    model = fit(write_npy("y.npy", y), write_npy("X.npy", X), "--mu", "auto")
    assert model["settings"]["mu"] in (6, 12, 21, 37, 67, 120) and model["settings"]["select"] == "likely"
    assert {0, 1, 2, 3, 4, 5} <= {f["index"] for f in model["features"] if f["probability"] > 0.5}


def test_model_is_the_fit_with_that_number(fit, roofs, write_npy, tmp_path):
    X, y = corrupted(n=100, p=30)
    paths = write_npy("y.npy", y), write_npy("X.npy", X)
    done = roofs("fit", "--y", paths[0], "--mu", "auto", "--passes", "2", paths[1], "-o", tmp_path / "a.json")
    mu = json.loads((tmp_path / "a.json").read_text())["settings"]["mu"]
    assert f"mu         {mu}, chosen" in done.stderr
    roofs("fit", "--y", paths[0], "--mu", mu, "--select", "likely", "--prior", "samples", "--passes", "2", paths[1],
          "-o", tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_bad_uses_are_refused(roofs, write_npy):
    X, y = corrupted(n=12, p=5, k=2)
    y, X = write_npy("y.npy", y), write_npy("X.npy", X)
    done = roofs("fit", "--y", y, "--mu", "auto", X, ok=False)
    assert done.returncode == 3 and "at least 20 samples" in done.stderr
    done = roofs("fit", "--y", y, "--mu", "auto", "-", ok=False, input=b"")
    assert done.returncode == 2 and "pipe" in done.stderr
    done = roofs("fit", "--y", y, "--mu", "auto", "--explain", X, ok=False)
    assert done.returncode == 2 and "--explain" in done.stderr
    done = roofs("fit", "--y", y, "--mu", "automatic", X, ok=False)
    assert done.returncode == 2 and "--mu" in done.stderr


def test_sparse_features_stay_sparse(program, roofs, write_npy, tmp_path):
    """The same number as from the dense array, in less memory."""
    rng = np.random.default_rng(3)
    n, p = (1_600, 60) if "asan" in program else (8_000, 100)     # sanitizers count memory of their own
    X = scipy.sparse.random(n, p, 0.02, "csc", random_state=3, data_rvs=rng.standard_normal)
    y = 2 * X[:, :5].sum(1).A1 + 0.2 * rng.standard_normal(n)
    y[:n // 10] = rng.uniform(-30, 30, n // 10)
    y = write_npy("y.npy", y)
    scipy.sparse.save_npz(tmp_path / "X.npz", X)
    dense = write_npy("X.npy", X.toarray().T)
    small = write_npy("small.npy", X.toarray().T[:, :50]), write_npy("y50.npy", np.load(y)[:50])
    alone = roofs("fit", "--y", small[1], small[0], "-o", tmp_path / "s.json", "--json").stdout
    alone = json.loads(alone)["peak_bytes"]   # of the program itself
    printed = [json.loads(roofs("fit", "--y", y, "--mu", "auto", path, "-o", tmp_path / f"{path.suffix}.json",
                             "--json", "--hypotheses", 1, timeout=600).stdout)
            for path in (dense, tmp_path / "X.npz")]
    chosen = [json.loads((tmp_path / name).read_text())["settings"]["mu"] for name in (".npy.json", ".npz.json")]
    assert chosen[0] == chosen[1]
    assert "asan" in program or printed[1]["peak_bytes"] - alone < 0.7 * (printed[0]["peak_bytes"] - alone)


def test_terminal_shows_a_bar(program, write_npy, tmp_path):
    X, y = corrupted(n=1000, p=300)
    paths = write_npy("y.npy", y), write_npy("X.npy", X)
    keyboard, screen = pty.openpty()
    process = subprocess.Popen([program, "fit", "--y", paths[0], "--mu", "auto", paths[1], "-o", tmp_path / "m.json"],
                               stderr=screen, stdin=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm"})
    os.close(screen)
    seen = b""
    while b"of 5" not in seen and process.poll() is None:
        try:
            seen += os.read(keyboard, 4096)
        except OSError:     # the program has ended
            break
    process.terminate()
    process.wait(timeout=60)
    os.close(keyboard)
    assert re.search(rb"choosing mu.* fold [1-5] of 5", seen)
