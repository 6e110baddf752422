"""--offset: a known part of each response, which predictions include."""
import numpy as np
import pytest

from table_of_people import difference, load, people, write


@pytest.fixture
def fit(roofs, tmp_path):
    def run(rows, *options, name="m.json"):
        roofs("fit", write(tmp_path / "t.csv", rows), "--y", "y", "--id", "id", "--mu", 5, "--quiet", *options,
              "-o", tmp_path / name)
        return load(tmp_path / name)
    return run


@pytest.fixture
def predict(roofs, tmp_path):
    def run(rows, *options, model="m.json"):
        roofs("predict", tmp_path / model, write(tmp_path / "new.csv", rows), *options, "-o", tmp_path / "p.npy")
        return np.load(tmp_path / "p.npy")
    return run


def test_difference_is_fitted(fit):
    """Exactly that: the front end subtracts."""
    rows = people()
    with_offset = fit(rows, "--offset", "exposure")
    by_hand = fit([{**row, "y": row["y"] - row["exposure"]} for row in rows], "--drop", "exposure")
    assert with_offset["features"] == by_hand["features"] and with_offset["offset"] == "exposure"
    assert "offset" not in by_hand and difference(with_offset, by_hand) == 0


def test_predictions_include_the_offset(fit, predict):
    rows, new = people(), people(40, seed=2)
    fit(rows, "--offset", "exposure")
    got = predict(new)
    fit([{**row, "y": row["y"] - row["exposure"]} for row in rows], "--drop", "exposure", name="plain.json")
    assert np.allclose(got, predict(new, model="plain.json") + [row["exposure"] for row in new], rtol=0, atol=1e-12)
    ends = predict(new, "--interval", 0.9)
    assert np.array_equal(ends[:, 0], got) and (ends[:, 1] < got).all() and (got < ends[:, 2]).all()


def test_offset_of_new_samples_may_be_elsewhere(fit, predict, tmp_path):
    rows, new = people(), people(40, seed=2)
    fit(rows, "--offset", "exposure")
    want = predict(new)
    np.save(tmp_path / "o.npy", [row["exposure"] for row in new])
    renamed = [{("other" if c == "exposure" else c): v for c, v in row.items()} for row in new]
    write(tmp_path / "o.csv", renamed[::-1], ["id", "other"])
    for given in ("other", tmp_path / "o.npy", f"{tmp_path / 'o.csv'}:other"):
        assert np.array_equal(predict(renamed, "--offset", given), want), given


@pytest.mark.parametrize("given", ["file", "column"])
def test_missing_offset_is_asked_for(fit, roofs, tmp_path, given):
    rows = people()
    np.save(tmp_path / "o.npy", [row["exposure"] for row in rows])
    fit(rows, "--offset", tmp_path / "o.npy" if given == "file" else "exposure")
    assert load(tmp_path / "m.json")["offset"] == ("" if given == "file" else "exposure")
    new = write(tmp_path / "new.csv", rows, [c for c in rows[0] if c != "exposure"])
    done = roofs("predict", tmp_path / "m.json", new, ok=False)
    assert done.returncode in (2, 3) and "was fitted with " in done.stderr and "--offset" in done.stderr
    assert given == "file" or '"exposure"' in done.stderr


def test_offset_without_one_in_the_model_is_refused(fit, roofs, tmp_path):
    fit(people())
    done = roofs("predict", tmp_path / "m.json", tmp_path / "t.csv", "--offset", "exposure", ok=False)
    assert done.returncode == 2 and "fitted without an offset" in done.stderr


def test_arrays_have_offsets_in_files(roofs, tmp_path):
    rng = np.random.default_rng(0)
    x, offset = rng.standard_normal((6, 80)), rng.uniform(0, 50, 80)
    y = 2 * x[1] + offset + 0.1 * rng.standard_normal(80)
    for name, values in (("x", x), ("y", y), ("o", offset)):
        np.save(tmp_path / f"{name}.npy", values)
    roofs("fit", "--y", tmp_path / "y.npy", tmp_path / "x.npy", "--offset", tmp_path / "o.npy", "-o",
          tmp_path / "m.json")
    roofs("predict", tmp_path / "m.json", tmp_path / "x.npy", "--offset", tmp_path / "o.npy", "-o", tmp_path / "p.npy")
    assert np.abs(np.load(tmp_path / "p.npy") - y).max() < 1


def test_wrong_offsets_name_line_and_column(roofs, tmp_path):
    for value, message in (("", '"" is missing; --offset needs'), ("x", "but the column is the offset")):
        rows = people()
        rows[1]["exposure"] = value
        done = roofs("fit", write(tmp_path / "t.csv", rows), "--y", "y", "--offset", "exposure", ok=False)
        assert done.returncode == 3 and 't.csv, line 3, column 12 ("exposure")' in done.stderr
        assert message in done.stderr, done.stderr


def test_checkpoint_and_report_know_the_offset(fit, roofs, tmp_path):
    rows = [{c: v for c, v in row.items() if c != "id"} for row in people()]
    path = write(tmp_path / "t.csv", rows)
    options = ("--y", "y", "--offset", "exposure", "--batch", 3, "--mu", 4, "--passes", 1)
    roofs("fit", path, *options, "--checkpoint", tmp_path / "c.ck", "--checkpoint-every", 1, "-o", tmp_path / "a.json")
    roofs("resume", tmp_path / "c.ck", "-o", tmp_path / "b.json")
    assert load(tmp_path / "a.json") == load(tmp_path / "b.json")
    assert "offset     subtracted from the response: exposure" in roofs("inspect", tmp_path / "b.json").stdout
    roofs("report", tmp_path / "b.json", "-o", tmp_path / "r.html")
    assert "<dt>Offset</dt><dd>exposure" in (tmp_path / "r.html").read_text()
    done = roofs("inspect", tmp_path / "b.json", "--theory", "--y", "y", path, ok=False)
    assert done.returncode == 2 and "offset" in done.stderr
