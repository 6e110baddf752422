"""--weights: how often a sample counts."""
import numpy as np
import pytest

import table_of_people
from table_of_people import difference, load, write

MORE = ("--id", "id", "--mu", 4, "--quiet")


def people(*args, **more):
    return [{c: v for c, v in row.items() if c != "exposure"} for row in table_of_people.people(*args, **more)]


@pytest.fixture
def fit(roofs, tmp_path):
    """fit(rows, *options): the model of the table; the number of the file may be given."""
    def run(rows, *options, y="y"):
        roofs("fit", write(tmp_path / "t.csv", rows), "--y", y, *options, "-o", tmp_path / "m.json")
        return load(tmp_path / "m.json")
    return run


def repeated(rows):
    return [{**row, "id": f"{row['id']}-{k}", "w": 1} for row in rows for k in range(row["w"])]


@pytest.mark.parametrize("options", [(), ("--hypotheses", 1), ("--clean-ratio", 0.9), ("--no-intercept",),
                                     ("--always", "age,sex"), ("--passes", 2, "--batch", 3)])
def test_weights_are_repetitions(fit, options):
    """Weight 0 is the same as removal, 2 the same as two samples; also which of them are trusted."""
    rows = people()
    one, many = fit(rows, "--weights", "w", *MORE, *options), fit(repeated(rows), "--drop", "w", *MORE, *options)
    assert difference(one, many) < 1e-10
    used = [row for row in rows if row["w"] > 0]
    ids = {name.split("-")[0] for name in many["table"]["outliers"]}
    assert ids == {row["id"] for row in used} & set(one["table"]["outliers"]) and ids
    clean = dict(zip((row["id"] for row in repeated(rows)), many["clean_probability"]))
    for row, w in zip(rows, one["clean_probability"]):
        assert row["w"] == 0 or abs(clean[f"{row['id']}-0"] - w) < 1e-10


def test_weights_are_no_feature(fit):
    model = fit(people(), "--weights", "w", "--id", "id")
    assert "w" not in [f["name"] for f in model["features"]] and model["features_seen"] == 10


def test_weights_of_one_are_none(fit):
    rows = [{**row, "w": 1} for row in people()]
    assert fit(rows, "--weights", "w", *MORE)["features"] == fit(rows, "--drop", "w", *MORE)["features"]


def test_column_file_and_joined_column_agree(fit, tmp_path):
    """A file of numbers has the order of the samples, another table is joined by ID."""
    rows = people()
    np.save(tmp_path / "w.npy", [float(row["w"]) for row in rows])
    (tmp_path / "w.txt").write_text("".join(f"{row['w']}\n" for row in rows))
    write(tmp_path / "other.csv", rows[::-1], ["id", "w", "sex"])
    column = fit(rows, "--weights", "w", *MORE)
    for given in (tmp_path / "w.npy", tmp_path / "w.txt", f"{tmp_path / 'other.csv'}:w"):
        assert fit(rows, "--weights", given, "--drop", "w", *MORE)["features"] == column["features"], given


def test_response_file_and_weights_in_the_table(fit, tmp_path):
    rows = people()
    np.save(tmp_path / "y.npy", [row["y"] for row in rows])
    with_file = fit(rows, "--weights", "w", "--drop", "y", "--mu", 4, "--id", "id", y=tmp_path / "y.npy")
    assert with_file["features"] == fit(rows, "--weights", "w", *MORE)["features"]


def test_dropped_rows_drop_their_weights(fit):
    """Samples without a response: their weight may be missing, too."""
    rows = people()
    holes = [{**row, "y": "", "w": "NA"} if i % 7 == 3 else row for i, row in enumerate(rows)]
    full = [row for row in holes if row["y"] != ""]
    assert fit(holes, "--weights", "w", "--missing-y", "drop", *MORE)["features"] == \
        fit(full, "--weights", "w", *MORE)["features"]


def test_checkpoint_keeps_weights(roofs, fit, tmp_path):
    options = ("--weights", "w", "--drop", "id", "--mu", 4, "--batch", 3, "--passes", 1)
    whole = fit(people(), *options, "--checkpoint", tmp_path / "c.ck", "--checkpoint-every", 1)
    roofs("resume", tmp_path / "c.ck", "-o", tmp_path / "r.json", "--quiet")
    assert load(tmp_path / "r.json")["features"] == whole["features"]


def test_cross_validation_leaves_weight_0_out(fit):
    """Every other sample has noise that makes intervals wider, and weight 0."""
    rng, rows = np.random.default_rng(5), table_of_people.people(200, wrong=0)
    rows = [{**row, "w": i % 2, "y": row["y"] + (rng.standard_normal() if i % 2 == 0 else 0)}
            for i, row in enumerate(rows)]
    without, with_weights = (fit(rows, *options, "--id", "id", "--intervals", "cv")["half_widths"]
                             for options in (("--drop", "w"), ("--weights", "w")))
    assert with_weights[len(with_weights) // 2] < 0.8 * without[len(with_weights) // 2]
    assert fit(rows, "--weights", "w", "--id", "id", "--mu", "auto", "--quiet")["settings"]["mu"] >= 2


@pytest.mark.parametrize("value, message", [
    (-1, 'line 4, column 12 ("w"): "-1" is negative'), ("", 'line 4, column 12 ("w"): "" is missing; --weights'),
    ("NA", 'line 4, column 12 ("w"): "NA" is missing'), ("inf", 'column 12 ("w"): "inf" is not a finite number'),
    ("many", 'column 12 ("w"): "many" is not a number, but the column has the weights')])
def test_wrong_weights_name_line_and_column(roofs, tmp_path, value, message):
    rows = people()
    rows[2]["w"] = value
    done = roofs("fit", write(tmp_path / "t.csv", rows), "--y", "y", "--weights", "w", *MORE, ok=False)
    assert done.returncode == 3 and "t.csv, " in done.stderr and message in done.stderr, done.stderr


def test_wrong_files_are_refused(roofs, tmp_path):
    table = write(tmp_path / "t.csv", people())
    for numbers, message in ((np.ones(89), "has 89 numbers, but there are 90 samples"),
                             (np.r_[np.ones(89), -2], "number 90 is -2")):
        np.save(tmp_path / "w.npy", numbers)
        done = roofs("fit", table, "--y", "y", "--weights", tmp_path / "w.npy", *MORE, ok=False)
        assert done.returncode == 3 and message in done.stderr, done.stderr
    done = roofs("fit", table, "--y", "y", "--weights", "ws", *MORE, ok=False)
    assert done.returncode == 3 and 'has no column "ws"' in done.stderr
    done = roofs("fit", table, "--y", "y", "--weights", "y", *MORE, ok=False)
    assert done.returncode == 2 and "--y, --weights and --offset must differ" in done.stderr


def test_other_methods_are_refused_by_name(roofs, tmp_path):
    table = write(tmp_path / "t.csv", people())
    done = roofs("fit", table, "--y", "y", "--weights", "w", "--method", "os", *MORE, ok=False)
    assert done.returncode == 2 and "method os cannot weigh samples; these can: roofs-bayes" in done.stderr
    done = roofs("fit", table, "--y", "y", "--weights", "w", "--device", "cuda", *MORE, ok=False)
    assert done.returncode == 2 and "weights of samples need the CPU" in done.stderr
