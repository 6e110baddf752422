"""Credible groups and intervals in the program: inspect, report, predict, fit. The groups of the models are written
by hand; the fits of the last section find their own."""
import json
import os
import shutil
import sys
import threading
from math import exp, sqrt
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from pages import Page  # noqa: E402

N, P = 120, 40
ERROR, SCALE, INTERCEPT, SKEW, TAIL = 0.02, 0.25, 0.03, 2.0, 0.05


def name_of(j):
    return f"rs{100 + j}"


def group_of(indices, shares, **fields):
    members = [{"index": j, "name": name_of(j), "probability": q} for j, q in zip(indices, shares, strict=True)]
    return {"members": members, "mass": float(np.sum(shares)), "exists": 0.99, "fdr": 0.001, "correlation": 0.97,
            "effect": 1.5, "error": 0.05, "complete": True, **fields}


GROUPS = [group_of([0], [1.0], coef=2.0, coef_error=0.01),
          group_of([1, 20, 21], [0.5, 0.3, 0.195], fdr=0.03),
          group_of([2, *range(25, 40)], [0.4] + [0.59 / 15] * 15, complete=False, fdr=0.2)]


@pytest.fixture
def data(write_npy, tmp_path):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((P, N))
    y = 2 * x[0] - x[1] + 0.5 * x[2] + 1 + 0.2 * rng.standard_normal(N)
    y[:12] += 30
    names = tmp_path / "names.txt"
    names.write_text("\n".join(map(name_of, range(P))) + "\n")
    return x, write_npy("X.npy", x), write_npy("y.npy", y), names


@pytest.fixture
def model(fit, data, tmp_path):
    """model(fdr=0, nu=5): a model file with GROUPS and errors; (its path, its content)."""
    def make(fdr=0.0, nu=5, **fields):
        _, features, y, names = data
        got = fit(y, "--method", "roofs-bayes", "--mu", 6, "--names", names, features)
        for k, f in enumerate(got["features"]):
            f["center"], f["error"] = 0.1 * k, ERROR
        got["noise"] = {"scale": SCALE, "intercept": INTERCEPT, "skew": SKEW, "tail": TAIL}
        if nu:
            got["noise"]["nu"] = nu
        got["groups"] = GROUPS
        got["settings"]["fdr"] = fdr
        path = tmp_path / "groups.json"
        path.write_text(json.dumps({**got, **fields}))
        return path, got
    return make


# ---- inspect --------------------------------------------------------------------------

def test_groups_are_printed(roofs, model):
    path, _ = model()
    text = roofs("inspect", path, env={"LC_ALL": "C"}).stdout
    assert "groups     3 found: 1 of one feature, 2 of several that look alike" in text
    assert "  rs100 (99.0%)  coefficient +2 +- 0.02\n" in text
    assert "  one of: rs101, rs120, rs121 (98.5%)\n      3 features, correlation at least 0.97" in text
    assert "one of: rs102, rs125," in text and ", ... (98.0%)" in text
    assert "--groups exact" in text and text.count(", incomplete") == 1
    assert max(map(len, text.split("\n"))) <= 80


def test_groups_beyond_top_are_counted(roofs, model):
    text = roofs("inspect", model()[0], "--top", 1).stdout
    assert "rs100 (99.0%)" in text and "one of:" not in text and "  and 2 more (--top)" in text


@pytest.mark.parametrize("fdr, found, words", [(0.1, 2, "at most 10% of the"), (0.05, 2, "only at most 10%"),
                                               (0.01, 1, "at most 5% of the"), (0.5, 3, "at most 50%")])
def test_rate_of_false_discoveries_is_promised(roofs, model, fdr, found, words):
    path, got = model(fdr=fdr)
    text = " ".join(roofs("inspect", path).stdout.split())
    assert f"groups {found} found" in text and words in text
    members = {m["index"] for g in GROUPS if g["fdr"] <= fdr for m in g["members"]}
    assert f"{P} seen, {len(members)} in the groups found" in text
    assert ("correlate above 0.5" in text) == (fdr < 0.1)
    kept = [f["index"] for f in got["features"]]
    printed = json.loads(roofs("inspect", path, "--json").stdout)
    assert printed["selected"] == len(members & set(kept)) and printed["kept"] == len(kept)
    assert printed["fdr"] == fdr and [g["found"] for g in printed["groups"]] == [g["fdr"] <= fdr for g in GROUPS]


