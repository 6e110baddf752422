"""Everything that uses threads, under the thread sanitizer; first it is shown that a race is found."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from methods import METHODS
from planted import plant

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "tsan"
UNITS = ("test_linalg_device", "test_linalg_sparse", "test_linalg_solve", "test_linalg_sweep", "test_linalg_columns",
         "test_linalg_ridge", "test_linalg_inner", "test_stream_simulator", "test_api_side_by_side")

# libomp loads archer, which reports to the sanitizer what OpenMP does. The suppression leaves out copies by libomp
# itself; ignore_noninstrumented_modules, which archer asks for, would also hide copies by the project.
WITH_ARCHER = {**os.environ, "OMP_WAIT_POLICY": "passive",
               "TSAN_OPTIONS": f"suppressions={ROOT / 'tests/tsan/suppressions'}:allocator_may_return_null=1"
                               ":exitcode=66:halt_on_error=1"}


def run(*command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", timeout=500,
                          env=WITH_ARCHER, **more)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """The build with the thread sanitizer, with clang and its OpenMP: that of gcc makes false reports."""
    trial = tmp_path_factory.mktemp("trial")
    (trial / "t.c").write_text("int main(void) { return 0; }")
    if not shutil.which("clang") or run("clang", "-fsanitize=thread", "-fopenmp", trial / "t.c", "-o", trial / "t")[0]:
        pytest.skip("clang, its thread sanitizer or its OpenMP is not there (Debian: clang libclang-rt-dev libomp-dev)")
    if run(trial / "t")[0]:
        pytest.skip("the thread sanitizer does not run on this system")
    for command in (["cmake", "--preset", "tsan"], ["ninja", "-C", BUILD, "roofs", *UNITS]):
        code, text = run(*command, cwd=ROOT)
        assert code == 0, text[-3000:]
    return BUILD


@pytest.mark.parametrize("unit, file, old, new", [
    ("test_linalg_sweep", "src/linalg/cpu/sweep_cpu.c", "            workers_wait_open(all, step + 1);\n",
     "            (void)all;\n"),
    ("test_linalg_sparse", "src/linalg/cpu/sparse_cpu.c",
     "const workers_range own = workers_share(d->shape.n, me, team);\n",
     "const workers_range own = {0 * me, d->shape.n + 0 * team};\n"),
], ids=("no thread waits for the decision", "all threads write all samples"))
def test_planted_race_is_found(build, tmp_path, unit, file, old, new):
    wrong = plant(build, f"tests/{unit}", file, old, new, tmp_path)
    for _ in range(10):    # on a busy machine one thread may have done its part before another began
        code, text = run(wrong)
        if code == 66:
            break
    assert code == 66 and "WARNING: ThreadSanitizer: data race" in text, text[-2000:]


@pytest.mark.parametrize("unit", UNITS)
def test_units_have_no_race(build, unit):
    code, text = run(build / "tests" / unit)
    assert code == 0, text[:4000]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_program_has_no_race(build, tmp_path, kind):
    program = build / "roofs"
    code, text = run(program, "simulate", "-o", tmp_path, "--n", 3000, "--p", 120, "--mu", 10, "--corruption", 0.1,
                      "--quiet")
    assert code == 0, text[:4000]
    features = tmp_path / "X.npy"
    if kind == "sparse":
        features = tmp_path / "X.npz"
        code, text = run(program, "convert", tmp_path / "X.npy", "--orient", "features", "-o", features)
        assert code == 0, text[:4000]
    for method in METHODS:
        more = ["--clean-ratio", 0.9] if method == "torrent" else []
        if method == "roofs":   # another thread reads
            more = ["--ahead", "--checkpoint", tmp_path / "ck", "--checkpoint-every", 1, "--passes", 2, "--missing",
                    "median"]
        code, text = run(program, "fit", "--y", tmp_path / "y.npy", "--mu", 10, "--method", method, "--threads", 4,
                          "--batch", 40,
                          "--max-iter", 5, *more, features, "-o", tmp_path / "model.json", "--quiet")
        assert code == 0, f"{method}: {text[:4000]}"
