"""Features that arrive in blocks."""
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import problem
from sklearn.exceptions import NotFittedError

from roofs import RoOFSRegressor
from roofs._library import Fit

NAMES = [f"f{k}" for k in range(260)]


def cut(X, *places):
    return np.split(X, places, axis=1)


def test_cutting_does_not_change_the_model(saved):
    X, y, _ = problem()
    whole = saved(RoOFSRegressor(3).fit(X, y))
    ways = {"one": [X], "halves": cut(X, 130), "odd": cut(X, 1, 99, 199, 201), "single": [X[:, k] for k in range(260)],
            "empty ones": [X[:, :0], X[:, :150], X[:, :0], X[:, 150:]],
            "lists": [part.tolist() for part in cut(X, 100)]}
    for name, blocks in ways.items():
        assert saved(RoOFSRegressor(3).fit_stream(blocks, y)) == whole, name


def test_reused_buffers_do_no_harm(saved):
    X, y, _ = problem()
    buffer = np.empty((150, 7))

    def refilled():
        for first in range(0, 259, 7):
            buffer[:] = X[:, first:first + 7]
            yield buffer
    assert saved(RoOFSRegressor(3).fit_stream(refilled, y)) == saved(RoOFSRegressor(3).fit(X[:, :259], y))


def test_kinds_of_blocks_agree(saved):
    pd = pytest.importorskip("pandas")
    X, y, _ = problem()
    expected = RoOFSRegressor(3).fit_stream([(NAMES, X)], y)
    mixed = [pd.DataFrame(X[:, :50], columns=NAMES[:50]), (NAMES[50:120], X[:, 50:120]), ("f120", X[:, 120]),
             dict(zip(NAMES[121:180], X[:, 121:180].T)), (NAMES[180:], X[:, 180:].astype(object))]
    assert saved(RoOFSRegressor(3).fit_stream(mixed, y)) == saved(expected)
    mixed[-1] = (NAMES[180:], sp.csc_matrix(X[:, 180:]))   # sums of sparse columns have another order
    model = RoOFSRegressor(3).fit_stream(mixed, y)
    assert (model.selected_features_ == expected.selected_features_).all()
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)


def test_sparse_blocks_agree_with_dense_ones(saved):
    X, y, _ = problem()
    X[np.abs(X) < 1] = 0
    blocks = [sp.csc_matrix(part) for part in cut(X, 30, 99, 180)]
    assert saved(RoOFSRegressor(3).fit_stream(blocks, y)) == saved(RoOFSRegressor(3).fit(sp.csc_matrix(X), y))


@pytest.mark.parametrize("blocks, message", [
    ([np.ones((150, 2)), np.ones((149, 2))], "block 1 .* 149 samples, but there are 150"),
    ([(["a"], np.ones((150, 2)))], "1 names for 2"),
    ([(["a", "a"], np.random.default_rng(0).random((150, 2)))], "'a' was used before"),
    ([np.ones((150, 2, 2))], "shape"), ([np.array([["x"] * 2] * 150)], "array of numbers")])
def test_bad_blocks_are_refused(blocks, message):
    _, y, _ = problem()
    with pytest.raises(ValueError, match=message):
        RoOFSRegressor(3).fit_stream(blocks, y)


def test_passes_read_the_stream_again(saved):
    X, y, _ = problem()
    twice = saved(RoOFSRegressor(3, passes=2).fit(X, y))
    assert twice != saved(RoOFSRegressor(3, passes=1).fit(X, y))
    assert saved(RoOFSRegressor(3, passes=2).fit_stream(cut(X, 130), y)) == twice
    assert saved(RoOFSRegressor(3, passes=2).fit_stream(lambda: iter(cut(X, 130)), y)) == twice
    with pytest.raises(ValueError, match="generator cannot"):
        RoOFSRegressor(3, passes=2).fit_stream(iter(cut(X, 130)), y)


def test_auto_reads_again_what_can_be_read_again(saved):
    X, y, _ = problem()
    model = RoOFSRegressor(3).fit(X, y)
    assert model.n_passes_ in (2, 3) and len(model.history_) == 3 * model.n_passes_
    assert saved(RoOFSRegressor(3).fit_stream(cut(X, 130), y)) == saved(model)
    assert saved(RoOFSRegressor(3).fit_stream(lambda: iter(cut(X, 130)), y)) == saved(model)
    same = RoOFSRegressor(3, passes=model.n_passes_).fit(X, y)
    assert (same.coef_ == model.coef_).all() and (same.inlier_mask_ == model.inlier_mask_).all()
    once = RoOFSRegressor(3).fit_stream(iter(cut(X, 130)), y)   # a generator
    assert once.n_passes_ == 1 and (once.coef_ == RoOFSRegressor(3, passes=1).fit(X, y).coef_).all()
    assert RoOFSRegressor(3, method="roofs").fit(X, y).n_passes_ == 1
    assert RoOFSRegressor(260).fit(X, y).n_passes_ == 1   # nothing is dropped
    with pytest.raises(ValueError, match="passes must be a whole number between 0 and 1000, or auto, not 'often'"):
        RoOFSRegressor(3, passes="often").fit(X, y)


