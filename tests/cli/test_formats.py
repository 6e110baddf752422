"""Files of every format through the program: what is read, named, missing, refused."""
import csv
import gzip
import json
import lzma
import subprocess

import numpy as np
import pytest
import scipy.sparse

from conftest import coefs, support


@pytest.fixture
def problem():
    """A sparse problem that features 1 and 4 explain: X (n, p) and y."""
    rng = np.random.default_rng(7)
    x = np.round(rng.standard_normal((60, 8)) * (rng.random((60, 8)) < 0.5), 3)
    return x, 3 * x[:, 1] - 2 * x[:, 4] + 1 + 0.001 * rng.standard_normal(60)


def svm_text(x, y, base=1):
    return "".join(" ".join([f"{float(label)!r}", *(f"{j + base}:{float(row[j])!r}" for j in np.flatnonzero(row))])
                   + "\n"
                   for row, label in zip(x, y))


# ---- missing values ------------------------------------------------------------------

def table(x, names):
    return ",".join(names) + "\n" + "".join(",".join("NA" if np.isnan(v) else f"{v!r}" for v in map(float, row)) + "\n"
                                            for row in x)


@pytest.fixture
def holes(problem, tmp_path, write_npy):
    x, y = problem
    x = np.array(x)
    x[[3, 17, 40], 1] = x[5, 2] = np.nan
    (tmp_path / "X.csv").write_text(table(x, [f"g{j}" for j in range(8)]))
    return x, y, write_npy("y.npy", y), write_npy("X.npy", np.ascontiguousarray(x.T))


def test_missing_values_are_refused(holes, roofs, tmp_path):
    for name, place in (("X.csv", "line 5, column 2"), ("X.npy", "feature 1: the value of sample 3")):
        done = roofs("fit", "--y", "y.npy", "--mu", 2, name, ok=False, cwd=tmp_path)
        assert done.returncode == 3 and place in done.stderr


def test_missing_values_become_the_median(holes, fit, roofs, tmp_path, write_npy):
    x, y, y_path, npy = holes
    filled = np.where(np.isnan(x), np.nanmedian(x, axis=0), x)
    wanted = fit(y_path, write_npy("filled.npy", filled.T), "--mu", 2, "--orient", "features")
    for path in (tmp_path / "X.csv", npy):
        printed = roofs("fit", "--y", y_path, "--mu", 2, "--orient", "samples" if path.suffix == ".csv" else "features",
                     path,
                     "--missing", "median", "--json", "-o", tmp_path / "m.json").stdout
        assert {k: json.loads(printed)[k]
                for k in ("missing_values", "missing_features")} == {"missing_values": 4, "missing_features": 2}
        model = json.loads((tmp_path / "m.json").read_text())
        assert support(model) == support(wanted) and (coefs(model) == coefs(wanted)).all()
    done = roofs("predict", tmp_path / "m.json", tmp_path / "X.csv", "--missing", "median")
    wanted = model["intercept"] + filled[:, support(model)] @ coefs(model)
    assert np.allclose(np.array(done.stdout.split(), float), wanted, rtol=1e-12, atol=1e-12)


def test_features_with_missing_values_are_dropped(holes, roofs, tmp_path):
    done = roofs("fit", "--y", "y.npy", "--mu", 8, "X.csv", "--missing", "drop-feature", "-o", "m.json", cwd=tmp_path)
    assert "missing    4 values in 2 features" in done.stderr
    model = json.loads((tmp_path / "m.json").read_text())
    assert set(support(model)) <= {0, 3, 4, 5, 6, 7} and model["features_seen"] == 8


def test_missing_values_in_libsvm_are_counted(roofs, tmp_path):
    (tmp_path / "x.svm").write_text("1 1:2 2:nan\n2 1:3\n3 2:5\n4 1:1 2:7\n5 1:9 2:1\n")
    assert roofs("fit", "--mu", 1, "x.svm", ok=False, cwd=tmp_path).returncode == 3
    printed = roofs("fit", "--mu", 1, "x.svm", "--missing", "median", "--json", cwd=tmp_path).stdout
    assert json.loads(printed)["missing_values"] == 1