def test_json_has_all_groups(roofs, model):
    path, got = model()
    printed = json.loads(roofs("inspect", path, "--json").stdout)
    assert "fdr" not in printed and printed["noise"] == got["noise"]
    for shown, group in zip(printed["groups"], GROUPS, strict=True):
        assert shown["members"] == group["members"] and shown["complete"] == group["complete"]
        assert shown["probability"] == pytest.approx(group["exists"] * group["mass"])
        assert shown["coef"] == group.get("coef") and shown["effect"] == group["effect"]


def test_models_without_groups_print_none(roofs, fit, data):
    _, features, y, _ = data
    got = fit(y, "--method", "roofs", "--mu", 6, features, name="plain.json")
    assert "groups" not in got and "noise" not in got
    path = features.parent / "plain.json"
    assert "roup" not in roofs("inspect", path).stdout
    assert "groups" not in json.loads(roofs("inspect", path, "--json").stdout)
    done = roofs("predict", path, features, "--interval", 0.9, ok=False)
    assert done.returncode == 3 and "roofs-bayes" in done.stderr and str(path) in done.stderr


def test_control_characters_in_members_are_not_printed(roofs, model):
    evil = json.loads(json.dumps(GROUPS))
    evil[1]["members"][0]["name"] = "\x1b[31m\n<b>"
    path, _ = model(groups=evil)
    text = roofs("inspect", path).stdout
    assert "\x1b" not in text and "one of: \\x1b[31m\\n<b>, rs120" in text


# ---- report ----------------------------------------------------------------------------

@pytest.mark.skipif(not shutil.which("gnuplot"), reason="gnuplot is not installed")
@pytest.mark.parametrize("fdr", [0, 0.05])
def test_report_shows_groups_with_bars(roofs, model, tmp_path, fdr):
    evil = json.loads(json.dumps(GROUPS))
    evil[1]["members"][0]["name"] = "<script>"
    path, _ = model(fdr=fdr, groups=evil)
    roofs("report", path, "-o", tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text())
    assert "<h2>Groups</h2>" in page.text and "&lt;script&gt;" in page.text
    shown = [g for g in GROUPS if not fdr or g["fdr"] <= fdr]
    bars = sum(1 for _, a in page.elements if a.get("class") == "share")
    assert bars == sum(min(len(g["members"]), 12) for g in shown)
    assert 'style="--v:30.0%"' in page.text and "0.97" in page.text
    assert ("--groups exact" in page.text) == (not fdr) and ("Promised" in page.text) == bool(fdr)


@pytest.mark.skipif(not shutil.which("gnuplot"), reason="gnuplot is not installed")
def test_report_without_groups_has_no_section(roofs, fit, data, tmp_path):
    _, features, y, _ = data
    fit(y, "--method", "roofs", "--mu", 6, features)
    roofs("report", tmp_path / "model.json", "-o", tmp_path / "report.html")
    assert "<h2>Groups</h2>" not in (tmp_path / "report.html").read_text()


# ---- predict --interval ------------------------------------------------------------------

def t5_quantile(p):
    """Of Student's t with 5 degrees of freedom, by its distribution function."""
    low, high = -1e6, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        angle = np.arctan(middle / sqrt(5))
        below = 0.5 + (angle + np.sin(angle) * (np.cos(angle) + 2 / 3 * np.cos(angle) ** 3)) / np.pi
        low, high = (middle, high) if below < p else (low, middle)
    return low


def noise_quantile(p):
    left, right = exp(-0.3 * SKEW), exp(0.3 * SKEW)
    below = left / (left + right)
    return left * t5_quantile(p / 2 / below) if p < below else right * t5_quantile(1 - (1 - p) / 2 / (1 - below))


