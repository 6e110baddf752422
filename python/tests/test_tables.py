"""Frames with words, dates and bools: the same model from the shell, from pandas, polars, pyarrow and C."""
import datetime
import json
import pickle
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
from conftest import ROOT

from roofs import RoOFSRegressor, RoOFSRegressorCV, RoOFSWarning

pd = pytest.importorskip("pandas")
HOUSES = {"id": "House ID", "thousands": True, "missing": "median"}
PRICE = "price €"

IN_C = r"""
#include <roofs/roofs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { MOST = 1000, COLUMNS = 10 };
static char *words[COLUMNS][MOST];
static int64_t codes[MOST];
static double y[MOST], x[MOST];
static void stop(const roofs_error *err) { puts(err->text); exit(1); }
int main(int argc, char **argv)
{
    static char line[1 << 16];
    char *names[COLUMNS];
    int64_t n = 0, used = 0;
    FILE *in = fopen(argv[1], "r");
    for (int k = 0; fgets(line, sizeof line, in); k++) {   /* a column per line, fields between tabs */
        char *at = line;
        line[strcspn(line, "\n")] = 0;
        names[k] = strdup(strsep(&at, "\t"));
        for (n = 0; at; n++) words[k][n] = strdup(strsep(&at, "\t"));
    }
    for (int64_t i = 0; i < n; i++) codes[i] = i;
    roofs_column columns[COLUMNS];
    roofs_table_options o = {.missing = ROOFS_MISSING_MEDIAN, .thousands = 1, .id = names[0],
                             .ids = (const char *const *)words[0], .response = names[COLUMNS - 1]};
    for (int k = 1; k < COLUMNS; k++)
        columns[used++] = (roofs_column){.name = names[k], .kind = ROOFS_COLUMN_WORDS, .word_count = n,
                                         .words = (const char *const *)words[k], .codes = codes};
    roofs_error err;
    roofs_table *t;
    roofs_estimator *e;
    roofs_model *m;
    roofs_settings s;
    roofs_settings_init(&s);
    if (roofs_column_numbers(&columns[--used], n, &o, y, &err)) stop(&err);
    if (roofs_table_create(&t, columns, used, n, &o, &err)) stop(&err);
    if (roofs_settings_resolve(&s, n, n, roofs_table_features(t), &err)) stop(&err);
    if (roofs_create(&e, &s, y, n, &err)) stop(&err);
    int64_t features = roofs_table_features(t);
    double *all = malloc(sizeof *all * (size_t)(features * n));
    const char **labels = malloc(sizeof *labels * (size_t)features);
    for (int64_t k = 0; k < features; k++) labels[k] = roofs_table_feature_name(t, k);
    if (roofs_table_read(t, 0, features, all, &err)) stop(&err);
    roofs_block b = {.count = features, .n = n, .values = all, .feature_stride = n, .sample_stride = 1,
                     .names = labels};
    do {
        if (roofs_consume(e, &b, &err)) stop(&err);
    } while (roofs_wants_pass(e) && !roofs_next_pass(e, &err));
    if (roofs_finish(e, &err) || roofs_model_create(&m, e, &err) || roofs_table_store(t, m, &err) ||
        roofs_model_write(m, argv[2], &err)) stop(&err);
    return argc != 3;
}
"""


@pytest.fixture(scope="module")
def houses(program, tmp_path_factory):
    """The folder of examples/houses after its commands."""
    folder = tmp_path_factory.mktemp("houses")
    subprocess.run([sys.executable, ROOT / "examples/houses/make.py", folder], check=True)
    subprocess.run([program, "fit", "houses.csv", "--y", PRICE, "--id", "House ID", "--thousands", "--missing",
                    "median", "--quiet", "-o", "model.json"], cwd=folder, check=True)
    subprocess.run([program, "predict", "model.json", "new.csv", "-o", "predictions.csv"], cwd=folder, check=True,
                   capture_output=True)
    return folder


