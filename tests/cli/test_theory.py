"""roofs inspect --theory: each reason why a bound does not apply, wrong data, and the text. tests/reference has the
numbers."""
import json
import re

import numpy as np
import pytest


@pytest.fixture
def problem(tmp_path, roofs, write_npy):
    """problem(x, y, "--mu", 3): fits, and returns a function that inspects the model with more arguments."""
    def make(x, y, *args, method="roofs"):
        np_x, np_y, model = write_npy("X.npy", x), write_npy("y.npy", y), tmp_path / "model.json"
        roofs("fit", "--y", np_y, np_x, "--orient", "features", "--method", method, "-o", model, "--quiet", *args)

        def inspect(*more, ok=True):
            return roofs("inspect", model, "--theory", "--y", np_y, np_x, "--orient", "features", *more, ok=ok)
        return inspect
    return make


def reasons(done):
    found = json.loads(done.stdout)["theory"]
    return found["bound"]["reason"], found["published"]["reason"]


def clean_data(n=400, p=4, seed=1, noise=0.1):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((p, n))
    return x, (1 + np.arange(p)) @ x + noise * rng.standard_normal(n)


SETTLED = ("--mu", 4, "--clean-ratio", 1, "--tol", 1e-9)


def test_both_bounds_apply_to_a_settled_fit_of_clean_data(problem):
    inspect = problem(*clean_data(), *SETTLED, "--eta", 1)
    assert reasons(inspect("--json")) == (None, None)
    text = inspect().stdout
    assert len(re.findall(r"the error of the coefficients is at most", text)) == 2
    assert "does not apply" not in text and "NO " not in text


def test_fit_without_features_has_no_bound(problem):
    inspect = problem(np.ones((2, 20)), np.arange(20.0), "--mu", 2)
    assert reasons(inspect("--json")) == ("the model has no feature",) * 2


def test_half_of_the_samples_corrupt_is_too_much(problem):
    for reason in reasons(problem(*clean_data(), *SETTLED)("--json", "--corruption", 0.5)):
        assert "half of the samples or more may be corrupt" in reason


def test_dependent_features_have_no_bound(problem):
    x, y = clean_data()
    for reason in reasons(problem(np.vstack([x, x]), y, "--mu", 8, "--clean-ratio", 1)("--json")):
        assert "linearly dependent" in reason


def test_fewer_samples_than_features_have_no_bound(problem):
    x, y = clean_data(n=8, p=10)
    assert "linearly dependent" in reasons(problem(x, y, "--mu", 10)("--json"))[0]


def test_many_corrupt_samples_could_decide_the_fit(problem):
    reason = reasons(problem(*clean_data(), *SETTLED)("--json", "--corruption", 0.45))[0]
    assert "180 corrupt samples among the trusted ones could decide the fit" in reason


def test_theorem_is_for_the_published_method(problem):
    bound, theorem = reasons(problem(*clean_data(), "--mu", 4, method="roofs-bayes")("--json"))
    assert bound is None and "fitted by method roofs-bayes" in theorem


def test_theorem_does_not_apply_where_corrupt_samples_are_trusted(problem):
    bound, theorem = reasons(problem(*clean_data(), *SETTLED)("--json", "--corruption", 0.01))
    assert bound is None and "400 samples are trusted, but only 396 need be clean" in theorem
    assert "2.31" in theorem        # lambda = 1 + 128 * .01 / .98


def test_theorem_needs_a_fixed_point(problem):
    x, y = clean_data()
    x[0] *= 0.001
    theorem = reasons(problem(x, y, "--mu", 4, "--clean-ratio", 1, "--max-iter", 2, "--no-standardize")("--json"))[1]
    assert "stopped before a fixed point" in theorem


def test_theorem_needs_the_best_features(problem):
    """Feature 2 arrives when the coefficient of feature 1 is still too large, and leaves. Then feature 1 shrinks."""
    x, _ = clean_data(p=40)
    x[1] = 0.9 * x[0] + 0.436 * x[1]
    done = problem(x, x[0] + 1.5 * x[2], "--mu", 2, "--batch", 1, "--clean-ratio", 1, "--max-iter", 4, "--tol",
                   1e-9)("--json")
    assert "a feature that is not kept would get the coefficient" in reasons(done)[1]


def test_theorem_needs_coefficients_that_are_not_too_large(problem):
    x, y = clean_data(p=1)
    theorem = reasons(problem(x, y, "--mu", 1, "--clean-ratio", 1, "--eta", 1.9, "--max-iter", 1)("--json"))[1]
    assert "the gradient at the fit is against the coefficients" in theorem


