"""A saved fit continues in another process to the same bits. After Ctrl-C a fit can continue."""
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
import roofs
import scipy.sparse as sp
from conftest import ROOT, interrupted_when, problem
from roofs import RoOFSRegressor, _library
from sklearn.base import clone

NAMES = [f"feature {k}" for k in range(260)]

CONTINUE = """
import sys
import numpy as np
from roofs import RoOFSRegressor
for folder in sys.argv[1:]:
    X = np.load(f"{folder}/X.npy")
    model = RoOFSRegressor.load(f"{folder}/fit.ck")
    seen = model.n_features_in_
    names = [f"feature {k}" for k in range(seen, X.shape[1])]
    model.partial_fit_features(X[:, seen:], feature_names=names).finish().save(f"{folder}/m.json")
"""


def test_another_process_resumes(saved, tmp_path):
    """One process goes on with the fits of all methods and types, because its start takes longest."""
    X, y, _ = problem()
    fits = {}
    for method in sorted(roofs.methods()):
        for dtype in ("f8", "f4"):
            folder, more = tmp_path / f"{method} {dtype}", {"clean_ratio": 0.8} if method == "torrent" else {}
            folder.mkdir()
            values = X.astype(dtype)
            np.save(folder / "X.npy", values)
            model = RoOFSRegressor(3, method=method, batch_size=20, **more).begin(y)
            model.partial_fit_features(values[:, :100], feature_names=NAMES[:100])
            model.save(folder / "fit.ck")
            other = RoOFSRegressor(3, method=method, batch_size=20, **more)
            whole = saved(other.fit_stream(iter([(NAMES, values)]), y))
            # saving does not change the fit
            assert saved(model.partial_fit_features(values[:, 100:], feature_names=NAMES[100:]).finish()) == whole
            fits[folder] = whole
    assert len(fits) >= 16
    subprocess.run([sys.executable, "-c", CONTINUE, *fits], check=True)
    for folder, whole in fits.items():
        assert (folder / "m.json").read_bytes() == whole, folder.name


def test_loaded_fit_is_the_saved_one(saved, tmp_path):
    X, y, _ = problem()
    model = RoOFSRegressor(3, batch_size=50, passes=2, reserve=0.5, n_jobs=2, tol=1e-4).begin(y).partial_fit_features(X)
    model.next_pass()
    model.partial_fit_features(X[:, :50])
    model.save(tmp_path / "fit.ck")
    other = RoOFSRegressor.load(tmp_path / "fit.ck")
    assert other.get_params() == {**model.get_params(), "storage": "f64"}
    for name in ("coef_", "inlier_mask_", "history_", "residuals_", "clean_probability_"):
        assert (getattr(other, name) == getattr(model, name)).all()
    assert other.stop_ == "running" and (other.predict(X) == model.predict(X)).all()
    first, second = (fit.partial_fit_features(X[:, 50:]).finish() for fit in (other, model))
    assert saved(first) == saved(second)


def test_sparse_blocks_are_saved(saved, tmp_path):
    X, y, _ = problem()
    X[np.abs(X) < 1] = 0
    blocks = [sp.csc_matrix(X[:, :130]), sp.csc_matrix(X[:, 130:])]
    model = RoOFSRegressor(3, batch_size=65).begin(y).partial_fit_features(blocks[0])
    model.save(tmp_path / "fit.ck")
    model = RoOFSRegressor.load(tmp_path / "fit.ck").partial_fit_features(blocks[1]).finish()
    assert saved(model) == saved(RoOFSRegressor(3, batch_size=65).fit_stream(iter(blocks), y))


def test_damaged_checkpoints_are_refused(tmp_path):
    X, y, _ = problem()
    model = RoOFSRegressor(3).begin(y).partial_fit_features(X[:, :10])
    path = tmp_path / "fit.ck"
    model.save(path)
    content = path.read_bytes()
    for place in range(8, len(content), 997):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1:])
        with pytest.raises(ValueError, match="checkpoint"):
            RoOFSRegressor.load(path)
        path.write_bytes(content[:place])
        with pytest.raises(ValueError, match="checkpoint"):
            RoOFSRegressor.load(path)


def test_failed_writes_are_reported(tmp_path):
    X, y, _ = problem()
    model = RoOFSRegressor(3).begin(y).partial_fit_features(X)
    with pytest.raises(OSError, match="no-folder"):
        model.save(tmp_path / "no-folder" / "fit.ck")
    model.save(tmp_path / "fit.ck")
    before = (tmp_path / "fit.ck").read_bytes()
    model.partial_fit_features(X[:, :20] + 1)
    if os.path.exists("/dev/full"):
        with pytest.raises(OSError), open("/dev/full", "wb", buffering=0) as full:
            to = _library.Stream(full)
            _library.call(_library.lib.roofs_save, model._running.c, _library.lib.roofs_python_write, to.handle,
                          callbacks=(to,))
    assert (tmp_path / "fit.ck").read_bytes() == before and sorted(p.name for p in tmp_path.iterdir()) == ["fit.ck"]
    model.finish()


