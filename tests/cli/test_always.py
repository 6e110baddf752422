"""--always: features that never leave and are not shrunk."""
import json

import numpy as np
import pytest

from table_of_people import difference, load, people, write

MORE = ("--id", "id", "--drop", "w,exposure", "--quiet")


@pytest.fixture
def fit(roofs, tmp_path):
    def run(rows, *options, files=()):
        roofs("fit", write(tmp_path / "t.csv", rows), *files, "--y", "y", *options, "-o", tmp_path / "m.json")
        return load(tmp_path / "m.json")
    return run


def names(model):
    return [f["name"] for f in model["features"]]


@pytest.mark.parametrize("method", ["roofs-bayes", "roofs", "torrent", "rlhh"])
def test_forced_columns_stay_and_do_not_count(fit, method):
    """x0 to x7 have two that matter; mu allows one of them beside the forced ones."""
    ratio = ("--clean-ratio", 0.9) if method == "torrent" else ()
    model = fit(people(), "--always", "x0,age,sex", "--mu", 1, "--batch", 4, "--method", method, *ratio, *MORE)
    assert names(model)[:3] == ["x0", "age", "sex=m"] and len(names(model)) == 4
    assert model["settings"]["always"] == 3
    if method == "roofs-bayes":
        assert [f["probability"] for f in model["features"]][:3] == [1, 1, 1]
        assert not {"x0", "age", "sex=m"} & {m["name"] for g in model["groups"] for m in g["members"]}


def test_columns_file_and_number_agree(fit, tmp_path):
    """Names, globs, a file of their own, or the first N features of the stream."""
    rows = people()
    want = fit(rows, "--always", "x1,age,x6", "--mu", 3, *MORE)
    assert names(want)[:3] == ["x1", "x6", "age"]
    assert difference(fit(rows, "--always", "ag?,x[16]", "--mu", 3, *MORE), want) == 0
    first = [{c: row[c] for c in ("id", "x1", "x6", "age", *row)} for row in rows]
    assert difference(fit(first, "--always", 3, "--mu", 3, *MORE), want) == 0
    write(tmp_path / "covariates.csv", rows, ["id", "x1", "x6", "age"])
    split = [{c: v for c, v in row.items() if c not in ("x1", "x6", "age")} for row in rows]
    apart = fit(split, "--always", tmp_path / "covariates.csv", "--mu", 3, *MORE)
    assert difference(apart, want) < 1e-12
    listed = fit(split, "--always", tmp_path / "covariates.csv", "--mu", 3, *MORE, files=[tmp_path / "covariates.csv"])
    assert listed["features"] == apart["features"]


def test_forced_features_alone_are_least_squares(fit):
    rows = people(wrong=0)
    model = fit(rows, "--columns", "age,exposure", "--always", "age,exposure", "--clean-ratio", 1, "--quiet")
    design = np.array([[row["age"], row["exposure"], 1] for row in rows])
    exact = np.linalg.lstsq(design, np.array([row["y"] for row in rows]), rcond=None)[0]
    assert np.abs([f["coef"] for f in model["features"]] - exact[:2]).max() < 0.02
    assert abs(model["features"][1]["coef"]) > 0.5


