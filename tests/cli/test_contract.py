"""The program's contract: verbs, options, what is printed, and that the same data give the same bits however they
come."""
import gzip
import json
import lzma
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from conftest import coefs, support

sys.path.insert(0, str(Path(__file__).parent.parent / "reference"))
import roofs_reference as reference  # noqa: E402

VERBS = ("simulate", "fit", "evaluate", "predict", "inspect", "report", "bench")
MODEL_KEYS = {"format", "version", "library", "method", "n", "features_seen", "intercept", "features", "outliers",
              "settings", "history", "stop"}


# ---- usage --------------------------------------------------------------------------

@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_has_an_example(roofs, verb):
    done = roofs(verb, "--help")
    assert re.search("(?i)example", done.stdout) and re.search(rf"roofs {verb} ", done.stdout)
    assert done.stderr == ""


def test_help_and_version_are_printed(roofs):
    assert all(re.search(rf"\b{verb}\b", roofs("--help").stdout) for verb in VERBS)
    assert re.fullmatch(r"roofs \d+\.\d+\.\d+\n?", roofs("--version").stdout.splitlines()[0])


@pytest.mark.parametrize("args, suggestion", [
    (["fitt"], "fit"), (["simulat"], "simulate"), (["inspekt"], "inspect"),
    (["fit", "--bach", "3"], "batch"), (["fit", "--clean-ration", "0.5"], "clean-ratio"),
    (["simulate", "--atack", "shift"], "attack"),
    (["fit", "--orient", "sample", "--mu", "1", "--y", "y.npy", "X.npy"], "samples"),
    (["fit", "--method", "roof", "--mu", "1", "--y", "y.npy", "X.npy"], "roofs"),
    (["simulate", "--attack", "shft", "-o", "d", "--n", "9", "--p", "9", "--mu", "3"], "shift")])