def test_infinity_is_not_missing(roofs, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,inf\n4,5\n6,7\n")
    (tmp_path / "y.csv").write_text("1\n2\n3\n4\n")
    done = roofs("fit", "--y", "y.csv", "--mu", 1, "x.csv", "--missing", "median", ok=False, cwd=tmp_path)
    assert done.returncode == 3 and "line 3, column 2" in done.stderr


# ---- LIBSVM and names -------------------------------------------------------------------

@pytest.mark.parametrize("base", [0, 1])
def test_libsvm_agrees_with_dense(problem, fit, roofs, tmp_path, write_npy, base):
    x, y = problem
    x[0, 0] = 1                                           # so that index 0 occurs
    (tmp_path / "x.svm").write_text(svm_text(x, y, base))
    dense = fit(write_npy("y.npy", y), write_npy("X.npy", x.T), "--mu", 2, "--orient", "features")
    roofs("fit", "--mu", 2, "x.svm", "-o", "m.json", "-q", cwd=tmp_path)
    model = json.loads((tmp_path / "m.json").read_text())
    assert support(model) == support(dense) == [1, 4] and np.allclose(coefs(model), coefs(dense), rtol=1e-9)
    roofs("predict", "m.json", "x.svm", "-o", "yhat.npy", cwd=tmp_path)
    wanted = model["intercept"] + x[:, [1, 4]] @ coefs(model)
    assert np.allclose(np.load(tmp_path / "yhat.npy"), wanted, rtol=1e-12, atol=1e-12)


def test_names_are_converted(problem, roofs, tmp_path):
    x, y = problem
    words = ["the", "good", "a", "film", "bad", "plot", "and", "of"]
    (tmp_path / "words").write_text("\n".join(words))
    (tmp_path / "x.svm").write_text(svm_text(x[:, :6], y))          # the last two words never occur
    roofs("fit", "--mu", 2, "x.svm", "--names", "words", "-o", "m.json", "-q", cwd=tmp_path)
    model = json.loads((tmp_path / "m.json").read_text())
    assert {f["name"] for f in model["features"]} == {"good", "bad"} and model["features_seen"] == 8
    order = np.random.default_rng(1).permutation(8)                 # another order, other samples
    (tmp_path / "new.csv").write_text(table(x[:9][:, order], [words[j] for j in order]))
    got = np.array(roofs("predict", "m.json", "new.csv", cwd=tmp_path).stdout.split(), float)
    assert np.allclose(got, y[:9], atol=0.05)
    (tmp_path / "less.csv").write_text(table(x[:9, :4], words[:4]))
    done = roofs("predict", "m.json", "less.csv", ok=False, cwd=tmp_path)
    assert done.returncode == 3 and "bad" in done.stderr and "good" not in done.stderr


@pytest.mark.parametrize("text, message", [
    ("a\nb\n", "2 names"), ("a\n\nb\n", "line 2"), ("", "no names"), ("a\nb\xff\n".encode("latin-1"), "line 2")])
def test_bad_names_are_refused(roofs, tmp_path, text, message):
    (tmp_path / "x.svm").write_text("1 1:2 3:1\n2 1:3\n")
    (tmp_path / "words").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = roofs("fit", "--mu", 1, "x.svm", "--names", "words", ok=False, cwd=tmp_path)
    assert done.returncode == 3 and message in done.stderr and "words" in done.stderr


def test_left_over_names_are_refused(roofs, tmp_path):
    """How many features triplets, or rows of features, have is known at their end only."""
    (tmp_path / "x.triplets").write_text("feature,sample,value\na,0,1\nb,1,2\n")
    (tmp_path / "x.csv").write_text("1,2,3,4\n4,3,2,2\n")
    (tmp_path / "y.csv").write_text("1\n2\n3\n5\n")
    (tmp_path / "words").write_text("a\nb\nc\n")
    for files in (["x.triplets"], ["x.csv", "--orient", "features"]):
        done = roofs("fit", "--y", "y.csv", "--mu", 1, *files, "--names", "words", ok=False, cwd=tmp_path)
        assert done.returncode == 3 and "words has 3 names, but the files have 2 features" in done.stderr


# ---- conversions ------------------------------------------------------------------------------

WORDS = ["plain", "with, comma", 'with "quotes"', "zwölf", "two words", "x", "y", "z"]


def as_array(path, n=60):
    """What a file holds, read without roofs: (samples, features)."""
    if path.suffix == ".npy":
        return np.load(path).T
    if path.suffix == ".npz":
        return scipy.sparse.load_npz(path).toarray()
    if path.suffix == ".svm":
        x = np.zeros((n, 8))
        for row, line in enumerate(path.read_text().splitlines()):
            for item in line.split()[1:]:
                j, value = item.split(":")
                x[row, int(j) - 1] = float(value)
        return x
    lines = list(csv.reader(path.open(newline=""), delimiter="\t" if path.suffix == ".tsv" else ","))
    if path.suffix == ".triplets":
        assert lines[0] == ["feature", "sample", "value"]
        x, places = np.zeros((n, 8)), {}
        for name, row, value in lines[1:]:
            x[int(row), places.setdefault(name, len(places))] = float(value)
        return x
    return np.array(lines[not lines[0][0][-1:].isdigit() or lines[0][0].startswith("f"):], float)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("middle", ["npy", "npz", "csv", "tsv", "svm", "triplets"])
@pytest.mark.parametrize("last", ["npy", "npz", "csv", "tsv", "svm", "triplets"])
def test_conversions_keep_every_bit(problem, roofs, tmp_path, middle, last, named):
    x = problem[0] * np.pi
    x[:, 6] = 0
    x[59, 0] = x[0, 0] = x[0, 7] = 1
    scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.csr_matrix(x))
    (tmp_path / "names").write_text("\n".join(WORDS))
    names = ["--names", "names"] if named else []
    roofs("convert", "x.npz", "--orient", "samples", *names, "-o", f"a.{middle}", cwd=tmp_path)
    assert (as_array(tmp_path / f"a.{middle}") == x).all()
    orient = {"npy": ["--orient", "features"], "npz": ["--orient", "samples"]}.get(middle, [])
    done = roofs("convert", f"a.{middle}", *orient, "-o", f"b.{last}", cwd=tmp_path)
    assert (as_array(tmp_path / f"b.{last}") == x).all() and "60 samples, 8 features" in done.stderr
    if named and middle not in ("npy", "svm") and last not in ("npy", "svm"):
        if last == "npz":
            assert bytes(np.load(tmp_path / "b.npz")["names"]).decode().split("\0")[:-1] == WORDS
        else:
            cells = list(csv.reader((tmp_path / f"b.{last}").open(newline=""),
                                    delimiter="\t" if last == "tsv" else ","))
            assert (list(dict.fromkeys(row[0] for row in cells[1:])) if last == "triplets" else cells[0]) == WORDS


