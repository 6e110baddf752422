"""The release program itself, with its vector kernels, under valgrind: no wrong access, nothing lost."""
import shutil
import subprocess

import numpy as np
import pytest
import scipy.sparse

valgrind = shutil.which("valgrind")
pytestmark = pytest.mark.skipif(not valgrind, reason="valgrind is not there")
FOUND = 99


def under_valgrind(program, *args, **more):
    command = [valgrind, "-q", f"--error-exitcode={FOUND}", "--leak-check=full", "--show-leak-kinds=definite",
               "--errors-for-leak-kinds=definite", program, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300, **more)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    x = rng.standard_normal((9, 101))    # no multiple of any width
    y = x[0] - 2 * x[4] + 0.1 * rng.standard_normal(101) + (np.arange(101) % 9 == 0) * 50
    thin = np.where(rng.random(x.shape) < 0.3, x, 0)
    np.save(folder / "X.npy", x)
    np.save(folder / "X32.npy", x.astype("f4"))
    np.save(folder / "y.npy", y)
    np.savetxt(folder / "X.csv", x.T, delimiter=",")
    scipy.sparse.save_npz(folder / "X.npz", scipy.sparse.csc_matrix(thin.T))
    return folder


COMMANDS = [
    "fit --y y.npy --mu 3 --batch 4 X.npy -o dense.json --quiet",
    "fit --y y.npy --mu 3 --batch 4 --method roofs X32.npy -o single.json --json --threads 1",
    "fit --y y.npy --mu 3 --batch 4 X.npz -o sparse.json --passes 2 --reserve 1 --quiet",
    "predict dense.json X.csv -o yhat.npy",
    "inspect dense.json",
    "convert X.csv -o X.svm --y y.npy",
    "report dense.json -o page.html",
]


def test_commands_are_clean(program, data):
    for command in COMMANDS:
        done = under_valgrind(program, *command.split(), cwd=data)
        assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stderr[:3000]}"


@pytest.mark.parametrize("command", ["predict no-model.json X.npy", "fit --y y.npy --mu 3 broken.csv", "inspect X.npy"])
def test_refusals_are_clean(program, data, command):
    (data / "broken.csv").write_text("a,b\n1,2\n3,oops\n")
    done = under_valgrind(program, *command.split(), cwd=data)
    assert done.returncode == 3, done.stderr[:3000]


def test_valgrind_finds_something(tmp_path):
    (tmp_path / "bad.c").write_text("#include <stdlib.h>\nint main(void) { volatile char *p = malloc(8); return p[8] "
                                    "== 77; }")
    subprocess.run(["cc", "-g", tmp_path / "bad.c", "-o", tmp_path / "bad"], check=True)
    assert under_valgrind(tmp_path / "bad").returncode == FOUND
