"""Tables as people have them: each has a stated result, an answer or a refusal that names the column and what to do."""
import csv
import json
import random
import signal
import subprocess
import time

import numpy as np
import pytest

N = 120


def houses(n=N, seed=1, wrong=0.1):
    """Rows of a table with an ID, a date, words, yes and no, numbers and the price."""
    r = random.Random(seed)
    rows = []
    for i in range(n):
        area, street, garden = r.uniform(40, 200), r.choice(["east", "north", "west"]), r.choice(["yes", "no"])
        price = 1000 * area + 50000 * (street == "north") + 30000 * (garden == "yes") + r.gauss(0, 500)
        if r.random() < wrong:
            price = r.uniform(0, 1e6)
        rows.append({"ID": f"H{seed}{i:04d}", "sold": f"20{r.randint(10, 20)}-{r.randint(1, 12):02d}-"
                     f"{r.randint(1, 28):02d}", "area": f"{area:.1f}", "street": street, "garden": garden,
                     "rooms": str(r.randint(1, 6)), "price": f"{price:.0f}"})
    return rows


def text_of(rows, columns=None, sep=",", end="\n", mark=""):
    columns = columns or list(rows[0])
    def quoted(value):
        value = str(value)
        return '"' + value.replace('"', '""') + '"' if any(c in value for c in f'{sep}"\n') else value
    lines = [sep.join(map(quoted, columns))] + [sep.join(quoted(row[c]) for c in columns) for row in rows]
    return mark + end.join(lines) + end


@pytest.fixture
def table(tmp_path, roofs):
    """table(text, *options): fits the file and returns the model and the messages; refused(...): the message."""
    class Table:
        path = tmp_path / "t.csv"

        def write(self, text, name="t.csv"):
            path = tmp_path / name
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            return path

        def fit(self, text, *options, y="price", files=()):
            self.write(text)
            done = roofs("fit", self.path, *files, "--y", y, *options, "-o", tmp_path / "m.json")
            return json.loads((tmp_path / "m.json").read_text()), done.stderr

        def refused(self, text, *options, y="price", files=(), code=3):
            self.write(text)
            done = roofs("fit", self.path, *files, "--y", y, *options, "-o", tmp_path / "m.json", ok=False)
            assert done.returncode == code and done.stdout == "", done.stderr
            return done.stderr

        def predict(self, text, *options, ok=True):
            done = roofs("predict", tmp_path / "m.json", self.write(text, "new.csv"), *options, ok=ok)
            return (np.array(done.stdout.split(), float) if ok and "," not in done.stdout else done.stdout), done.stderr
    return Table()


def names_of(model):
    return [f["name"] for f in model["features"]]


def kinds_of(model):
    return {c["name"]: c["kind"] for c in model["table"]["columns"]}


def coefs_of(model):
    return {f["name"]: f["coef"] for f in model["features"]}


# ---- kinds of columns ------------------------------------------------------------------------


def test_columns_of_every_kind_become_features(table):
    model, said = table.fit(text_of(houses()))
    assert names_of(model) == ["sold", "area", "street=east", "street=north", "street=west", "garden", "rooms"]
    assert 'column "ID" is left out' in said and "the options id" in said
    coefs = coefs_of(model)
    spread = [coefs["street=north"] - coefs["street=east"], coefs["street=north"] - coefs["street=west"]]
    assert np.allclose(spread, 50000, rtol=0.05) and abs(coefs["garden"] - 30000) < 1500
    assert abs(coefs["area"] - 1000) < 20
    assert kinds_of(model) == {"ID": "left out", "sold": "date", "street": "category", "garden": "boolean"}
    assert model["table"]["response"] == "price"


def test_features_are_those_of_a_table_of_numbers(table, tmp_path):
    """The same bits as a table in which somebody has made the features by hand."""
    rows = houses()
    model, _ = table.fit(text_of(rows), "--drop", "ID")
    from datetime import date
    plain = [{"sold": (date.fromisoformat(r["sold"]) - date(1970, 1, 1)).days, "area": r["area"],
              **{f"street={s}": int(r["street"] == s) for s in ("east", "north", "west")},
              "garden": int(r["garden"] == "yes"), "rooms": r["rooms"], "price": r["price"]} for r in rows]
    other, said = table.fit(text_of(plain))
    assert "left out" not in said
    assert other["features"] == model["features"] and other["intercept"] == model["intercept"]


