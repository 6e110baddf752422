"""Bad input: exit code 3, a message that names the file and the place, nothing left behind; and what is defined, not an
error."""
import gzip
import json
import re
import shutil
import subprocess
import time

import numpy as np
import pytest

from conftest import coefs, npy, support

N, P = 12, 5


def good_x():
    return np.random.default_rng(1).standard_normal((P, N))


def good_y():
    return good_x()[0] + np.linspace(0, 1, N)


def csv(columns, names=None):
    rows = [",".join(names or [f"f{j}" for j in range(len(columns))])]
    return "\n".join(rows + [",".join(repr(float(v)) for v in row) for row in np.transpose(columns)]) + "\n"


def header(text, version=(1, 0)):
    """A .npy header with this dictionary."""
    return b"\x93NUMPY" + bytes(version) + len(text).to_bytes(2, "little") + text.encode()


def with_value(array, where, value):
    array = np.array(array)
    array[where] = value
    return array


def edit_line(text, number, new):
    lines = text.split("\n")
    lines[number - 1] = new(lines[number - 1])
    return "\n".join(lines)


PLACE = r"(feature|column|row|sample|value|line)\D*\d"
LINE_5 = r"(line |:)5\b"

# name -> (contents of the files, arguments that stand for X, file to be named, pattern of the place)
CASES = {
    "npy-header-cut": ({"X.npy": npy(good_x())[:40]}, ["X.npy"], "X.npy", r"."),
    "npy-magic-cut": ({"X.npy": npy(good_x())[:4]}, ["X.npy"], "X.npy", r"."),
    "npy-data-cut": ({"X.npy": npy(good_x())[:-8]}, ["X.npy"], "X.npy", r"\d"),
    "npy-foreign": ({"X.npy": b"\x89PNG\r\n\x1a\n" + bytes(200)}, ["X.npy"], "X.npy", r"(?i)npy"),
    "npy-unknown-version": ({"X.npy": header("{}", (9, 0))}, ["X.npy"], "X.npy", r"(?i)version|9"),
    "npy-header-nonsense": ({"X.npy": header("{'descr': '<f8', 'shape': (2,")}, ["X.npy"], "X.npy", r"."),
    "npy-shape-too-large": ({"X.npy": header("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, "
                                             "12), }")},
                            ["X.npy"], "X.npy", r"."),
    "npy-negative-shape": ({"X.npy": header("{'descr': '<f8', 'fortran_order': False, 'shape': (-5, 12), }")
                            + bytes(480)},
                           ["X.npy"], "X.npy", r"."),
    "npy-object": ({"X.npy": npy(np.array([[None] * N] * P, object), allow_pickle=True)}, ["X.npy"], "X.npy",
                   r"(?i)object|type|\|O"),
    "npy-complex": ({"X.npy": npy(good_x() + 0j)}, ["X.npy"], "X.npy", r"(?i)complex|type|c16"),
    "npy-text": ({"X.npy": npy(np.full((P, N), "a"))}, ["X.npy"], "X.npy", r"(?i)type|U1|text"),
    "npy-rank-3": ({"X.npy": npy(good_x()[None])}, ["X.npy"], "X.npy", r"(?i)dimension|rank|axes|shape|3"),
    "npy-rank-0": ({"X.npy": npy(np.float64(3))}, ["X.npy"], "X.npy", r"(?i)dimension|rank|axes|shape|0"),
    "npy-nan": ({"X.npy": npy(with_value(good_x(), (2, 3), np.nan))}, ["X.npy"], "X.npy", PLACE),
    "npy-inf": ({"X.npy": npy(with_value(good_x(), (2, 3), -np.inf))}, ["X.npy"], "X.npy", PLACE),
    "npy-nan-samples-first": ({"X.npy": npy(with_value(good_x(), (2, 3), np.nan).T.copy())}, ["X.npy"], "X.npy", PLACE),
    "npy-f32-nan": ({"X.npy": npy(with_value(good_x(), (2, 3), np.nan).astype("f4"))}, ["X.npy"], "X.npy", PLACE),
    "npy-other-n": ({"X.npy": npy(good_x()[:, :-1])}, ["X.npy"], "X.npy", rf"\b{N}\b"),
    "npy-empty": ({"X.npy": b""}, ["X.npy"], "X.npy", r"(?i)empty"),
    "csv-empty": ({"X.csv": b""}, ["X.csv"], "X.csv", r"(?i)empty"),
    "csv-header-only": ({"X.csv": "f0,f1\n"}, ["X.csv"], "X.csv", r"."),
    "csv-short-line": ({"X.csv": edit_line(csv(good_x()), 5, lambda s: s.rsplit(",", 1)[0])}, ["X.csv"], "X.csv",
                       LINE_5),
    "csv-long-line": ({"X.csv": edit_line(csv(good_x()), 5, lambda s: s + ",1")}, ["X.csv"], "X.csv", LINE_5),
    "csv-text": ({"X.csv": edit_line(csv(good_x()), 5, lambda s: "many," + s.split(",", 1)[1])}, ["X.csv"], "X.csv",
                 LINE_5),
    "csv-number-and-text": ({"X.csv": edit_line(csv(good_x()), 5, lambda s: "1.5x," + s.split(",", 1)[1])}, ["X.csv"],
                            "X.csv", LINE_5),
    "csv-no-number": ({"X.csv": edit_line(csv(good_x()), 5, lambda s: "," + s.split(",", 1)[1])}, ["X.csv"], "X.csv",
                      LINE_5),
    "csv-decimal-comma": ({"X.tsv": "a\tb\n" + "1,5\t2\n" * N}, ["X.tsv"], "X.tsv", r"(line |:)2\b"),
    "csv-nan": ({"X.csv": csv(with_value(good_x(), (2, 3), np.nan))}, ["X.csv"], "X.csv", LINE_5),
    "csv-inf": ({"X.csv": csv(with_value(good_x(), (2, 3), np.inf))}, ["X.csv"], "X.csv", LINE_5),
    "csv-overflow": ({"X.csv": edit_line(csv(good_x()), 5, lambda s: "1e999," + s.split(",", 1)[1])}, ["X.csv"],
                     "X.csv", LINE_5),
    "csv-other-n": ({"X.csv": csv(good_x()[:, :-1])}, ["X.csv"], "X.csv", rf"\b{N}\b"),
    "csv-too-many-lines": ({"X.csv": csv(np.hstack([good_x(), good_x()]))}, ["X.csv"], "X.csv", rf"\b{N}\b"),
    "csv-duplicate-names": ({"X.csv": csv(good_x(), ["a", "b", "twice", "c", "twice"])}, ["X.csv"], "X.csv", r"twice"),
    "csv-duplicate-names-of-two-files": ({"X.csv": csv(good_x()[:2], ["a", "twice"]),
                                          "Z.csv": csv(good_x()[2:], ["twice", "b", "c"])},
                                         ["X.csv", "Z.csv"], "Z.csv", r"twice"),
    "csv-nul-bytes": ({"X.csv": csv(good_x()).encode()[:60] + bytes(40)}, ["X.csv"], "X.csv", r"."),
    "gz-cut": ({"X.csv.gz": gzip.compress(csv(good_x()).encode())[:-30]}, ["X.csv.gz"], "X.csv.gz", r"."),
    "gz-foreign": ({"X.csv.gz": b"not compressed at all"}, ["X.csv.gz"], "X.csv.gz", r"."),
    "xz-foreign": ({"X.csv.xz": b"not compressed at all"}, ["X.csv.xz"], "X.csv.xz", r"."),
    "later-file-other-n": ({"X.npy": npy(good_x()), "Z.npy": npy(good_x()[:, :-1])}, ["X.npy", "Z.npy"], "Z.npy",
                           rf"\b{N}\b"),
    "later-file-missing": ({"X.npy": npy(good_x())}, ["X.npy", "Z.npy"], "Z.npy",
                           r"(?i)no such|not (there|exist|found)|open"),
    "later-file-nan": ({"X.npy": npy(good_x()), "Z.npy": npy(with_value(good_x(), (2, 3), np.nan))}, ["X.npy", "Z.npy"],
                       "Z.npy", PLACE),
    "missing": ({}, ["X.npy"], "X.npy", r"(?i)no such|not (there|exist|found)|open"),
    "unknown-ending": ({"X.docx": b"PK"}, ["X.docx"], "X.docx", r"."),
}