@pytest.mark.parametrize("kind", ["csc", "csr"])
@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("wrapped", ["", ".gz", ".xz"])
def test_scipy_matrices_are_read(problem, fit, tmp_path, write_npy, kind, compressed, wrapped):
    x, y = problem
    dense = fit(write_npy("y.npy", y), write_npy("X.npy", x.T), "--mu", 3, "--orient", "features")
    for turned in (False, True):
        matrix = scipy.sparse.csc_matrix(x.T if turned else x).asformat(kind).astype(np.float32 if turned else float)
        scipy.sparse.save_npz(tmp_path / "x.npz", matrix, compressed=compressed)
        opened = {"": open, ".gz": gzip.open, ".xz": lzma.open}[wrapped]
        data = (tmp_path / "x.npz").read_bytes()
        with opened(tmp_path / f"x.npz{wrapped}", "wb") as file:
            file.write(data)
        model = fit(tmp_path / "y.npy", tmp_path / f"x.npz{wrapped}", "--mu", 3)
        assert support(model) == support(dense) and np.allclose(coefs(model), coefs(dense), rtol=1e-5)


def test_indices_are_whole(roofs, tmp_path):
    parts = {"indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": np.array([3, 2]), "data": np.ones(2),
             "format": b"csc"}
    for part in ("indices", "indptr", "shape"):
        np.savez(tmp_path / "x.npz", **{**parts, part: parts[part] + 0.5})
        done = roofs("convert", tmp_path / "x.npz", "--orient", "samples", "-o", tmp_path / "x.csv", ok=False)
        assert done.returncode == 3 and f"{part}.npy" in done.stderr and "whole" in done.stderr


def test_other_archives_are_refused(roofs, tmp_path):
    np.savez(tmp_path / "dense.npz", x=np.ones(3))
    scipy.sparse.save_npz(tmp_path / "coo.npz", scipy.sparse.coo_matrix(np.eye(3)))
    for name, message in (("dense.npz", "scipy.sparse.save_npz"), ("coo.npz", "neither CSC nor CSR")):
        done = roofs("convert", name, "-o", "x.csv", "--orient", "samples", ok=False, cwd=tmp_path)
        assert (done.returncode == 3 and name in done.stderr and message in done.stderr
                and not (tmp_path / "x.csv").exists())