def test_plain_tables_have_no_recipe(table, tmp_path):
    rows = [{k: r[k] for k in ("area", "rooms")} for r in houses()]
    (tmp_path / "y.txt").write_text("".join(r["price"] + "\n" for r in houses()))
    model, said = table.fit(text_of(rows), y=tmp_path / "y.txt")
    assert "table" not in model and names_of(model) == ["area", "rooms"]


def test_two_levels_make_one_feature(table):
    rows = [dict(r, street="north" if r["street"] == "north" else "south") for r in houses()]
    model, _ = table.fit(text_of(rows))
    assert [n for n in names_of(model) if n.startswith("street")] == ["street=south"]


@pytest.mark.parametrize("yes, no", [("true", "false"), ("TRUE", "FALSE"), ("Y", "N"), ("t", "f")])
def test_booleans_are_recognised(table, yes, no):
    rows = [dict(r, garden=yes if r["garden"] == "yes" else no) for r in houses()]
    model, _ = table.fit(text_of(rows))
    assert kinds_of(model)["garden"] == "boolean" and abs(coefs_of(model)["garden"] - 30000) < 1500


def test_order_of_rows_does_not_change_features(table):
    rows = houses()
    first = table.fit(text_of(rows))[0]
    second = table.fit(text_of(rows[::-1]))[0]
    assert names_of(first) == names_of(second)
    assert np.allclose(list(coefs_of(first).values()), list(coefs_of(second).values()), rtol=1e-6)


def test_requested_categories_have_a_rare_level(table):
    rows = [dict(r, city=f"c{min(int(r['ID'][2:]) % 50, 45)}") for r in houses(200)]
    assert 'column "city" is left out' in table.fit(text_of(rows))[1]
    model, _ = table.fit(text_of(rows), "--categories", "city", "--max-levels", "4")
    assert sum(n.startswith("city=") for n in names_of(model)) == 5 and "city=(rare)" in names_of(model)


def test_numbers_become_categories_on_request(table):
    model, _ = table.fit(text_of(houses()), "--categories", "rooms")
    assert [n for n in names_of(model) if n.startswith("rooms=")] == [f"rooms={k}" for k in range(1, 7)]


def test_dates_have_parts_on_request(table):
    model, _ = table.fit(text_of(houses()), "--dates", "parts", "--mu", 60)
    names = names_of(model)
    assert "sold weekday=Mon" in names and "sold month=12" in names and "sold" in names
    assert not any("hour" in n for n in names)
    rows = [dict(r, sold=r["sold"] + f"T{i % 24:02d}:30") for i, r in enumerate(houses())]
    model, _ = table.fit(text_of(rows), "--dates", "parts", "--mu", 80)
    assert "sold hour=07" in names_of(model)


@pytest.mark.parametrize("written, option, kind", [
    ("{d}.{m}.{y}", [], "date"), ("{y}/{m}/{d}", [], "date"), ("{d}/{m}/{y}", ["--date-order", "dmy"], "date"),
    ("{m}/{d}/{y}", ["--date-order", "mdy"], "date"), ("{d}/{m}/{y}", [], "left out")])
def test_dates_are_read_as_written(table, written, option, kind):
    rows = houses()
    want = table.fit(text_of(rows))[0]
    for r in rows:
        y, m, d = r["sold"].split("-")
        r["sold"] = written.format(y=y, m=m, d=d)
    model, said = table.fit(text_of(rows), *option)
    assert kinds_of(model)["sold"] == kind
    if kind == "date":
        assert model["features"] == want["features"]
    else:
        assert "date-order" in said


