"""Small files that claim to be large: memory and time follow what has been read, not what a header says."""
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

from conftest import npy

MOST_MEMORY = 300 << 20
MOST_SECONDS = 20
LARGE = 2_000_000_000


@pytest.fixture(autouse=True)
def no_sanitizer(sanitized):
    if sanitized:
        pytest.skip("sanitizers take memory of their own")


# A process inherits the peak of the one that starts it, and that of the tests is large.
LAUNCHER = """
import os, sys
child = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024, file=open("measured", "w"))
"""


@pytest.fixture
def measured(program):
    """measured("fit", ..., cwd=folder): exit code, standard error, peak memory in bytes, seconds."""
    def run(*args, cwd, feed=b""):
        start = time.monotonic()
        done = subprocess.run([sys.executable, "-S", "-c", LAUNCHER, program, *map(str, args)], cwd=cwd, input=feed,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120)
        code, peak = map(int, (cwd / "measured").read_text().split())
        return code, done.stderr.decode(), peak, time.monotonic() - start
    return run


@pytest.fixture
def model(roofs, tmp_path):
    x = np.random.default_rng(0).standard_normal((2, 20))
    np.save(tmp_path / "small.npy", x)
    np.save(tmp_path / "y.npy", x[0])
    roofs("fit", "--y", "y.npy", "--mu", 1, "--method", "roofs", "small.npy", "-o", "m.json", "-q", cwd=tmp_path)
    return json.loads((tmp_path / "m.json").read_text())


def claims(shape, values=b"\0" * 64):
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + values


def is_modest(done, refused=True):
    code, errors, peak, seconds = done
    assert peak < MOST_MEMORY and seconds < MOST_SECONDS, (errors, peak, seconds)
    assert (code in (3, 5) or "no memory for a block" in errors) if refused else code == 0, (code, errors)
    return errors


SHAPES = [f"({LARGE},)", f"({LARGE}, 1)", f"(1, {LARGE})", f"({LARGE}, 100)", f"(100, {LARGE})"]
PACKED = {"x.npy.gz": gzip.compress, "x.npy.xz": lzma.compress, "x.npy": bytes, "-": bytes}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", PACKED)
def test_arrays_that_claim_to_be_large_take_little_memory(measured, model, tmp_path, shape, name):
    data = PACKED[name](claims(shape))
    if name != "-":
        (tmp_path / name).write_bytes(data)
    feed = data if name == "-" else b""
    for orient in ("features", "samples"):
        is_modest(measured("predict", "m.json", name, "--orient", orient, "-o", "p.npy", cwd=tmp_path, feed=feed))
        is_modest(measured("convert", name, "--orient", orient, "-o", "o.npz", cwd=tmp_path, feed=feed))
    is_modest(measured("convert", name, "--orient", "features", "-o", "o.csv", cwd=tmp_path, feed=feed))
    is_modest(measured("fit", "--y", "y.npy", name, "--mu", 1, "-o", "o.json", cwd=tmp_path, feed=feed))


@pytest.mark.parametrize("name", [name for name in PACKED if name != "-"])
@pytest.mark.parametrize("limit", [[], ["--max-memory", "100M"]])
def test_responses_that_claim_to_be_large_take_little_memory(measured, model, tmp_path, name, limit):
    for shape in SHAPES[:3]:
        (tmp_path / name).write_bytes(PACKED[name](claims(shape)))
        is_modest(measured("fit", "--y", name, "small.npy", "--mu", 1, *limit, "-o", "o.json", cwd=tmp_path))
    os.mkfifo(tmp_path / "fifo")
    writer = subprocess.Popen(["sh", "-c", f"cat {name} > fifo"], cwd=tmp_path)
    is_modest(measured("fit", "--y", "fifo", "small.npy", "--mu", 1, *limit, "-o", "o.json", cwd=tmp_path))
    writer.wait(timeout=10)


def test_response_beyond_the_limit_of_memory_is_refused(measured, model, tmp_path):
    """320 MB of zeros that fit into 300 KB."""
    with gzip.open(tmp_path / "y.npy.gz", "wb", compresslevel=1) as file:
        file.write(claims("(40000000,)", b""))
        for _ in range(320):
            file.write(b"\0" * 1_000_000)
    errors = is_modest(measured("fit", "--y", "y.npy.gz", "small.npy", "--mu", 1, "--max-memory", "50M", cwd=tmp_path))
    assert "more than the limit" in errors


