"""Every kind of input gives the same model to the bit, without a copy."""
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import problem

from roofs import RoOFSRegressor
from roofs._blocks import as_block

NAMES = [f"feature {k}" for k in range(260)]


def read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def swapped(X):
    return X.astype(X.dtype.newbyteorder())


def unaligned(X):
    copy = np.zeros(X.nbytes + 1, np.uint8)[1:].view(X.dtype)[:X.size].reshape(X.shape)
    copy[:] = X
    assert not copy.flags.aligned
    return copy


ARRAYS = {"C": np.ascontiguousarray, "F": np.asfortranarray, "every other": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
          "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1], "read-only": read_only, "list": lambda X: X.tolist(),
          "byte-swapped": swapped, "unaligned": unaligned, "object": lambda X: X.astype(object)}
SPARSE = {"csc": sp.csc_matrix, "csr": sp.csr_matrix, "coo": sp.coo_matrix, "csc array": lambda X: sp.csc_array(X)}


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_of_either_order_agree(kind, dtype, saved):
    if dtype == np.float32 and kind in ("list", "object"):
        pytest.skip("lists and objects are never float32")
    X, y, _ = problem()
    X = X.astype(dtype)
    expected = RoOFSRegressor(3).fit(np.asfortranarray(X), y)
    other = ARRAYS[kind](X)
    model = RoOFSRegressor(3).fit(other, y)
    assert saved(model) == saved(expected)
    assert (model.predict(other) == expected.predict(np.asfortranarray(X))).all()


def test_memory_mapped_arrays_agree(saved, tmp_path):
    X, y, _ = problem()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert saved(RoOFSRegressor(3).fit(mapped, y)) == saved(RoOFSRegressor(3).fit(X, y))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool])
@pytest.mark.parametrize("kind", ["C", "F", "every other", "backwards", "read-only"])
def test_bytes_are_passed_in_place(dtype, kind, saved):
    X, y, _ = problem()
    X = (np.abs(X) * 3).astype(dtype) if dtype != bool else X > 0
    if dtype == np.int8:
        X[::2] *= -1
    other = ARRAYS[kind](X)
    assert as_block(other).is_in_place() and as_block(other).c()[1][0] is other
    model, expected = RoOFSRegressor(3).fit(other, y), RoOFSRegressor(3).fit(X.astype(float), y)
    assert saved(model) == saved(expected)
    assert (model.predict(other) == expected.predict(X.astype(float))).all()


def test_blocks_of_several_types_are_one_stream(saved):
    X, y, _ = problem()
    X = np.round(X * 3)
    blocks = [X[:, :130].astype(np.int8), X[:, 130:170], X[:, 170:].astype(np.int8)]
    expected = RoOFSRegressor(3).fit_stream([X], y)
    assert saved(RoOFSRegressor(3).fit_stream(blocks, y)) == saved(expected)
    assert saved(RoOFSRegressor(3).fit_stream(blocks[::2], y)) == saved(
        RoOFSRegressor(3).fit_stream([b.astype(float) for b in blocks[::2]], y))


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint16, bool, np.float16])
def test_other_types_of_numbers_agree(dtype, saved):
    X, y, _ = problem()
    X = (X * 3).astype(dtype) if dtype != bool else X > 0
    as_float = X.astype(np.float32 if dtype == np.float16 else np.float64)
    model, expected = RoOFSRegressor(3).fit(X, y), RoOFSRegressor(3).fit(as_float, y)
    assert saved(model) == saved(expected) and (model.predict(X) == expected.predict(as_float)).all()


@pytest.mark.parametrize("kind", SPARSE)
def test_sparse_layouts_agree(kind, saved):
    X, y, _ = problem()
    X[np.abs(X) < 1] = 0
    model, expected = RoOFSRegressor(3).fit(SPARSE[kind](X), y), RoOFSRegressor(3).fit(sp.csc_matrix(X), y)
    assert saved(model) == saved(expected)
    np.testing.assert_allclose(model.coef_, RoOFSRegressor(3).fit(X, y).coef_, atol=1e-9)
    np.testing.assert_allclose(model.predict(SPARSE[kind](X)), model.predict(X), atol=1e-12)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