def test_thousands_and_decimal_commas_are_read_on_request(table):
    rows = houses()
    want = table.fit(text_of(rows))[0]
    thousands = [dict(r, price=f"{int(r['price']):,}") for r in rows]
    assert "--thousands" in table.refused(text_of(thousands))
    assert table.fit(text_of(thousands), "--thousands")[0]["features"] == want["features"]
    german = [dict(r, price=f"{int(r['price']):,}".replace(",", "."), area=r["area"].replace(".", ",")) for r in rows]
    assert "--decimal-comma" in table.refused(text_of(german, sep=";"))
    model = table.fit(text_of(german, sep=";"), "--thousands", "--decimal-comma")[0]
    assert model["features"] == want["features"]


# ---- which columns ---------------------------------------------------------------------------


def test_columns_are_chosen_by_name_and_glob(table):
    text = text_of(houses())
    assert names_of(table.fit(text, "--columns", "area,s*")[0]) == ["sold", "area", "street=east", "street=north",
                                                                    "street=west"]
    assert names_of(table.fit(text, "--drop", "s*,ID,garden")[0]) == ["area", "rooms"]
    assert "no table has a column" in table.refused(text, "--drop", "arae")


def test_response_is_a_column_or_a_file_or_both(table, tmp_path):
    text = text_of(houses())
    want = table.fit(text)[0]
    (tmp_path / "y.csv").write_text(text)
    without = text_of([{k: v for k, v in r.items() if k != "price"} for r in houses()])
    model, _ = table.fit(without, y=f"{tmp_path}/y.csv:price")
    assert model["features"] == want["features"]
    assert "FILE:COLUMN" in table.refused(without, y=tmp_path / "y.csv")


def test_mistyped_response_lists_the_columns(table):
    said = table.refused(text_of(houses()), y="prise")
    assert "did you mean 'price'" in said and "ID, sold, area" in said


def test_missing_response_says_what_to_do(table):
    rows = houses()
    rows[4]["price"] = rows[7]["price"] = ""
    assert all(s in table.refused(text_of(rows)) for s in ("line 6", '"price" is missing in 2', "--missing-y drop"))
    model, said = table.fit(text_of(rows), "--missing-y", "drop")
    assert model["n"] == N - 2 and "2 samples without a response" in said
    assert model["features"] == table.fit(text_of(rows[:4] + rows[5:7] + rows[8:]))[0]["features"]


# ---- missing values --------------------------------------------------------------------------


def gaps(rows):
    for k, r in enumerate(rows):
        if k % 7 == 3:
            r["area"] = "NA"
        if k % 11 == 5:
            r["street"] = ""
    return rows


def test_missing_values_are_refused_by_column(table):
    said = table.refused(text_of(gaps(houses())))
    assert 'line 5, column 3 ("area")' in said and "--missing" in said


@pytest.mark.parametrize("policy", ["mean", "median", "indicator"])
def test_prediction_uses_statistics_of_the_fit(table, policy):
    rows = gaps(houses(wrong=0))
    model, _ = table.fit(text_of(rows), "--missing", policy)
    known = np.array([float(r["area"]) for r in rows if r["area"] != "NA"])
    fill = {c["name"]: c.get("fill") for c in model["table"]["columns"]}["area"]
    assert np.isclose(fill, np.median(known) if policy == "median" else known.mean())
    assert "street=(missing)" in names_of(model)
    assert ("area is missing" in names_of(model)) == (policy == "indicator")
    new = houses(2, seed=2)
    new[0]["area"] = "NA"
    filled = [dict(r) for r in new]
    filled[0]["area"] = repr(fill)
    got = table.predict(text_of(new))[0]
    want = table.predict(text_of(filled))[0]
    absent = coefs_of(model).get("area is missing", 0)
    assert np.allclose(got, want + [absent, 0], rtol=1e-12)
    other = "mean" if policy == "median" else "median"
    assert "part of the model" in table.predict(text_of(new), "--missing", other, ok=False)[1]


