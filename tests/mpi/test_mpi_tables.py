"""Tables with words, dates and the response, split over ranks."""
import json
import random

import pytest

from test_mpi import plain, split


@pytest.fixture(scope="module")
def houses(tmp_path_factory):
    r = random.Random(4)
    rows = []
    for i in range(203):
        area, street = r.uniform(40, 200), r.choice(["east", "north", "west"])
        price = 1000 * area + 50000 * (street == "north") + r.gauss(0, 500) + (r.random() < 0.1) * 3e5
        rows.append((f"H{i:03d}", f"2020-{i % 12 + 1:02d}-{i % 28 + 1:02d}", f"{area:.1f}", street, f"{price:.0f}"))
    folder = tmp_path_factory.mktemp("tables")
    (folder / "t.csv").write_text("ID,sold,area,street,price\n" + "".join(",".join(row) + "\n" for row in rows))
    (folder / "a.csv").write_text("ID,area,price\n" + "".join(f"{a},{c},{e}\n" for a, b, c, d, e in rows))
    (folder / "b.csv").write_text("sold,street,ID\n" + "".join(f"{b},{d},{a}\n" for a, b, c, d, e in rows[::-1]))
    return folder


def model(folder, name):
    return json.loads((folder / name).read_text())


@pytest.mark.parametrize("files", [["t.csv"], ["a.csv", "b.csv"]])
def test_ranks_fit_and_predict_tables(houses, files):
    files = [houses / f for f in files]
    options = ["--y", "price", "--id", "ID", "--mu", 4]
    plain("fit", *files, *options, "-o", houses / "one.json")
    split(3, "fit", *files, *options, "-o", houses / "three.json")
    one, three = model(houses, "one.json"), model(houses, "three.json")
    assert one["table"] == three["table"] and one["outliers"] == three["outliers"]
    for a, b in zip(one["features"], three["features"]):
        assert a["name"] == b["name"] and abs(a["coef"] - b["coef"]) <= 1e-8 * abs(a["coef"]) + 1e-8
    plain("predict", houses / "one.json", *files, "-o", houses / "one.csv")
    split(3, "predict", houses / "one.json", *files, "-o", houses / "three.csv")
    assert (houses / "one.csv").read_text() == (houses / "three.csv").read_text()
    assert (houses / "one.csv").read_text().startswith("ID,prediction\nH000,")


def test_words_after_missing_values_are_refused(houses):
    """Each rank of a table of numbers reads only its own rows: a late word is seen by one rank only."""
    (houses / "late.csv").write_text("a,b\n" + "1,2\n" * 20 + "3,x\n" * 20)
    (houses / "y.csv").write_text("".join(f"{k}\n" for k in range(40)))
    _, err = split(2, "fit", houses / "late.csv", "--y", houses / "y.csv", "-o", houses / "m.json", code=3)
    assert "late.csv" in err


@pytest.mark.parametrize("weights", ["w", "w.txt", "w.csv:w"])
def test_ranks_share_weights_offset_and_forced_columns(houses, weights):
    """The weights in the table, in a file of numbers, and in another table that is joined."""
    rows = [line.split(",") for line in (houses / "t.csv").read_text().splitlines()[1:]]
    numbers = [i % 3 for i in range(len(rows))]
    (houses / "all.csv").write_text("ID,sold,area,street,price,w,o\n" + "".join(
        ",".join([*row, str(w), str(1000 * w)]) + "\n" for row, w in zip(rows, numbers)))
    (houses / "w.txt").write_text("".join(f"{w}\n" for w in numbers))
    (houses / "w.csv").write_text("w,ID\n" + "".join(f"{w},{row[0]}\n" for row, w in zip(rows[::-1], numbers[::-1])))
    given = weights if weights == "w" else houses / weights
    options = ["--y", "price", "--id", "ID", "--mu", 4, "--weights", given, "--offset", "o", "--always", "area"]
    options += [] if weights == "w" else ["--drop", "w"]
    plain("fit", houses / "all.csv", *options, "-o", houses / "one.json")
    split(3, "fit", houses / "all.csv", *options, "-o", houses / "three.json")
    one, three = model(houses, "one.json"), model(houses, "three.json")
    assert one["features"][0]["name"] == "area" and one["offset"] == three["offset"] == "o"
    for a, b in zip(one["features"], three["features"]):
        assert a["name"] == b["name"] and abs(a["coef"] - b["coef"]) <= 1e-8 * abs(a["coef"]) + 1e-8
    plain("predict", houses / "one.json", houses / "all.csv", "-o", houses / "one.csv")
    split(3, "predict", houses / "one.json", houses / "all.csv", "-o", houses / "three.csv")
    assert (houses / "one.csv").read_text() == (houses / "three.csv").read_text()