def test_sparse_types_agree(dtype, index, saved):
    X, y, _ = problem()
    S = sp.csc_matrix(np.trunc(X).astype(dtype))
    S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
    model = RoOFSRegressor(3).fit(S, y)
    expected = RoOFSRegressor(3).fit(sp.csc_matrix(np.trunc(X),
                                                   dtype=np.float32 if dtype == np.float32 else np.float64), y)
    assert saved(model) == saved(expected) and (model.predict(S) == expected.predict(S)).all()


def test_sparse_values_must_be_finite():
    X, y, _ = problem(p=210)
    X[np.abs(X) < 1] = 0
    X[3, 5] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity.*feature 5.*sample 3"):
        RoOFSRegressor(3).fit(sp.csc_matrix(X), y)


def test_unsorted_csc_is_left_alone(saved):
    X, y, _ = problem()
    X[np.abs(X) < 1] = 0
    tidy = sp.csc_matrix(X)
    untidy = tidy.copy()
    for j in range(X.shape[1]):
        feature = slice(untidy.indptr[j], untidy.indptr[j + 1])
        untidy.indices[feature], untidy.data[feature] = tidy.indices[feature][::-1], tidy.data[feature][::-1]
    untidy.has_sorted_indices = False
    before = untidy.indices.copy()
    assert saved(RoOFSRegressor(3).fit(untidy, y)) == saved(RoOFSRegressor(3).fit(tidy, y))
    assert (untidy.indices == before).all()


def pandas_frames(X):
    pd = pytest.importorskip("pandas")
    yield "pandas", pd.DataFrame(X, columns=NAMES)
    yield "pandas by column", pd.DataFrame({name: X[:, k].copy() for k, name in enumerate(NAMES)})


def arrow_frames(X):
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    table = pa.table({name: X[:, k].copy() for k, name in enumerate(NAMES)})
    yield "pyarrow", table
    yield "pyarrow in chunks", pa.concat_tables([table.slice(0, 60), table.slice(60)])
    yield "pyarrow batch with offset", pa.concat_tables([table.slice(0, 3),
                                                         table]).combine_chunks().slice(3).to_batches()[0]
    yield "polars", pl.from_arrow(table)


@pytest.mark.parametrize("frames", [pandas_frames, arrow_frames])
def test_frames_agree(frames, saved):
    X, y, _ = problem()
    expected = RoOFSRegressor(3).fit_stream([(NAMES, X)], y)
    for kind, frame in frames(X):
        model = RoOFSRegressor(3).fit(frame, y)
        assert model.selected_features_.tolist() == ["feature 7", "feature 131", "feature 207"], kind
        assert saved(model) == saved(expected), kind
        assert model.feature_names_in_.tolist() == NAMES
        assert (model.predict(frame) == expected.predict(X)).all(), kind


def test_pandas_column_kinds_are_converted_or_refused():
    pd = pytest.importorskip("pandas")
    X, y, _ = problem(p=210)
    frame = pd.DataFrame(X.copy(), columns=NAMES[:210])
    frame["a count"], frame["a flag"] = np.arange(150), np.arange(150) % 2 == 0
    frame["nullable"] = pd.array(np.arange(150), dtype="Int64")
    assert RoOFSRegressor(3).fit(frame, y).n_features_in_ == 213
    frame.loc[3, "feature 5"] = np.nan
    with pytest.raises(ValueError, match="NaN.*feature 5"):
        RoOFSRegressor(3).fit(frame, y)
    frame["feature 5"] = ["x"] * 149 + ["1.5"]
    with pytest.raises(ValueError, match="is a number, but other values are words"):
        RoOFSRegressor(3).fit(frame, y)
    numbered = pd.DataFrame(X)
    assert not hasattr(RoOFSRegressor(3).fit(numbered, y), "feature_names_in_")


def test_arrow_column_kinds_are_converted_or_refused():
    pa = pytest.importorskip("pyarrow")
    X, y, _ = problem(n=150, p=210)
    columns = {name: X[:, k] for k, name in enumerate(NAMES[:210])}
    table = pa.table({**columns, "a count": np.arange(150), "a flag": np.arange(150) % 2 == 0,
                      "half": X[:, 0].astype(np.float16)})
    chunked = pa.concat_tables([table.slice(0, 13), table.slice(13)])
    for t in (table, chunked):
        model = RoOFSRegressor(213, method="torrent", clean_ratio=0.99, batch_size=213).fit(t, y)
        assert {"a count", "a flag"} <= set(model.selected_features_)
    with pytest.raises(ValueError, match="'gone' has missing values"):
        RoOFSRegressor(3).fit(pa.table({**columns, "gone": pa.array([None] + [1.0] * 149)}), y)
    with pytest.raises(ValueError, match="objects, which are neither"):
        RoOFSRegressor(3).fit(pa.table({**columns, "lists": [[1]] * 150}), y)