@pytest.mark.parametrize("named", [True, False])
def test_prediction_of_arrays_uses_statistics_of_the_fit(roofs, write_npy, tmp_path, named):
    rng = np.random.default_rng(8)
    x = rng.normal(5, 2, (80, 3))
    y = x @ [1.0, 2.0, 3.0] + 0.01 * rng.normal(size=80)
    x[::9, 1] = np.nan
    path = write_npy("X.npy", x.T)
    options = ["--names", tmp_path / "names.txt"] if named else []
    (tmp_path / "names.txt").write_text("a\nb\nc\n")
    roofs("fit", path, "--y", write_npy("y.npy", y), "--missing", "median", *options, "-o", tmp_path / "m.json")
    model = json.loads((tmp_path / "m.json").read_text())
    assert np.allclose(model["table"]["fills"], np.nanmedian(x, axis=0))
    new = rng.normal(5, 2, (4, 3))
    new[0, 0] = new[2, 1] = np.nan
    filled = np.where(np.isnan(new), np.nanmedian(x, axis=0), new)
    got = roofs("predict", tmp_path / "m.json", write_npy("N.npy", new), "--orient", "samples", *options).stdout
    want = roofs("predict", tmp_path / "m.json", write_npy("F.npy", filled), "--orient", "samples", *options).stdout
    assert got == want and len(got.split()) == 4


def test_features_with_missing_values_can_be_dropped(table):
    model, _ = table.fit(text_of(gaps(houses())), "--missing", "drop-feature")
    assert not any(n.startswith(("area", "street")) for n in names_of(model)) and "garden" in names_of(model)


# ---- prediction ------------------------------------------------------------------------------


def test_prediction_finds_columns_by_name_and_reports_new_words(table):
    table.fit(text_of(houses()))
    new = houses(5, seed=3, wrong=0)
    want = table.predict(text_of(new))[0]
    other = [dict(r, note="anything\nat all", rooms=r["rooms"]) for r in new]
    columns = ["note", "rooms", "garden", "street", "area", "sold"]
    assert (table.predict(text_of(other, columns))[0] == want).all()
    other[1]["street"] = "south"
    got, said = table.predict(text_of(other, columns))
    assert 'column "street": 1 values are words that the fit did not have' in said
    assert (got != want).tolist() == [False, True, False, False, False]
    _, said = table.predict(text_of(other, columns[:-2]), ok=False)
    assert 'no column "sold"' in said or 'no column "area"' in said or "area" in said


def test_unused_columns_of_plain_models_may_be_anything(table):
    rows = [{k: r[k] for k in ("area", "rooms", "price")} for r in houses()]
    table.fit(text_of(rows))
    want = table.predict(text_of(rows))[0]
    assert (table.predict(text_of([dict(r, note="x y", a="NA") for r in rows], ["note", "rooms", "a", "area"]))[0]
            == want).all()


def test_ids_are_kept_for_outputs(table):
    rows = houses()
    model, said = table.fit(text_of(rows), "--id", "ID")
    assert "left out" not in said and "ID" not in names_of(model)
    assert model["table"]["outliers"] == [rows[k]["ID"] for k in model["outliers"]]
    new = houses(3, seed=5)
    new[1]["ID"] = 'with "quotes", and a comma'
    lines = list(csv.reader(table.predict(text_of(new))[0].splitlines()))
    assert lines[0] == ["ID", "prediction"] and [line[0] for line in lines[1:]] == [r["ID"] for r in new]


# ---- several files ---------------------------------------------------------------------------


def test_files_are_joined_on_the_id(table):
    rows = houses()
    want = table.fit(text_of(rows), "--id", "ID")[0]
    second = sorted(rows, key=lambda r: r["area"])
    path = table.write(text_of(second, ["garden", "ID", "rooms"]), "second.csv")
    model, _ = table.fit(text_of(rows, ["ID", "sold", "area", "street", "price"]), "--id", "ID", files=[path])
    assert model["features"] == want["features"] and model["outliers"] == want["outliers"]
    model, _ = table.fit(text_of(second, ["garden", "ID", "rooms"]), "--id", "ID",
                         files=[table.write(text_of(rows, ["ID", "sold", "area", "street", "price"]), "first.csv")])
    assert sorted(coefs_of(model)) == sorted(coefs_of(want)) and model["outliers"] == want["outliers"]


