"""C, the program and Python write the same model file for the same data."""
import shutil
import subprocess

import numpy as np
import pytest
from conftest import ROOT, problem

from roofs import RoOFSRegressor, methods

IN_C = r"""
#include <roofs/roofs.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int64_t n = atoll(argv[2]), p = atoll(argv[3]);
    double *x = malloc(sizeof *x * n * p), *y = malloc(sizeof *y * n);
    FILE *in = fopen(argv[1], "rb");
    if (argc != 6 || fread(x, 8, n * p, in) != (size_t)(n * p) || fread(y, 8, n, in) != (size_t)n) return 1;
    roofs_settings s;
    roofs_settings_init(&s);
    s.mu = 20;
    s.method = argv[4];
    s.clean_ratio = 0.7;
    roofs_estimator *e;
    roofs_model *m;
    roofs_error err;
    roofs_block block = {.count = p, .n = n, .values = x, .feature_stride = n, .sample_stride = 1};
    if (roofs_create(&e, &s, y, n, &err) || roofs_consume(e, &block, &err)) return puts(err.text), 1;
    while (roofs_wants_pass(e))
        if (roofs_next_pass(e, &err) || roofs_consume(e, &block, &err)) return puts(err.text), 1;
    if (roofs_finish(e, &err) ||
        roofs_model_create(&m, e, &err) || roofs_model_write(m, argv[5], &err))
        return puts(err.text), 1;
    return 0;
}
"""


@pytest.fixture(scope="module")
def in_c(build, tmp_path_factory):
    if not shutil.which("cc") or not (build / "libroofs.so").exists():
        pytest.skip("needs a C compiler and libroofs.so in the build folder")
    folder = tmp_path_factory.mktemp("c")
    (folder / "a.c").write_text(IN_C)
    subprocess.run(["cc", f"-I{ROOT}/include", folder / "a.c", f"-L{build}", "-lroofs", f"-Wl,-rpath,{build}", "-o",
                    folder / "a"], check=True)
    return folder / "a"


@pytest.mark.parametrize("method", methods())
def test_python_and_program_write_the_same_model(method, program, in_c, tmp_path):
    X, y, _ = problem(n=400, p=333)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    (tmp_path / "raw").write_bytes(X.T.tobytes() + y.tobytes())
    RoOFSRegressor(20, method=method, clean_ratio=0.7).fit(X, y).save(tmp_path / "python.json")
    subprocess.run([program, "fit", "--y", tmp_path / "y.npy", "--mu", "20", "--method", method, "--clean-ratio", "0.7",
                    "--quiet", tmp_path / "X.npy", "-o", tmp_path / "program.json"], check=True)
    subprocess.run([in_c, tmp_path / "raw", "400", "333", method, tmp_path / "c.json"], check=True)
    files = {name: (tmp_path / f"{name}.json").read_bytes() for name in ("python", "program", "c")}
    assert files["python"] == files["program"] == files["c"]
    loaded = RoOFSRegressor.load(tmp_path / "program.json")
    subprocess.run([program, "predict", tmp_path / "program.json", tmp_path / "X.npy", "-o", tmp_path / "yhat.npy"],
                   check=True)
    assert (loaded.predict(X) == np.load(tmp_path / "yhat.npy")).all()
