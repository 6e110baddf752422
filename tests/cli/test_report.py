"""The page about a fit: well formed, whole, nothing loaded, the right numbers, and fine in a browser where there is
one."""
import json
import re
import shutil

import numpy as np
import pytest
from pages import Page, browser, read_png, run_chromium

EVIL = '<script>alert("x")</script>'
SAMPLES = ("Sorted residuals", "Trusted samples in the order of the data")
CLEAN = ("Probability of being clean, sorted", "Histogram of the probability of being clean")
STREAM = ("Trusted samples", "Cut", "Features that entered", "Selected features")

pytestmark = pytest.mark.skipif(not shutil.which("gnuplot"), reason="gnuplot is not installed")


@pytest.fixture
def report(roofs, tmp_path):
    """report(model): the parsed page about a model file."""
    def make(model=tmp_path / "model.json"):
        page = tmp_path / "report.html"
        done = roofs("report", model, "-o", page)
        assert done.stdout == "" and done.stderr == ""
        return Page(page.read_bytes().decode("utf-8", "strict"))
    return make


@pytest.fixture
def make_fit(fit, write_npy, write_text):
    """A model of a problem with outliers: make_fit(method, names=None, n=.., p=..)."""
    def make(method, *args, names=None, n=300, p=50, true=6, far=20.0):
        rng = np.random.default_rng(5)
        x, y = rng.standard_normal((p, n)), 1.5 + 0.2 * rng.standard_normal(n)
        y += x[:true].T @ np.linspace(-2, 2, true)
        y[: n // 6] += far * rng.standard_normal(n // 6)
        features = write_text("X.csv", names, x) if names else write_npy("X.npy", x)
        return fit(write_npy("y.npy", y), "--method", method, "--mu", 10, "--batch", 10, features, *args)
    return make


def size_word(model):
    """Models of this version have the scales of their features, and so their effects."""
    return "effects" if all("scale" in f for f in model["features"]) else "coefficients"


def effect(feature):
    return feature["coef"] * feature["scale"]


def check(page, model, more=()):
    """What holds for every report of this model."""
    n, outliers, selected = model["n"], len(model["outliers"]), len(model["features"])
    facts = page.facts()
    assert facts["Samples"] == f"{n:,}" and facts["Trusted"] == f"{n - outliers:,}"
    assert facts["Features seen"] == f"{model['features_seen']:,}" and facts["Selected"] == f"{selected:,}"
    assert f"{selected:,} of {model['features_seen']:,} feature" in page.text
    assert f"{100 * (n - outliers) / n:.1f}% of the samples trusted" in page.text
    assert facts["method"] == model["method"] and {"batch", "clean_ratio"} <= set(facts) & set(model["settings"])
    assert ("eta" in facts) == (model["method"] == "roofs") and ("prior" in facts) == (model["method"] == "roofs-bayes")
    assert "lambda" not in facts and "reading" not in facts             # of other methods
    expected = [f"Largest {size_word(model)}"] * (selected > 0) + list(SAMPLES)
    expected += list(CLEAN) * ("clean_probability" in model)
    expected += list(STREAM) * (len(model["history"]) > 1)
    expected += list(more)
    assert list(page.figures) == expected and all(marks > 3 for marks in page.figures.values())
    assert page.count("i") == min(selected, 2000)
    assert page.count("li") == min(outliers, 10000)
    assert set(page.loads) <= {"#gpPt6"} and not re.search(r"@import|url\(|https?://", page.text)
    assert "rgb(" not in page.text and "NaN" not in page.text and "nan" not in page.words
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))


# ---- the page --------------------------------------------------------------------------

@pytest.mark.parametrize("method", ["roofs", "roofs-bayes"])
@pytest.mark.parametrize("far", [2.0, 1e6])
def test_page_shows_the_model(report, make_fit, method, far):
    model = make_fit(method, far=far)
    page = report()
    check(page, model)
    assert ("scale is logarithmic" in page.text) == (far > 100)
    probabilities = re.findall(r"<li>(\d+)(?: <small>([.\d]+)%</small>)?</li>", page.text)
    assert [int(i) for i, _ in probabilities] == model["outliers"]
    if method == "roofs-bayes":
        assert [p for _, p in probabilities] == [f"{100 * model['clean_probability'][i]:.1f}"
                                                 for i in model["outliers"]]


