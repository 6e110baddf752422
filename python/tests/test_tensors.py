"""Tensors of other libraries. These tests need neither the libraries nor a GPU."""
import numpy as np
import pytest
from conftest import problem
from roofs import RoOFSRegressor, RoOFSRegressorCV
from roofs._tensors import CUDA, GpuMatrix, c_order_strides, in_main_memory

X, Y, _ = problem()


class Tensor:
    """Has DLPack and no other interface."""

    def __init__(self, values, kind=1):
        self.values, self.kind, self.shape = values, kind, values.shape

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, stream=None):
        return self.values.__dlpack__()


class Downloadable(Tensor):
    """A tensor of which slices can be downloaded from a GPU."""

    def __getitem__(self, where):
        return Downloadable(self.values[where], self.kind)

    def get(self):
        return self.values.copy()


class WithInterface(Downloadable):
    """The same with the interface of CuPy."""

    def __init__(self, values, kind=CUDA):
        super().__init__(values, kind)
        self.__cuda_array_interface__ = {**values.__array_interface__, "version": 3}

    def __getitem__(self, where):
        return WithInterface(self.values[where])


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("arranged",
                         [np.asarray, np.asfortranarray, lambda x: np.repeat(x, 2, axis=1)[:, ::2],
                          lambda x: x[::-1][::-1]],
                         ids=["rows", "columns", "every other", "backwards twice"])
def test_tensors_in_main_memory_are_not_copied(saved, dtype, arranged):
    values = arranged(X.astype(dtype))
    tensor = Tensor(values)
    assert np.shares_memory(in_main_memory(tensor), values)
    whole = saved(RoOFSRegressor(3, batch_size=20).fit(values, Y))
    model = RoOFSRegressor(3, batch_size=20).fit(tensor, Tensor(Y))
    assert saved(model) == whole and (model.predict(tensor) == model.predict(values)).all()
    assert saved(RoOFSRegressor(3, batch_size=20).fit_stream([tensor], Y)) == whole
    model = RoOFSRegressor(3, batch_size=20).begin(Y).partial_fit_features(tensor).finish()
    assert saved(model) == saved(RoOFSRegressor(3, batch_size=20).fit_stream(iter([values]), Y))
    assert (model.predict_selected(Tensor(values[:, model.selected_indices_])) == model.predict(values)).all()


def test_pytorch_works_without_a_gpu(saved):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(X)
    assert np.shares_memory(in_main_memory(tensor), tensor.numpy())
    assert saved(RoOFSRegressor(3).fit(tensor, torch.tensor(Y))) == saved(RoOFSRegressor(3).fit(X, Y))
    assert saved(RoOFSRegressor(3).fit(tensor.float().t().contiguous().t(),
                                       Y)) == saved(RoOFSRegressor(3).fit(X.astype("f4"), Y))
    with pytest.raises(ValueError, match="cannot be read"):
        RoOFSRegressor(3).fit(tensor.bfloat16(), Y)
    with pytest.raises(ValueError, match="cannot be read"):
        RoOFSRegressor(3).fit(tensor.requires_grad_(), Y)


def test_integers_and_vectors_are_accepted(saved):
    whole = np.round(X * 4).astype("i4")
    assert saved(RoOFSRegressor(3).fit(Tensor(whole), Y)) == saved(RoOFSRegressor(3).fit(whole, Y))
    assert RoOFSRegressor(1).fit_stream([("only", Tensor(X[:, 7]))], Y).selected_features_.tolist() == ["only"]


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_tensor_on_the_gpu_is_found_by_its_address(dtype):
    values = X.astype(dtype)
    for view in (values, values.T, values[:, 3:50:2], values[5:]):
        matrix = GpuMatrix.of(Tensor(view, CUDA))
        assert matrix.address == view.__array_interface__["data"][0]
        assert matrix.shape == view.shape and matrix.dtype == view.dtype
        assert tuple(step * view.itemsize for step in matrix.strides) == view.strides
    assert GpuMatrix.of(Tensor(values[:, 2], CUDA)).shape == (150, 1)
    assert c_order_strides((4, 3, 2)) == (6, 2, 1) and c_order_strides((5,)) == (1,)


@pytest.mark.parametrize("kind", [Downloadable, WithInterface])
def test_tensors_on_a_gpu_are_downloaded_for_the_cpu(saved, kind):
    tensor = kind(X, CUDA)
    model = RoOFSRegressor(3, batch_size=20).fit(tensor, kind(Y, CUDA))
    whole = RoOFSRegressor(3, batch_size=20).fit(X, Y)
    assert saved(model) == saved(whole) and (model.predict(tensor) == whole.predict(X)).all()
    streamed = RoOFSRegressor(3, batch_size=20).fit_stream([tensor[:, :7], tensor[:, 7:]], Y)
    assert saved(streamed) == saved(whole)
    kept = kind(X[:, model.selected_indices_], CUDA)
    assert (model.predict_selected(kept) == whole.predict(X)).all()
    with pytest.raises(ValueError, match="X has 4 features, but"):
        model.predict(kind(X[:, :4], CUDA))


def test_tensor_has_no_names():
    """The names of a frame that was fitted before are dropped. Cross-validation works on downloaded samples."""
    pandas = pytest.importorskip("pandas")
    model = RoOFSRegressor(3, batch_size=20).fit(pandas.DataFrame(X, columns=[f"c{k}" for k in range(260)]), Y)
    assert not hasattr(model.fit(Downloadable(X, CUDA), Y), "feature_names_in_")
    chosen = RoOFSRegressorCV(mus=[1, 3], cv=2, batch_size=20).fit(Downloadable(X, CUDA), Y)
    assert chosen.n_nonzero_coefs_ == 3 and chosen.selected_indices_.tolist() == [7, 131, 207]


class Interface:
    """Has the interface of arrays of CuPy and PyTorch."""

    def __init__(self, **more):
        self.shape = (150, 260)
        self.__cuda_array_interface__ = {"shape": self.shape, "typestr": "<f8", "data": (4096, True), "version": 3,
                                         **more}


def test_cuda_array_interface_is_read():
    matrix = GpuMatrix.of(Interface())
    assert (matrix.address, matrix.shape, matrix.strides) == (4096, (150, 260), (260, 1))
    assert GpuMatrix.of(Interface(typestr="<f4", strides=(4, 600))).strides == (1, 150)
    for more, words in (({"typestr": "<f2"}, "float64 or float32"), ({"strides": (3, 1200)}, "multiples of the 8"),
                        ({"mask": Interface()}, "mask"), ({"shape": (2, 3, 4)}, "shape")):
        with pytest.raises(ValueError, match=words):
            GpuMatrix.of(Interface(**more))


def test_unreadable_tensors_are_refused():
    model = RoOFSRegressor(3)
    with pytest.raises(ValueError, match="DLPack device 10"):
        model.fit(Tensor(X, 10), Y)
    with pytest.raises(ValueError, match="float64 or float32, not int64"):
        model.fit(Tensor(X.astype("i8"), CUDA), Y)
    with pytest.raises(ValueError, match='device="cuda"'):
        model.fit(type("Bare", (Tensor,), {"__getitem__": lambda self, where: self, "__array__": None})(X, CUDA), Y)

    class Gradient(Tensor):
        def __dlpack__(self, stream=None):
            raise BufferError("it needs a gradient")
    with pytest.raises(ValueError, match="it needs a gradient"):
        model.fit(Gradient(X), Y)
    with pytest.raises(ValueError, match='unknown device ".*"; choose one of: cpu, cuda, auto'):
        RoOFSRegressor(3, device="abacus").fit(X, Y)