# the same for y; X is fine
Y_CASES = {
    "missing": ("y.npy", None, r"(?i)no such|not (there|exist|found)|open"),
    "empty": ("y.npy", b"", r"(?i)empty"),
    "cut": ("y.npy", npy(good_y())[:-8], r"\d"),
    "foreign": ("y.npy", b"GIF89a" + bytes(100), r"(?i)npy"),
    "rank-2": ("y.npy", npy(good_x()), r"(?i)dimension|rank|axes|axis|shape|column|2"),
    "complex": ("y.npy", npy(good_y() + 0j), r"(?i)complex|type|c16"),
    "object": ("y.npy", npy(np.array([None] * N, object), allow_pickle=True), r"(?i)object|type|\|O"),
    "nan": ("y.npy", npy(with_value(good_y(), 7, np.nan)), r"\b[78]\b"),
    "inf": ("y.npy", npy(with_value(good_y(), 7, np.inf)), r"\b[78]\b"),
    "csv-nan": ("y.csv", csv([with_value(good_y(), 7, np.nan)], ["y"]), r"\b[789]\b"),
    "csv-text": ("y.csv", edit_line(csv([good_y()], ["y"]), 5, lambda s: "high"), LINE_5),
    "csv-empty": ("y.csv", b"", r"(?i)empty"),
    "csv-two-columns": ("y.csv", csv(good_x()[:2]), r"(?i)column|2"),
}