def frame_of(kind, path):
    frame = pd.read_csv(path, sep=";", encoding="utf-8-sig", dtype=str if kind == "texts" else None)
    if kind == "polars":
        polars = pytest.importorskip("polars")
        return polars.DataFrame({c: [None if v != v else v for v in frame[c].tolist()] for c in frame})
    if kind == "pyarrow":
        return pytest.importorskip("pyarrow").Table.from_pandas(frame)
    return frame


def predictions_of(folder):
    lines = (folder / "predictions.csv").read_text().splitlines()[1:]
    return np.array([float(line.rsplit(",", 1)[1]) for line in lines])


@pytest.mark.parametrize("kind", ["pandas", "texts", "polars", "pyarrow"])
def test_frames_and_program_write_the_same_model(kind, houses, saved):
    model = RoOFSRegressor(table=HOUSES).fit(frame_of(kind, houses / "houses.csv"), PRICE)
    assert saved(model) == (houses / "model.json").read_bytes()
    new = frame_of(kind, houses / "new.csv")
    for each in (model, RoOFSRegressor.load(houses / "model.json"), pickle.loads(pickle.dumps(model))):
        with pytest.warns(RoOFSWarning, match='"street": 1 values are words that the fit did not have'):
            assert (each.predict(new) == predictions_of(houses)).all()


def test_program_predicts_with_a_model_of_a_frame(houses, program, tmp_path):
    RoOFSRegressor(table=HOUSES).fit(frame_of("pandas", houses / "houses.csv"), PRICE).save(tmp_path / "m.json")
    subprocess.run([program, "predict", tmp_path / "m.json", houses / "new.csv", "-o", tmp_path / "predictions.csv"],
                   check=True, capture_output=True)
    assert (predictions_of(tmp_path) == predictions_of(houses)).all()


def test_c_writes_the_same_model(houses, build, tmp_path):
    if not shutil.which("cc") or not (build / "libroofs.so").exists():
        pytest.skip("needs a C compiler and libroofs.so in the build folder")
    frame = pd.read_csv(houses / "houses.csv", sep=";", encoding="utf-8-sig", dtype=str, keep_default_na=False)
    (tmp_path / "columns").write_text("".join("\t".join([name, *frame[name]]) + "\n" for name in frame))
    (tmp_path / "a.c").write_text(IN_C)
    subprocess.run(["cc", "-D_GNU_SOURCE", f"-I{ROOT}/include", tmp_path / "a.c", f"-L{build}", "-lroofs",
                    f"-Wl,-rpath,{build}", "-o", tmp_path / "a"], check=True)
    subprocess.run([tmp_path / "a", tmp_path / "columns", tmp_path / "c.json"], check=True)
    assert (tmp_path / "c.json").read_bytes() == (houses / "model.json").read_bytes()


# ---- kinds of columns --------------------------------------------------------------------------

def ordinary(n=200, seed=0):
    r = np.random.default_rng(seed)
    area, street = r.uniform(50, 200, n), r.choice(["east", "north", "west"], n)
    day = np.datetime64("2020-01-01") + r.integers(0, 900, n)
    garden = r.random(n) < 0.5
    y = 1000 * area + 50000 * (street == "north") + 30000 * garden + 1000 * r.standard_normal(n)
    y[:20] = 3e5
    frame = pd.DataFrame({"area": area, "street": street, "sold": day, "garden": garden,
                          "number": [f"H{k:04d}" for k in range(n)]})
    return frame, y


def test_columns_of_every_kind_become_features():
    frame, y = ordinary()
    with pytest.warns(RoOFSWarning, match='column "number" is left out: it has more than 30 different words') as caught:
        model = RoOFSRegressor().fit(frame, y)
    assert {warning.filename for warning in caught} == {__file__}
    assert model.kept_features_.tolist() == ["area", "street=east", "street=north", "street=west", "sold", "garden"]
    assert model.n_features_in_ == 6 and len(model.coef_) == 6
    named = dict(zip(model.kept_features_, model.kept_coefs_))
    assert abs(named["street=north"] - named["street=east"] - 50000) < 2000 and abs(named["garden"] - 30000) < 2000
    shuffled = frame[["garden", "sold", "area", "street"]].assign(other=[[]] * len(frame))
    assert (model.predict(shuffled) == model.predict(frame)).all()