def test_names_are_checked_when_predicting():
    pd = pytest.importorskip("pandas")
    X, y, _ = problem()
    model = RoOFSRegressor(3).fit(pd.DataFrame(X, columns=NAMES), y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=NAMES[::-1]))
    streamed = RoOFSRegressor(3).fit_stream([(NAMES, X)], y)   # only kept features, by name, in any order
    kept = pd.DataFrame(X[:, [207, 7, 131, 3]], columns=["feature 207", "feature 7", "feature 131", "feature 3"])
    assert (streamed.predict(kept) == model.predict(pd.DataFrame(X, columns=NAMES))).all()
    with pytest.raises(ValueError, match="not among the columns.*feature 207"):
        streamed.predict(kept.drop(columns="feature 207"))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_must_be_finite(value):
    X, y, _ = problem(p=210)
    X[3, 5] = value
    with pytest.raises(ValueError, match="NaN or infinity.*feature 5.*sample 3"):
        RoOFSRegressor(3).fit(X, y)
    y[2] = value
    with pytest.raises(ValueError, match="NaN|infinity"):
        RoOFSRegressor(3).fit(np.ones_like(X), y)


# ---- nothing is copied -----------------------------------------------------------------------

MEASURE = """
import resource, sys
import numpy as np, scipy.sparse as sp
from roofs import RoOFSRegressor
n, p = 10000, 1000                      # 80 MB of float64
rng = np.random.default_rng(0)
X = rng.standard_normal((p, n)).T
y = X[:, 3] + 1
kind, path = sys.argv[1:]
if kind == "C": X = np.ascontiguousarray(X)
if kind == "C float32": X = np.ascontiguousarray(X, dtype=np.float32)
if kind == "F float32": X = np.asfortranarray(X, dtype=np.float32)
if kind == "mapped": np.save(path, X); X = np.load(path, mmap_mode="r")
if kind == "csc": X = sp.csc_matrix(X)                    # 120 MB: values and indices
if kind == "int64": X = (X * 100).astype(np.int64)
if kind == "pandas": import pandas as pd; X = pd.DataFrame({str(k): X[:, k] for k in range(p)})
if kind in ("pyarrow", "chunks", "polars"):
    import pyarrow as pa
    X = pa.table({str(k): X[:, k].copy() for k in range(p)})
    if kind == "chunks": X = pa.concat_tables([X.slice(0, n // 2), X.slice(n // 2)])
    if kind == "polars": import polars as pl; X = pl.from_arrow(X)
if kind == "a copy": X = np.array(X, order="F")
fit = lambda: RoOFSRegressor(10, batch_size=20, n_jobs=1).fit(X, y)   # two hypotheses hold three batches each
RoOFSRegressor(1).fit(np.asarray(rng.standard_normal((50, 5))), rng.standard_normal(50))   # imports and threads
now = int([line for line in open("/proc/self/status") if line.startswith("VmData")][0].split()[1]) * 1024
limit = now + (30 << 20)
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
if kind == "a copy": X.copy()
else: assert fit().selected_indices_.tolist()[0] >= 0
"""


def run_measure(kind, tmp_path):
    done = subprocess.run([sys.executable, "-c", MEASURE, kind, str(tmp_path / "X.npy")], capture_output=True,
                          text=True, timeout=600)
    return done.returncode, done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits the memory of a process this way")
@pytest.mark.parametrize("kind",
                         ["F", "C", "C float32", "F float32", "mapped", "csc", "int64", "pandas", "pyarrow", "chunks",
                          "polars"])
def test_nothing_is_copied(kind, tmp_path):
    """A fit of 80 MB of features allocates less than 30 MB. The system enforces this limit."""
    for module in {"pandas": ["pandas"], "pyarrow": ["pyarrow"], "chunks": ["pyarrow"],
                   "polars": ["pyarrow", "polars"]}.get(kind, []):
        pytest.importorskip(module)
    code, errors = run_measure(kind, tmp_path)
    assert code == 0, errors


def test_memory_limit_stops_a_copy(tmp_path):
    code, errors = run_measure("a copy", tmp_path)
    assert code != 0 and "MemoryError" in errors