def test_predictions_find_columns_by_name(fit, roofs, tmp_path):
    """Forced columns are first in the model, wherever they stand in the new table."""
    fit(people(), "--always", "sex,age", "--mu", 3, *MORE)
    new = people(20, seed=4)
    shuffled = [{c: row[c] for c in sorted(row)} for row in new]
    for name, rows in (("a", new), ("b", shuffled)):
        roofs("predict", tmp_path / "m.json", write(tmp_path / f"{name}.csv", rows), "-o", tmp_path / f"{name}.npy")
    assert np.array_equal(np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy"))


def test_stopped_fits_end_in_the_same_bits(fit, roofs, tmp_path):
    rows = [{c: v for c, v in row.items() if c != "id"} for row in people()]
    options = ("--always", "age,sex", "--batch", 2, "--mu", 2, "--passes", 1, "--drop", "w", "--quiet")
    whole = fit(rows, *options, "--checkpoint", tmp_path / "c.ck", "--checkpoint-every", 1)
    roofs("resume", tmp_path / "c.ck", "-o", tmp_path / "r.json", "--quiet")
    assert load(tmp_path / "r.json") == whole
    assert fit(rows, *options, "--threads", 2)["features"] == whole["features"]


def test_constant_and_dependent_ones_are_reported(roofs, tmp_path):
    for value in (lambda row: 7, lambda row: 2 * row["age"] - 1):
        rows = [{**row, "extra": value(row)} for row in people()]
        done = roofs("fit", write(tmp_path / "t.csv", rows), "--y", "y", "--always", "age,extra", "--drop", "id,w",
                     "-o", tmp_path / "m.json")
        assert "constant, or combinations of the others" in " ".join(done.stderr.split())
        assert load(tmp_path / "m.json")["warnings"] == ["forced"]


def test_inspect_and_report_show_them(fit, roofs, tmp_path):
    fit(people(), "--always", "age,sex", *MORE)
    assert "always     2: age, sex=m" in roofs("inspect", tmp_path / "m.json").stdout
    assert json.loads(roofs("inspect", tmp_path / "m.json", "--json").stdout)["always"] == [0, 1]
    roofs("report", tmp_path / "m.json", "-o", tmp_path / "r.html")
    assert "<dt>Always</dt><dd>2<small>age, sex=m" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("options, code, message", [
    (("--always", "agee"), 3, '--always: no table has a column "agee"'),
    (("--always", 89), 2, "always = 89: so many features cannot be forced into a model of 90 samples"),
    (("--always", "age", "--method", "os"), 2, "method os cannot keep features in any case"),
    (("--always", "age", "--device", "cuda"), 2, "forced features (always) need the CPU"),
    (("--always", "age", "--orders", 3), 2, "--orders shuffles the features"),
    (("--always", "-"), 2, "- is not possible")])
def test_impossible_requests_are_refused(roofs, tmp_path, options, code, message):
    done = roofs("fit", write(tmp_path / "t.csv", people()), "--y", "y", *MORE, *options, ok=False)
    assert done.returncode == code and message in done.stderr, done.stderr


def test_columns_of_a_later_file_are_refused(roofs, tmp_path):
    rows = people()
    first = write(tmp_path / "a.csv", rows, ["id", "x0", "y"])
    second = write(tmp_path / "b.csv", rows, ["id", "x1", "age"])
    done = roofs("fit", first, second, "--y", "y", "--id", "id", "--always", "age", ok=False)
    assert done.returncode == 3 and "b.csv has such columns, but is not the first file" in done.stderr
    np.save(tmp_path / "x.npy", np.ones((3, 90)))
    np.save(tmp_path / "y.npy", np.arange(90.0))
    done = roofs("fit", tmp_path / "x.npy", "--y", tmp_path / "y.npy", "--always", "age", ok=False)
    assert done.returncode == 3 and "no text tables with columns" in done.stderr


def test_several_responses_have_the_models_of_each_alone(roofs, tmp_path):
    """With weights and an offset, too; the second response is missing in some samples."""
    rows = [{**row, "z": "" if i % 9 == 4 else row["y"] + row["x1"]} for i, row in enumerate(people())]
    options = ("--always", "age,sex", "--weights", "w", "--offset", "exposure", "--missing-y", "drop", "--mu", 4)
    table = write(tmp_path / "t.csv", [{c: v for c, v in row.items() if c != "id"} for row in rows])
    roofs("fit", table, "--y", "y,z", *options, "-o", tmp_path / "m.json")
    for name, other in (("y", "z"), ("z", "y")):
        roofs("fit", table, "--y", name, "--drop", other, *options, "-o", tmp_path / "alone.json")
        both, alone = load(tmp_path / f"m.{name}.json"), load(tmp_path / "alone.json")
        assert names(both)[:2] == ["age", "sex=m"] and both["offset"] == "exposure"
        assert both["features"] == alone["features"] and both["intercept"] == alone["intercept"]