def write(folder, files):
    for name, contents in files.items():
        (folder / name).write_bytes(contents.encode() if isinstance(contents, str) else contents)


@pytest.fixture
def out(tmp_path):
    """The folder of the output; it must be as it was found after a failure."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def refuse(done, code, out, *patterns):
    assert done.returncode == code, f"exit {done.returncode}, expected {code}: {done.stderr}"
    assert list(out.iterdir()) == []
    assert done.stdout == ""
    for pattern in patterns:
        assert re.search(pattern, done.stderr), f"{pattern!r} is not in {done.stderr!r}"


@pytest.mark.parametrize("case", CASES)
def test_bad_features_are_refused(roofs, tmp_path, out, case):
    files, args, named, place = CASES[case]
    write(tmp_path, {"y.npy": npy(good_y()), **files})
    done = roofs("fit", "--y", "y.npy", "--mu", 2, *args, "-o", "out/model.json", cwd=tmp_path, ok=False)
    refuse(done, 3, out, named.replace(".", r"\."))
    refuse(subprocess.CompletedProcess([], 3, "", done.stderr.replace(named, "")), 3, out, place)


@pytest.mark.parametrize("case", Y_CASES)
def test_bad_responses_are_refused(roofs, tmp_path, out, case):
    name, contents, place = Y_CASES[case]
    write(tmp_path, {"X.npy": npy(good_x()), **({} if contents is None else {name: contents})})
    done = roofs("fit", "--y", name, "--mu", 2, "X.npy", "-o", "out/model.json", cwd=tmp_path, ok=False)
    refuse(done, 3, out, name.replace(".", r"\."))
    refuse(subprocess.CompletedProcess([], 3, "", done.stderr.replace(name, "")), 3, out, place)


def test_fewer_than_four_samples_are_refused(roofs, tmp_path, out):
    write(tmp_path, {"X.npy": npy(good_x()[:, :3]), "y.npy": npy(good_y()[:3])})
    done = roofs("fit", "--y", "y.npy", "--mu", 2, "X.npy", "-o", "out/model.json", cwd=tmp_path, ok=False)
    refuse(done, 3, out, r"y\.npy", r"\b3\b", r"\b4\b")


def test_four_samples_are_enough(fit, tmp_path):
    write(tmp_path, {"X.npy": npy(good_x()[:, :4]), "y.npy": npy(good_y()[:4])})
    assert fit("y.npy", "--mu", 2, "X.npy", cwd=tmp_path)["n"] == 4


def test_folder_without_data_is_refused(roofs, tmp_path, out):
    write(tmp_path, {"y.npy": npy(good_y())})
    (tmp_path / "features").mkdir()
    done = roofs("fit", "--y", "y.npy", "--mu", 2, "features", "-o", "out/model.json", cwd=tmp_path, ok=False)
    refuse(done, 3, out, r"features")


def test_square_array_needs_orient(roofs, tmp_path, out):
    write(tmp_path, {"X.npy": npy(np.random.default_rng(0).standard_normal((N, N))), "y.npy": npy(good_y())})
    args = ["fit", "--y", "y.npy", "--mu", 2, "X.npy", "-o", "out/model.json"]
    done = roofs(*args, cwd=tmp_path, ok=False)
    refuse(done, 3, out, r"X\.npy", r"--orient features", r"--orient samples|samples")
    roofs(*args, "--orient", "samples", cwd=tmp_path)


def test_failure_keeps_the_old_output(roofs, tmp_path, out):
    write(tmp_path, {"X.npy": npy(with_value(good_x(), (4, 3), np.nan)), "y.npy": npy(good_y())})
    (out / "model.json").write_text("old")
    done = roofs("fit", "--y", "y.npy", "--mu", 2, "--batch", 1, "X.npy", "-o", "out/model.json", cwd=tmp_path,
                 ok=False)
    assert done.returncode == 3
    assert [f.name for f in out.iterdir()] == ["model.json"] and (out / "model.json").read_text() == "old"


@pytest.mark.parametrize("target", ["nowhere/model.json", "out"])
def test_unwritable_output_is_found_before_the_fit(program, tmp_path, out, target):
    """The features come from a pipe that never ends: only a program that looks first can answer."""
    write(tmp_path, {"y.npy": npy(good_y())})
    process = subprocess.Popen([program, "fit", "--y", "y.npy", "--mu", "2", "-", "-o", target], cwd=tmp_path,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(200):
            if process.poll() is not None:
                break
            time.sleep(0.05)
        else:
            pytest.fail("it waits for the features first")
        assert process.returncode == 1
        assert target in process.stderr.read()
        assert list(out.iterdir()) == []
    finally:
        process.kill()
        process.communicate()


# ---- other verbs -------------------------------------------------------------------

@pytest.mark.parametrize("text", ["", "{", "[]", '{"format":"other"}', '{"format":"roofs-model","version":99}',
                                  '{"format":"roofs-model","version":1}'])
def test_bad_model_is_refused(roofs, tmp_path, out, text):
    write(tmp_path, {"model.json": text, "X.npy": npy(good_x())})
    done = roofs("predict", "model.json", "X.npy", "-o", "out/yhat.npy", cwd=tmp_path, ok=False)
    refuse(done, 3, out, r"model\.json")
    refuse(roofs("inspect", "model.json", cwd=tmp_path, ok=False), 3, out, r"model\.json")


def test_predict_needs_every_selected_feature(fit, roofs, tmp_path, out):
    write(tmp_path,
          {"X.csv": csv(good_x()), "y.npy": npy(good_y()), "less.csv": csv(good_x()[1:], ["f1", "f2", "f3", "f4"])})
    fit("y.npy", "--mu", P, "X.csv", cwd=tmp_path)
    done = roofs("predict", "model.json", "less.csv", "-o", "out/yhat.npy", cwd=tmp_path, ok=False)
    refuse(done, 3, out, r"\bf0\b")


def test_predict_refuses_too_few_features(fit, roofs, tmp_path, out):
    write(tmp_path, {"X.npy": npy(good_x()), "y.npy": npy(good_y()), "less.npy": npy(good_x()[:3])})
    fit("y.npy", "--mu", P, "X.npy", cwd=tmp_path)
    done = roofs("predict", "model.json", "less.npy", "--orient", "features", "-o", "out/yhat.npy", cwd=tmp_path,
                 ok=False)
    refuse(done, 3, out, r"\d")


def test_evaluate_needs_the_truth(fit, roofs, tmp_path, out):
    write(tmp_path, {"X.npy": npy(good_x()), "y.npy": npy(good_y())})
    fit("y.npy", "--mu", P, "X.npy", cwd=tmp_path)
    refuse(roofs("evaluate", "model.json", "out", cwd=tmp_path, ok=False), 3, out, r"out")


# ---- defined results ---------------------------------------------------------------

def test_mu_at_least_p_keeps_every_feature_that_varies(make_problem, write_npy, fit):
    x, _, _, y_file = make_problem(p=6)
    x[4] = 7.25
    for mu in (5, 6, 100):
        assert support(fit(y_file, "--mu", mu, write_npy("X.npy", x))) == [0, 1, 2, 3, 5]


def test_constant_columns_are_reported(make_problem, write_npy, fit, roofs, tmp_path):
    x, _, _, y_file = make_problem(p=6)
    x[[1, 4]] = [[0.1], [0.0]]
    done = roofs("fit", "--y", y_file, "--mu", 6, write_npy("X.npy", x), "-o", tmp_path / "model.json")
    assert "constant" in done.stderr and "2" in done.stderr
    assert support(json.loads((tmp_path / "model.json").read_text())) == [0, 2, 3, 5]


def test_only_constant_columns_select_nothing(make_problem, write_npy, fit):
    _, y, _, y_file = make_problem(p=3)
    model = fit(y_file, "--method", "roofs", "--mu", 2, write_npy("X.npy", np.full((3, len(y)), 0.1)))
    assert model["features"] == [] and model["intercept"] == pytest.approx(y.mean(), rel=1e-14)
    assert model["outliers"] == [] and model["features_seen"] == 3


@pytest.mark.parametrize("value", [3.0, -0.1, 0.0, 1e300])
@pytest.mark.parametrize("more", [[], ["--no-standardize"]])
def test_constant_y_is_fitted_by_the_intercept(make_problem, write_npy, fit, value, more):
    _, y, x_file, _ = make_problem()
    model = fit(write_npy("y.npy", np.full(len(y), value)), "--mu", 4, x_file, *more)
    assert (np.abs(coefs(model)) <= 1e-12 * abs(value)).all()
    assert model["intercept"] == pytest.approx(value, rel=1e-12)
    if value in (0.0, 3.0):
        assert model["features"] == [] and model["outliers"] == []


@pytest.mark.parametrize("value", [0.0, 2.0, -0.3])
def test_equal_residuals_are_all_trusted(write_npy, fit, value):
    for n in (4, 5, 31):
        model = fit(write_npy("y.npy", np.full(n, value)), "--method", "roofs", "--mu", 1,
                    write_npy("X.npy", np.zeros((1, n))),
                    "--no-intercept", "--no-standardize")
        assert model["outliers"] == [] and model["features"] == [] and model["intercept"] == 0


def test_zero_residuals_are_trusted(make_problem, write_npy, fit):
    """A perfect model: nothing is left to explain, everybody is trusted."""
    x, _, x_file, _ = make_problem(n=50, p=1)
    model = fit(write_npy("y.npy", 4 * x[0] - 1), "--method", "roofs", "--mu", 1, x_file, "--tol", 1e-12, "--max-iter",
                1000, "--clean-ratio", 1)
    assert model["outliers"] == [] and coefs(model) == pytest.approx([4], rel=1e-9)


def test_single_feature_is_enough(make_problem, fit):
    _, _, x_file, y_file = make_problem(p=1)
    assert support(fit(y_file, "--mu", 1, x_file)) == [0]


def test_first_of_duplicate_columns_stays(make_problem, write_npy, fit):
    x, _, _, y_file = make_problem(p=4)
    for copies in (2, 3, 5, 9):
        x_file = write_npy("X.npy", np.vstack([x[2:], np.repeat(x[:1], copies, axis=0)]))
        assert support(fit(y_file, "--mu", 1, x_file)) == [2]


def test_fewer_samples_than_mu_are_enough(make_problem, fit):
    x, _, x_file, y_file = make_problem(n=8, p=30)
    model = fit(y_file, "--mu", 20, x_file)
    assert len(model["features"]) == 20 and np.isfinite(coefs(model)).all()


@pytest.mark.parametrize("dtype", [">f8", ">f4"])
def test_big_endian_arrays_are_read(make_problem, tmp_path, fit, dtype):
    x, y, _, _ = make_problem()
    models = []
    for kind in (dtype, dtype.replace(">", "<")):
        np.save(tmp_path / "X.npy", x.astype(kind))
        np.save(tmp_path / "y.npy", y.astype(kind))
        assert kind in (tmp_path / "X.npy").read_bytes()[:100].decode("latin1")
        fit("y.npy", "--mu", 3, "X.npy", cwd=tmp_path)
        models.append((tmp_path / "model.json").read_bytes())
    assert models[0] == models[1]


@pytest.mark.parametrize("scale", [1e300, 1e-300, 1e150, 1e-150])
def test_extreme_features_are_fitted(make_problem, write_npy, fit, scale):
    x, _, x_file, y_file = make_problem(p=20)
    usual = fit(y_file, "--mu", 4, "--batch", 5, x_file)
    extreme = fit(y_file, "--mu", 4, "--batch", 5, write_npy("big.npy", x * scale))
    assert support(extreme) == support(usual) and extreme["outliers"] == usual["outliers"]
    assert coefs(extreme) * scale == pytest.approx(coefs(usual), rel=1e-9)
    assert extreme["intercept"] == pytest.approx(usual["intercept"], rel=1e-9)


@pytest.mark.parametrize("scale", [1e100, 1e200, 1e300, 1e304, 2.0 ** 990])
def test_extreme_features_are_fitted_without_standardising(make_problem, write_npy, fit, scale):
    """Long columns are met by the safe step, which is the same at every scale."""
    x, _, _, y_file = make_problem(p=20)
    usual, extreme = (fit(y_file, "--method", "roofs", "--mu", 4, "--batch", 5, "--no-standardize",
                          write_npy("big.npy", x * by)) for by in (1e6, scale))
    assert support(usual) == support(extreme) and usual["outliers"] == extreme["outliers"]
    assert coefs(extreme) * (scale / 1e6) == pytest.approx(coefs(usual), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-100, 1e-140, 1e-300])
def test_tiny_features_are_fitted_without_standardising(make_problem, write_npy, fit, scale):
    """The published step gives them tiny coefficients; the model stays whole even where these vanish."""
    x, _, _, y_file = make_problem(p=20)
    usual, tiny = (fit(y_file, "--method", "roofs", "--mu", 4, "--batch", 5, "--no-standardize",
                       write_npy("tiny.npy", x * by)) for by in (1e-20, scale))
    assert [h["rounds"] for h in tiny["history"]] == [h["rounds"] for h in usual["history"]]
    if scale > 1e-150:
        assert support(usual) == support(tiny)
        assert coefs(tiny) * (1e-20 / scale) == pytest.approx(coefs(usual), rel=1e-9)


@pytest.mark.parametrize("power", [-900, -40, 1, 40, 900])
def test_unit_of_y_does_not_matter(make_problem, write_npy, fit, power):
    """Under standardising a power of two in y comes out of every number exactly."""
    x, y, x_file, y_file = make_problem(p=20)
    y[:8] += 5
    usual = fit(write_npy("y.npy", y), "--mu", 4, "--batch", 5, x_file)
    scaled = fit(write_npy("big.npy", np.ldexp(y, power)), "--mu", 4, "--batch", 5, x_file)
    assert support(scaled) == support(usual) and scaled["outliers"] == usual["outliers"]
    assert np.ldexp(coefs(scaled), -power).tolist() == coefs(usual).tolist()
    assert np.ldexp(scaled["intercept"], -power) == usual["intercept"]


def test_integers_are_numbers(make_problem, write_npy, fit):
    rng = np.random.default_rng(3)
    x = rng.integers(-9, 9, (5, 30))
    y_file = write_npy("y.npy", x[0] * 2.0 + 1)
    wanted = fit(y_file, "--mu", 2, write_npy("X.npy", x, float))
    got = fit(y_file, "--mu", 2, write_npy("X.npy", x))
    assert coefs(got).tolist() == coefs(wanted).tolist()


def comma_locale(folder):
    """Environment of a German locale: an installed one, one made here, or else just its name."""
    installed = subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.split()
    name = next((name for name in installed if name.startswith("de_")), "de_DE.UTF-8")
    env = {"LC_ALL": name, "LC_NUMERIC": name, "LANG": name}
    if name not in installed and shutil.which("localedef"):
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / name], capture_output=True)
        env["LOCPATH"] = str(folder)
    return env


def test_decimal_commas_of_a_locale_change_nothing(make_problem, write_text, fit, tmp_path):
    x, y, _, _ = make_problem()
    write_text("X.csv", [f"f{j}" for j in range(len(x))], x)
    write_text("y.csv", ["y"], [y])
    texts = []
    # libraries of libhdf5 look at the locale when they are loaded, and keep its path
    quiet = {"ASAN_OPTIONS": "detect_leaks=0"}
    for env in ({"LC_ALL": "C"}, {**comma_locale(tmp_path), **quiet}):
        fit("y.csv", "--mu", 3, "--clean-ratio", "0.75", "X.csv", cwd=tmp_path, env=env)
        texts.append((tmp_path / "model.json").read_bytes())
    assert texts[0] == texts[1]


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e100, 1e300])
@pytest.mark.parametrize("more", [[], ["--no-standardize"]])
def test_unit_of_features_does_not_matter_to_bayes(make_problem, write_npy, fit, scale, more):
    """The prior is on a feature's effect over its own scale."""
    x, _, _, y_file = make_problem(p=20)
    usual, other = (fit(y_file, "--mu", 4, "--batch", 5, *more, write_npy("x.npy", x * by)) for by in (1.0, scale))
    assert support(usual) == support(other) and usual["outliers"] == other["outliers"]
    assert coefs(other) * scale == pytest.approx(coefs(usual), rel=1e-6)