def test_empty_arrays_do_not_have_billions_of_samples(measured, model, tmp_path):
    (tmp_path / "x.npy").write_bytes(claims(f"(0, {LARGE})"))
    model["features"] = []
    (tmp_path / "empty.json").write_text(json.dumps(model))
    for verb in (["convert", "x.npy", "-o", "o.npy"], ["convert", "x.npy", "-o", "o.csv"],
                 ["predict", "empty.json", "x.npy"]):
        errors = is_modest(measured(*verb, "--orient", "features", cwd=tmp_path))
        assert f"--expect-samples {LARGE}" in errors


def sparse_archive(shape, deflated=True, **more):
    parts = {"format": np.array(b"csc"), "shape": np.array(shape), "indptr": np.zeros(shape[1] + 1, np.int32),
             "indices": np.zeros(0, np.int32), "data": np.zeros(0)}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED) as file:
        for name, value in parts.items():
            file.writestr(name + ".npy", more.get(name, npy(value)))
    return out.getvalue()


@pytest.mark.parametrize("name, data, what", [
    ("x.npz", sparse_archive((2 ** 31 - 2, 2)), "samples"),
    ("x.npz", sparse_archive((3, 2), indptr=claims(f"({LARGE},)")), "indptr"),
    ("x.npz", sparse_archive((3, 2), data=claims(f"({LARGE},)"), indices=claims(f"({LARGE},)")), "indices"),
    ("x.triplets", b"f0,0,1\nf1,2147483645,1\n", "samples"),
    ("x.svm", b"1 1:2 2147483646:1\n2 1:1\n", "features")], ids=["shape", "starts", "values", "sample", "index"])
def test_sparse_files_that_claim_to_be_large_take_little_memory(measured, model, tmp_path, name, data, what):
    (tmp_path / name).write_bytes(data)
    more = ["--orient", "samples"] if name == "x.npz" else []
    for output in ("o.npz", "o.npy", "o.csv", "o.svm", "o.triplets"):
        errors = is_modest(measured("convert", name, *more, "-o", output, cwd=tmp_path))
        assert what in errors and not (tmp_path / output).exists()
    if what == "samples":
        model["features"][0]["name"] = "f0"
        (tmp_path / "m.json").write_text(json.dumps(model))
        assert what in is_modest(measured("predict", "m.json", name, *more, cwd=tmp_path))


def test_sizes_that_are_stated_are_accepted(roofs, tmp_path):
    (tmp_path / "x.triplets").write_text("f0,0,1\nf1,19999999,1\n")
    command = ["convert", "x.triplets", "-o", "o.npz"]
    assert roofs(*command, ok=False, cwd=tmp_path).returncode == 3
    roofs(*command, "--expect-samples", 20000000, cwd=tmp_path)


def test_model_of_billions_of_samples_takes_little_memory(roofs, measured, model, tmp_path):
    model.update(n=2 ** 31 - 2, trusted=2 ** 31 - 2, outliers=[])
    (tmp_path / "m.json").write_text(json.dumps(model))
    is_modest(measured("predict", "m.json", "small.npy", cwd=tmp_path), refused=False)
    is_modest(measured("inspect", "m.json", cwd=tmp_path), refused=False)
    model.update(trusted=2 ** 31 - 4, outliers=[3, 2 ** 31 - 3])
    (tmp_path / "m.json").write_text(json.dumps(model))
    is_modest(measured("predict", "m.json", "small.npy", cwd=tmp_path), refused=False)
    shown = json.loads(roofs("inspect", "m.json", "--json", cwd=tmp_path).stdout)
    assert shown["outliers"] == [3, 2 ** 31 - 3]


@pytest.mark.parametrize("name, data", [
    ("y.npz", sparse_archive((2 ** 31 - 2, 1))), ("y.triplets", b"f0,0,1\nf0,2147483645,1\n"),
    ("y.svm", b"1 21472147:2\n"), ("y.svm", b"1 12000000:2\n")], ids=["shape", "sample", "index", "smaller index"])
def test_sparse_responses_that_claim_to_be_large_take_little_memory(measured, model, tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    errors = is_modest(measured("fit", "--y", name, "small.npy", "--mu", 1, "-o", "o.json", cwd=tmp_path))
    assert name in errors and "the response has" not in errors and not (tmp_path / "o.json").exists()


def test_sparse_response_is_read(measured, model, tmp_path):
    column = sparse_archive((20, 1), indptr=npy(np.array([0, 2], np.int32)), indices=npy(np.array([3, 7], np.int32)),
                            data=npy(np.array([1.0, 2.0])))
    (tmp_path / "y.npz").write_bytes(column)
    is_modest(measured("fit", "--y", "y.npz", "small.npy", "--mu", 1, "-o", "o.json", cwd=tmp_path), refused=False)