def test_running_fit_says_whether_it_wants_a_pass():
    X, y, _ = problem()
    model = RoOFSRegressor(3).begin(y).partial_fit_features(X)
    while model.wants_pass():
        model.next_pass().partial_fit_features(X)
    assert (model.finish().coef_ == RoOFSRegressor(3).fit(X, y).coef_).all()


def test_callback_can_stop_a_later_pass():
    X, y, _ = problem()
    calls = []
    model = RoOFSRegressor(3, passes=3).fit_stream([X], y, callback=lambda m, batch: calls.append(0) or len(calls) == 4)
    assert len(calls) == 4 and model.n_passes_ == 2 and len(model.history_) == 6 and model.stop_ == "settled"


def test_blocks_can_be_given_one_by_one(saved):
    X, y, _ = problem()
    model = RoOFSRegressor(3).begin(y)
    assert model.n_features_in_ == 0 and model.stop_ == "running"
    for first in (0, 100, 200):
        model.partial_fit_features(X[:, first:first + 100], feature_names=NAMES[first:first + 100])
        seen = min(first + 100, 260)
        assert model.n_features_in_ == seen and model.coef_.shape == (seen,) and not model.converged_
        assert model.predict(X[:, :seen]).shape == (150,)
    assert model.finish().stop_ == "settled" and model.converged_
    assert saved(model) == saved(RoOFSRegressor(3).fit_stream(iter([(NAMES, X)]), y))
    with pytest.raises(NotFittedError, match="begin"):
        model.partial_fit_features(X)


def test_running_fit_shows_its_model_but_is_not_pickled(tmp_path):
    X, y, _ = problem()
    model = RoOFSRegressor(3).begin(y).partial_fit_features(X)
    model.save(tmp_path / "now.json", running=False)
    now = RoOFSRegressor.load(tmp_path / "now.json")
    assert (now.predict(X) == model.predict(X)).all()
    with pytest.raises(NotFittedError, match="begin"):
        now.partial_fit_features(X)
    with pytest.raises(TypeError, match="finish"):
        pickle.dumps(model)
    pickle.dumps(model.finish())


def test_stream_needs_no_number_of_features(tmp_path):
    X, y, _ = problem(n=600)
    model = RoOFSRegressor().begin(y).partial_fit_features(X).finish()
    assert model.selected_indices_.tolist() == [7, 131, 207] and len(model.kept_indices_) > 3
    model.save(tmp_path / "m.json")
    other = RoOFSRegressor.load(tmp_path / "m.json")
    assert other.n_nonzero_coefs == 4000 and other.select == "likely"
    assert other.selected_features_.tolist() == model.selected_features_.tolist()


def test_saved_model_is_loaded(tmp_path):
    X, y, _ = problem()
    model = RoOFSRegressor(3, method="roofs", reserve=0.0, tol=1e-4).fit_stream([(NAMES, X)], y)
    model.save(tmp_path / "m.json")
    other = RoOFSRegressor.load(tmp_path / "m.json")
    assert other.get_params() == {**model.get_params(), "storage": "f64"}
    for name in ("coef_", "inlier_mask_", "history_", "selected_features_"):
        assert (getattr(other, name) == getattr(model, name)).all()
    other.save(tmp_path / "n.json")
    assert (tmp_path / "m.json").read_bytes() == (tmp_path / "n.json").read_bytes()
    assert other.residuals_ is None and (other.predict(X) == model.predict(X)).all()
    assert (other.predict_selected(X[:, other.selected_indices_]) == model.predict(X)).all()
    with pytest.raises((OSError, ValueError), match="nowhere"):
        RoOFSRegressor.load(tmp_path / "nowhere.json")
    with pytest.raises(OSError, match="no-folder"):
        model.save(tmp_path / "no-folder" / "m.json")


def test_callback_sees_each_batch():
    X, y, _ = problem()
    seen = []

    def record(model, batch):
        seen.append((model.n_features_in_, int(batch["features"])))
    model = RoOFSRegressor(3, passes=1).fit_stream([X], y, callback=record)
    assert seen == [(100, 100), (200, 100), (260, 60)] and model.stop_ == "settled"
    stopped = RoOFSRegressor(3).fit_stream([X], y, callback=lambda m, batch: True)
    assert stopped.n_features_in_ == 100 and stopped.stop_ == "settled"

    def angry(model, batch):
        raise LookupError("enough")
    with pytest.raises(LookupError, match="enough"):
        RoOFSRegressor(3).fit_stream([X], y, callback=angry)


def test_error_of_a_generator_is_raised():
    X, y, _ = problem()

    def broken():
        yield X
        raise LookupError("the database is gone")
    with pytest.raises(LookupError, match="database"):
        RoOFSRegressor(3).fit_stream(broken(), y)


