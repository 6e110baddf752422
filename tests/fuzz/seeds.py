"""Writes the first inputs of the fuzz targets, seeds/TARGET/NAME: small, one per thing a reader knows."""
import gzip
import io
import json
import lzma
import struct
import zipfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent / "seeds"
AUTO, FEATURES, SAMPLES = 0, 4, 8       # bits 2 and 3 of the byte that says how to read
N_GIVEN, P_GIVEN = 1, 2
KEEP = {"error": 0, "drop": 1, "median": 2}


def put(target, name, content):
    path = HERE / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def npy(array, version=(1, 0)):
    to = io.BytesIO()
    np.lib.format.write_array(to, np.asarray(array), version=version)
    return to.getvalue()


def text():
    def table(name, format, how, content, missing="error"):
        put("text", name, bytes([format, how, KEEP[missing]]) + content)
    numbers = b"a,b,c\n1,2,3\n4,5.5,6e1\n7,-8,9\n0.1,.2,3.\n"
    table("csv", 0, AUTO, numbers)
    table("csv_n", 0, N_GIVEN, numbers)
    table("tsv_by_row", 0, FEATURES, numbers.replace(b",", b"\t"))
    table("quoted", 0, AUTO, b'"a, b",c,"say ""d"""\r\n1.5,2,3e2\r\n-4,NA,6.25\r\n7,8,"9"\r\n', "median")
    table("semicolon", 0, AUTO, b"x;y\n1;2\n3;nan\n", "drop")
    table("wide", 0, AUTO,
          b",".join(b"%d" % k for k in range(12)) + b"\n" + b",".join(b"%d" % k for k in range(12)) + b"\n")
    table("digits", 0, AUTO, b"1234567890123456789012345,1e-400,1e400\n0x1p3,1_0,+-1\n")
    table("svm", 1, AUTO, b"# made\n1 1:0.5 3:2 # one\n-2 qid:4 2:1e3\n3\n4.5 1:7 2:8 3:9\n")
    table("svm_zero", 1, N_GIVEN, b"1 0:1 7:2\n2 0:3\n3 6:1\n4 5:nan\n", "median")
    table("svm_far", 1, AUTO, b"1 2147483646:1\n")
    table("triplets", 2, AUTO, b'feature,sample,value\na,0,1.5\na,3,2\n"b c",1,-4\nd,2,1e-3\nd,0,7\n')
    table("triplets_n", 2, N_GIVEN, b"a\t0\t1\nb\t3\t2\nc\t1\t3\nd\t2\t4\ne\t0\t5\nf\t1\t6\n")
    table("triplets_base", 2, 64, b"a,1,1\nb,2,NA\n", "drop")
    table("told_by_content", 3, AUTO, b"feature;sample;value\na;0;1\n")
    table("told_svm", 3, AUTO, b"1 1:1 2:2\n")


def array():
    def one(name, what, how, content):
        put("array", name, bytes([what, how, 0]) + content)
    table = np.arange(12.0).reshape(3, 4)
    one("f8", 2, FEATURES, npy(table))
    one("f4_turned", 2, SAMPLES, npy(table.astype("<f4")))
    one("fortran", 2, N_GIVEN, npy(np.asfortranarray(table)))
    one("big_endian", 2, N_GIVEN, npy(table.astype(">i4")))
    one("u1_v2", 2, FEATURES, npy(table.astype("u1"), (2, 0)))
    one("bool", 2, FEATURES, npy(table > 3))
    one("f2", 2, FEATURES, npy(table.astype("f2")))
    one("objects", 2, FEATURES, npy(np.array(["a", "b"])))
    one("wide", 2, FEATURES, npy(np.arange(24, dtype="i2").reshape(12, 2)))
    one("y_npy", 0, 0, npy(np.arange(5.0)))
    one("y_text", 0, 0, b"y\n1\n2.5\n-3\n")
    one("y_row", 0, 0, b"1,2,3\n")
    one("names", 1, 0, "one\ntwo words\ngrün\n".encode())