def tfidf(x, idf):
    weights = np.where(x > 0, 1 + np.log(np.maximum(x, 1)), 0) * idf
    return weights / np.sqrt((weights ** 2).sum(1, keepdims=True))


def test_tfidf_of_chosen_rows_is_right(roofs, tmp_path):
    rng = np.random.default_rng(3)
    x, y = rng.poisson(0.7, (50, 12)), rng.standard_normal(50)
    x[:, 0] += 1
    chosen = rng.permutation(50)[:20]
    (tmp_path / "x.svm").write_text(svm_text(x, y, 0))
    np.savetxt(tmp_path / "rows.txt", chosen, fmt="%d")
    roofs("convert", "x.svm", "--rows", "rows.txt", "--features", 10, "--tfidf", "--save-idf", "idf.txt", "-o", "a.npz",
          "--save-y", "y.npy", cwd=tmp_path)
    idf = np.log(20 / np.maximum((x[chosen, :10] > 0).sum(0), 1))
    assert np.allclose(np.loadtxt(tmp_path / "idf.txt"), idf) and (np.load(tmp_path / "y.npy") == y[chosen]).all()
    assert np.allclose(as_array(tmp_path / "a.npz"), tfidf(x[chosen, :10], idf))
    roofs("convert", "x.svm", "--features", 10, "--use-idf", "idf.txt", "-o", "b.npz", cwd=tmp_path)
    assert np.allclose(as_array(tmp_path / "b.npz"), tfidf(x[:, :10], idf))


def test_responses_in_libsvm_are_read(roofs, tmp_path, problem):
    x, y = problem
    (tmp_path / "x.csv").write_text(table(x, [f"g{j}" for j in range(8)]))
    np.save(tmp_path / "y.npy", y)
    roofs("convert", "x.csv", "--y", "y.npy", "-o", "x.svm", cwd=tmp_path)
    assert [float(line.split()[0]) for line in (tmp_path / "x.svm").read_text().splitlines()] == y.tolist()


@pytest.mark.parametrize("args, code, message", [
    (["-o", "x.doc"], 2, "ending"), (["-o", "x.csv.gz"], 2, "ending"), ([], 2, "-o"),
    (["-o", "x.npz", "--save-idf", "f"], 2, "--tfidf"),
    (["-o", "x.npz", "--rows", "rows"], 3, "no sample 9"), (["-o", "x.npz", "--tfidf"], 3, "not a count"),
    (["-o", "missing/x.npz"], 1, "missing"), (["-o", "x.npz", "--save-y", "y", "--rows", "twice"], 3, "twice"),
    (["-o", "x.npz", "--y", "rows"], 2, "--save-y"),
    (["-o", "x.npz", "--use-idf", "weights"], 3, "weights of 3 features"),
    (["-o", "x.npz", "--save-y", "x.svm"], 2, "overwritten by --save-y"),
    (["-o", "x.npy", "--save-y", "x.npy"], 2, "both write"),
    (["-o", "x.npz", "--tfidf", "--save-idf", "rows", "--rows", "rows"], 2, "overwritten by --save-idf"),
    (["-o", "x.npz", "--tfidf", "--save-y", "y"], 3, "not a count")])
def test_impossible_conversions_are_refused(roofs, tmp_path, args, code, message):
    (tmp_path / "x.svm").write_text("1 1:2 2:-1\n2 1:3\n")
    (tmp_path / "rows").write_text("0\n9\n")
    (tmp_path / "twice").write_text("0\n0\n")
    (tmp_path / "weights").write_text("1\n2\n3\n")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    # Triplets have no features but those that are listed: too many weights cannot be padded away.
    data = "x.triplets" if "--use-idf" in args else "x.svm"
    if data == "x.triplets":
        before[data] = b"feature,sample,value\na,0,1\nb,1,2\n"
        (tmp_path / data).write_bytes(before[data])
    done = roofs("convert", data, *args, ok=False, cwd=tmp_path)
    assert done.returncode == code and message in done.stderr
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize("value, message", [(np.nan, "--missing"), (np.inf, "infinite")])
def test_conversions_refuse_what_is_no_number(roofs, tmp_path, write_npy, value, message):
    x = np.array([[1, 0, 2], [0, value, 3]])
    scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.csc_matrix(x.T))
    for path in (write_npy("x.npy", x), tmp_path / "x.npz"):
        done = roofs("convert", path, "--orient", "features" if path.suffix == ".npy" else "samples", "-o",
                     tmp_path / "x.svm", ok=False)
        assert done.returncode == 3 and message in done.stderr and f"{path}: feature 1, sample 1" in done.stderr
        assert not (tmp_path / "x.svm").exists()


