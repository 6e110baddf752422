"""Every format against NumPy, SciPy, pandas and scikit-learn, on generated and on damaged files.

Both readers give the same values, or both refuse, or the difference is in the table of docs/formats.md. A damaged
file is a sound one with one to three changes from a fixed seed. ROOFS_MUTANTS sets how many of each format are tried.
"""
import io
import os
import random
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

SANITIZED = Path(os.environ.get("ROOFS_BUILD", "build")).name == "asan"     # the fuzz targets try more
MUTANTS = int(os.environ.get("ROOFS_MUTANTS", 20 if SANITIZED else 60))
SEED = int(os.environ.get("ROOFS_SEED", 1))
PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "formats.md"
MOST_VALUES = 10 ** 7


class Refused(Exception):
    """The other reader does not read the file, or what it reads is not a matrix of finite real numbers."""


def wanted(values):
    """The values (samples x features) if they are what roofs promises to read."""
    values = np.asarray(values)
    if values.dtype.kind not in "fiub" or values.itemsize > 8 or values.ndim not in (1, 2) or values.size > MOST_VALUES:
        raise Refused("not real numbers with one or two axes")
    values = values.astype(float)
    if not np.isfinite(values).all() or len(values) == 0:
        raise Refused("not finite, or no samples")
    return values[:, None] if values.ndim == 1 else values


# ---- the other readers ---------------------------------------------------------------------------

def numpy_reads(data):
    return wanted(np.load(io.BytesIO(data), allow_pickle=False))


def scipy_reads(data):
    matrix = scipy.sparse.load_npz(io.BytesIO(data))
    if matrix.format not in ("csc", "csr") or max(matrix.shape) > 10 ** 6:
        raise Refused("another format or size")
    matrix.check_format(full_check=True)
    entries = matrix.tocoo()
    places = [place for *place, value in zip(entries.row.tolist(), entries.col.tolist(), entries.data) if value != 0]
    if len({tuple(place) for place in places}) < len(places):
        raise Refused("two values of one place")
    return wanted(matrix.toarray())


def pandas_reads(data):
    import pandas
    text = data.decode("utf-8")
    first = text.split("\n")[0]
    numbers = pandas.to_numeric(pandas.Series(first.split(",")), errors="coerce").notna()
    frame = pandas.read_csv(io.BytesIO(data), header=None if numbers.all() else 0, float_precision="round_trip",
                            skip_blank_lines=False, index_col=False)
    return wanted(frame.to_numpy())


def triplets_read(data):
    import pandas
    frame = pandas.read_csv(io.BytesIO(data), header=0, names=["f", "s", "v"], dtype={"f": str}, keep_default_na=False,
                            float_precision="round_trip", index_col=False)
    sample, value = pandas.to_numeric(frame["s"]).to_numpy(), pandas.to_numeric(frame["v"]).to_numpy(float)
    whole = (sample == np.floor(sample)) & (sample >= 0) & (sample < 10 ** 6)
    if not whole.all() or frame[["f", "s"]].duplicated().any():
        raise Refused("not the number of a sample, or twice")
    order = list(dict.fromkeys(frame["f"]))
    out = np.zeros((int(sample.max()) + 1, len(order)))
    out[sample.astype(int), [order.index(name) for name in frame["f"]]] = value
    return wanted(out)


def sklearn_reads(data):
    from sklearn.datasets import load_svmlight_file
    matrix, labels = load_svmlight_file(io.BytesIO(data))
    if matrix.shape[1] > 10 ** 6 or not np.isfinite(labels).all():
        raise Refused("too many features, or a response that is not finite")
    return wanted(matrix.toarray())


# ---- sound files ---------------------------------------------------------------------------------

def values_for(draw, n=None, p=None):
    numbers = np.random.default_rng(draw.randrange(2 ** 32))
    shape = n or draw.randint(1, 6), p or draw.randint(2, 5)
    kind = draw.choice(["normal", "counts", "extreme"])
    x = numbers.integers(0, 5, shape).astype(float) if kind == "counts" else numbers.standard_normal(shape)
    x = x * 10.0 ** numbers.integers(-300, 300, shape) if kind == "extreme" else x
    return x * (numbers.random(shape) < 0.8)


def make_npy(draw):
    x, out = values_for(draw), io.BytesIO()
    dtype = draw.choice(["<f8", ">f8", "<f4", "<i4", ">u2", "|i1", "|b1", "<f2"])
    with np.errstate(all="ignore"):
        x = x if dtype == "<f8" else np.clip(x, -100, 100)
        x = np.asfortranarray(x.astype(dtype)) if draw.random() < 0.3 else x.astype(dtype)
    np.lib.format.write_array(out, x, version=draw.choice([(1, 0), (2, 0), (3, 0)]))
    return out.getvalue()