def test_missing_and_surplus_samples_are_reported(table):
    rows = houses()
    other = [dict(r) for r in rows[:-2]] + houses(3, seed=9)
    path = table.write(text_of(other[::-1], ["ID", "rooms"]), "second.csv")
    first = text_of(rows, ["ID", "area", "garden", "price"])
    said = table.refused(first, "--id", "ID", files=[path])
    assert "no row for 2 of the 120 samples" in said and rows[-2]["ID"] in said and "--missing" in said
    _, said = table.fit(first, "--id", "ID", "--missing", "mean", files=[path])
    assert "no row for 2 of the 120 samples" in said and "3 rows are left out" in said


def test_response_of_another_file_is_matched_by_id(table, tmp_path):
    rows = houses()
    want = table.fit(text_of(rows), "--id", "ID")[0]
    path = table.write(text_of(rows, ["price", "ID"]), "y.csv")
    shuffled = rows[:]
    random.Random(3).shuffle(shuffled)
    model, _ = table.fit(text_of(shuffled, ["ID", "sold", "area", "street", "garden", "rooms"]), "--id", "ID",
                         y=f"{path}:price")
    assert model["features"] == want["features"]


def test_repeated_ids_are_refused(table):
    rows = houses()
    rows[9]["ID"] = rows[3]["ID"]
    assert f'line 11: the ID "{rows[3]["ID"]}" occurs twice' in table.refused(text_of(rows), "--id", "ID")


# ---- files as they come ----------------------------------------------------------------------


@pytest.mark.parametrize("how", [dict(sep=";"), dict(sep="\t"), dict(end="\r\n"), dict(mark="\ufeff"),
                                 dict(sep=";", end="\r\n", mark="\ufeff")])
def test_separators_line_ends_and_marks_do_not_matter(table, how):
    rows = houses()
    want = table.fit(text_of(rows))[0]
    assert table.fit(text_of(rows, **how))[0]["features"] == want["features"]


def test_quoted_names_and_words_are_kept(table):
    names = {"north": 'Große Straße, "N"', "east": "line\nend", "west": "a=b; c"}
    rows = [dict(r, street=names[r["street"]]) for r in houses()]
    rows = [{('the "street"' if k == "street" else k): v for k, v in r.items()} for r in rows]
    model, _ = table.fit(text_of(rows))
    assert 'the "street"=Große Straße, "N"' in names_of(model) and 'the "street"=line\nend' in names_of(model)
    want = table.predict(text_of(rows))[0]
    assert np.isfinite(want).all() and np.ptp(want) > 1e5


