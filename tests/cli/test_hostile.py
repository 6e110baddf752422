"""Sizes that nobody has, options that mean nothing, and what a user expects of sparse files."""
import json
import resource

import numpy as np
import pytest
import scipy.sparse

HUGE = 2**40


def small_memory():
    """Half a gigabyte of addresses: whoever believes an absurd size fails here."""
    resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))


@pytest.fixture
def refused(sanitized, roofs):
    """refused(*args, "word", ...): exit 3, with these words, and in little memory (not under sanitizers, which take
    more)."""
    def run(args, *words):
        done = roofs(*args, "--threads", 1, ok=False) if args[0] == "fit" and sanitized else \
            roofs(*args, ok=False, **({} if sanitized else {"preexec_fn": small_memory}))
        assert done.returncode == 3, done.stderr
        for word in words:
            assert word in done.stderr
    return run


# ---- absurd sizes ---------------------------------------------------------------------------

@pytest.mark.parametrize("shape", [(HUGE, 3), (4, HUGE), (HUGE, HUGE)])
def test_huge_shape_of_a_sparse_matrix_is_refused(refused, tmp_path, shape):
    matrix = scipy.sparse.csc_matrix(np.eye(4, 3))
    scipy.sparse.save_npz(tmp_path / "X.npz", matrix)
    arrays = dict(np.load(tmp_path / "X.npz"))
    np.savez(tmp_path / "X.npz", **{**arrays, "shape": np.array(shape)})
    np.save(tmp_path / "y.npy", np.arange(4.0))
    refused(["fit", "--y", tmp_path / "y.npy", "--mu", 1, tmp_path / "X.npz"], "shape.npy", "1.09951e+12", "2147483646")


def test_huge_number_of_a_sample_is_refused(refused, tmp_path):
    (tmp_path / "X.triplets").write_text(f"feature,sample,value\na,{HUGE},1\n")
    np.save(tmp_path / "y.npy", np.arange(4.0))
    refused(["fit", "--y", tmp_path / "y.npy", "--mu", 1, tmp_path / "X.triplets"], "line 2", "2147483646")
    refused(["convert", tmp_path / "X.triplets", "-o", tmp_path / "X.svm"], "line 2", "2147483646")


def test_huge_index_of_a_feature_is_refused(refused, tmp_path):
    (tmp_path / "X.svm").write_text(f"1 {HUGE}:1\n")
    refused(["fit", "--mu", 1, tmp_path / "X.svm"], "line 1", "2147483646")


def header(shape):
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    return b"\x93NUMPY\x01\x00\x76\x00" + text.ljust(117).encode() + b"\n"


@pytest.mark.parametrize("name", ["X.npy", "X.npy.gz"])
@pytest.mark.parametrize("orient", ["features", "samples"])
def test_huge_shape_of_an_array_is_refused(refused, tmp_path, name, orient):
    import gzip
    content = header((HUGE, HUGE)) + bytes(64)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    np.save(tmp_path / "y.npy", np.arange(4.0))
    refused(["fit", "--y", tmp_path / "y.npy", "--mu", 1, "--orient", orient, tmp_path / name], name)
    refused(["convert", "--orient", orient, tmp_path / name, "-o", tmp_path / "Z.npy"], name)


@pytest.fixture
def model(fit, make_problem):
    _, _, x, y = make_problem()
    return fit(y, x, "--mu", 2, "--orient", "features", "--method", "roofs")


@pytest.mark.parametrize("n", [HUGE, 2**31 - 1, 2**62])
def test_huge_number_of_samples_in_a_model_is_refused(refused, tmp_path, model, n):
    model.update(n=n, trusted=n - len(model["outliers"]))
    (tmp_path / "huge.json").write_text(json.dumps(model))
    refused(["inspect", tmp_path / "huge.json"], "huge.json", "'n'", str(n), "2147483646")


# ---- options that mean nothing -----------------------------------------------------------------

@pytest.mark.parametrize("option", [["--orient", "features"], ["--dataset", "x"]])
@pytest.mark.parametrize("name", ["X.svm", "X.triplets"])
def test_options_of_other_formats_are_refused(roofs, tmp_path, option, name):
    (tmp_path / "X.svm").write_text("1 1:1\n2 1:2\n3 2:1\n4 1:5\n5 2:1\n")
    (tmp_path / "X.triplets").write_text("feature,sample,value\na,0,1\nb,4,2\n")
    np.save(tmp_path / "y.npy", np.arange(5.0))
    done = roofs("convert", tmp_path / name, *option, "-o", tmp_path / "Z.npy", ok=False)
    assert done.returncode == 3 and option[0] in done.stderr and name in done.stderr
    assert not (tmp_path / "Z.npy").exists()


def test_orient_counts_where_one_file_has_it(roofs, tmp_path, write_npy):
    (tmp_path / "X.svm").write_text("1 1:1\n2 1:2\n3 2:1\n4 1:5\n5 2:1\n")
    x = write_npy("X.npy", np.arange(25.0).reshape(5, 5))
    roofs("convert", x, tmp_path / "X.svm", "--orient", "features", "-o", tmp_path / "Z.npy")
    assert np.load(tmp_path / "Z.npy").shape == (7, 5)


def test_two_outputs_on_one_stream_are_refused(roofs, make_problem):
    _, _, x, y = make_problem()
    done = roofs("fit", "--y", y, "--mu", 2, x, "--orient", "features", "--json", "--trace", "-", ok=False)
    assert done.returncode == 2 and "--trace" in done.stderr and done.stdout == ""