def make_npz(draw):
    out = io.BytesIO()
    matrix = (scipy.sparse.csc_matrix if draw.random() < 0.5 else scipy.sparse.csr_matrix)(values_for(draw))
    scipy.sparse.save_npz(out, matrix, compressed=draw.random() < 0.5)
    return out.getvalue()


def make_csv(draw):
    x = values_for(draw)
    rows = [",".join(repr(float(v)) for v in row) for row in x]
    header = [",".join(draw.choice(["a{}", "gene {}", '"x, {}"']).format(k) for k in range(x.shape[1]))]
    return ("\n".join((header if draw.random() < 0.5 else []) + rows) + "\n").encode()


def make_triplets(draw):
    x = values_for(draw)
    lines = [f"g{j},{i},{float(x[i, j])!r}" for j in range(x.shape[1]) for i in range(len(x)) if x[i, j]]
    return ("feature,sample,value\n" + "\n".join(lines or ["g0,0,1"]) + "\n").encode()


def make_svm(draw):
    x = values_for(draw)
    x[0, 0] = 1                                     # without any index there are no features
    lines = [[f"{j + 1}:{float(row[j])!r}" for j in np.flatnonzero(row)] for row in x]
    return "".join(" ".join([str(draw.randint(-2, 2)), *items]) + "\n" for items in lines).encode()


TOKENS = [b",", b";", b"\n", b"\r\n", b"\t", b'"', b" ", b"nan", b"NA", b"inf", b"1e999", b"-", b"0x1", b"_", b"e5",
          b".", b"#", b":", b"qid:3", b"0", b"\x00", b"\xff", b"'", b"(", b")", b"{", b"}", b"True", b"<f4", b"1",
          b"-0", b"1:", b"PK"]


def mutate(draw, data):
    data = bytearray(data)
    for _ in range(draw.randint(1, 3)):
        at, kind = draw.randrange(len(data) + 1), draw.randrange(6)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            data[at:at] = draw.choice(TOKENS)
        elif kind == 2:
            del data[at:at + draw.randint(1, 4)]
        elif kind == 3:
            data[at:at + 1] = draw.choice(TOKENS)
        elif kind == 4 and draw.random() < 0.3:
            del data[at:]
        else:
            data[at:at] = data[at:at + draw.randint(1, 12)]
    return bytes(data)


# ---- differences ---------------------------------------------------------------------------------

# Where roofs refuses a file that the other reader takes: the identifier in docs/formats.md and the message.
STRICTER = {
    "python-syntax": r"\.npy header is damaged|holds .*\(.*\); real numbers",
    "zip-checks": r"not a complete \.npz|checksum|data is damaged|is truncated|two members|has no \w+\.npy",
    "sparse-order": r"two values for one feature|beyond the shape|indptr|different lengths",
    "integers": r"whole numbers are expected|is -?[\d.e+]+, not between",
    "unclear-header": r"--header",
    "missing-values": r"fill missing values|is missing|not a finite",
    "number-syntax": r"is not a number|too large for a double|no finite number after|not the number of a sample",
    "row-lengths": r"expected \d+ fields|expected feature, sample and value",
    "blank-lines": r"this line is blank",
    "text-encoding": r"not UTF-8|zero byte|should be text|is opened and never closed",
    "empty": r"is empty|no data|holds no|no samples|has no features",
    "svm-order": r"is out of order|is not index:value|a line begins with the response|--index-base",
    "triplets-order": r"occurred before",
    "axes": r"--orient|axes",
    "too-large": r"too large|far more|at most",
}
STRICTER = {name: re.compile(pattern) for name, pattern in STRICTER.items()}


def looser(kind, data, own):
    """Where roofs reads a file that the other reader refuses, or reads it otherwise: the identifier, or None."""
    if kind in ("csv", "triplets") and (b'"' in data or b"\r" in data):
        return "quotes"
    if kind in ("csv", "triplets") and (b";" in data or b"\t" in data):
        return "separators"
    if kind == "csv" and re.search(rb"\n[ \r]*\n[ \r\n]*$", data):
        return "blank-lines"
    if kind == "triplets" and not data.split(b"\n")[0].isascii():
        return "header-bytes"
    if kind == "svm" and own.shape[1] == 0:
        return "svm-empty"
    return None