def test_mistyped_words_get_a_suggestion(roofs, tmp_path, args, suggestion):
    done = roofs(*args, ok=False, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert re.search(rf"(did you mean|choose one of).*\b{suggestion}\b", done.stderr), done.stderr


@pytest.mark.parametrize("args, named", [
    ([], "roofs"), (["fit"], "--"), (["fit", "--mu", "3", "X.npy"], "--y"),
    (["fit", "--y", "y.npy", "--mu", "3"], "(?i)feature|file|input"), (["fit", "--mu"], "--mu"),
    (["predict"], "(?i)model"),
    (["evaluate"], "(?i)model"), (["simulate", "--n", "10"], "--|-o"), (["inspect"], "(?i)model")])
def test_incomplete_commands_are_usage_errors(roofs, tmp_path, args, named):
    done = roofs(*args, ok=False, cwd=tmp_path)
    assert done.returncode == 2 and re.search(named, done.stderr)


@pytest.mark.parametrize("option, value", [
    ("--passes", "-1"), ("--passes", "often"), ("--passes", "1001"), ("--mu", "-1"), ("--mu", "-3"),
    ("--mu", "many"), ("--mu", "2.5"), ("--mu", "99999999999999999999"), ("--mu", ""),
    ("--batch", "0"), ("--batch", "x"), ("--clean-ratio", "-0.1"), ("--clean-ratio", "1.01"), ("--clean-ratio", "nan"),
    ("--clean-ratio", "0,5"), ("--eta", "-1"), ("--eta", "inf"), ("--tol", "-1e-9"), ("--max-iter", "0"),
    ("--threads", "-1"), ("--max-memory", "-1")])
def test_options_out_of_range_are_refused(roofs, make_problem, tmp_path, option, value):
    _, _, x, y = make_problem()
    out = tmp_path / "out"
    out.mkdir()
    mu = [] if option == "--mu" else ["--mu", 2]
    done = roofs("fit", "--y", y, *mu, option, value, x, "-o", out / "model.json", ok=False)
    assert done.returncode == 2 and list(out.iterdir()) == []
    rest = done.stderr.replace(option, "", 1)
    assert option.strip("-") in done.stderr.replace("_", "-")
    if value and not re.search("[a-z,]", value):
        assert re.search(r"\d", rest.replace(value, "", 1)), f"no range in {done.stderr!r}"


@pytest.mark.parametrize("option, value", [("--n", "0"), ("--p", "0"), ("--mu", "0"), ("--corruption", "1.5"),
                                           ("--noise-var", "-1"), ("--order", "last"), ("--dtype", "f16")])
def test_simulate_refuses_options_out_of_range(roofs, tmp_path, option, value):
    options = {"--n": "20", "--p": "10", "--mu": "3", option: value}
    done = roofs("simulate", "-o", tmp_path / "d", *sum(options.items(), ()), ok=False)
    assert done.returncode == 2 and option in done.stderr
    assert not (tmp_path / "d").exists() or list((tmp_path / "d").iterdir()) == []


def test_simulate_refuses_more_true_features_than_features(roofs, tmp_path):
    done = roofs("simulate", "-o", tmp_path / "d", "--n", 20, "--p", 10, "--mu", 11, ok=False)
    assert done.returncode == 2 and "10" in done.stderr


# ---- fit: what is printed and written -------------------------------------------------

def test_fit_prints_one_json_object(roofs, make_problem, tmp_path):
    _, y, x_file, y_file = make_problem()
    done = roofs("fit", "--y", y_file, "--method", "roofs", "--mu", 2, "--batch", 4, x_file, "-o", tmp_path / "m.json",
                 "--json")
    told = json.loads(done.stdout)
    model = json.loads((tmp_path / "m.json").read_text())
    assert set(told) == {"n", "features_seen", "selected", "kept", "trusted", "passes", "rounds", "missing_values",
                         "missing_features", "fit_seconds", "read_seconds", "peak_bytes", "stop", "warnings"}
    assert told["n"] == len(y) and told["features_seen"] == 6 and told["selected"] == len(model["features"])
    assert told["trusted"] == len(y) - len(model["outliers"]) and told["stop"] == model["stop"]
    assert told["rounds"] == sum(h["rounds"] for h in model["history"])
    assert told["fit_seconds"] >= 0 and told["read_seconds"] >= 0 and told["peak_bytes"] > 0


def test_quiet_is_quiet(roofs, make_problem, tmp_path):
    _, _, x, y = make_problem()
    done = roofs("fit", "--y", y, "--mu", 2, x, "-o", tmp_path / "m.json", "--quiet")
    assert done.stdout == "" and done.stderr == ""


def test_colours_and_bars_need_a_terminal(roofs, make_problem, tmp_path):
    _, _, x, y = make_problem()
    done = roofs("fit", "--y", y, "--mu", 2, x, "-o", tmp_path / "m.json")
    assert "\x1b" not in done.stdout + done.stderr and "\r" not in done.stdout + done.stderr


def test_model_file_has_its_keys(fit, make_problem, tmp_path):
    x, y, x_file, y_file = make_problem()
    model = fit(y_file, "--method", "roofs", "--mu", 3, "--batch", 4, x_file)
    assert MODEL_KEYS <= set(model)
    assert (model["format"], model["version"], model["method"], model["n"]) == ("roofs-model", 1, "roofs", len(y))
    assert model["features_seen"] == len(x) and len(model["features"]) == 3
    assert support(model) == sorted(support(model)) and model["outliers"] == sorted(model["outliers"])
    assert [h["features"] for h in model["history"]] == [4, 2]
    assert all(h["trusted"] <= len(y) and h["selected"] <= 3 for h in model["history"])
    assert model["settings"]["mu"] == 3 and model["settings"]["batch"] == 4
    text = (tmp_path / "model.json").read_text()
    numbers = re.findall(r'"coef":\s*([-+.0-9eE]+)', text) + re.findall(r'"intercept":\s*([-+.0-9eE]+)', text)
    assert len(numbers) == 4
    for number in numbers:
        assert number.removesuffix(".0") == f"{float(number):.17g}"


def test_names_reach_the_model(fit, make_problem, write_text):
    x, _, _, y_file = make_problem(p=3)
    names = ["plain", "with space", "schön"]
    assert [f["name"] for f in fit(y_file, "--mu", 3, write_text("X.csv", names, x))["features"]] == names


@pytest.mark.parametrize("text, names", [
    ('"a,b","say ""hi""",c\n', ["a,b", 'say "hi"', "c"]), ("\ufeffa,b,c\n", ["a", "b", "c"]),
    ("a,b,c\r\n", ["a", "b", "c"])])
def test_csv_dialects_agree(fit, make_problem, tmp_path, text, names):
    x, _, _, y_file = make_problem(p=3)
    end = "\r\n" if "\r" in text else "\n"
    rows = end.join(",".join(f"{v:.17g}" for v in row) for row in x.T)
    (tmp_path / "X.csv").write_bytes((text + rows).encode())       # without a newline at the end
    assert [f["name"] for f in fit(y_file, "--mu", 3, tmp_path / "X.csv")["features"]] == names


# ---- the same data, however they come ---------------------------------------------------

@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    """X (p, n) and y in a folder, n and p no multiples of anything."""
    folder = tmp_path_factory.mktemp("stream")
    rng = np.random.default_rng(7)
    x = rng.standard_normal((53, 211))
    y = x[:6].sum(axis=0) + 2 + 0.1 * rng.standard_normal(211)
    y[:40] += 9
    np.save(folder / "X.npy", x)
    np.save(folder / "y.npy", y)
    return folder, x, y


@pytest.fixture
def bits(roofs, stream, tmp_path):
    """bits(files...): the text of the model, without the number of threads and without the names of features."""
    def run(*args, y=stream[0] / "y.npy", **more):
        roofs("fit", "--y", y, "--mu", 8, "--batch", 10, *args, "-o", tmp_path / "m.json", "--quiet", **more)
        model = json.loads((tmp_path / "m.json").read_text(), parse_float=str)
        model["settings"].pop("threads", None)
        for feature in model["features"] + [m for g in model.get("groups", []) for m in g["members"]]:
            feature.pop("name", None)
        return model
    return run


def test_several_files_are_one_stream(bits, stream, tmp_path):
    folder, x, _ = stream
    files = []
    for k, part in enumerate(np.split(x, [7, 30, 31])):
        files.append(tmp_path / f"part{k}.npy")
        np.save(files[-1], part)
    assert bits(*files) == bits(folder / "X.npy")


def test_folder_is_a_stream_in_natural_order(bits, stream, tmp_path):
    folder, x, _ = stream
    (tmp_path / "parts").mkdir()
    for name, part in zip(("x1.npy", "x2.npy", "x10.npy"), np.split(x, [7, 30])):
        np.save(tmp_path / "parts" / name, part)
    assert bits(tmp_path / "parts") == bits(folder / "X.npy")


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_orientation_does_not_change_the_model(bits, stream, tmp_path, dtype):
    x = stream[1].astype(dtype)
    np.save(tmp_path / "rows.npy", x)
    np.save(tmp_path / "columns.npy", np.ascontiguousarray(x.T))
    np.save(tmp_path / "fortran.npy", np.asfortranarray(x))
    np.save(tmp_path / "fortran_columns.npy", x.T)
    wanted = bits(tmp_path / "rows.npy")
    for name in ("columns", "fortran", "fortran_columns"):
        assert bits(tmp_path / f"{name}.npy") == wanted, name
    assert bits(tmp_path / "columns.npy", "--orient", "samples") == wanted
    assert bits(tmp_path / "rows.npy", "--orient", "features") == wanted


def test_text_agrees_with_arrays(bits, stream, tmp_path, write_text):
    folder, x, y = stream
    names = [f"g{j}" for j in range(len(x))]
    plain = write_text("X.csv", names, x)
    write_text("X.tsv", names, x, "\t")
    (tmp_path / "X.csv.gz").write_bytes(gzip.compress(plain.read_bytes()))
    (tmp_path / "X.csv.xz").write_bytes(lzma.compress(plain.read_bytes()))
    first, second = write_text("first.csv", names[:13], x[:13]), write_text("second.csv", names[13:], x[13:])
    wanted = bits(folder / "X.npy")
    for name in ("X.csv", "X.tsv", "X.csv.gz", "X.csv.xz"):
        assert bits(tmp_path / name) == wanted, name
    assert bits(first, second) == wanted
    assert bits("-", "--passes", 1, input=plain.read_bytes()) == bits(folder / "X.npy", "--passes", 1)
    assert bits(plain, y=write_text("y.csv", ["y"], [y])) == wanted


def test_paths_and_names_may_have_any_length(fit, make_problem, write_text):
    x, _, _, y_file = make_problem(p=2)
    for length in range(1, 70):
        first, second = write_text("abcdef.csv", ["n"],
                                   x[:1]), write_text("b" * length + ".csv", ["n" * (length + 1)], x[1:])
        model = fit(y_file.name, "--mu", 2, first.name, second.name, cwd=first.parent)
        assert [f["name"] for f in model["features"]] == ["n", "n" * (length + 1)]


def test_gzip_members_are_joined(bits, stream, tmp_path, write_text):
    """What `cat a.gz b.gz` and bgzip write."""
    folder, x, _ = stream
    text = write_text("X.csv", [f"g{j}" for j in range(len(x))], x).read_bytes()
    (tmp_path / "X.csv.gz").write_bytes(gzip.compress(text[:5000]) + gzip.compress(text[5000:]))
    assert bits(tmp_path / "X.csv.gz") == bits(folder / "X.npy")


@pytest.mark.parametrize("more", [[], ["--no-standardize", "--no-intercept"], ["--clean-ratio", "0.8"]])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_threads_do_not_change_a_bit(bits, tmp_path, write_npy, more, dtype):
    rng = np.random.default_rng(9)
    x = rng.standard_normal((120, 9001))
    y = write_npy("y.npy", x[:9].sum(axis=0) + (rng.random(9001) < 0.2) * 7)
    x = write_npy("X.npy", x, dtype)
    wanted = bits(x, *more, "--threads", 1, y=y)
    for threads in (2, 3):
        assert bits(x, *more, "--threads", threads, y=y) == wanted


def test_f32_is_close_to_f64(fit, stream, write_npy):
    folder, x, _ = stream
    double = fit(folder / "y.npy", "--mu", 6, folder / "X.npy")
    single = fit(folder / "y.npy", "--mu", 6, write_npy("X32.npy", x, "f4"))
    assert support(single) == support(double)
    assert coefs(single) == pytest.approx(coefs(double), rel=1e-5)


# ---- simulate ------------------------------------------------------------------------------

def simulate(roofs, folder, *more, n=400, p=20, mu=5, corruption=0.3):
    roofs("simulate", "-o", folder, "--n", n, "--p", p, "--mu", mu, "--corruption", corruption, *more)
    return {name: np.load(folder / f"{name}.npy") for name in ("X", "y", "beta", "clean")}


def test_simulate_writes_its_files(roofs, tmp_path):
    data = simulate(roofs, tmp_path / "d")
    assert {f.name for f in (tmp_path / "d").iterdir()} == {"X.npy", "y.npy", "beta.npy", "clean.npy", "truth.json"}
    assert {k: (v.shape, v.dtype) for k, v in data.items()} == {
        "X": ((20, 400), "f8"), "y": ((400,), "f8"), "beta": ((20,), "f8"), "clean": ((400,), "u1")}
    assert data["X"].flags.c_contiguous and set(data["clean"]) == {0, 1}
    assert isinstance(json.loads((tmp_path / "d" / "truth.json").read_text()), dict)
    assert simulate(roofs, tmp_path / "e", "--dtype", "f32")["X"].dtype == "f4"


def test_simulate_draws_the_stated_distribution(roofs, tmp_path):
    data = simulate(roofs, tmp_path / "d", n=5000, p=60, mu=20)
    x, y, beta, clean = data["X"], data["y"], data["beta"], data["clean"] == 1
    assert abs(x.mean()) < 0.01 and abs(x.std() - 1) < 0.01 and abs((x ** 4).mean() - 3) < 0.1
    correlation = np.corrcoef(x) - np.eye(60)
    assert np.abs(correlation).max() < 0.08
    assert np.linalg.norm(beta) == pytest.approx(1, rel=1e-12) and (beta >= 0).all()
    used = beta[beta > 0]
    assert len(used) == 20 and used.max() / used.min() > 2
    assert (~clean).sum() == 1500 and abs((~clean[:2500]).sum() - 750) < 150     # spread over the samples
    assert np.var((y - beta @ x)[clean]) == pytest.approx(0.1, rel=0.1)


def test_simulate_orders_true_features(roofs, tmp_path):
    first = simulate(roofs, tmp_path / "a", "--order", "first", p=50)
    spread = simulate(roofs, tmp_path / "b", "--order", "random", p=50)
    assert np.flatnonzero(first["beta"]).tolist() == [0, 1, 2, 3, 4]
    assert len(np.flatnonzero(spread["beta"])) == 5 and np.flatnonzero(spread["beta"]).max() > 4
    star = spread["beta"] @ spread["X"]
    assert np.var((spread["y"] - star)[spread["clean"] == 1]) < 0.2


def test_simulate_seed_decides_the_data(roofs, tmp_path):
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        simulate(roofs, tmp_path / folder, "--seed", seed)
    simulate(roofs, tmp_path / "d")                                               # the default is 1
    for name in ("X.npy", "y.npy", "beta.npy", "clean.npy"):
        a, b, c, d = ((tmp_path / folder / name).read_bytes() for folder in "abcd")
        assert a == b == d and a != c, name


@pytest.mark.parametrize("attack", ["uniform", "shift", "constant", "other-model", "sign-flip", "gross"])
def test_simulate_attacks_corrupt_responses(roofs, tmp_path, attack):
    data = simulate(roofs, tmp_path / "d", "--attack", attack, "--noise-var", 0)
    x, y, beta, hit = data["X"], data["y"], data["beta"], data["clean"] == 0
    star = beta @ x
    top = np.abs(star).max()
    assert hit.sum() == 120 and np.abs(y - star)[~hit].max() < 1e-12
    change = (y - star)[hit]
    if attack == "uniform":
        assert np.abs(change).max() <= 5 * top and np.abs(change).max() > 4 * top
        assert abs(change.mean()) < top and np.std(change) == pytest.approx(10 * top / np.sqrt(12), rel=0.15)
    elif attack == "shift":
        assert change == pytest.approx(np.full(120, top), rel=1e-12)
    elif attack == "constant":
        assert y[hit] == pytest.approx(np.full(120, 3 * top), rel=1e-12)
    elif attack == "sign-flip":
        assert np.abs(y + star)[hit].max() < 1e-12
    elif attack == "gross":
        assert np.abs(np.abs(change) - 1e12).max() < 1e-3 and len(set(np.sign(change))) == 2
    else:
        other, *_ = np.linalg.lstsq(x[:, hit].T, y[hit], rcond=None)
        assert np.abs(y[hit] - other @ x[:, hit]).max() < 1e-9
        other = other[np.abs(other) > 1e-9]
        assert len(other) == 5 and 0.3 < np.linalg.norm(other) / 3 < 2.5


def test_simulate_adds_noise_after_the_attack(roofs, tmp_path):
    data = simulate(roofs, tmp_path / "d", "--attack", "constant", "--noise-var", 0.25, n=4000)
    hit, star = data["clean"] == 0, data["beta"] @ data["X"]
    assert np.var(data["y"][hit]) == pytest.approx(0.25, rel=0.15)
    assert data["y"][hit].mean() == pytest.approx(3 * np.abs(star).max(), abs=0.1)


def test_simulate_can_leave_everything_clean(roofs, tmp_path):
    assert (simulate(roofs, tmp_path / "d", corruption=0)["clean"] == 1).all()


# ---- evaluate, predict, inspect --------------------------------------------------------------

def test_evaluate_prints_four_scores(roofs, fit, tmp_path):
    data = simulate(roofs, tmp_path / "d", n=300, p=60, mu=10)
    d = tmp_path / "d"
    for more in ([], ["--no-intercept", "--no-standardize"]):
        model = fit(d / "y.npy", "--mu", 12, "--batch", 7, d / "X.npy", *more)
        told = json.loads(roofs("evaluate", tmp_path / "model.json", d).stdout)
        trusted = ~np.isin(np.arange(300), model["outliers"])
        wanted = reference.scores({f["index"]: f["coef"] for f in model["features"]}, trusted, data["beta"],
                                  data["clean"])
        assert set(told) == set(wanted)
        assert told == pytest.approx(wanted, rel=1e-12)


def predicted(model, x):
    return model["intercept"] + sum(f["coef"] * x[f["index"]] for f in model["features"])


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_predict_computes_the_model(roofs, fit, make_problem, write_npy, tmp_path, dtype):
    x, _, x_file, y_file = make_problem(p=9)
    model = fit(y_file, "--mu", 4, x_file)
    new = np.random.default_rng(5).standard_normal((9, 17)).astype(dtype)
    wanted = predicted(model, new.astype(float))
    parts = [write_npy("new1.npy", new[:4]), write_npy("new2.npy", new[4:])]
    for files in ([write_npy("new.npy", new)], parts):
        roofs("predict", tmp_path / "model.json", *files, "--orient", "features", "-o", tmp_path / "yhat.npy")
        got = np.load(tmp_path / "yhat.npy")
        assert got.dtype == "f8" and got == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    roofs("predict", tmp_path / "model.json", write_npy("t.npy", new.T.copy()), "--orient", "samples", "-o",
          tmp_path / "yhat.npy")
    assert np.load(tmp_path / "yhat.npy") == pytest.approx(wanted, rel=1e-12, abs=1e-12)


def test_predict_finds_features_by_name(roofs, fit, make_problem, write_text, tmp_path):
    x, _, _, y_file = make_problem(p=7)
    names = [f"gene{j}" for j in range(7)]
    model = fit(y_file, "--mu", 3, write_text("X.csv", names, x))
    new = np.random.default_rng(5).standard_normal((7, 11))
    order = [6, 2, 0, 5, 1, 3, 4]
    shuffled = write_text("new.csv", [names[j] for j in order] + ["unknown"], np.vstack([new[order], new[:1]]))
    roofs("predict", tmp_path / "model.json", shuffled, "-o", tmp_path / "yhat.npy")
    assert np.load(tmp_path / "yhat.npy") == pytest.approx(predicted(model, new), rel=1e-12, abs=1e-12)


def test_predict_accepts_huge_features(roofs, fit, make_problem, write_npy, tmp_path):
    x, _, _, y_file = make_problem()
    big = write_npy("X.npy", x * 1e300)
    model = fit(y_file, "--mu", 2, big)
    roofs("predict", tmp_path / "model.json", big, "--orient", "features", "-o", tmp_path / "yhat.npy")
    assert np.load(tmp_path / "yhat.npy") == pytest.approx(predicted(model, x * 1e300), rel=1e-12)


def test_inspect_shows_the_model(roofs, fit, make_problem, write_text, tmp_path):
    x, y, _, _ = make_problem()
    y[:5] += 30
    y_file = write_text("y.csv", ["y"], [y])
    model = fit(y_file, "--mu", 2, "--batch", 3, write_text("X.csv", [f"gene{j}" for j in range(6)], x))
    shown = roofs("inspect", tmp_path / "model.json").stdout
    for feature in model["features"]:
        assert re.search(rf"\b{feature['name']}\b", shown)
        line = [line for line in shown.splitlines() if re.search(rf"\b{feature['name']}\b", line)][-1]
        numbers = [float(number) for number in re.findall(r"[-+]?\d+\.\d+(?:e[-+]?\d+)?|[-+]?\d+", line)]
        assert any(number == pytest.approx(feature["coef"], rel=1e-3) for number in numbers), line
    assert re.search(rf"\b{len(y) - len(model['outliers'])}\b", shown) and "trusted" in shown
    assert re.search("(?i)residual", shown) and re.search("(?i)batch", shown)
    assert len(re.findall(r"[#*▁▂▃▄▅▆▇█|]{1,}", shown)) >= 2                      # bars
    assert roofs("inspect", tmp_path / "model.json").stdout == shown


# ---- interruption ------------------------------------------------------------------------------

def test_interrupt_ends_with_130(program, write_npy, tmp_path):
    rng = np.random.default_rng(0)
    x, y = write_npy("X.npy", rng.standard_normal((300, 301))), write_npy("y.npy", rng.standard_normal(301))
    out = tmp_path / "out"
    out.mkdir()
    args = ["fit", "--y", y, "--method", "roofs", "--mu", 300, "--batch", 300, "--tol", 0, "--max-iter", 1000000, x,
            "-o", out / "model.json"]
    process = subprocess.Popen([program, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        time.sleep(0.7)
        assert process.poll() is None, process.stderr.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert list(out.iterdir()) == []
    finally:
        process.kill()
        process.communicate()
