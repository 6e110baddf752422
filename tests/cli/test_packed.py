"""Small integers stay small: files of bytes and of genotypes give the bits of the same values in 64 bits."""
import json

import numpy as np
import pytest

import plink
from methods import METHODS, required


@pytest.fixture
def data(tmp_path):
    """The same values in every type, one feature per row; with T in the name, one sample per row."""
    complete, _, y = plink.draw(people=503, variants=150)
    x = complete.T
    np.save(tmp_path / "y.npy", y)
    for kind in ("int8", "uint8", "float64", "float32"):
        np.save(tmp_path / f"{kind}.npy", x.astype(kind))
        np.save(tmp_path / f"{kind}T.npy", np.ascontiguousarray(x.T.astype(kind)))
    np.save(tmp_path / "int8F.npy", np.asfortranarray(x.astype("int8")))
    np.save(tmp_path / "bool.npy", x > 0)
    np.save(tmp_path / "flags.npy", (x > 0).astype(float))
    return tmp_path


@pytest.fixture
def fit(roofs, data):
    def run(*args):
        roofs("fit", "--y", "y.npy", "--mu", 12, "--batch", 25, *args, "-q", "-o", "m.json", cwd=data)
        return (data / "m.json").read_bytes()
    return run


@pytest.mark.parametrize("method", METHODS)
def test_bytes_give_the_model_of_wide_values(fit, method):
    options = ["--method", method, *required(method)]
    wide = fit("float64.npy", *options, "--threads", 1)
    for name, threads in (("int8", 2), ("uint8", 3), ("int8T", 1), ("uint8T", 7), ("int8F", 2)):
        assert fit(f"{name}.npy", *options, "--threads", threads) == wide, name


def test_flags_are_zero_and_one(fit, data):
    wide = fit("flags.npy")
    assert fit("bool.npy") == wide
    content = (data / "bool.npy").read_bytes()
    (data / "bool.npy").write_bytes(content[:-503 * 150] + content[-503 * 150:].replace(b"\x01", b"\x07"))
    assert fit("bool.npy") == wide   # NumPy takes every byte but 0 for True


def test_files_of_several_types_are_one_stream(fit, data):
    wide = np.load(data / "float64.npy")
    np.save(data / "a.npy", wide[:40])
    np.save(data / "b.npy", wide[40:90].astype("int8"))
    np.save(data / "c.npy", wide[90:].astype("uint8"))
    np.save(data / "whole.npy", wide)
    separately = [json.loads(fit(*files, "--batch", 10, "--passes", 2)) for files in
                  (["whole.npy"], ["a.npy", "b.npy", "c.npy"])]
    assert separately[0] == separately[1]


def test_fits_continue_after_a_checkpoint(roofs, fit, data):
    wide = np.load(data / "float64.npy")
    for k, kind in enumerate(("int8", "uint8", "int8")):
        np.save(data / f"{k}.npy", wide[50 * k:50 * (k + 1)].astype(kind))
    whole = json.loads(fit("float64.npy", "--passes", 1))
    fit("0.npy", "--passes", 1, "--checkpoint", "c.bin")
    roofs("resume", "c.bin", "1.npy", "-q", "-o", "m.json", cwd=data)
    roofs("resume", "c.bin", "2.npy", "-q", "-o", "m.json", cwd=data)
    model = json.loads((data / "m.json").read_text())
    assert model["features"] == whole["features"] and model["outliers"] == whole["outliers"]


def test_genotypes_give_the_model_of_wide_values(roofs, fit, data):
    complete, holes, y = plink.draw(people=503, variants=150)
    for name, genotypes in (("complete", complete), ("holes", holes)):
        bed = plink.write(data / name, genotypes, phenotype=y)
        np.save(data / "wide.npy", plink.filled(genotypes).T)
        for method in METHODS:
            options = ["--method", method, *required(method), "--threads", 2]
            wide = json.loads(fit("wide.npy", *options))
            roofs("fit", bed, "--mu", 12, "--batch", 25, *options, "--y", "y.npy", "-q", "-o", "g.json", cwd=data)
            model = json.loads((data / "g.json").read_text())
            assert model["intercept"] == wide["intercept"], method
            assert [(f["index"], f["coef"]) for f in model["features"]] == \
                [(f["index"], f["coef"]) for f in wide["features"]], method


def test_predictions_do_not_depend_on_the_type(roofs, fit, data):
    fit("int8.npy")
    for name in ("int8T", "uint8", "float64"):
        roofs("predict", "m.json", f"{name}.npy", "-o", f"{name}.out.npy", cwd=data)
    predictions = [(data / f"{name}.out.npy").read_bytes() for name in ("int8T", "uint8", "float64")]
    assert predictions[0] == predictions[1] == predictions[2]


def test_memory_is_counted_in_the_type(roofs, data):
    texts = {name: roofs("fit", "--y", "y.npy", "--mu", 12, f"{name}.npy", "--explain", cwd=data).stdout
             for name in ("int8", "float64")}
    assert "1 byte (i8)" in texts["int8"] and "8 bytes (f64)" in texts["float64"]
    wide = roofs("fit", "--y", "y.npy", "--mu", 12, "int8.npy", "--storage", "f64", "--explain", cwd=data).stdout
    assert "8 bytes (f64)" in wide
