"""Files of every format through the program: what is read, named, missing, refused."""
import json

import numpy as np
import pytest

from conftest import coefs, support


@pytest.fixture
def problem():
    """A sparse problem that features 1 and 4 explain: X (n, p) and y."""
    rng = np.random.default_rng(7)
    x = np.round(rng.standard_normal((60, 8)) * (rng.random((60, 8)) < 0.5), 3)
    return x, 3 * x[:, 1] - 2 * x[:, 4] + 1 + 0.001 * rng.standard_normal(60)


def svm_text(x, y, base=1):
    return "".join(" ".join([f"{float(label)!r}", *(f"{j + base}:{float(row[j])!r}" for j in np.flatnonzero(row))]) + "\n"
                   for row, label in zip(x, y))


# ---- missing values ------------------------------------------------------------------

def table(x, names):
    return ",".join(names) + "\n" + "".join(",".join("NA" if np.isnan(v) else f"{v!r}" for v in map(float, row)) + "\n" for row in x)


@pytest.fixture
def holes(problem, tmp_path, write_npy):
    x, y = problem
    x = np.array(x)
    x[[3, 17, 40], 1] = x[5, 2] = np.nan
    (tmp_path / "X.csv").write_text(table(x, [f"g{j}" for j in range(8)]))
    return x, y, write_npy("y.npy", y), write_npy("X.npy", np.ascontiguousarray(x.T))


def test_missing_values_are_refused(holes, roofs, tmp_path):
    for name, place in (("X.csv", "line 5, column 2"), ("X.npy", "feature 1: the value of sample 3")):
        done = roofs("fit", "--y", "y.npy", "--mu", 2, name, ok=False, cwd=tmp_path)
        assert done.returncode == 3 and place in done.stderr


def test_missing_values_become_the_median(holes, fit, roofs, tmp_path, write_npy):
    x, y, y_path, npy = holes
    filled = np.where(np.isnan(x), np.nanmedian(x, axis=0), x)
    wanted = fit(y_path, write_npy("filled.npy", filled.T), "--mu", 2, "--orient", "features")
    for path in (tmp_path / "X.csv", npy):
        told = roofs("fit", "--y", y_path, "--mu", 2, "--orient", "samples" if path.suffix == ".csv" else "features", path,
                     "--missing", "median", "--json", "-o", tmp_path / "m.json").stdout
        assert {k: json.loads(told)[k] for k in ("missing_values", "missing_features")} == {"missing_values": 4, "missing_features": 2}
        model = json.loads((tmp_path / "m.json").read_text())
        assert support(model) == support(wanted) and (coefs(model) == coefs(wanted)).all()
    done = roofs("predict", tmp_path / "m.json", tmp_path / "X.csv", "--missing", "median")
    wanted = model["intercept"] + filled[:, support(model)] @ coefs(model)
    assert np.allclose(np.array(done.stdout.split(), float), wanted, rtol=1e-12, atol=1e-12)


def test_features_with_missing_values_are_dropped(holes, roofs, tmp_path):
    done = roofs("fit", "--y", "y.npy", "--mu", 8, "X.csv", "--missing", "drop-feature", "-o", "m.json", cwd=tmp_path)
    assert "missing    4 values in 2 features" in done.stderr
    model = json.loads((tmp_path / "m.json").read_text())
    assert set(support(model)) <= {0, 3, 4, 5, 6, 7} and model["features_seen"] == 8


def test_missing_values_in_libsvm(roofs, tmp_path):
    (tmp_path / "x.svm").write_text("1 1:2 2:nan\n2 1:3\n3 2:5\n4 1:1 2:7\n5 1:9 2:1\n")
    assert roofs("fit", "--mu", 1, "x.svm", ok=False, cwd=tmp_path).returncode == 3
    told = roofs("fit", "--mu", 1, "x.svm", "--missing", "median", "--json", cwd=tmp_path).stdout
    assert json.loads(told)["missing_values"] == 1


def test_infinity_is_not_missing(roofs, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,inf\n4,5\n6,7\n")
    (tmp_path / "y.csv").write_text("1\n2\n3\n4\n")
    done = roofs("fit", "--y", "y.csv", "--mu", 1, "x.csv", "--missing", "median", ok=False, cwd=tmp_path)
    assert done.returncode == 3 and "line 3, column 2" in done.stderr


# ---- LIBSVM and names -------------------------------------------------------------------

@pytest.mark.parametrize("base", [0, 1])
def test_libsvm_as_dense(problem, fit, roofs, tmp_path, write_npy, base):
    x, y = problem
    x[0, 0] = 1                                           # so that index 0 occurs
    (tmp_path / "x.svm").write_text(svm_text(x, y, base))
    dense = fit(write_npy("y.npy", y), write_npy("X.npy", x.T), "--mu", 2, "--orient", "features")
    roofs("fit", "--mu", 2, "x.svm", "-o", "m.json", "-q", cwd=tmp_path)
    model = json.loads((tmp_path / "m.json").read_text())
    assert support(model) == support(dense) == [1, 4] and np.allclose(coefs(model), coefs(dense), rtol=1e-9)
    roofs("predict", "m.json", "x.svm", "-o", "yhat.npy", cwd=tmp_path)
    wanted = model["intercept"] + x[:, [1, 4]] @ coefs(model)
    assert np.allclose(np.load(tmp_path / "yhat.npy"), wanted, rtol=1e-12, atol=1e-12)


def test_names_travel(problem, roofs, tmp_path):
    x, y = problem
    words = ["the", "good", "a", "film", "bad", "plot", "and", "of"]
    (tmp_path / "words").write_text("\n".join(words))
    (tmp_path / "x.svm").write_text(svm_text(x[:, :6], y))          # the last two words never occur
    roofs("fit", "--mu", 2, "x.svm", "--names", "words", "-o", "m.json", "-q", cwd=tmp_path)
    model = json.loads((tmp_path / "m.json").read_text())
    assert {f["name"] for f in model["features"]} == {"good", "bad"} and model["features_seen"] == 8
    order = np.random.default_rng(1).permutation(8)                 # another order, other samples
    (tmp_path / "new.csv").write_text(table(x[:9][:, order], [words[j] for j in order]))
    got = np.array(roofs("predict", "m.json", "new.csv", cwd=tmp_path).stdout.split(), float)
    assert np.allclose(got, y[:9], atol=0.05)
    (tmp_path / "less.csv").write_text(table(x[:9, :4], words[:4]))
    done = roofs("predict", "m.json", "less.csv", ok=False, cwd=tmp_path)
    assert done.returncode == 3 and "bad" in done.stderr and "good" not in done.stderr


@pytest.mark.parametrize("text, message", [
    ("a\nb\n", "2 names"), ("a\n\nb\n", "line 2"), ("", "no names"), ("a\nb\xff\n".encode("latin-1"), "line 2")])
def test_bad_names(roofs, tmp_path, text, message):
    (tmp_path / "x.svm").write_text("1 1:2 3:1\n2 1:3\n")
    (tmp_path / "words").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = roofs("fit", "--mu", 1, "x.svm", "--names", "words", ok=False, cwd=tmp_path)
    assert done.returncode == 3 and message in done.stderr and "words" in done.stderr