PAIRS = "".join(f"{k},{'ab'[k % 2]},{k * k % 17}\n" for k in range(40))
REFUSED = {
    "ragged": ("a,b,price\n1,x,2\n1,x\n", "line 3: expected 3 fields"),
    "damaged number": ("a,b,price\n" + PAIRS + "12x,a,3\n", 'column 1 ("a"): "12x" is not a number, as the values '
                       "before are; correct it, leave the column out with --drop 'a'"),
    "number among words": ("a,b,price\n" + PAIRS + "1,7,3\n", 'column 2 ("b"): "7" is a number, but the values before'),
    "word among dates": ("a,b,price\n1,2020-01-01,3\n2,soon,4\n", '"soon" is not a date'),
    "word as response": ("a,price\n1,cheap\n2,dear\n", 'column 2 ("price"): "cheap" is not a number, but the column is '
                         "the response"),
    "two responses": ("price,a,price\n1,2,3\n2,3,4\n", 'two columns "price"'),
    "two numbers of one name": ("a,a,price\n" + "".join(f"{k},{k * k},{k}\n" for k in range(9)), "the name 'a' was"),
    "two columns of one name": ("a,a,price\nx,1,2\ny,2,3\n", 'two columns have the name "a"'),
    "header only": ("a,price\n", "a header but no data"),
    "empty": ("", "is empty"),
    "open quote": ('a,price\n"x,1\n', "never closed"),
    "not UTF-8": (b"a,price\nx,1\n\xff,2\n", "not UTF-8"),
    "zero bytes": (b"a,price\nx,1\nx\0y,2\n", "binary data"),
    "row of values taken for names": ("north,yes,1\nsouth,no,2\nnorth,yes,3\n", "--header no"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_broken_tables_are_refused(table, case):
    text, reason = REFUSED[case]
    options = ["--columns", "north,yes,1", "--categories", "north"] if case.startswith("row of values") else []
    said = table.refused(text, *options, y="1" if options else "price")
    assert reason in said, said


def test_single_column_gives_a_constant(table):
    model, _ = table.fit("price\n" + "".join(f"{k}\n" for k in range(20)))
    assert model["features"] == [] and model["features_seen"] == 0


def test_only_words_are_enough(table):
    rows = [{k: r[k] for k in ("street", "garden", "price")} for r in houses()]
    assert names_of(table.fit(text_of(rows))[0]) == ["street=east", "street=north", "street=west", "garden"]


def test_columns_without_values_have_no_coefficient(table):
    rows = [dict(r, nothing="") for r in houses()]
    assert 'column 8 ("nothing")' in table.refused(text_of(rows))
    assert "nothing" not in names_of(table.fit(text_of(rows), "--missing", "median")[0])


def test_names_for_features_are_refused(table, tmp_path):
    (tmp_path / "names.txt").write_text("a\nb\n")
    assert "--names does not apply" in table.refused(text_of(houses()), "--names", tmp_path / "names.txt")


@pytest.mark.parametrize("columns", [["sold", "area", "street", "price"], ["area", "rooms", "price"]])
def test_row_numbers_without_a_name_are_a_column(table, columns):
    """As pandas writes them."""
    rows = [{"": k, **{c: r[c] for c in columns}} for k, r in enumerate(houses())]
    model, _ = table.fit(text_of(rows))
    assert names_of(model)[0] == "f0" and table.predict(text_of(rows))[0].size == N
    assert "f0" not in names_of(table.fit(text_of(rows), "--drop", "f0")[0])


def test_tables_without_names_count_their_columns(table):
    rows = houses()
    text = text_of(rows).split("\n", 1)[1]
    model, _ = table.fit(text, "--header", "no", y="c7")
    assert names_of(model) == ["c2", "c3", "c4=east", "c4=north", "c4=west", "c5", "c6"]
    assert table.predict(text, "--header", "no")[0].size == N


def test_wide_tables_are_read(table):
    """A hundred thousand columns, every tenth of words."""
    p, n = 100_000, 12
    r = random.Random(5)
    words = [r.choice("ab") for _ in range(n * p // 10)]
    lines = [",".join([f"x{k}" for k in range(p)] + ["price"])]
    for i in range(n):
        lines.append(",".join([words[(i * p + k) // 10] if k % 10 == 0 else str((i * k) % 7) for k in range(p)]
                              + [str(i)]))
    model, _ = table.fit("\n".join(lines) + "\n", "--mu", 3, "--batch", 1000, "--groups", "off", "--passes", 1)
    assert model["n"] == n and 95_000 < model["features_seen"] <= p


def test_long_tables_are_read(table):
    n = 100_000                                     # a tenth of what the issue names: the suite stays short
    block = "".join(f"{k % 97},{'abcde'[k % 5]},2020-01-{k % 28 + 1:02d},{3 * (k % 97) + 10 * (k % 5 == 2)}\n"
                    for k in range(1000))
    model, _ = table.fit("a,b,c,price\n" + block * (n // 1000))
    coefs = coefs_of(model)
    assert model["n"] == n and abs(coefs["a"] - 3) < 1e-3 and abs(coefs["b=c"] - coefs.get("b=a", 0) - 10) < 0.01


def test_memory_is_explained(table, roofs, program):
    if "asan" in program:
        pytest.skip("the address sanitizer takes memory of its own")
    n = 150_000
    block = "".join(f"{k % 97},{'abcdefgh'[k % 8]},2020-01-{k % 28 + 1:02d},{k % 11},{k % 13},{3 * (k % 97)}\n"
                    for k in range(1000))
    path = table.write("a,b,c,d,e,price\n" + block * (n // 1000))
    args = [path, "--y", "price", "--mu", 4, "--batch", 2, "--method", "roofs"]
    units = {"B": 1, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30}
    said = roofs("fit", *args, "--explain").stdout
    parts = {line.split("  ")[0]: line.split()[-2:] for line in said.splitlines()}
    promised = sum(float(parts[k][0]) * units[parts[k][1]] for k in ("total of the fit", "buffer for reading",
                                                                     "tables"))
    used = json.loads(roofs("fit", *args, "--json", "-o", table.path.with_name("m.json")).stdout)["peak_bytes"]
    assert used <= 1.15 * promised + 16e6, (used, promised)


# ---- the rest of the program -----------------------------------------------------------------


def test_passes_orders_and_cross_validation_read_tables(table):
    text = text_of(houses(200))
    want = table.fit(text)[0]
    assert table.fit(text, "--passes", 2)[0]["table"] == want["table"]
    model, _ = table.fit(text, "--orders", 3, "--intervals", "cv")
    assert model["features"][0]["name"] == "sold" and model["orders"]["count"] == 3 and "half_widths" in model
    assert "mu" in table.fit(text, "--mu", "auto")[1]


def test_resumed_fits_of_tables_have_the_same_bits(table, tmp_path, roofs):
    rows = houses(200)
    more = table.write(text_of(rows, ["rooms", "garden"]), "more.csv")
    first = text_of(rows, ["sold", "area", "street", "price"])
    options = ["--method", "roofs", "--mu", 4, "--batch", 2]       # nothing that depends on the number of features
    want = table.fit(first, *options, files=[more])[0]
    ck = tmp_path / "fit.ck"
    table.fit(first, *options, "--checkpoint", ck)
    done = roofs("resume", ck, table.path, more, "-o", tmp_path / "m.json")
    got = json.loads((tmp_path / "m.json").read_text())
    assert got["features"] == want["features"] and got["table"] == want["table"], done.stderr


def test_interrupted_fits_of_tables_have_the_same_bits(program, roofs, table, tmp_path):
    r = random.Random(3)
    rows = [{f"x{k}": r.choice("abc") if k % 5 == 0 else r.randint(1, 99) for k in range(200)} for _ in range(800)]
    rows = [dict(row, price=3 * row["x1"] + 40 * (row["x0"] == "a") + r.gauss(0, 1)) for row in rows]
    options = ["--batch", 3, "--missing", "median", "--mu", 30]
    want = table.fit(text_of(rows), *options)[0]
    ck, out = tmp_path / "fit.ck", tmp_path / "m.json"
    command = [program, "fit", table.path, "--y", "price", *options, "--checkpoint", ck, "--checkpoint-every", 2,
               "-o", out]
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler)) as fit:
        while fit.poll() is None and not (ck.exists() and ck.stat().st_size):
            time.sleep(0.01)
        fit.send_signal(signal.SIGINT)
    assert fit.returncode in (0, 130)                # 0: the machine was faster than the signal
    roofs("resume", ck, "-o", out)
    got = json.loads(out.read_text())
    assert got["features"] == want["features"] and got["table"] == want["table"]


def test_converted_tables_give_the_same_fit(table, tmp_path, roofs):
    want = table.fit(text_of(houses()), "--drop", "ID")[0]
    done = roofs("convert", table.path, "--y", "price", "--drop", "ID", "-o", tmp_path / "X.csv", "--save-y",
                 tmp_path / "y.npy")
    assert "7 features" in done.stderr
    roofs("fit", tmp_path / "X.csv", "--y", tmp_path / "y.npy", "-o", tmp_path / "c.json")
    got = json.loads((tmp_path / "c.json").read_text())
    assert got["features"] == want["features"]


def test_standard_input_is_a_table_too(table, tmp_path, roofs):
    text = text_of(houses())
    want = table.fit(text)[0]
    roofs("fit", "-", "--y", "price", "-o", tmp_path / "p.json", input=text)
    assert json.loads((tmp_path / "p.json").read_text())["features"] == want["features"]


def test_leaked_responses_are_reported(table):
    rows = [dict(r, euros=str(float(r["price"]) * 0.9 + 3)) for r in houses()]
    said = table.fit(text_of(rows))[1]
    assert 'feature "euros" equals the response' in said
    assert "equals the response" not in table.fit(text_of(rows), "--drop", "euros")[1]