def test_kinds_of_frames_agree(saved):
    polars, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frame, y = ordinary()
    frame = frame.drop(columns="number")
    expected = saved(RoOFSRegressor().fit(frame, y))
    typed = frame.assign(street=frame["street"].astype("string"), garden=frame["garden"].astype("boolean"))
    objects = frame.assign(sold=[day.date() for day in frame["sold"]], garden=[bool(g) for g in frame["garden"]])
    texts = frame.assign(sold=[str(day.date()) for day in frame["sold"]], garden=np.where(frame["garden"], "yes", "no"))
    categories = frame.assign(street=frame["street"].astype("category"))
    aware = frame.assign(sold=frame["sold"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    for other in (typed, objects.astype(object), texts, categories, aware, polars.from_pandas(frame),
                  pa.Table.from_pandas(frame), polars.from_pandas(categories), pa.Table.from_pandas(categories)):
        assert saved(RoOFSRegressor().fit(other, y)) == expected


def test_options_of_the_table(saved):
    frame, y = ordinary()
    frame["post code"] = np.arange(len(frame)) % 40 + 10000
    model = RoOFSRegressor(table={"id": "number", "categories": ["post code"], "max_levels": 5, "dates": "parts"})
    model.fit(frame, y)
    names = model.kept_features_.tolist()
    assert "post code=(rare)" in names and "sold month=02" in names and "sold hour=00" not in names
    table = json.loads(saved(model))["table"]
    assert table["id"] == "number" and set(table["outliers"]) == {f"H{k:04d}" for k in np.flatnonzero(model.outliers_)}
    floats = frame.assign(**{"post code": frame["post code"].astype(float)})
    assert (model.predict(floats) == model.predict(frame)).all()


@pytest.mark.parametrize("missing", ["mean", "median", "indicator", "drop-feature"])
def test_missing_values_follow_the_program(missing, program, saved, tmp_path):
    frame, y = ordinary()
    frame.loc[5:9, "area"], frame.loc[3:6, "street"], frame.loc[1, "sold"] = np.nan, None, pd.NaT
    frame["garden"] = frame["garden"].astype("boolean")
    frame.loc[7, "garden"] = pd.NA
    frame["price"] = y
    frame.to_csv(tmp_path / "table.csv", index=False)
    subprocess.run([program, "fit", tmp_path / "table.csv", "--y", "price", "--id", "number", "--missing", missing,
                    "--quiet", "-o", tmp_path / "model.json"], check=True)
    model = RoOFSRegressor(table={"missing": missing, "id": "number"}).fit(frame, "price")
    assert saved(model) == (tmp_path / "model.json").read_bytes()
    if missing == "drop-feature":
        return
    frame.loc[20:30, "area"] = np.nan
    frame.to_csv(tmp_path / "new.csv", index=False)
    subprocess.run([program, "predict", tmp_path / "model.json", tmp_path / "new.csv", "-o",
                    tmp_path / "predictions.csv"], check=True, capture_output=True)
    assert (model.predict(frame) == predictions_of(tmp_path)).all()


@pytest.mark.parametrize("change, message", [
    (lambda f: f.assign(street=[None, *f["street"][1:]]), 'column "street" has 1 missing values'),
    (lambda f: f.assign(street=["1.5", *f["street"][1:]]), "is not a number, as other values"),
    (lambda f: f.assign(street=[["a"]] * len(f)), "holds list objects"),
    (lambda f: f.assign(street=["a\0b"] * len(f)), "zero byte"),
    (lambda f: f.assign(sold=f["sold"] - f["sold"].min()), "holds Timedelta objects"),
    (lambda f: pd.concat([f, f[["street"]]], axis=1), 'two columns have the name "street"'),
    (lambda f: f[["number"]], "0 feature")])
def test_columns_that_cannot_be_read_are_refused(change, message):
    frame, y = ordinary()
    with pytest.raises(ValueError, match=message):
        RoOFSRegressor().fit(change(frame), y)


@pytest.mark.parametrize("table, message", [
    ({"max_level": 3}, "did you mean 'max_levels'"), ({"missing": "zero"}, "must be one of error"),
    ([], "must be a dict"),
    ({"id": "numbr"}, "did you mean 'number'"), ({"categories": "streets"}, "did you mean 'street'"),
    ({"max_levels": 1}, "max_levels must be from 2")])
def test_options_that_do_not_exist_are_refused(table, message):
    frame, y = ordinary()
    with pytest.raises(ValueError, match=message):
        RoOFSRegressor(table=table).fit(frame, y)


def test_predictions_need_the_columns_of_the_fit():
    frame, y = ordinary()
    model = RoOFSRegressor(table={"id": "number"}).fit(frame, y)
    with pytest.raises(ValueError, match='no column "street", which the model uses'):
        model.predict(frame.drop(columns="street"))
    with pytest.raises(ValueError, match='"street" held words in the fit|neither'):
        model.predict(frame.assign(street=frame["sold"]))
    assert len(model.predict(frame.assign(garden=frame["garden"].astype(int)))) == len(frame)


def test_selection_of_a_table():
    frame, y = ordinary()
    model = RoOFSRegressor(table={"id": "number"}).fit(frame, y)
    chosen = model.transform(frame)
    assert chosen.shape == (len(frame), len(model.selected_features_)) and "area" in model.get_feature_names_out()
    area = model.selected_features_.tolist().index("area")
    assert (chosen[:, area] == frame["area"]).all()
    out = model.set_output(transform="pandas").transform(frame)
    assert out.columns.tolist() == model.get_feature_names_out().tolist()


def test_cross_validation_and_intervals_take_tables():
    frame, y = ordinary()
    table = {"id": "number"}
    model = RoOFSRegressor(table=table).fit(frame.assign(price=y), "price", intervals="cv")
    prediction, low, high = model.predict(frame, return_interval=0.9, interval_method="cv")
    assert (low < prediction).all() and (prediction < high).all()
    chosen = RoOFSRegressorCV(mus=[1, 6], table=table).fit(frame, y)
    assert chosen.n_nonzero_coefs_ == 6 and np.corrcoef(chosen.predict(frame)[20:], y[20:])[0, 1] > 0.99


def test_frames_of_numbers_need_no_table(saved):
    frame, y = ordinary()
    numbers = frame[["area"]].assign(other=np.arange(len(frame)) % 7)
    model = RoOFSRegressor().fit(numbers, y)
    assert "table" not in json.loads(saved(model)) and model.feature_names_in_.tolist() == ["area", "other"]
    model.fit(numbers.assign(price=y), "price")
    assert json.loads(saved(model))["table"] == {"response": "price", "columns": []}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (RoOFSRegressor.load(_written(model)).predict(numbers.assign(price=y)) == model.predict(numbers)).all()


def _written(model):
    import tempfile
    path = tempfile.mkdtemp() + "/model.json"
    model.save(path)
    return path


def test_column_transformer_gives_the_same_predictions():
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
    frame, y = ordinary()
    days = FunctionTransformer(lambda f: (f.to_numpy("datetime64[D]") - np.datetime64("1970-01-01")).astype(float))
    encoder = make_column_transformer(("passthrough", ["area"]), (OneHotEncoder(drop="if_binary"), ["street"]),
                                      (days, ["sold"]), ("passthrough", ["garden"]), sparse_threshold=0)
    pipeline = make_pipeline(encoder, RoOFSRegressor()).fit(frame, y)
    own = RoOFSRegressor(table={"id": "number"}).fit(frame, y)
    assert (pipeline[-1].coef_ == own.coef_).all()
    assert (pipeline.predict(frame) == own.predict(frame)).all()


def test_dates_have_times():
    day = datetime.datetime(1970, 1, 2, 6)
    frame = pd.DataFrame({"when": [day, day + datetime.timedelta(hours=12), pd.NaT] * 10})
    y = np.arange(30.0)
    model = RoOFSRegressor(table={"dates": "parts", "missing": "mean"}).fit(frame, y)
    assert {"when", "when weekday=Fri", "when hour=06", "when hour=18"} <= set(model.kept_features_)