def test_missing_labels_are_reported(roofs, tmp_path, make_problem):
    _, _, x, y = make_problem()
    printed = roofs("convert", x, "--orient", "features", "-o", tmp_path / "X.svm").stderr
    assert "every label is 0" in printed
    printed = roofs("convert", x, "--orient", "features", "--y", y, "-o", tmp_path / "X.svm").stderr
    assert "every label" not in printed


# ---- LIBSVM: from where indices are counted -------------------------------------------------------

@pytest.fixture
def counted(roofs, tmp_path):
    """A model of a LIBSVM file whose indices begin with 0: y is 3 times feature 1."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 3))
    rows = [f"{3 * r[1]:.17g} 0:{r[0]:.17g} 1:{r[1]:.17g} 2:{r[2]:.17g}" for r in x]
    (tmp_path / "train.svm").write_text("\n".join(rows) + "\n")
    roofs("fit", "--mu", 1, tmp_path / "train.svm", "-o", tmp_path / "model.json", "--quiet")
    return json.loads((tmp_path / "model.json").read_text())


def test_index_base_is_stored(roofs, tmp_path, counted):
    assert counted["index_base"] == 0 and counted["features"][0]["index"] == 1
    (tmp_path / "test.svm").write_text("0 1:2\n0 2:5\n0\n")     # no index 0: counted from 1, if nobody remembered
    values = list(map(float, roofs("predict", tmp_path / "model.json", tmp_path / "test.svm").stdout.split()))
    assert values == pytest.approx([6, 0, 0], abs=0.2)
    values = list(map(float,
                      roofs("predict", tmp_path / "model.json", tmp_path / "test.svm", "--index-base",
                            1).stdout.split()))
    assert values == pytest.approx([0, 15, 0], abs=0.2)


def test_impossible_index_base_is_refused(roofs, tmp_path, counted):
    (tmp_path / "model.json").write_text(json.dumps({**counted, "index_base": 2}))
    done = roofs("inspect", tmp_path / "model.json", ok=False)
    assert done.returncode == 3 and "index_base" in done.stderr


def test_models_without_an_index_base_are_read(roofs, tmp_path, counted):
    """As older versions wrote them, and as other formats have them."""
    del counted["index_base"]
    (tmp_path / "model.json").write_text(json.dumps(counted))
    (tmp_path / "test.svm").write_text("0 1:2\n0 2:5\n")
    values = list(map(float, roofs("predict", tmp_path / "model.json", tmp_path / "test.svm").stdout.split()))
    assert values == pytest.approx([0, 15], abs=0.2)


def test_arrays_have_no_index_base(model):
    assert "index_base" not in model


# ---- triplets in predict ----------------------------------------------------------------------------

@pytest.fixture
def named(fit, tmp_path):
    """y = 1 + 2 a - 3 b, fitted from triplets."""
    rng = np.random.default_rng(1)
    x = np.where(rng.random((3, 60)) < 0.5, rng.standard_normal((3, 60)), 0)
    lines = [f"{'abc'[j]},{i},{x[j, i]:.17g}" for j in range(3) for i in range(60) if x[j, i]]
    (tmp_path / "X.triplets").write_text("feature,sample,value\n" + "\n".join(lines) + "\n")
    np.save(tmp_path / "y.npy", 1 + 2 * x[0] - 3 * x[1])
    return fit(tmp_path / "y.npy", tmp_path / "X.triplets", "--mu", 2, "--method", "os", "--passes", 500)


def predict(roofs, folder, text, *more):
    (folder / "new.triplets").write_text("feature,sample,value\n" + text)
    done = roofs("predict", folder / "model.json", folder / "new.triplets", *more)
    return list(map(float, done.stdout.split())), done.stderr


def test_unlisted_features_are_zero(roofs, tmp_path, named):
    weight, level = {f["name"]: f["coef"] for f in named["features"]}, named["intercept"]
    assert set(weight) == {"a", "b"}
    values, printed = predict(roofs, tmp_path, "a,1,2\n")
    assert values == pytest.approx([level, level + 2 * weight["a"]]) and "1 of the 2" in printed
    values, printed = predict(roofs, tmp_path, "b,0,1\nz,1,9\na,0,1\n")    # in another order, with a stranger
    assert values == pytest.approx([level + weight["a"] + weight["b"], level]) and "count as 0" not in printed
    values, _ = predict(roofs, tmp_path, "b,0,1\n", "--samples", 4)
    assert values == pytest.approx([level + weight["b"], level, level, level])


def test_features_of_other_names_are_not_zero(roofs, tmp_path, named):
    (tmp_path / "new.triplets").write_text("feature,sample,value\nA,0,1\nB,0,1\n")
    done = roofs("predict", tmp_path / "model.json", tmp_path / "new.triplets", ok=False)
    assert done.returncode == 3 and "2 of the 2 features" in done.stderr


def test_samples_must_fit(roofs, tmp_path, named):
    (tmp_path / "new.triplets").write_text("feature,sample,value\na,7,1\n")
    done = roofs("predict", tmp_path / "model.json", tmp_path / "new.triplets", "--samples", 5, ok=False)
    assert done.returncode == 3 and "number of samples" in done.stderr
    np.savetxt(tmp_path / "new.csv", np.ones((4, 3)), delimiter=",", header="a,b,c", comments="")
    done = roofs("predict", tmp_path / "model.json", tmp_path / "new.csv", "--samples", 5, ok=False)
    assert done.returncode == 3 and "--samples" in done.stderr


def test_places_mean_nothing_in_triplets(roofs, tmp_path, model):
    """A model without names: the second name of a list is not the second feature."""
    (tmp_path / "new.triplets").write_text("feature,sample,value\na,0,1\nb,1,1\n")
    done = roofs("predict", tmp_path / "model.json", tmp_path / "new.triplets", ok=False)
    assert done.returncode == 3 and "name" in done.stderr