def test_program_and_python_share_checkpoints(program, saved, tmp_path):
    X, y, _ = problem()
    for name, block in (("a", X[:, :100]), ("b", X[:, 100:])):
        np.save(tmp_path / f"{name}.npy", block.T)
    np.save(tmp_path / "y.npy", y)
    run = lambda *args: subprocess.run([program, *args], cwd=tmp_path, check=True)
    run("fit", "--y", "y.npy", "--mu", "3", "--passes", "1", "a.npy", "-q", "-o", "a.json", "--checkpoint", "fit.ck")
    model = RoOFSRegressor.load(tmp_path / "fit.ck")
    model.save(tmp_path / "python.ck")
    whole = saved(model.partial_fit_features(np.ascontiguousarray(X[:, 100:])).finish())
    for checkpoint in ("fit.ck", "python.ck"):
        run("resume", checkpoint, "b.npy", "-q", "-o", "m.json")
        assert (tmp_path / "m.json").read_bytes() == whole


@pytest.mark.parametrize("hypotheses, every", [(1, 3), (2, 5)])   # a batch has at most 2 rounds per hypothesis
def test_interrupt_between_batches_loses_nothing(saved, hypotheses, every):
    """Ctrl-C in every third round undoes the batch. The fit then ends in the same bits as one without Ctrl-C."""
    X, y, _ = problem()
    new = RoOFSRegressor(3, batch_size=20, hypotheses=hypotheses)
    whole = saved(new.fit_stream(iter([X]), y))
    rounds, stopped = itertools.count(1), 0
    model = clone(new).begin(y)
    with interrupted_when(lambda: next(rounds) % every == 0):
        while model.n_features_in_ < X.shape[1]:
            try:
                model.partial_fit_features(X[:, model.n_features_in_:])
            except KeyboardInterrupt:
                stopped += 1
                assert model.n_features_in_ % 20 == 0 and model.predict(X[:, :model.n_features_in_]).shape == y.shape
    with interrupted_when(lambda: True), pytest.raises(KeyboardInterrupt):
        model.finish()
    assert stopped > 5 and model.stop_ == "running" and saved(model.finish()) == whole


def test_checkpoint_resumes_on_the_chosen_device(saved, tmp_path):
    X, y, _ = problem()
    model = RoOFSRegressor(3, device="auto").begin(y).partial_fit_features(X[:, :100])
    model.save(tmp_path / "fit.ck")
    other = RoOFSRegressor.load(tmp_path / "fit.ck", device="cpu")
    assert other.device == "cpu" and RoOFSRegressor.load(tmp_path / "fit.ck").device == "auto"
    assert other.partial_fit_features(X[:, 100:]).finish().selected_indices_.tolist() == [7, 131, 207]
    with pytest.raises(ValueError, match='unknown device ".*"; choose one of: cpu, cuda, auto'):
        RoOFSRegressor.load(tmp_path / "fit.ck", device="abacus")


def test_checkpoint_of_a_gpu_resumes_without_one(tmp_path):
    """The program wrote tests/cli/checkpoints/cuda.ck on a GPU."""
    path = ROOT / "tests" / "cli" / "checkpoints" / "cuda.ck"
    try:
        assert RoOFSRegressor.load(path).device == "cuda"
    except ValueError as reason:
        assert 'the fit was saved on cuda; continue with device="cpu"' in str(reason)
    model = RoOFSRegressor.load(path, device="cpu")
    assert model.device == "cpu" and model.n_features_in_ == 12 and model.finish().stop_ == "settled"


@pytest.mark.parametrize("name", ["fit.ck", "model.json"])
def test_saved_file_keeps_permissions_and_links(tmp_path, name):
    """And no file beside it is changed, whatever its name."""
    X, y, _ = problem()
    model = RoOFSRegressor(3, batch_size=20).begin(y).partial_fit_features(X)
    model = model.finish() if name == "model.json" else model
    beside = [tmp_path / f"{name}.{os.getpid()}-0.tmp", tmp_path / f".roofs-{os.getpid()}-0.tmp"]
    for path in beside:
        path.write_text("mine")
    (tmp_path / "real").mkdir()
    (tmp_path / name).symlink_to(os.path.join("real", name))
    for _ in range(2):   # the link leads to no file, then to one
        model.save(tmp_path / name)
        assert (tmp_path / name).is_symlink() and os.listdir(tmp_path / "real") == [name]
    (tmp_path / name).chmod(0o600)
    model.save(tmp_path / name)
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    assert [path.read_text() for path in beside] == ["mine", "mine"] and len(os.listdir(tmp_path)) == 4