def test_verbose_shows_a_bar(capsys, monkeypatch):
    X, y, _ = problem()
    pytest.importorskip("tqdm")
    RoOFSRegressor(3, verbose=True, passes=1).fit(X, y)
    assert "260/260" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    passes = RoOFSRegressor(3, verbose=True).fit(X, y).n_passes_
    assert f"{260 * passes} of {260 * passes} features" in capsys.readouterr().err
    RoOFSRegressor(3).fit(X, y)
    assert capsys.readouterr().err == ""


def test_path_is_bounded():
    X, y, _ = problem()
    model = RoOFSRegressor(3, batch_size=1, passes=1).fit(X, y)
    assert 64 <= len(model.path_) < 128 and model.path_.every == 4
    table = model.path_.coefs(model.selected_indices_)
    assert (table[0] == 0).all() and np.abs(table[-1] - [3, -2, 1]).max() < 0.2
    assert (model.path_.trust(150)[-1] == model.inlier_mask_).mean() > 0.95


def test_other_threads_run_meanwhile():
    """The library releases the lock of the interpreter."""
    X, y, _ = problem(n=4000, p=3000)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)
    clock = threading.Thread(target=tick)
    clock.start()
    start = time.monotonic()
    RoOFSRegressor(100, n_jobs=1).fit(X, y)
    took = time.monotonic() - start
    done.set()
    clock.join()
    assert len([t for t in ticks if start <= t <= start + took]) > took * 50


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
from roofs import RoOFSRegressor
from roofs._library import Fit
rng = np.random.default_rng(0)
n = 5000
y = rng.standard_normal(n)
def endless():
    while True:
        yield rng.standard_normal((n, 100)) + y[:, None]
whole = sys.argv[1] == "fit"
X = np.concatenate([next(endless()) for _ in range(40)], axis=1) if whole else None
model = RoOFSRegressor(1000, passes=1000 if whole else 1, n_jobs=1)
def press():
    time.sleep(3)
    global pressed
    pressed = time.process_time()   # processor time: the machine may be busy
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press, daemon=True).start()
try:
    model.fit(X, y) if whole else model.fit_stream(endless(), y)
    raise SystemExit("the fit ended without Ctrl-C")
except KeyboardInterrupt:
    waited = time.process_time() - pressed
assert model.stop_ == "interrupted" and not model.converged_
assert waited < 1, waited
seen = model.n_features_in_
assert seen >= 100 and model.coef_.shape == (seen,) and len(model.selected_indices_) > 0
assert np.isfinite(model.predict(np.zeros((3, seen)))).all()
model.save(sys.argv[2])
print("stopped after", waited)
"""


@pytest.mark.parametrize("call", ["fit", "fit_stream"])
def test_interrupt_ends_the_fit(call, tmp_path):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, call, str(tmp_path / "m.json")], capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert RoOFSRegressor.load(tmp_path / "m.json").n_features_in_ >= 100


def test_chosen_hypothesis_is_an_attribute(tmp_path):
    X, y, _ = problem()
    y = y.copy()
    y[: 2 * len(y) // 5] = 4                          # equal responses: the starts of the clean samples differ
    model = RoOFSRegressor(3).fit(X, y)
    assert model.hypothesis_ in {"usual", "all", "narrow", "ties"}
    model.save(tmp_path / "model.json")
    assert RoOFSRegressor.load(tmp_path / "model.json").hypothesis_ == model.hypothesis_
    assert RoOFSRegressor(3, hypotheses=1).fit(X, y).hypothesis_ == "usual"
    assert RoOFSRegressor(3, method="roofs").fit(X, y).hypothesis_ is None


@pytest.mark.parametrize("kind", ["array", "rows", "integers", "sparse"])
def test_several_batches_in_one_call_give_the_same_bits(kind, monkeypatch, saved):
    """As on a GPU: few calls for a whole array, without a monitor."""
    X, y, _ = problem()
    X = {"array": X, "rows": np.asfortranarray(X), "integers": np.rint(10 * X).astype(int),
         "sparse": sp.csc_matrix(X)}[kind]
    usual = RoOFSRegressor(3, batch_size=20).fit(X, y)
    calls = []
    consume = Fit.consume
    monkeypatch.setattr(Fit, "batches_together", lambda fit, features: 1 if features is None else 5)
    monkeypatch.setattr(Fit, "consume",
                        lambda fit, batch, ahead: calls.append(batch.count) or consume(fit, batch, ahead))
    together = RoOFSRegressor(3, batch_size=20).fit(X, y)
    assert saved(together) == saved(usual) and (together.history_ == usual.history_).all()
    assert max(calls) == (20 if kind == "integers" else 100) and sum(calls) == 260 * together.n_passes_
    assert len(together.path_) == len(calls)


def test_callbacks_and_streams_get_single_batches(monkeypatch):
    X, y, _ = problem()
    monkeypatch.setattr(Fit, "batches_together", lambda fit, features: 5)
    seen = []
    RoOFSRegressor(3, batch_size=20, passes=1).fit_stream([X], y, callback=lambda model, batch: seen.append(batch))
    assert len(seen) == 13