def test_padded_names_are_kept(roofs, tmp_path):
    names = [" a", "b ", "c"]
    (tmp_path / "x.csv").write_text('" a","b ",c\n1,2,3\n4,5,6\n')
    roofs("convert", "x.csv", "-o", "x.triplets", cwd=tmp_path)
    roofs("convert", "x.triplets", "-o", "x.npz", cwd=tmp_path)
    assert bytes(np.load(tmp_path / "x.npz")["names"]).decode().split("\0")[:-1] == names


def test_fit_does_not_overwrite_its_inputs(roofs, tmp_path, problem):
    x, y = problem
    (tmp_path / "x.svm").write_text(svm_text(x, y))
    (tmp_path / "names").write_text("".join(f"g{j}\n" for j in range(8)))
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    for args, message in ((["--trace", "x.svm", "-o", "m.json"], "by --trace"),
                          (["--trace", "m.json", "-o", "m.json"], "both write"),
                          (["--trace", "-"], "both write to standard output"),
                          (["-o", "names", "--names", "names"], "by -o")):
        done = roofs("fit", "--mu", 2, "x.svm", *args, ok=False, cwd=tmp_path)
        assert done.returncode == 2 and message in done.stderr
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


# ---- triplets ---------------------------------------------------------------------------------

def triplets_text(x, base=0, separator=",", header=True):
    lines = [separator.join(("feature", "sample", "value"))] if header else []
    lines += [separator.join((f"gene{j}", str(i + base), repr(float(x[i, j])))) for j in range(x.shape[1])
              for i in np.random.default_rng(j).permutation(len(x)) if x[i, j] != 0]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("separator, header, base", [(",", True, 0), ("\t", False, 1), (";", True, 1), ("\t", True, 0)])
def test_triplets_are_read_from_a_pipe(problem, fit, roofs, tmp_path, write_npy, separator, header, base):
    x, y = problem
    dense = fit(write_npy("y.npy", y), write_npy("X.npy", x.T), "--mu", 3, "--orient", "features", "--passes", 1)
    text = triplets_text(x, base, separator, header)
    more = [*(["--index-base", "1"] if base else []), *([] if header else ["--format", "triplets"])]
    roofs("fit", "--y", tmp_path / "y.npy", "--mu", 3, *more, "-o", tmp_path / "m.json", "-", input=text)
    model = json.loads((tmp_path / "m.json").read_text())
    assert [f["name"] for f in model["features"]] == [f"gene{j}" for j in support(dense)]
    assert np.allclose(coefs(model), coefs(dense), rtol=1e-9)
    (tmp_path / "new.triplets").write_text(triplets_text(x, base, separator, header))
    got = roofs("predict", tmp_path / "m.json", tmp_path / "new.triplets", *more).stdout
    assert np.allclose(np.array(got.split(), float), model["intercept"] + x[:, support(model)] @ coefs(model),
                       rtol=1e-9)


@pytest.mark.parametrize("lines, message", [
    ("a,0,1\na,1,2\nb,0,1\na,2,3", "line 5, column 1"), ("a,0,1\na,0,2", "two values"), ("a,0", "line 2: expected"),
    ("a,0,1\na,4,2", "line 3, column 2: \"4\" is the number of samples"), ("a,9,1", "column 2"), ("a,-1,1", "column 2"),
    ("a,0.5,1", "column 2"), ("a,0,x", "line 2, column 3"), ("a,0,\\N", "line 2, column 3: \"\\N\" is missing"),
    ("a,0,inf", "column 3"), ("a\xff,0,1".encode("latin-1"), "UTF-8"), ('"a,0,1', "quote")])
def test_broken_triplets_are_refused(roofs, tmp_path, lines, message):
    text = b"feature,sample,value\n" + (lines if isinstance(lines, bytes) else lines.encode()) + b"\n"
    (tmp_path / "y.csv").write_text("1\n2\n3\n4\n")
    done = roofs("fit", "--y", "y.csv", "--mu", 1, "-", input=text, ok=False, cwd=tmp_path)
    assert done.returncode == 3 and "standard input" in done.stderr and message in done.stderr, done.stderr


