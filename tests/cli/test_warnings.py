"""What the program warns of: one line each on standard error, the words in JSON, the model, inspect and the report."""
import json
import shutil

import numpy as np
import pytest

N = 200


def response(kind):
    """Features (one per row) and responses that provoke the warning `kind`, and the options of the fit."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal((20, N))
    y = 3 * x[1] - 2 * x[4] + x[7] + 0.1 * rng.standard_normal(N)
    options = []
    if kind == "few-trusted":
        y[: 45 * N // 100] = rng.uniform(-500, 500, 45 * N // 100)
    elif kind == "equal-responses":
        y[::4] = -3
    elif kind == "discrete-response":
        y = np.clip(np.round(y), -4, 4)
    elif kind == "not-settled":
        options = ["--method", "roofs", "--max-iter", 2, "--tol", 0]
    return x, y, ["--mu", 5, *options]


KINDS = ["not-settled", "few-trusted", "equal-responses", "discrete-response"]


@pytest.fixture
def arguments(write_npy):
    """arguments(kind): the arguments of `roofs fit`, without its output."""
    def make(kind):
        x, y, options = response(kind)
        return ["--y", write_npy("y.npy", y), write_npy("x.npy", x), *options]
    return make


def lines(done):
    return [line for line in done.stderr.splitlines() if "warning" in line]


@pytest.mark.parametrize("kind", KINDS)
def test_each_warning_is_a_line_and_a_word(kind, roofs, arguments, tmp_path):
    model = tmp_path / "model.json"
    done = roofs("fit", *arguments(kind), "--json", "-o", model)
    words = json.loads(done.stdout)["warnings"]
    assert kind in words and json.loads(model.read_text())["warnings"] == words
    assert len(lines(done)) == len(words) and all(line.startswith("roofs: warning: ") for line in lines(done))
    assert (json.loads(done.stdout)["stop"] == "max_iter") == (kind == "not-settled")
    assert json.loads(roofs("inspect", model, "--json").stdout)["warnings"] == words
    shown = roofs("inspect", model).stdout
    assert shown.count("\nwarning    ") == len(words) and all(len(line) <= 80 for line in shown.splitlines()[:12])
    summary = roofs("fit", *arguments(kind), "-o", model)
    assert lines(summary) == lines(done) and "trusted" in summary.stderr
    if shutil.which("gnuplot"):
        roofs("report", model, "-o", tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text()
        assert page.count("Warning:") == len(words) and lines(done)[0].removeprefix("roofs: warning: ") in page


def test_quiet_fit_prints_no_warning(roofs, arguments, tmp_path):
    done = roofs("fit", *arguments("equal-responses"), "--quiet", "-o", tmp_path / "model.json")
    assert done.stderr == "" and "equal-responses" in json.loads((tmp_path / "model.json").read_text())["warnings"]
    done = roofs("fit", *arguments("equal-responses"), "--quiet", "--json")
    assert done.stderr == "" and "equal-responses" in json.loads(done.stdout)["warnings"]


def test_ordinary_fit_has_no_warning(roofs, arguments, tmp_path):
    model = tmp_path / "model.json"
    done = roofs("fit", *arguments("none"), "--json", "-o", model)
    assert lines(done) == [] and json.loads(done.stdout)["warnings"] == []
    assert "warnings" not in json.loads(model.read_text())
    assert json.loads(roofs("inspect", model, "--json").stdout)["warnings"] == []
    assert "warning" not in roofs("inspect", model).stdout


def test_resumed_fit_warns_like_the_fit(roofs, arguments, tmp_path):
    saved = tmp_path / "fit.ck"
    done = roofs("fit", *arguments("equal-responses"), "--json", "--checkpoint", saved)
    again = roofs("resume", saved, "--json")
    assert lines(again) == lines(done) != []
    assert json.loads(again.stdout)["warnings"] == json.loads(done.stdout)["warnings"]


NOTHING, POSITION = "no feature is likely to matter", "features are taken in the order of the fit"


def test_noise_gives_a_warning_and_a_signal_gives_none(roofs, tmp_path):
    rng = np.random.default_rng(0)
    x, noise = rng.standard_normal((300, N)), rng.standard_normal(N)
    np.save(tmp_path / "x.npy", x)
    for y, is_warned in ((noise, True), (x[3] + 0.1 * noise, False)):
        np.save(tmp_path / "y.npy", y)
        said = roofs("fit", "--y", tmp_path / "y.npy", tmp_path / "x.npy", "-o", tmp_path / "m.json").stderr
        assert (NOTHING in said) == is_warned
        quiet = roofs("fit", "--y", tmp_path / "y.npy", tmp_path / "x.npy", "--quiet", "-o", tmp_path / "m.json")
        assert NOTHING not in quiet.stderr


def test_prediction_by_position_gives_a_warning(roofs, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 4))
    np.savetxt(tmp_path / "y.csv", x[:, 2])
    np.savetxt(tmp_path / "named.csv", x, delimiter=",", header="a,b,c,d", comments="")
    np.savetxt(tmp_path / "plain.csv", x, delimiter=",")
    for fitted, given, is_warned in (("named", "plain", True), ("named", "named", False), ("plain", "plain", False)):
        roofs("fit", "--y", tmp_path / "y.csv", tmp_path / f"{fitted}.csv", "--mu", 2, "-o", tmp_path / "m.json")
        said = roofs("predict", tmp_path / "m.json", tmp_path / f"{given}.csv", "-o", tmp_path / "p.csv").stderr
        assert (POSITION in said) == is_warned
