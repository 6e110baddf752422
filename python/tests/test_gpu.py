"""The package on an NVIDIA GPU. Skipped, with the reason, on a machine without one."""
import os

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import interrupted_when, problem
from roofs import RoOFSRegressor, _library

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")   # JAX allocates most of the GPU otherwise
METHODS = ("roofs", "roofs-bayes")


@pytest.fixture(scope="module", autouse=True)
def gpu():
    try:
        RoOFSRegressor(1, device="cuda").fit(np.arange(8.0)[:, None] ** 2, np.arange(8.0))
    except ValueError as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def gpu_regressor(**more):
    return RoOFSRegressor(3, batch_size=20, device="cuda", **more)


def assert_close(one, other):
    """Equal up to rounding: sums have another order on a GPU."""
    assert one.selected_indices_.tolist() == other.selected_indices_.tolist()
    assert (one.inlier_mask_ == other.inlier_mask_).all() and one.n_iter_ == other.n_iter_
    np.testing.assert_allclose(one.selected_coefs_, other.selected_coefs_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(one.residuals_, other.residuals_, rtol=0, atol=1e-7)


class OnlyDlpack:
    """A tensor with DLPack and without __cuda_array_interface__."""

    def __init__(self, tensor):
        self.tensor, self.shape = tensor, tuple(tensor.shape)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **more):
        return self.tensor.__dlpack__(**more)


# ---- CPU and GPU -------------------------------------------------------------------------------