def npz():
    indices, by_column, by_row = np.array([0, 2, 1, 0, 1, 2]), np.array([0, 2, 3, 6]), np.array([0, 2, 3, 4, 6])
    values, shape, names = np.arange(1.0, 7), np.array([4, 3]), np.frombuffer(b"a\0b c\0d\0", "u1")

    def parts(format, starts, indices=indices, values=values, shape=shape, names=names):
        arrays = [np.array(format), shape, starts, indices, values]
        return [npy(a) for a in arrays] + ([npy(names)] if names is not None else [])

    def built(name, how, contents):
        put("npz", name, bytes([0, how, 0]) + b"".join(struct.pack("<H", len(c)) + c for c in contents))
    built("csc", SAMPLES, parts(b"csc", by_column))
    built("csr", SAMPLES, parts(b"csr", by_row, names=None))
    built("csc_i4_f4", N_GIVEN,
          parts("csc", by_column.astype("i4"), indices.astype("i4"), values.astype("f4"), shape.astype("i4"), None))
    built("turned", FEATURES, parts(b"csr", by_column, shape=np.array([3, 4]), names=None))
    built("huge_shape", SAMPLES, parts(b"csr", by_row, shape=np.array([4, 2**40]), names=None))
    numbers = bytes([4, 6, 0]), bytes([4, 3]), bytes([0, 2, 1, 3]), bytes([0, 2, 1, 0, 1, 2]), bytes([1, 2, 3, 4, 5, 6])
    put("npz", "numbers_csc", bytes([2, SAMPLES, 0]) + numbers[0] + b"\1" + b"".join(numbers[1:]))
    put("npz", "numbers_csr", bytes([2, SAMPLES, 0, 5, 6, 0, 0, 4, 3, 0, 2, 1, 1, 2]) + b"".join(numbers[3:]))
    wide = np.arange(13)
    built("wide", SAMPLES, parts(b"csc", wide, np.zeros(12, int), np.ones(12), np.array([4, 12]), None))
    for packed, name in ((zipfile.ZIP_STORED, "stored"), (zipfile.ZIP_DEFLATED, "deflated")):
        to = io.BytesIO()
        with zipfile.ZipFile(to, "w", packed) as archive:
            for member, content in zip(("format", "shape", "indptr", "indices", "data", "names"),
                                       parts(b"csc", by_column)):
                archive.writestr(zipfile.ZipInfo(member + ".npy"), content)
        put("npz", name, bytes([1, SAMPLES, 0]) + to.getvalue())


