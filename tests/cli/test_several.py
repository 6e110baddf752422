"""`roofs fit` with several responses reads the features once and fits each response as if it were alone."""
import json

import numpy as np
import pytest

N, P = 120, 60


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((P, N))
    y = np.array([x[k] - 2 * x[k + 7] + .1 * rng.standard_normal(N) for k in range(3)])
    y[1, :9] += 50
    np.save(tmp_path / "X.npy", x)
    lines = ["who,A,B,C/c"] + [f"s{i}," + ",".join(f"{v:.17g}" for v in y[:, i]) for i in range(N)]
    (tmp_path / "y.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.fixture
def fit(roofs, people):
    def run(*args, code=0):
        done = roofs("fit", *args, ok=code == 0, cwd=people)
        assert done.returncode == code, done.stderr
        return done
    return run


@pytest.mark.parametrize("method", ["roofs-bayes", "roofs", "os"])
def test_each_response_is_fitted_as_if_alone(fit, people, method):
    shared = ["--method", method, "--mu", "5", "--batch", "7"]
    fit("--y", "y.csv:A,B", "X.npy", *shared, "-o", "m.json")
    for name in "AB":
        fit("--y", f"y.csv:{name}", "X.npy", *shared, "-o", "alone.json")
        assert (people / f"m.{name}.json").read_bytes() == (people / "alone.json").read_bytes()
    assert (people / "m.A.json").read_bytes() != (people / "m.B.json").read_bytes()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_models_do_not_depend_on_the_number_of_threads(fit, people, threads):
    for count, name in ((threads, "m"), (1, "one")):
        fit("--y", "y.csv:A,B,C/c", "X.npy", "--threads", str(count), "-o", name + ".json")
    assert (people / "m.B.json").read_bytes() == (people / "one.B.json").read_bytes()
    assert (people / "m.C_c.json").exists()


def without(folder, rows, to):
    lines = (folder / "y.csv").read_text().splitlines()
    for i in rows:
        fields = lines[i + 1].split(",")
        fields[2] = "NA"
        lines[i + 1] = ",".join(fields)
    (folder / to).write_text("\n".join(lines) + "\n")


def test_samples_without_a_response_are_left_out_of_its_fit_only(fit, people):
    gone = [3, 50, 119]
    kept = np.setdiff1d(np.arange(N), gone)
    without(people, gone, "some.csv")
    err = fit("--y", "some.csv:A,B", "X.npy", "-o", "m.json", code=3).stderr
    assert '"B" is missing in 3 of the 120 samples' in err
    fit("--y", "some.csv:A,B", "X.npy", "--missing-y", "drop", "-o", "m.json")
    fit("--y", "y.csv:A", "X.npy", "-o", "a.json")
    np.save(people / "less.npy", np.load(people / "X.npy")[:, kept])
    lines = (people / "y.csv").read_text().splitlines()
    (people / "less.csv").write_text("\n".join([lines[0]] + [lines[i + 1] for i in kept]) + "\n")
    fit("--y", "less.csv:B", "less.npy", "-o", "b.json")
    assert (people / "m.A.json").read_bytes() == (people / "a.json").read_bytes()
    assert (people / "m.B.json").read_bytes() == (people / "b.json").read_bytes()


def test_responses_of_a_table_are_no_features(fit, people):
    x = np.load(people / "X.npy")
    y = (people / "y.csv").read_text().splitlines()
    table = [y[0] + "," + ",".join(f"x{k}" for k in range(P))]
    table += [y[i + 1] + "," + ",".join(f"{v:.17g}" for v in x[:, i]) for i in range(N)]
    (people / "t.csv").write_text("\n".join(table) + "\n")
    fit("t.csv", "--y", "A,B", "--id", "who", "--drop", "C/c", "-o", "t.json")
    fit("t.csv", "--y", "B", "--id", "who", "--drop", "C/c,A", "-o", "alone.json")
    assert json.loads((people / "t.B.json").read_text())["features_seen"] == P
    assert (people / "t.B.json").read_bytes() == (people / "alone.json").read_bytes()


def test_folder_takes_one_model_per_response_and_json_lists_them(fit, people):
    (people / "models").mkdir()
    out = fit("--y", "y.csv:[AB],", "X.npy", "-o", "models/", "--json").stdout
    told = json.loads(out)
    assert [r["name"] for r in told["responses"]] == ["A", "B"]
    assert all((people / r["model"]).exists() for r in told["responses"])
    assert told["passes"] >= 1 and told["responses"][1]["trusted"] <= N - 9


@pytest.mark.parametrize("option", [["--checkpoint", "f.ck"], ["--mu", "auto"], ["--orders", "2"],
                                    ["--intervals", "cv"], ["--trace", "t"], ["--profile"]])
def test_options_of_one_response_are_refused_by_name(fit, people, option):
    err = fit("--y", "y.csv:A,B", "X.npy", "-o", "m.json", *option, code=2).stderr
    assert option[0] in err and "one response" in err


def test_memory_is_that_of_all_fits_and_is_limited(fit, people):
    out = fit("--y", "y.csv:A,B,C/c", "X.npy", "--mu", "5", "--explain").stdout
    assert "total of the fits, side by side" in out and out.count(" 120 ") == 3
    err = fit("--y", "y.csv:A,B,C/c", "X.npy", "--mu", "5", "--max-memory", "1000", "-o", "m.json",
              code=5).stderr
    assert "responses at a time" in err and not list(people.glob("m.*.json"))


@pytest.mark.parametrize("names, text", [("A,Z", 'no column "Z"'), ("A,who", "holds words")])
def test_wrong_columns_are_named(fit, people, names, text):
    assert text in fit("--y", f"y.csv:{names}", "X.npy", "-o", "m.json", code=3).stderr


def test_models_need_a_file_each(fit, people):
    assert "FILE.NAME.json" in fit("--y", "y.csv:A,B", "X.npy", code=2).stderr


@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32"])
def test_small_numbers_keep_their_type(fit, people, dtype):
    without(people, [0, 7], "some.csv")
    np.save(people / "small.npy", np.clip(np.rint(np.load(people / "X.npy") + 3), 0, 6).astype(dtype))
    fit("--y", "some.csv:A,B", "small.npy", "--missing-y", "drop", "-o", "m.json")
    kept = np.setdiff1d(np.arange(N), [0, 7])
    np.save(people / "less.npy", np.load(people / "small.npy")[:, kept])
    lines = (people / "y.csv").read_text().splitlines()
    (people / "less.csv").write_text("\n".join([lines[0]] + [lines[i + 1] for i in kept]) + "\n")
    fit("--y", "less.csv:B", "less.npy", "-o", "b.json")
    assert (people / "m.B.json").read_bytes() == (people / "b.json").read_bytes()
