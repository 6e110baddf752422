"""Several hypotheses of the clean samples: what the program prints and writes of them."""
import json

import numpy as np
import pytest

N, P = 200, 60
WORDS = {"usual", "all", "narrow", "ties"}


@pytest.fixture
def problem(write_npy):
    """Four tenths of the responses are equal, so that the starts of the clean samples differ."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((P, N))
    y = 3 * x[5] - 2 * x[40] + 0.1 * rng.standard_normal(N)
    y[: 2 * N // 5] = 4
    return ["--y", write_npy("y.npy", y), "--mu", 5, "--batch", 20, write_npy("X.npy", x)]


def fit(roofs, problem, tmp_path, *options):
    done = roofs("fit", *problem, "-o", tmp_path / "model.json", *options)
    return done, json.loads((tmp_path / "model.json").read_text())


def test_chosen_hypothesis_is_printed_and_written(roofs, problem, tmp_path):
    done, model = fit(roofs, problem, tmp_path)
    chosen = model["hypothesis"]
    assert chosen["chosen"] in WORDS and 1 < chosen["compared"] <= 4
    line = f"start      {chosen['chosen']}, the best of {chosen['compared']} hypotheses of the clean samples\n"
    assert line in done.stderr and line in roofs("inspect", tmp_path / "model.json").stdout
    assert json.loads(roofs("inspect", "--json", tmp_path / "model.json").stdout)["hypothesis"] == chosen["chosen"]
    assert json.loads(roofs("fit", *problem, "--json").stdout)["hypothesis"] == chosen["chosen"]


@pytest.mark.parametrize("options", [["--hypotheses", "1"], ["--clean-ratio", "0.6"]])
def test_one_hypothesis_needs_no_line(roofs, problem, tmp_path, options):
    done, model = fit(roofs, problem, tmp_path, *options)
    assert model["hypothesis"] == {"chosen": "usual", "compared": 1}
    assert "hypotheses" not in done.stderr + roofs("inspect", tmp_path / "model.json").stdout


def test_methods_without_hypotheses_write_none(roofs, problem, tmp_path):
    done, model = fit(roofs, problem, tmp_path, "--method", "roofs")
    assert "hypothesis" not in model and "hypotheses" not in done.stderr


@pytest.mark.parametrize("field", [{"chosen": "other", "compared": 3}, {"chosen": "usual"}, {"compared": 3}, 7])
def test_wrong_hypothesis_in_a_model_is_refused(roofs, problem, tmp_path, field):
    _, model = fit(roofs, problem, tmp_path)
    model["hypothesis"] = field
    (tmp_path / "wrong.json").write_text(json.dumps(model))
    done = roofs("inspect", tmp_path / "wrong.json", ok=False)
    assert done.returncode == 3 and "wrong.json" in done.stderr


def test_explain_counts_the_hypotheses(roofs, problem):
    explain = lambda *more: roofs("fit", *problem, "--explain", *more).stdout
    assert "  2 * (2 batch + batch) * n values" in explain()
    assert "  2 * (mu + batch) * n values" in explain("--batch", "1")
    assert "  (mu + batch) * n values" in explain("--hypotheses", "1")
    assert "  (mu + batch) * n values" in explain("--method", "roofs")


def test_more_hypotheses_than_starts_are_refused(roofs, problem):
    done = roofs("fit", *problem, "--hypotheses", "3", ok=False)
    assert done.returncode == 2 and "hypotheses" in done.stderr