def bed():
    """The first byte: filters and a list of people; then .bed, .bim, .fam and a table, each with its length."""
    def one(name, how, *files):
        put("bed", name, bytes([how]) + b"".join(struct.pack("<H", len(f)) + f for f in files))
    codes = b"\x6c\x1b\1" + bytes([0b11100100, 0b01, 0b00101011, 0b10, 0xff, 0b11, 0b01010101, 0b01] * 2)
    bim = b"".join(b"%d rs%d 0 %d A G\n" % (1 + k // 3, k, 10 * k) for k in range(8))
    fam = b"".join(b"F I%d 0 0 1 %d\n" % (k, k - 9) for k in range(5))
    pheno = b"FID IID h w\nF I0 1.5 -9\nF I2 NA 3\nF I4 -9 7e2\nF X 1 2\n"
    one("plain", 0, codes, bim, fam, pheno)
    one("filters", 1, codes, bim, fam, pheno)
    one("keep", 2, codes, bim, fam, b"F I1\nI3\nF I4\n")
    one("covar", 4, codes, bim, fam, b"#IID age\nI0 3\nI1 4\nI3 -9\n")
    one("names", 3, codes, bim.replace(b"rs3", b".").replace(b"rs4", b"rs5").replace(b" 30 ", b" 20 "), fam, b"I0\n")
    one("short", 0, codes[:-1], bim, fam, pheno)
    one("by_sample", 0, codes[:2] + b"\0" + codes[3:], bim, fam, pheno)
    one("rest", 0, codes[:4] + b"\x11" + codes[5:], bim, fam, pheno)
    one("no_header", 0, codes, bim, fam, b"F I0 1\nF I1 2\n")


def codec():
    content = b"a,b\n1,2\n" * 3
    put("codec", "gz", b"\0" + gzip.compress(content, mtime=0))
    put("codec", "gz_twice", b"\4" + gzip.compress(content, mtime=0) + gzip.compress(b"more", mtime=0))
    put("codec", "xz", b"\0" + lzma.compress(content))
    put("codec", "xz_twice", b"\10" + lzma.compress(content) + bytes(4) + lzma.compress(b"more"))
    put("codec", "plain", b"\0" + content)
    put("codec", "again_gz", b"\1" + content)
    put("codec", "again_xz", b"\3" + content)


def model():
    base = {"format": "roofs-model", "version": 1, "library": "0.1.0", "method": "roofs", "n": 4, "features_seen": 3,
            "constant_features": 0, "trusted": 3, "rounds": 2, "intercept": 0.5,
            "features": [{"index": 0, "name": None, "coef": 1.25}, {"index": 2, "name": None, "coef": -1e-9}],
            "outliers": [1], "residuals": {"cut": 0.1, "quantiles": [-0.1, 0.0, 0.1, 7.5]},
            "settings": {"mu": 2, "method": "roofs"},
            "history": [{"features": 3, "rounds": 2, "selected": 2, "entered": 2, "trusted": 3, "cut": 0.1,
                         "step": 0.1}],
            "stop": "settled"}
    named = {**base, "features": [{"index": 1, "name": "../\"ü\\", "coef": 1e300, "probability": 0.5}],
             "clean_probability": [1, 0.25, 0.0, 1e-300], "stop": "max_iter", "index_base": 1}
    empty = {**base, "features": [], "outliers": [], "trusted": 4, "history": [], "stop": "empty"}
    put("model", "plain", json.dumps(base).encode())
    put("model", "named", json.dumps(named).encode())
    put("model", "empty", json.dumps(empty).encode())
    put("model", "huge_n", json.dumps({**base, "n": 2**40, "trusted": 2**40 - 1}).encode())


def fit():
    rng = np.random.default_rng(1)
    for method in range(8):
        for kind in range(2):
            body = bytes([method << 4 | kind | 4, 3 + 32 * (method % 3), 8, 6, 2])
            put("fit", f"method{method}{'_sparse' * kind}", body + rng.integers(60, 240, 140, dtype="u1").tobytes())


def hdf5():
    import h5py
    for name, chunks, packed in (("plain", None, None), ("packed", (2, 2), "gzip")):
        to = io.BytesIO()
        with h5py.File(to, "w") as file:
            file.create_dataset("x", data=np.arange(12.0).reshape(4, 3), chunks=chunks, compression=packed)
        put("hdf5", name, bytes([SAMPLES, 0]) + to.getvalue())


def checkpoint():
    """From the program itself, so these change with the format."""
    import subprocess
    import tempfile
    program = Path(__file__).resolve().parents[2] / "build" / "roofs"
    rng = np.random.default_rng(1)
    for method in ("roofs", "roofs-bayes", "os", "grafting", "torrent", "homotopy"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            np.save(folder / "y.npy", rng.standard_normal(8))
            np.save(folder / "X.npy", rng.standard_normal((5, 8)))
            more = ["--clean-ratio", "0.8"] if method == "torrent" else []
            subprocess.run([program, "fit", "--y", "y.npy", "--mu", "2", "--batch", "2", "--method", method, *more,
                            "X.npy", "-q",
                            "--checkpoint", "c", "-o", "model.json"], cwd=folder, check=True)
            content = (folder / "c").read_bytes()
        put("checkpoint", method, b"\1" + content)


for make in (text, array, npz, bed, codec, model, fit, hdf5, checkpoint):
    make()