@pytest.mark.parametrize("more", [[], ["--no-intercept"], ["--no-intercept", "--no-standardize"]])
@pytest.mark.parametrize("noise", ["uniform", "rounded", "normal"])
def test_clean_data_is_trusted_whatever_its_noise(write_npy, fit, noise, more):
    """Bounded noise looks as if it came from the uniform background; it must not."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((20, 500))
    y = 3 * x[0] - 2 * x[1] + {"uniform": rng.uniform(-0.5, 0.5, 500), "normal": 0.3 * rng.standard_normal(500),
                               "rounded": 0}[noise]
    model = fit(write_npy("y.npy", np.round(y) if noise == "rounded" else y), "--mu", 5, write_npy("x.npy", x), *more)
    assert len(model["outliers"]) <= 10
    if more:
        assert model["intercept"] == 0


def test_constant_features_are_counted_once(write_text, write_npy, fit, roofs, tmp_path):
    rng = np.random.default_rng(0)
    x = np.vstack([rng.standard_normal(30), np.ones((3, 30))])
    model = fit(write_npy("y.npy", x[0] + 0.1 * rng.standard_normal(30)), "--mu", 2, "--passes", 3, "--orient",
                "features", write_npy("x.npy", x))
    assert model["constant_features"] == 3 and model["features_seen"] == 4


def test_one_gross_response_beside_tiny_ones_is_not_trusted(write_npy, fit):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((10, 200))
    y = (3 * x[0] + 0.1 * rng.standard_normal(200)) * 1e-20
    y[0] = 1e300
    model = fit(write_npy("y.npy", y), "--mu", 2, write_npy("x.npy", x))
    assert model["outliers"] == [0] and coefs(model)[0] == pytest.approx(3e-20, rel=0.05)