def expected(x, got, level):
    """(prediction, low, high) of every sample, plainly."""
    middle = got["intercept"] + sum(f["coef"] * x[f["index"]] for f in got["features"])
    variance = SCALE ** 2 + INTERCEPT ** 2
    variance = variance + sum((f["error"] * (x[f["index"]] - f["center"])) ** 2 for f in got["features"])
    inside = min(level / (1 - TAIL), (1 + level) / 2)
    ends = [noise_quantile((1 + side * inside) / 2) - noise_quantile(0.5) for side in (-1, 1)]
    return np.transpose([middle, middle + 1.02 * np.sqrt(variance) * ends[0],
                         middle + 1.02 * np.sqrt(variance) * ends[1]])


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_predictions_get_their_ends(roofs, model, data, tmp_path, level):
    x, features, _, _ = data
    path, got = model()
    roofs("predict", path, features, "--interval", level, "-o", tmp_path / "p.npy")
    table = np.load(tmp_path / "p.npy")
    assert table.shape == (N, 3)
    np.testing.assert_allclose(table, expected(x, got, level), rtol=1e-9)
    roofs("predict", path, features, "-o", tmp_path / "plain.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "plain.npy"), table[:, 0])
    text = roofs("predict", path, features, "--interval", level).stdout.split("\n")
    assert text[0] == "prediction,low,high"
    np.testing.assert_array_equal([[float(v) for v in line.split(",")] for line in text[1:-1]], table)


def test_intervals_have_the_same_bits_however_features_come(roofs, model, data, tmp_path, write_text):
    """In any order, from a pipe, and as triplets that do not list zeros."""
    x, _, _, names = data
    x = np.where(np.random.default_rng(1).random(x.shape) < 0.6, 0, x)
    path, _ = model()
    np.save(tmp_path / "Z.npy", x)
    roofs("predict", path, tmp_path / "Z.npy", "--names", names, "--interval", 0.9, "-o", tmp_path / "p.npy")
    table = np.load(tmp_path / "p.npy")
    order = np.random.default_rng(2).permutation(P)
    shuffled = write_text("Z.csv", [name_of(j) for j in order], x[order])
    triplets = tmp_path / "Z3.csv"
    triplets.write_text("feature,sample,value\n" + "".join(
        f"{name_of(j)},{i},{x[j, i]:.17g}\n" for j in order for i in range(N) if x[j, i]))
    for source, more in ((shuffled, ()), ("-", ("piped",)), (triplets, ("--samples", N))):
        piped = more == ("piped",)
        roofs("predict", path, source, *(() if piped else more), "--interval", 0.9, "-o", tmp_path / "q.npy",
              **({"input": shuffled.read_bytes()} if piped else {}))
        np.testing.assert_array_equal(np.load(tmp_path / "q.npy"), table)


@pytest.mark.parametrize("level", ["0", "1", "-1", "x"])
def test_levels_out_of_range_are_usage_errors(roofs, model, data, level):
    done = roofs("predict", model()[0], data[1], f"--interval={level}", ok=False)
    assert done.returncode == 2 and "--interval" in done.stderr


# ---- fit -----------------------------------------------------------------------------------

def test_pipes_are_refused_for_exact_groups(roofs, data, tmp_path):
    _, features, y, _ = data
    done = roofs("fit", "--y", y, "--groups", "exact", "-", ok=False, input=features.read_bytes())
    assert done.returncode == 2 and "--groups exact" in done.stderr and "pipe" in done.stderr
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(features.read_bytes()), daemon=True)
    writer.start()
    done = roofs("fit", "--y", y, "--groups", "exact", pipe, "-o", tmp_path / "none.json", ok=False)
    assert done.returncode == 2 and "--groups exact" in done.stderr and not (tmp_path / "none.json").exists()


@pytest.mark.parametrize("args, word", [(("--method", "roofs", "--fdr", 0.1), "roofs-bayes"),
                                        (("--fdr", 0.1, "--groups", "off"), "groups"), (("--fdr", 0.7), "fdr")])
def test_rates_that_cannot_be_kept_are_refused(roofs, data, args, word):
    done = roofs("fit", "--y", data[2], data[1], *args, ok=False)
    assert done.returncode == 2 and word in done.stderr


def test_explain_counts_the_further_read(roofs, data):
    said = roofs("fit", "--y", data[2], data[1], "--mu", 5, "--batch", 5, "--groups", "exact", "--explain").stdout
    assert "once more to complete the groups" in said
    assert "once more" not in roofs("fit", "--y", data[2], data[1], "--mu", 5, "--batch", 5, "--explain").stdout


