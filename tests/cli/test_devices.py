"""Devices from the shell. Tests that need a GPU are skipped without one."""
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import test_checkpoint
from methods import methods_with
from test_checkpoint import options, start, stop_when
from test_checkpoint_versions import KEPT, OPTIONS, write_data

data = test_checkpoint.data


def why_no_gpu(roofs, folder):
    """None where the program finds a GPU."""
    np.save(folder / "y8.npy", np.arange(8.0) ** 2)
    done = roofs("fit", "--y", "y8.npy", "--mu", 1, "y8.npy", "--device", "cuda", "--explain", cwd=folder, ok=False)
    if done.returncode != 0:
        return done.stderr.strip()
    return "there is no GPU here" if "no usable GPU" in done.stdout else None


@pytest.fixture
def gpu(roofs, tmp_path):
    reason = why_no_gpu(roofs, tmp_path)
    if reason:
        pytest.skip(reason)


def test_plugin_can_be_loaded_without_a_gpu(roofs, tmp_path):
    """The plug-in gets tables from the library, and must not need its private functions by name."""
    reason = why_no_gpu(roofs, tmp_path)
    assert reason is None or "could not be loaded" not in reason or "No such file" in reason


def assert_close(one, other):
    """Two models: the same features and samples, coefficients that agree to 1e-8."""
    one, other = (json.loads(Path(path).read_text()) for path in (one, other))
    assert one["outliers"] == other["outliers"] and len(one["features"]) == len(other["features"]) > 0
    for a, b in zip(one["features"], other["features"]):
        assert a["index"] == b["index"] and a["coef"] == pytest.approx(b["coef"], abs=1e-8)


# ---- checkpoints ---------------------------------------------------------------------------

def test_checkpoint_of_a_gpu_resumes_without_one(roofs, tmp_path):
    """cuda.ck was written on a GPU."""
    write_data(tmp_path)
    shutil.copy(KEPT / "cuda.ck", tmp_path / "ck")
    assert "checkpoint of a fit" in roofs("inspect", "ck", cwd=tmp_path).stdout
    if why_no_gpu(roofs, tmp_path):
        done = roofs("resume", "ck", "first.npy", "second.csv", "-o", "model.json", cwd=tmp_path, ok=False)
        assert done.returncode == 2 and "the fit was saved on cuda; continue with --device cpu" in done.stderr
        assert (tmp_path / "ck").read_bytes() == (KEPT / "cuda.ck").read_bytes()
        assert not (tmp_path / "model.json").exists()
    roofs("resume", "ck", "first.npy", "second.csv", "-o", "model.json", "--device", "cpu", cwd=tmp_path)
    roofs("fit", "--y", "y.npy", *OPTIONS, "first.npy", "second.csv", "-o", "whole.json", cwd=tmp_path)
    assert_close(tmp_path / "model.json", tmp_path / "whole.json")


def test_unknown_devices_are_refused(roofs, tmp_path):
    shutil.copy(KEPT / "v1.ck", tmp_path / "ck")
    done = roofs("resume", "ck", "--device", "abacus", cwd=tmp_path, ok=False)
    assert done.returncode == 2 and "cpu, cuda, auto" in done.stderr


@pytest.mark.parametrize("device, then", [("cuda", "cpu"), ("cpu", "cuda"), ("cuda", "auto"), ("auto", "cuda")])
@pytest.mark.parametrize("method", methods_with("gpu"))
def test_resume_may_change_the_device(roofs, tmp_path, gpu, device, then, method):
    write_data(tmp_path)
    options = [*OPTIONS, "--method", method]
    roofs("fit", "--y", "y.npy", *options, "first.npy", "-o", "half.json", "--checkpoint", "ck", "--device", device,
          cwd=tmp_path)
    roofs("resume", "ck", "first.npy", "second.csv", "-o", "model.json", "--device", then, cwd=tmp_path)
    roofs("fit", "--y", "y.npy", *options, "first.npy", "second.csv", "-o", "whole.json", cwd=tmp_path)
    assert_close(tmp_path / "model.json", tmp_path / "whole.json")


@pytest.mark.parametrize("files", [["long64.npy"], ["long32.npz"], ["x64-0.npy", "x64-1.npy", "long64.npy"]])
@pytest.mark.parametrize("method", methods_with("gpu"))
def test_interrupted_fit_is_resumed_on_a_gpu(roofs, program, data, gpu, method, files):
    """It ends in the same bits, and in the model that the CPU finds."""
    fit = ["fit", "--y", "y.npy", *options(method), *files, "-q"]
    roofs(*fit, "-o", "here.json", cwd=data)
    roofs(*fit, "-o", "whole.json", "--device", "cuda", cwd=data)
    assert_close(data / "whole.json", data / "here.json")
    process = start(program, data, *fit, "-o", "model.json", "--checkpoint", "ck", "--checkpoint-every", 3, "--device",
                    "cuda")
    assert stop_when(process, (data / "ck").exists) in (143, 0)
    roofs("resume", "ck", "-o", "model.json", "-q", cwd=data)
    assert (data / "model.json").read_bytes() == (data / "whole.json").read_bytes()


# ---- memory ----------------------------------------------------------------------------------

def test_explain_counts_the_bytes_on_the_gpu(roofs, tmp_path):
    """Also without a GPU. Sparse features are dense on it."""
    if "could not be loaded" in (why_no_gpu(roofs, tmp_path) or ""):
        pytest.skip("built without the CUDA plug-in")
    n, mu, batch = 10_000, 300, 50
    np.save(tmp_path / "y.npy", np.arange(n))
    sp.save_npz(tmp_path / "X.npz", sp.random(n, 60, density=0.01, format="csc", random_state=0))
    told = roofs("fit", "--y", "y.npy", "--mu", mu, "--batch", batch, "X.npz", "--device", "cuda", "--explain",
                 cwd=tmp_path).stdout
    bytes_there = int(re.search(r"total on the GPU +([\d,]+) bytes", told)[1].replace(",", ""))
    assert bytes_there >= (mu + 2 * batch) * n * 8
    assert "sparse features as dense" in told and "buffer for reading     2 batch" in told
    without = roofs("fit", "--y", "y.npy", "--mu", mu, "--batch", batch, "X.npz", "--explain", cwd=tmp_path).stdout
    assert "GPU" not in without and "buffer for reading     batch" in without


def test_too_little_gpu_memory_is_reported_before_the_fit(roofs, tmp_path, gpu):
    np.save(tmp_path / "y.npy", np.arange(1000.0) ** 2)
    args = ["fit", "--y", "y.npy", "--mu", 10 ** 9, "y.npy", "--device", "cuda"]
    told = roofs(*args, "--explain", cwd=tmp_path).stdout
    assert "fail with exit code 1" in told
    bytes_there = re.search(r"total on the GPU +([\d,]+) bytes", told)[1].replace(",", "")
    done = roofs(*args, "-o", "model.json", cwd=tmp_path, ok=False)
    assert done.returncode == 1 and bytes_there in done.stderr and not (tmp_path / "model.json").exists()
