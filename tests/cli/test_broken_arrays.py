"""Arrays and sparse matrices with broken headers: what NumPy and SciPy refuse is refused."""
import io
import zipfile

import numpy as np
import pytest
import scipy.sparse

from conftest import npy


def with_header(text, values, version=(1, 0)):
    length = len(text).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + bytes(version) + length + text.encode("latin1") + values


def refused_by_numpy(data):
    try:
        np.load(io.BytesIO(data))
    except Exception:   # NumPy has no error of its own for broken files
        return True
    return False


HEADERS = ["'<i4,<f4'|(3, 2)", "'<f8x'|(3, 2)", "'<f8'|(3 2)", "'<f8'|(3,,2)", "'<f8'|[3, 2]", "'<f8'|(3, 2",
           "'<f8'|(6)", "'<f8'|(3, 2.0)", "'<f8'|(3, 2) 1", "<f8|(3, 2)", "'<f8'|(3, 2), 'extra': 1",
           "'<f8'|(3, 02)", "'<f9'|(3, 2)"]


@pytest.mark.parametrize("case", HEADERS)
def test_headers_that_numpy_refuses_are_refused(roofs, tmp_path, case):
    descr, shape = case.split("|")
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n"
    data = with_header(text, np.arange(6.0).tobytes())
    assert refused_by_numpy(data) or descr == "'<i4,<f4'"    # NumPy reads records; they are not numbers
    (tmp_path / "x.npy").write_bytes(data)
    done = roofs("convert", "x.npy", "--orient", "features", "-o", "o.csv", ok=False, cwd=tmp_path)
    assert done.returncode == 3 and "x.npy" in done.stderr and not (tmp_path / "o.csv").exists()


def test_keys_that_occur_twice_are_refused(roofs, tmp_path):
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'shape': (3, 2), }\n"
    (tmp_path / "x.npy").write_bytes(with_header(text, np.arange(6.0).tobytes()))
    done = roofs("convert", "x.npy", "--orient", "features", "-o", "o.csv", ok=False, cwd=tmp_path)
    assert done.returncode == 3 and "twice" in done.stderr


@pytest.mark.parametrize("version", [(1, 1), (2, 7), (0, 1), (4, 0)])
def test_versions_that_numpy_refuses_are_refused(roofs, tmp_path, version):
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }\n"
    data = with_header(text, np.arange(6.0).tobytes(), version)
    assert refused_by_numpy(data)
    (tmp_path / "x.npy").write_bytes(data)
    assert roofs("convert", "x.npy", "--orient", "features", "-o", "o.csv", ok=False, cwd=tmp_path).returncode == 3


# ---- .npz ----------------------------------------------------------------------------------------

def members(**changed):
    """The members of a small CSC matrix, with changes; None leaves one out."""
    x = scipy.sparse.csc_matrix(np.array([[1.0, 0, 2], [0, 3, 0], [0, 0, 4], [5, 0, 0]]))
    all_of_them = {"indices": x.indices, "indptr": x.indptr, "format": np.array(b"csc"), "shape": np.array(x.shape),
                   "data": x.data, **changed}
    return {name + ".npy": npy(value) for name, value in all_of_them.items() if value is not None}


def archive(path, parts, twice=None):
    with zipfile.ZipFile(path, "w") as file:
        for name, data in parts.items():
            file.writestr(name, data)
        if twice:
            file.writestr(twice, parts[twice])


def read(roofs, folder):
    return roofs("convert", "x.npz", "--orient", "samples", "-o", "o.npy", ok=False, cwd=folder)


@pytest.mark.parametrize("changed", [
    {"data": np.arange(7.0)}, {"data": np.arange(3.0)}, {"indices": np.arange(7) % 4}, {"indptr": np.array([0, 2, 3])},
    {"indptr": np.array([1, 2, 3, 5])}, {"indptr": np.array([0, 2, 3, 9])}, {"shape": np.array([4])},
    {"shape": np.array([4.0, 3.0])}, {"format": np.array(b"coo")}, {"format": np.array(b"csc!")}, {"format": None},
    {"shape": np.array([4, -3])}, {"data": None}, {"format": np.array([b"csc", b"csr"])}], ids=str)
def test_matrices_that_scipy_refuses_are_refused(roofs, tmp_path, changed):
    archive(tmp_path / "x.npz", members(**changed))
    try:
        loaded = scipy.sparse.load_npz(tmp_path / "x.npz")
    except Exception:   # SciPy has no error of its own for broken files
        loaded = None
    assert loaded is None or loaded.format == "coo"
    done = read(roofs, tmp_path)
    assert done.returncode == 3 and "x.npz" in done.stderr and not (tmp_path / "o.npy").exists()


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["data.npy", "indices.npy", "indptr.npy", "format.npy", "shape.npy"])
def test_members_that_occur_twice_are_refused(roofs, tmp_path, name):
    archive(tmp_path / "x.npz", members(), twice=name)
    done = read(roofs, tmp_path)
    assert done.returncode == 3 and "same name" in done.stderr


@pytest.mark.parametrize("name", ["data.npy", "indices.npy", "indptr.npy", "format.npy", "shape.npy"])
def test_members_must_have_the_name_of_the_list(roofs, tmp_path, name):
    archive(tmp_path / "x.npz", members())
    assert read(roofs, tmp_path).returncode == 0
    data = (tmp_path / "x.npz").read_bytes()
    own = data.replace(name.encode(), name.upper().encode(), 1)    # the list of members comes last
    (tmp_path / "x.npz").write_bytes(own)
    with pytest.raises(zipfile.BadZipFile):
        scipy.sparse.load_npz(tmp_path / "x.npz")
    done = read(roofs, tmp_path)
    assert done.returncode == 3 and "another name" in done.stderr


@pytest.mark.parametrize("word", [np.array(b"csc"), np.array("csc"), np.array("csc").astype(">U3"),
                                  np.array(b"csc\0\0")])
def test_every_way_to_write_the_format_is_read(roofs, tmp_path, word):
    archive(tmp_path / "x.npz", members(format=word, _is_array=np.array(True)))
    assert read(roofs, tmp_path).returncode == 0
    assert (np.load(tmp_path / "o.npy").T == scipy.sparse.load_npz(tmp_path / "x.npz").toarray()).all()