@pytest.mark.parametrize("verb, words", [("fit", ("--fdr", "--groups", "--pool", "correlate at most 0.5", "0.1")),
                                         ("predict", ("--interval",)), ("inspect", ("incomplete", "promise"))])
def test_help_says_what_is_promised(roofs, verb, words):
    said = " ".join(roofs(verb, "--help").stdout.split())
    assert all(word in said for word in words)


def blocks(seed=5, n=400, count=20, width=6, true=4, r=0.99):
    """Features in blocks that look alike, shuffled; one of each of the first blocks matters: (X, y, the blocks)."""
    rng = np.random.default_rng(seed)
    block = np.repeat(np.arange(count), width)
    x = sqrt(r) * rng.standard_normal((count, n))[block] + sqrt(1 - r) * rng.standard_normal((count * width, n))
    y = 2 + x[::width][:true].sum(axis=0) + rng.standard_normal(n)
    y[:n // 10] = rng.uniform(-40, 40, n // 10)
    order = rng.permutation(count * width)
    return x[order], y, block[order]


@pytest.fixture
def correlated(write_npy):
    x, y, block = blocks()
    return write_npy("Xc.npy", x), write_npy("yc.npy", y), block, ("--orient", "features", "--mu", 20, "--batch", 10)


def test_fit_finds_one_group_per_block(fit, roofs, correlated, tmp_path):
    features, y, block, more = correlated
    got = fit(y, features, *more)
    found = [{block[m["index"]] for m in g["members"]} for g in got["groups"] if g["exists"] > 0.9]
    assert sorted(map(tuple, found)) == [(0,), (1,), (2,), (3,)]
    assert any(len(g["members"]) > 1 for g in got["groups"]) and got["noise"]["scale"] > 0
    printed = json.loads(roofs("fit", "--y", y, features, *more, "--json", "-o", tmp_path / "j.json").stdout)
    assert printed["groups_found"] == len(got["groups"]) and printed["groups_incomplete"] == 0


@pytest.mark.parametrize("args", [("--threads", 3), ("--passes", 2), ("--fdr", 0.1), ("--groups", "exact")])
def test_groups_have_the_same_bits_for_any_threads(fit, correlated, args):
    features, y, _, more = correlated
    assert fit(y, features, *more, *args) == fit(y, features, *more, *args, "--threads", 1)


def test_groups_do_not_change_the_fit(fit, correlated):
    """Coefficients, probabilities and trusted samples are those of a fit without groups."""
    features, y, _, more = correlated
    with_groups, without = fit(y, features, *more), fit(y, features, *more, "--groups", "off")
    assert "groups" in with_groups and "groups" not in without
    for key in ("intercept", "outliers", "clean_probability", "history"):
        assert with_groups[key] == without[key]
    assert [(f["index"], f["coef"], f["probability"]) for f in with_groups["features"]] == \
        [(f["index"], f["coef"], f["probability"]) for f in without["features"]]


def test_intervals_of_a_fit_cover_new_samples(fit, roofs, write_npy, tmp_path):
    rng = np.random.default_rng(11)
    x = rng.standard_normal((30, 2400))
    y = 2 * x[0] - x[5] + 3 + 0.5 * rng.standard_normal(2400)
    old, new = slice(0, 400), slice(400, None)
    y[:40] = rng.uniform(-40, 40, 40)
    fit(write_npy("y.npy", y[old]), write_npy("X.npy", x[:, old]), "--orient", "features", "--mu", 10)
    for level, least, most in ((0.5, 0.45, 0.58), (0.9, 0.87, 0.95)):
        roofs("predict", tmp_path / "model.json", write_npy("new.npy", x[:, new]), "--orient", "features",
              "--interval", level, "-o", tmp_path / "p.npy")
        _, low, high = np.load(tmp_path / "p.npy").T
        assert least < np.mean((low <= y[new]) & (y[new] <= high)) < most


def test_explain_counts_the_memory_of_groups(roofs, correlated):
    features, y, _, more = correlated
    lines = {said.split("  ")[0]: said for said in
             roofs("fit", "--y", y, features, *more, "--explain").stdout.split("\n") if said}
    assert "pool" in lines["groups"]
    assert "groups" not in roofs("fit", "--y", y, features, *more, "--groups", "off", "--explain").stdout


# ---- cross-validation ---------------------------------------------------------------------

@pytest.fixture
def validated(fit, roofs, write_npy, tmp_path):
    """A model with intervals by cross-validation, of clean and corrupted samples: (path, X, y, clean samples)."""
    rng = np.random.default_rng(8)
    x = rng.standard_normal((50, 500))
    y = 3 * x[0] - 2 * x[7] + 5 + 0.5 * rng.standard_normal(500)
    y[:75] = rng.uniform(-60, 60, 75)
    got = fit(write_npy("yv.npy", y), write_npy("Xv.npy", x), "--mu", 10, "--intervals", "cv", name="cv.json")
    return tmp_path / "cv.json", got, x, y, np.arange(500) >= 75


def test_half_widths_are_those_of_the_noise(validated):
    """Of normal noise with standard deviation 0.5, a little wider."""
    _, got, _, _, _ = validated
    widths = np.array(got["half_widths"])
    assert len(widths) > 180 and np.all(np.diff(widths) >= 0)
    assert 0.95 < widths[179] / (1.645 * 0.5) < 1.25 and 0.85 < widths[99] / (0.674 * 0.5) < 1.25


def test_intervals_by_cross_validation_cover_new_samples(roofs, validated, write_npy, tmp_path):
    path, got, _, _, _ = validated
    rng = np.random.default_rng(9)
    x = rng.standard_normal((50, 4000))
    y = 3 * x[0] - 2 * x[7] + 5 + 0.5 * rng.standard_normal(4000)
    new = write_npy("new.npy", x)
    roofs("predict", path, new, "--interval", 0.9, "--interval-method", "cv", "-o", tmp_path / "cv.npy")
    middle, low, high = np.load(tmp_path / "cv.npy").T
    np.testing.assert_allclose(high - middle, got["half_widths"][179], rtol=1e-9)
    np.testing.assert_allclose(middle - low, got["half_widths"][179], rtol=1e-9)
    assert 0.87 < np.mean((low <= y) & (y <= high)) < 0.96
    roofs("predict", path, new, "--interval", 0.8951, "--interval-method", "cv", "-o", tmp_path / "up.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "up.npy"), np.load(tmp_path / "cv.npy"))   # the next level
    done = roofs("predict", path, new, "--interval", 0.9999, "--interval-method", "cv", ok=False)
    assert done.returncode == 3 and "up to level" in done.stderr


def test_cross_validation_changes_only_its_intervals(fit, validated, tmp_path):
    path, got, _, _, _ = validated
    plain = fit(tmp_path / "yv.npy", tmp_path / "Xv.npy", "--mu", 10)
    assert {**plain, "half_widths": got["half_widths"]} == got
    again = fit(tmp_path / "yv.npy", tmp_path / "Xv.npy", "--mu", 10, "--intervals", "cv", "--threads", 2)
    assert again == got


def test_models_without_cross_validation_are_refused(roofs, model, data):
    done = roofs("predict", model()[0], data[1], "--interval", 0.9, "--interval-method", "cv", ok=False)
    assert done.returncode == 3 and "--intervals cv" in done.stderr


def test_cross_validation_needs_files_and_samples(roofs, data, write_npy):
    _, features, y, _ = data
    done = roofs("fit", "--y", y, "--intervals", "cv", "-", ok=False, input=features.read_bytes())
    assert done.returncode == 2 and "--intervals cv" in done.stderr and "pipe" in done.stderr
    few = roofs("fit", "--y", write_npy("few.npy", np.arange(9.0)), write_npy("Xfew.npy", np.eye(9)[:5]), "--intervals",
                "cv", ok=False)
    assert few.returncode == 3 and "--intervals cv" in few.stderr and "20 samples" in few.stderr


def test_sparse_features_have_the_same_half_widths(fit, roofs, validated, tmp_path):
    _, _, x, _, _ = validated
    np.save(tmp_path / "S.npy", np.where(np.abs(x) < 1, 0, x))
    roofs("convert", tmp_path / "S.npy", "--orient", "features", "-o", tmp_path / "S.triplets", "-q")
    wide, thin = (fit(tmp_path / "yv.npy", tmp_path / name, "--mu", 10, "--intervals", "cv")["half_widths"]
                  for name in ("S.npy", "S.triplets"))
    np.testing.assert_allclose(thin, wide, rtol=1e-6)