def test_largest_effects_come_first(report, make_fit):
    model = make_fit("roofs-bayes")
    rows = re.findall(r'<tr><td><bdi>feature (\d+)</bdi></td><td class="n" data-v="([^"]*)">[^<]*</td>'
                      r'<td class="n spare" data-v="([^"]*)"', report().text)
    expected = sorted(((f["index"], effect(f), f["coef"]) for f in model["features"]), key=lambda f: -abs(f[1]))
    assert [(int(i), float(e), float(c)) for i, e, c in rows] == expected


def test_unit_of_a_feature_does_not_change_its_place(fit, write_npy, report):
    """In metres a coefficient is 1000 times as large as in millimetres; the effect is the same."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal((5, 200))
    y = 3 * x[0] - 2 * x[1] + x[2] + 0.1 * rng.standard_normal(200)
    x[0] *= 1000
    model = fit(write_npy("y.npy", y), write_npy("X.npy", x), "--mu", 3)
    rows = re.findall(r"<tr><td><bdi>feature (\d+)</bdi>", report().text)
    assert rows[:3] == ["0", "1", "2"] and abs(model["features"][0]["coef"]) < 0.01
    np.testing.assert_allclose([effect(f) for f in model["features"][:3]], [3, -2, 1], rtol=0.15)


def test_quality_is_that_of_the_trusted_samples(fit, write_npy, roofs, report, tmp_path):
    rng = np.random.default_rng(8)
    x = rng.standard_normal((4, 300))
    y = 5 + 2 * x[0] + rng.standard_normal(300)
    y[:30] = 1000
    model = fit(write_npy("y.npy", y), write_npy("X.npy", x), "--mu", 1)
    trusted = np.setdiff1d(np.arange(300), model["outliers"])
    residual = y - model["intercept"] - sum(f["coef"] * x[f["index"]] for f in model["features"])
    inside = y[trusted] - y[trusted].mean()
    expected = {"error": np.abs(residual[trusted]).mean(), "constant_error": np.abs(inside).mean(),
                "r2": 1 - (residual[trusted] ** 2).sum() / (inside ** 2).sum()}
    assert len(trusted) >= 260 and model["quality"] == pytest.approx(expected, rel=1e-9)
    text = f"{100 * expected['r2']:.1f}%"
    assert f"<strong>{text}</strong> of the variance" in report().text and report().facts()["Explained"] == text
    printed = roofs("inspect", tmp_path / "model.json").stdout
    assert f"quality    {text} of the variance explained; error {expected['error']:.4g}" in printed
    assert json.loads(roofs("inspect", tmp_path / "model.json", "--json").stdout)["quality"] == model["quality"]


def test_models_without_scales_are_shown_by_coefficient(report, make_fit, roofs, tmp_path):
    """As version 0.2.0 wrote them."""
    model = make_fit("roofs-bayes")
    del model["quality"]
    for feature in model["features"]:
        del feature["scale"]
    (tmp_path / "model.json").write_text(json.dumps(model))
    page = report()
    check(page, model)
    assert "Explained" not in page.facts()
    assert "Largest coefficients" in roofs("inspect", tmp_path / "model.json").stdout


@pytest.mark.parametrize("change", [lambda m: m["quality"].update(r2=1.5), lambda m: m["quality"].pop("error"),
                                    lambda m: m["features"][0].update(scale=-1),
                                    lambda m: m["features"][1].pop("scale")])
def test_damaged_scales_and_quality_are_refused(roofs, make_fit, tmp_path, change):
    model = make_fit("roofs")
    change(model)
    (tmp_path / "model.json").write_text(json.dumps(model))
    done = roofs("inspect", tmp_path / "model.json", ok=False)
    assert done.returncode == 3 and "should be" in done.stderr


def test_names_are_escaped(report, make_fit, tmp_path):
    """Names of all kinds, put into the model file: text inputs would not take some of them."""
    names = [EVIL, "a & b", "größe", "'quoted' \\ @3 %d $x `id`", "\x01\u202e" + "x" * 300, "{/Symbol a}^2", "", None,
             "two\nlines", "EOD"]
    model = make_fit("roofs-bayes", names=[f"f{k}" for k in range(50)])
    for feature, name in zip(model["features"], names, strict=True):
        feature["name"] = name
    (tmp_path / "model.json").write_text(json.dumps(model))
    page = report()
    check(page, model)
    assert (page.text.count("<script>") == 1 and "&lt;script&gt;alert(&quot;x&quot;)" in page.text
            and "\x01" not in page.text)
    words = "".join(page.words)
    assert all(re.sub("[\x01\n\u202e]", "\ufffd", name or "feature ") in words for name in names)
    drawn = [text.strip() for text in re.findall(r"<text>(.*?)</text>", page.text)]
    assert {"a &amp; b", "größe", "&#39;quoted&#39; \\ @3 %d $x `\u2026", "{/Symbol a}^2", "two\ufffdlines",
            "EOD"} <= set(drawn)


@pytest.mark.parametrize("method", ["roofs", "roofs-bayes"])
def test_empty_model_has_a_page(report, fit, write_npy, method):
    rng = np.random.default_rng(1)
    model = fit(write_npy("y.npy", rng.standard_normal(30)), "--method", method, "--mu", 2,
                write_npy("X.npy", np.ones((5, 30))))
    assert model["features"] == []
    page = report()
    check(page, model)
    assert "No feature was selected" in page.text


@pytest.mark.parametrize("method", ["roofs", "roofs-bayes"])
@pytest.mark.parametrize("y", [[1, 2, 3, 40], [0, 0, 0, 0], [1e300, -1e300, 3, 1e-300]])
def test_four_samples_have_a_page(report, fit, write_npy, method, y):
    x = np.random.default_rng(2).standard_normal((3, 4))
    model = fit(write_npy("y.npy", y, float), "--method", method, "--mu", 2, "--batch", 2, write_npy("X.npy", x))
    check(report(), model)


@pytest.mark.parametrize("method", ["roofs", "roofs-bayes"])
def test_many_samples_stay_a_small_page(report, make_fit, method):
    model = make_fit(method, "--hypotheses", 1, n=100_000, p=30)
    page = report()
    check(page, model)
    assert "more: <code>roofs inspect" in page.text
    assert all(marks < 3000 for marks in page.figures.values()) and len(page.text) < 2_000_000


@pytest.mark.parametrize("quantiles, cut",
                         [([-1.7e308, 0, 1.7e308], 1.7e308), ([-1.7e308, 0, 1.7e308], 1e-300), ([0, 0, 0], 0),
                          ([5], 5)])
def test_extreme_residuals_are_drawn(report, make_fit, tmp_path, quantiles, cut):
    model = make_fit("roofs")
    model["residuals"] = {"cut": cut, "quantiles": quantiles}
    (tmp_path / "model.json").write_text(json.dumps(model))
    check(report(), model)


def test_many_features_and_batches_are_drawn(report, fit, write_npy, tmp_path):
    x = np.random.default_rng(3).standard_normal((3000, 40))
    model = fit(write_npy("y.npy", x[:5].sum(0)), "--method", "roofs", "--mu", 10, "--batch", 1, write_npy("X.npy", x))
    model["features"] = [{"index": k, "name": None, "coef": (-1) ** k * (k + 1) / 7} for k in range(2500)]
    (tmp_path / "model.json").write_text(json.dumps(model))
    page = report()
    check(page, model)
    assert "The largest 2,000 of 2,500 coefficients" in page.text and "Means of 6 batches" in page.text
    assert "one of every 2, and the last" in page.text


def test_passes_are_marked(report, make_fit):
    model = make_fit("roofs-bayes", "--passes", 3)
    page = report()
    check(page, model)
    assert "the next pass begins" in page.text


def test_trace_adds_paths_time_and_memory(roofs, make_fit, tmp_path):
    trace, page = tmp_path / "trace.jsonl", tmp_path / "report.html"
    model = make_fit("roofs-bayes", "--passes", 2, "--trace", trace)
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    # the last one: after the end of the stream
    assert [line["batch"] for line in lines] == [*range(1, 11), 10]
    assert all(line["bytes"] > 0 and line["fit_seconds"] >= 0 for line in lines)
    largest = [(f["index"], f["coef"]) for f in sorted(model["features"], key=lambda f: -abs(effect(f)))]
    assert np.allclose(lines[-1]["largest"], largest, rtol=1e-8)
    roofs("report", tmp_path / "model.json", "--trace", trace, "-o", page)
    check(Page(page.read_text()), model, ("Paths of the coefficients", "Time per batch", "Memory"))


def test_trace_changes_no_model(make_fit, tmp_path):
    assert make_fit("roofs") == make_fit("roofs", "--trace", tmp_path / "trace.jsonl")


@pytest.mark.parametrize("text", ["", "no trace\n", '{"batch": 1}\n', "[]\n"])
def test_bad_trace_is_refused(roofs, make_fit, tmp_path, text):
    make_fit("roofs")
    (tmp_path / "trace.jsonl").write_text(text)
    done = roofs("report", tmp_path / "model.json", "--trace", tmp_path / "trace.jsonl", "-o", tmp_path / "r.html",
                 ok=False)
    assert done.returncode == 3 and "trace.jsonl" in done.stderr and not (tmp_path / "r.html").exists()


def test_same_model_gives_the_same_page(roofs, make_fit, tmp_path):
    make_fit("roofs-bayes")
    pages = [roofs("report", tmp_path / "model.json", "-o", "-", env={"LC_ALL": locale}).stdout
             for locale in ("C", "C.UTF-8")]
    assert pages[0] == pages[1] and pages[0].startswith("<!DOCTYPE html>")
    piped = roofs("report", "-", "-o", "-", input=(tmp_path / "model.json").read_text()).stdout
    assert piped.replace("standard input", "model.json") == pages[0]


# ---- when it cannot be done ------------------------------------------------------------

def test_missing_gnuplot_is_reported(roofs, make_fit, tmp_path):
    make_fit("roofs")
    (tmp_path / "empty").mkdir()
    for target in (tmp_path / "r.html", "-"):
        done = roofs("report", tmp_path / "model.json", "-o", target, ok=False, env={"PATH": str(tmp_path / "empty")})
        assert done.returncode == 1 and "install gnuplot" in done.stderr and done.stdout == ""
    assert not (tmp_path / "r.html").exists()


def test_failing_gnuplot_is_reported(roofs, make_fit, tmp_path):
    make_fit("roofs")
    fake = tmp_path / "bin" / "gnuplot"
    fake.parent.mkdir()
    for body, told in (("[ $1 = --version ] || { echo 'no luck today' >&2; exit 1; }", "no luck today"),
                       ("exit 0", "no complete SVG")):
        fake.write_text(f"#!/bin/sh\n{body}\n")
        fake.chmod(0o755)
        done = roofs("report", tmp_path / "model.json", "-o", tmp_path / "r.html", ok=False,
                     env={"PATH": f"{fake.parent}:/usr/bin:/bin"})
        assert done.returncode == 1 and told in done.stderr and not (tmp_path / "r.html").exists()


def test_bad_uses_are_refused(roofs, make_fit, tmp_path):
    make_fit("roofs")
    model = tmp_path / "model.json"
    before = model.read_bytes()
    for args, code in (([model], 2), (["-o", "r.html"], 2), ([model, "-o", model], 2),
                       ([model, model, "-o", "r.html"], 2),
                       (["none.json", "-o", "r.html"], 3), ([tmp_path / "X.npy", "-o", "r.html"], 3),
                       ([model, "-o", "no/such/r.html"], 1)):
        done = roofs("report", *args, ok=False, cwd=tmp_path)
        assert done.returncode == code and done.stderr and not (tmp_path / "r.html").exists(), (args, done.stderr)
    assert model.read_bytes() == before


# ---- in a browser ------------------------------------------------------------------------

@browser
def test_check_sees_errors_and_blank_pages(tmp_path):
    (tmp_path / "bad.html").write_text("<script>nothing.there()</script>")
    _, complaints = run_chromium(tmp_path, tmp_path / "bad.html", "--window-size=600,400",
                                 f"--screenshot={tmp_path / 'bad.png'}")
    assert complaints and read_png(tmp_path / "bad.png")[3] < 10


@browser
@pytest.mark.parametrize("method", ["roofs", "roofs-bayes"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_browser_shows_the_page(report, make_fit, tmp_path, method, dark, width):
    make_fit(method)
    report()
    frame, picture = tmp_path / "frame.html", tmp_path / "picture.png"   # a frame: windows have a least width
    frame.write_text(f'<body style="margin:0"><iframe src="report.html" '
                     f'style="border:0;width:{width}px;height:3000px"></iframe>')
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    _, complaints = run_chromium(tmp_path, frame, *scheme, f"--window-size={width},3000", f"--screenshot={picture}")
    assert complaints == []
    seen_width, height, corner, rows = read_png(picture)
    assert (seen_width, height) == (width, 3000) and rows > 500
    assert max(corner) < 60 if dark else min(corner) > 200


@browser
def test_headings_sort(report, make_fit, tmp_path):
    model = make_fit("roofs-bayes")
    text = report().text
    effects = sorted(effect(f) for f in model["features"])
    for clicks, expected in ((1, effects[::-1]), (2, effects)):
        click = "<script>" + "document.querySelectorAll('th button')[1].click();" * clicks + "</script></body>"
        (tmp_path / "clicked.html").write_text(text.replace("</body>", click))
        dom, complaints = run_chromium(tmp_path, tmp_path / "clicked.html", "--dump-dom")
        found = re.findall(r'<td><bdi>feature \d+</bdi></td><td class="n" data-v="([^"]*)"', dom)
        assert [float(v) for v in found] == expected and complaints == []