# ---- wrong data ----------------------------------------------------------------

def test_data_of_another_fit_are_refused(problem, roofs, tmp_path, write_npy):
    x, y = clean_data()
    problem(x, y, *SETTLED)
    model, path_x, path_y = tmp_path / "model.json", tmp_path / "X.npy", tmp_path / "y.npy"
    for other_x, other_y, message in ((path_x, write_npy("z.npy", y[::-1]), "the largest residual"),
                                      (path_x, write_npy("s.npy", y[:-1]), "the response has 399 samples"),
                                      (write_npy("Z.npy", x[::-1]), path_y, "the largest residual"),
                                      (write_npy("S.npy", x[:3]), path_y, "the files have 3 features")):
        done = roofs("inspect", model, "--theory", "--y", other_y, other_x, "--orient", "features", ok=False)
        assert done.returncode == 3 and message in done.stderr and "of the fit" in done.stderr, done.stderr


def test_other_names_are_refused(roofs, tmp_path, write_text, write_npy):
    x, y = clean_data(n=50)
    table, y = write_text("X.csv", list("abcd"), x), write_npy("y.npy", y)
    roofs("fit", "--y", y, table, "--mu", 4, "-o", tmp_path / "m.json", "--quiet")
    roofs("inspect", tmp_path / "m.json", "--theory", "--y", y, table)
    other = write_text("Z.csv", list("abxd"), x)
    done = roofs("inspect", tmp_path / "m.json", "--theory", "--y", y, other, ok=False)
    assert done.returncode == 3 and '2 (x) of the files is "c" in the model' in done.stderr


def test_libsvm_files_bring_their_response(roofs, tmp_path):
    x, y = clean_data(n=60, p=3)
    rows = [f"{v:.17g} " + " ".join(f"{j + 1}:{value:.17g}" for j, value in enumerate(column))
            for v, column in zip(y, x.T)]
    (tmp_path / "d.svm").write_text("\n".join(rows) + "\n")
    roofs("fit", tmp_path / "d.svm", "--mu", 3, "-o", tmp_path / "m.json", "--quiet")
    done = roofs("inspect", tmp_path / "m.json", "--theory", tmp_path / "d.svm", "--json")
    assert json.loads(done.stdout)["theory"]["bound"]["value"] > 0


@pytest.mark.parametrize("args, message", [
    (["--theory"], "--theory needs a model and the data of its fit"),
    (["--theory", "-"], "reads the features twice"),
    (["--noise", "1"], "need --theory"),
    (["--theory", "X.npy", "--corruption", "1.5"], "--corruption"),
    (["X.npy"], "give one model or checkpoint"),
])
def test_wrong_usage_is_refused(roofs, tmp_path, args, message):
    done = roofs("inspect", "model.json", *args, ok=False, cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr


def test_missing_response_is_reported(problem, roofs, tmp_path):
    problem(*clean_data(), *SETTLED)
    done = roofs("inspect", tmp_path / "model.json", "--theory", tmp_path / "X.npy", "--orient", "features", ok=False)
    assert done.returncode == 3 and "give it with --y" in done.stderr


def test_simulated_data_show_the_real_error(roofs, tmp_path):
    roofs("simulate", "-o", tmp_path, "--n", 300, "--p", 20, "--mu", 3, "--corruption", 0.02, "--seed", 5)
    x, y, model = tmp_path / "X.npy", tmp_path / "y.npy", tmp_path / "m.json"
    roofs("fit", "--y", y, x, "--mu", 3, "-o", model, "--quiet")
    error = json.loads(roofs("evaluate", model, tmp_path).stdout)["l2_error"]
    text = roofs("inspect", model, "--theory", "--y", y, x, "--truth", tmp_path).stdout
    assert f"real error {error:.4g}; features with an effect that are not kept: 0; corrupt" in text
    assert "corrupt samples: 6" in " ".join(text.split())
    assert max(len(line) for line in text.splitlines()) <= 80


def test_scale_of_features_and_response_does_not_matter(problem):
    x, y = clean_data()
    usual = json.loads(problem(x, y, *SETTLED)("--json").stdout)["theory"]
    scales = np.array([1e-120, 1e120, 1, 1e-3])
    other = json.loads(problem(x * scales[:, None], 1e30 * y, *SETTLED)("--json").stdout)["theory"]
    for a, b, scale in zip(usual["features"], other["features"], scales):
        assert b["bound"] * scale / 1e30 == pytest.approx(a["bound"], rel=1e-6)