@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form",
                         [np.asarray, np.asfortranarray, sp.csc_matrix, lambda X: np.round(64 * X).astype("i4")],
                         ids=["rows", "columns", "sparse", "whole numbers"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_cpu_and_gpu_fit_the_same_model(saved, method, form, dtype):
    X, y, _ = problem()
    X = form(X.astype(dtype))
    model = gpu_regressor(method=method).fit(X, y)
    assert_close(model, RoOFSRegressor(3, batch_size=20, method=method).fit(X, y))
    assert saved(model) == saved(gpu_regressor(method=method).fit(X, y))                  # repeated
    assert saved(model) == saved(gpu_regressor(method=method).fit_stream([X[:, :33], X[:, 33:]], y))   # other blocks
    begun = gpu_regressor(method=method).begin(y)
    for first in range(0, 260, 20):   # one batch at a time: nothing is prefetched
        begun.partial_fit_features(X[:, first:first + 20])
    assert saved(begun.finish()) == saved(model)


def test_passes_and_reserve_agree_with_the_cpu():
    X, y, _ = problem()
    keywords = {"passes": 3, "reserve": 2}
    assert_close(gpu_regressor(**keywords).fit(X, y), RoOFSRegressor(3, batch_size=20, **keywords).fit(X, y))


def test_auto_is_the_gpu():
    X, y, _ = problem()
    model = RoOFSRegressor(3, batch_size=20, device="auto").begin(y)
    assert model._running.on_gpu
    assert_close(model.partial_fit_features(X).finish(), RoOFSRegressor(3, batch_size=20).fit(X, y))
    assert not RoOFSRegressor(3, device="auto", method="os").begin(y)._running.on_gpu


def test_generator_may_reuse_its_array(saved):
    X, y, _ = problem()
    buffer = np.empty((150, 52))

    def blocks():
        for first in range(0, 260, 52):
            buffer[:] = X[:, first:first + 52]
            yield buffer
    assert saved(gpu_regressor().fit_stream(blocks(), y)) == saved(gpu_regressor().fit_stream([X], y))


def test_callback_ends_the_stream():
    X, y, _ = problem()
    model = gpu_regressor().fit_stream([X], y, callback=lambda model, batch: model.n_features_in_ >= 100)
    assert model.n_features_in_ == 100
    assert_close(model, gpu_regressor().fit_stream([X[:, :100].copy()], y))


# ---- tensors on the GPU ----------------------------------------------------------------------------

@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("wrapped", [lambda t: t, OnlyDlpack], ids=["interface", "dlpack"])
def test_pytorch_tensors_are_accepted(saved, torch, method, dtype, wrapped):
    X, y, _ = problem(n=160)
    tensor = torch.tensor(X, device="cuda", dtype=getattr(torch, dtype))
    whole = gpu_regressor(method=method).fit(tensor.cpu().numpy(), y)
    columns = tensor.t().contiguous().t()
    for form in (tensor, columns, tensor.repeat(1, 2)[:, :260], torch.cat([tensor[:, :1], tensor], 1)[:, 1:]):
        model = gpu_regressor(method=method).fit(wrapped(form), torch.tensor(y, device="cuda"))
        assert saved(model) == saved(whole)
    assert saved(gpu_regressor(method=method).fit_stream([wrapped(columns[:, :40]), wrapped(columns[:, 40:])],
                                                 y)) == saved(whole)
    np.testing.assert_allclose(whole.predict(tensor), whole.predict(tensor.cpu().numpy()), rtol=0, atol=1e-12)
    assert torch.equal(tensor.cpu(), torch.tensor(X, dtype=tensor.dtype))                       # unchanged


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_columns_on_the_gpu_are_not_copied(torch, dtype):
    """The library gets their address, and takes no more memory of the GPU than it predicts."""
    X, y, _ = problem(n=160)
    columns = torch.tensor(X, device="cuda", dtype=getattr(torch, dtype)).t().contiguous().t()
    from roofs._blocks import as_block
    block, _ = as_block(columns).slice(20, 40).c()
    assert int(_library.ffi.cast("uintptr_t", block.values)) == columns[:, 20:].data_ptr()
    before = torch.cuda.mem_get_info()[0]
    model = gpu_regressor().begin(y).partial_fit_features(columns[:, :20])
    taken = before - torch.cuda.mem_get_info()[0]
    settings = _library.settings_of(model.get_params())
    needed, free, lib = _library.ffi.new("int64_t *"), _library.ffi.new("int64_t *"), _library.lib
    _library.call(lib.roofs_memory_on_device, settings, 160, lib.ROOFS_F64, needed, free)
    assert 0 < taken <= needed[0]


def test_tensor_of_another_cuda_stream_is_awaited(torch):
    """The library waits for the CUDA stream that computes the values."""
    X, y, _ = problem(n=160)
    pinned = torch.tensor(X).pin_memory()
    for _ in range(5):
        tensor = torch.zeros((160, 260), device="cuda", dtype=torch.float64)
        torch.cuda.synchronize()
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.cuda._sleep(20_000_000)
            tensor.copy_(pinned, non_blocking=True)
            model = gpu_regressor().fit(tensor, y)
        assert_close(model, gpu_regressor().fit(X, y))


@pytest.mark.parametrize("name", ["cupy", "jax"])
def test_arrays_of_other_libraries_are_accepted(name):
    library = pytest.importorskip(name)
    X, y, _ = problem()
    try:
        if name == "jax":
            library.config.update("jax_enable_x64", True)
        array = library.numpy.asarray(X) if name == "jax" else library.asarray(X)
    except Exception as reason:   # this build of the library does not support the GPU
        pytest.skip(f"{name}: {reason}")
    assert_close(gpu_regressor().fit(array, y), gpu_regressor().fit(X, y))
    assert_close(RoOFSRegressor(3, batch_size=20).fit(array, y), RoOFSRegressor(3, batch_size=20).fit(X, y))


def test_cpu_downloads_tensors_of_the_gpu(saved, torch):
    X, y, _ = problem()
    model = RoOFSRegressor(3, batch_size=20)
    whole = saved(model.fit(X, y))
    assert saved(model.fit(torch.tensor(X, device="cuda"), torch.tensor(y, device="cuda"))) == whole


def test_unusable_tensors_are_refused(torch):
    X, y, _ = problem()
    tensor = torch.tensor(X, device="cuda")
    with pytest.raises(ValueError, match="float64 or float32"):
        gpu_regressor().fit(tensor.half(), y)
    with pytest.raises(ValueError, match="float64 or float32"):
        gpu_regressor().fit(OnlyDlpack(tensor.bfloat16()), y)
    bad = tensor.clone()
    bad[7, 47] = float("nan")
    with pytest.raises(ValueError, match="feature 47.*sample 7"):
        gpu_regressor().fit(bad, y)
    with pytest.raises(ValueError, match="feature 47.*sample 7"):
        gpu_regressor().fit(bad.t().contiguous().t(), y)
    assert gpu_regressor().fit(tensor, y).selected_indices_.tolist() == [7, 131, 207]


# ---- checkpoints and Ctrl-C ----------------------------------------------------------------------------

@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("first, second", [("cuda", "cpu"), ("cpu", "cuda"), ("cuda", None), ("cuda", "auto")])
@pytest.mark.parametrize("form", [np.asarray, sp.csc_matrix], ids=["dense", "sparse"])
def test_fit_moves_between_devices(saved, tmp_path, method, first, second, form):
    X, y, _ = problem()
    X[np.abs(X) < 0.5] = 0
    X = form(X)
    begun = RoOFSRegressor(3, batch_size=20, method=method, device=first).begin(y).partial_fit_features(X[:, :100])
    begun.save(tmp_path / "fit.ck")
    moved = RoOFSRegressor.load(tmp_path / "fit.ck", device=second).partial_fit_features(X[:, 100:]).finish()
    stayed = begun.partial_fit_features(X[:, 100:]).finish()
    assert_close(moved, stayed)
    if second is None:
        assert saved(moved) == saved(stayed)
    assert_close(moved, RoOFSRegressor(3, batch_size=20, method=method).fit_stream([X], y))


@pytest.mark.parametrize("method", METHODS)
def test_interrupt_ends_the_fit(saved, method):
    """Ctrl-C several times, each a round later, while a batch is prefetched. Each undoes the batch; the fit then ends
    in the same bits as one without Ctrl-C."""
    X, y, _ = problem()
    whole = saved(gpu_regressor(method=method).fit_stream([X], y))
    rounds, stopped = 0, 0

    def is_late():
        nonlocal rounds
        rounds += 1
        return rounds > stopped
    model = gpu_regressor(method=method).begin(y)
    with interrupted_when(is_late):
        while model.n_features_in_ < X.shape[1]:
            try:
                model.partial_fit_features(X[:, model.n_features_in_:])
            except KeyboardInterrupt:
                rounds, stopped = 0, stopped + 1
                assert stopped < 5000
    assert stopped > 2 and model.stop_ == "running" and saved(model.finish()) == whole


# ---- memory -----------------------------------------------------------------------------------------------

def test_too_little_memory_is_reported(torch):
    """The first block fails without memory, and can be retried when memory is free."""
    X, y, _ = problem()
    with pytest.raises(MemoryError, match=r"\d+ bytes on the GPU"):
        RoOFSRegressor(10 ** 9, device="cuda").fit(X, y)
    model = gpu_regressor().begin(y)
    torch.cuda.empty_cache()
    free = torch.cuda.mem_get_info()[0]
    hog = torch.empty(free - (32 << 20), dtype=torch.uint8, device="cuda")
    with pytest.raises(MemoryError, match="bytes on the GPU"):
        model.partial_fit_features(X[:, :20])
    del hog
    torch.cuda.empty_cache()
    assert_close(model.partial_fit_features(X).finish(), gpu_regressor().fit_stream([X], y))


def test_memory_error_half_way_is_reported(torch):
    """A fit allocates all memory at its first block. Other programs may take memory later."""
    X, y, _ = problem()
    model = gpu_regressor().begin(y).partial_fit_features(X[:, :40])
    torch.cuda.empty_cache()
    hog = torch.empty(torch.cuda.mem_get_info()[0] - (32 << 20), dtype=torch.uint8, device="cuda")
    model.partial_fit_features(X[:, 40:]).finish()
    del hog
    torch.cuda.empty_cache()
    assert_close(model, gpu_regressor().fit_stream([X], y))


def test_many_fits_leave_nothing_behind(torch):
    X, y, _ = problem()
    gpu_regressor().fit(X, y)
    before = torch.cuda.mem_get_info()[0]
    for _ in range(20):
        gpu_regressor().fit(X, y)
    assert before - torch.cuda.mem_get_info()[0] <= 8 << 20