# ---- HDF5 ---------------------------------------------------------------------------------------

@pytest.fixture
def h5py(program):
    module = pytest.importorskip("h5py", reason="h5py is not installed (Debian: python3-h5py)")
    if "npz, hdf5" not in " ".join(subprocess.run([program, "fit", "--help"], capture_output=True,
                                                  text=True).stdout.split()):
        pytest.skip("this build has no HDF5")
    return module


@pytest.mark.parametrize("chunks", [None, True, (10, 8), (60, 1), (1, 3), (7, 2)])
@pytest.mark.parametrize("packed", [None, "gzip"])
def test_hdf5_datasets_are_read(h5py, problem, fit, tmp_path, write_npy, chunks, packed):
    x, y = problem
    if chunks is None and packed:
        pytest.skip("a dataset in one piece cannot be packed")
    dense = fit(write_npy("y.npy", y), write_npy("X.npy", x.T), "--mu", 3, "--orient", "features")
    for turned in (False, True):
        data = x.T if turned else x
        shape = chunks if not (turned and isinstance(chunks, tuple)) else chunks[::-1]
        with h5py.File(tmp_path / "x.h5", "w") as file:
            file.create_dataset("deep/inside", data=data, chunks=shape, compression=packed)
            file["text"] = "not numbers"
        for batch in (3, 100):
            model = fit(tmp_path / "y.npy", tmp_path / "x.h5", "--mu", 3, "--batch", batch)
            if batch == 100:
                assert support(model) == support(dense) and (coefs(model) == coefs(dense)).all()


@pytest.mark.parametrize("wrapped", ["gz", "xz"])
def test_packed_hdf5_is_read(h5py, problem, fit, roofs, tmp_path, write_npy, wrapped):
    x, y = problem
    write_npy("y.npy", y)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a"], file["b"] = x.astype(np.float32), np.arange(3)
    with {"gz": gzip.open, "xz": lzma.open}[wrapped](tmp_path / f"x.h5.{wrapped}", "wb") as out:
        out.write((tmp_path / "x.h5").read_bytes())
    done = roofs("fit", "--y", "y.npy", "--mu", 3, f"x.h5.{wrapped}", ok=False, cwd=tmp_path)
    assert done.returncode == 3 and "--dataset: a b" in done.stderr
    assert len(fit(tmp_path / "y.npy", tmp_path / f"x.h5.{wrapped}", "--dataset", "a", "--mu", 3)["features"]) == 3
    done = roofs("fit", "--y", "y.npy", "--mu", 3, "x.h5", "--dataset", "c", ok=False, cwd=tmp_path)
    assert done.returncode == 3 and "c is not a dataset" in done.stderr and len(done.stderr.splitlines()) == 1


# ---- broken files ---------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", ["csv", "svm", "triplets", "npy", "npz"])
def test_mutants_do_not_crash_the_program(problem, roofs, tmp_path, kind):
    """A few of the thousands that tests/unit/test_stream_mutants.c tries: exit 0 or 3, one line, no half file."""
    rng = np.random.default_rng(5)
    (tmp_path / "good.svm").write_text(svm_text(problem[0][:12], problem[1][:12]))
    if kind != "svm":
        roofs("convert", "good.svm", "-o", f"good.{kind}", cwd=tmp_path)
    good = (tmp_path / f"good.{kind}").read_bytes()
    codes = set()
    for _ in range(40):
        data = bytearray(good)
        for _ in range(rng.integers(1, 5)):
            data[rng.integers(len(data))] = rng.choice([rng.integers(256), *b"0123456789.,:;-e \n\"#"])
        (tmp_path / f"m.{kind}").write_bytes(data[:rng.integers(len(data))] if rng.random() < 0.2 else data)
        done = roofs("convert", "-q", f"m.{kind}", "--orient", "features" if kind == "npy" else "samples", "-o",
                     "out.npy", ok=False,
                     cwd=tmp_path)
        assert done.returncode in (0, 3), done
        assert (tmp_path / "out.npy").exists() == (done.returncode == 0)
        assert done.returncode == 0 or (f"m.{kind}" in done.stderr and len(done.stderr.splitlines()) == 1), done.stderr
        (tmp_path / "out.npy").unlink(missing_ok=True)
        codes.add(done.returncode)
    assert 3 in codes