FORMATS = {"npy": (make_npy, numpy_reads), "npz": (make_npz, scipy_reads), "csv": (make_csv, pandas_reads),
           "triplets": (make_triplets, triplets_read), "svm": (make_svm, sklearn_reads)}


def roofs_reads(roofs, folder, kind, data):
    """The values (samples x features), or the message."""
    path = folder / f"x.{kind}"
    path.write_bytes(data)
    (folder / "out.npy").unlink(missing_ok=True)
    axis = ["--orient", "samples"] if kind in ("npy", "npz", "csv", "h5") else []
    done = roofs("convert", path, "-o", folder / "out.npy", "-q", *axis, ok=False)
    assert done.returncode in (0, 3), (done.returncode, done.stderr, data)
    assert (done.returncode == 0) == (folder / "out.npy").exists()
    return np.load(folder / "out.npy").T if done.returncode == 0 else done.stderr


def compare(roofs, folder, kind, data):
    """None if both readers agree, or the identifier of the difference."""
    own = roofs_reads(roofs, folder, kind, data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = FORMATS[kind][1](data)
    except Exception as error:   # each reader has errors of its own
        other = error
    accepted = isinstance(own, np.ndarray)
    if not accepted and isinstance(other, Exception):
        return None
    if not accepted:
        for name, pattern in STRICTER.items():
            if pattern.search(own):
                return name
        raise AssertionError(f"{kind}: only roofs refuses {data!r}: {own}")
    if isinstance(other, np.ndarray) and own.shape == other.shape and (own == other).all():
        return None
    name = looser(kind, data, own)
    assert name, f"{kind}: roofs reads {own!r} from {data!r}, the other reader {other!r}"
    return name


def listed():
    """The identifiers in the table of docs/formats.md."""
    section = PAGE.read_text().split("## Differences from other readers")[1].split("\n## ")[0]
    return set(re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE))


@pytest.mark.parametrize("kind", FORMATS)
def test_sound_files_are_read_alike(roofs, memory_path, kind):
    draw = random.Random(f"{SEED} sound {kind}")
    for _ in range(MUTANTS // 3):
        data = FORMATS[kind][0](draw)
        assert compare(roofs, memory_path, kind, data) is None, data


@pytest.mark.parametrize("kind", FORMATS)
def test_damaged_files_are_read_alike_or_the_difference_is_listed(roofs, memory_path, kind):
    draw, known, seen = random.Random(f"{SEED} damaged {kind}"), listed(), {}
    for _ in range(MUTANTS):
        data = mutate(draw, FORMATS[kind][0](draw))
        name = compare(roofs, memory_path, kind, data)
        if name:
            seen.setdefault(name, data)
    assert set(seen) <= known, {name: seen[name] for name in set(seen) - known}


def test_sound_hdf5_is_read_alike(roofs, memory_path):
    """Damaged HDF5 is not tried: its library, which h5py also uses, does not survive all of it."""
    h5py = pytest.importorskip("h5py", reason="h5py is not installed (Debian: python3-h5py)")
    if "hdf5" not in roofs("fit", "--help").stdout:
        pytest.skip("this build has no HDF5")
    draw = random.Random(f"{SEED} hdf5")
    for _ in range(MUTANTS // 3):
        x = values_for(draw)
        dtype = draw.choice(["<f8", ">f8", "<f4", "<i4", ">u2", "|i1"])
        x = x if dtype == "<f8" else np.clip(x, -100, 100).astype(dtype)
        with h5py.File(memory_path / "x.h5", "w") as file:
            more = draw.choice([{}, {"chunks": True}, {"chunks": True, "compression": "gzip"}, {"chunks": (1, 2)}])
            file.create_dataset("x", data=x, **more)
        with h5py.File(memory_path / "x.h5") as file:
            other = wanted(file["x"][()])
        own = roofs_reads(roofs, memory_path, "h5", (memory_path / "x.h5").read_bytes())
        assert isinstance(own, np.ndarray) and np.array_equal(own, other), own


def test_every_listed_difference_has_a_meaning():
    assert listed() == set(STRICTER) | {"quotes", "separators", "header-bytes", "svm-empty"}


def test_differences_are_found(roofs, memory_path):
    """The comparison can fail: a reader that gives other values is noticed."""
    with pytest.raises(AssertionError, match="the other reader"):
        original = FORMATS["npy"]
        FORMATS["npy"] = (original[0], lambda data: original[1](data) + 1)
        try:
            compare(roofs, memory_path, "npy", make_npy(random.Random(3)))
        finally:
            FORMATS["npy"] = original
