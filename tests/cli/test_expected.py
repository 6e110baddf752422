"""What the user says the files hold, and values that are in other files than those given."""
import json
import subprocess

import numpy as np
import pytest


@pytest.fixture
def problem(tmp_path):
    """Triplets of 6 features over 12 samples in t.triplets, the response in y.npy, a model in m.json."""
    rng = np.random.default_rng(3)
    x = np.round(rng.standard_normal((6, 12)), 2) * (rng.random((6, 12)) < 0.7)
    x[:, 11] = 0                                       # the last sample has no values
    lines = [f"g{j},{i},{float(x[j, i])!r}\n" for j in range(6) for i in range(12) if x[j, i]]
    (tmp_path / "t.triplets").write_text("feature,sample,value\n" + "".join(lines))
    np.save(tmp_path / "y.npy", 2 * x[1] - x[4])
    return lines, tmp_path


def cut_to(folder, lines, count):
    (folder / "cut.triplets").write_text("feature,sample,value\n" + "".join(lines[:count]))


def commands(tail):
    return [("fit", "--y", "y.npy", "--mu", 2, *tail, "-o", "o.json"), ("convert", *tail, "-o", "o.npz"),
            ("predict", "m.json", *tail, "-o", "o.npy", "--samples", 12)]


def test_triplets_report_what_was_seen(problem, roofs):
    lines, folder = problem
    roofs("fit", "--y", "y.npy", "--mu", 2, "t.triplets", "-o", "m.json", "-q", cwd=folder)
    for command in commands(["t.triplets"]):
        wanted = f"triplets: {len(lines)} values of 6 features; the last sample with a value is 11 of "
        assert wanted in roofs(*command, cwd=folder).stderr, command
    assert "triplets" not in roofs("convert", "o.npz", "--orient", "samples", "-o", "o.csv", cwd=folder).stderr


def test_triplets_that_end_early_are_refused_at_every_line(problem, roofs):
    """The number of values shows a cut at any line, the number of features one between two features."""
    lines, folder = problem
    roofs("fit", "--y", "y.npy", "--mu", 2, "t.triplets", "-o", "m.json", "-q", cwd=folder)
    whole = ["--expect-features", 6, "--expect-samples", 12, "--expect-values", len(lines)]
    for expected in (whole, whole[:2], whole[2:4], whole[4:]):
        for command in commands(["t.triplets", *expected]):
            roofs(*command, cwd=folder)
    for file in ("o.json", "o.npz", "o.npy"):
        (folder / file).unlink()
    for count in range(1, len(lines), 3):
        cut_to(folder, lines, count)
        for command in commands(["cut.triplets", "--expect-values", len(lines)]):
            done = roofs(*command, ok=False, cwd=folder)
            assert done.returncode == 3 and f"have {count} values" in done.stderr, (command, done.stderr)
        features = len({line.split(",")[0] for line in lines[:count]})
        if features < 6:
            for command in commands(["cut.triplets", "--expect-features", 6]):
                assert roofs(*command, ok=False, cwd=folder).returncode == 3, command
    assert not {"o.json", "o.npz", "o.npy"} & {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["x.npy", "x.csv", "x.npz", "x.svm", "x.triplets"])
def test_every_format_is_compared_with_what_is_expected(roofs, tmp_path, name):
    x = np.arange(1.0, 21).reshape(4, 5)                 # 4 features, 5 samples
    np.save(tmp_path / "source.npy", x)
    roofs("convert", "source.npy", "--orient", "features", "-o", name, cwd=tmp_path)
    more = ["--orient", "features"] if name == "x.npy" else ["--orient", "samples"] if name == "x.npz" else []
    fine = roofs("convert", name, *more, "--expect-features", 4, "--expect-samples", 5, "-o", "o.csv", cwd=tmp_path)
    assert fine.returncode == 0
    (tmp_path / "o.csv").unlink()
    for wrong in (["--expect-features", 5], ["--expect-features", 3], ["--expect-samples", 4]):
        done = roofs("convert", name, *more, *wrong, "-o", "o.csv", ok=False, cwd=tmp_path)
        assert done.returncode == 3 and "o.csv" not in {path.name for path in tmp_path.iterdir()}, wrong
    if name != "x.triplets":
        done = roofs("convert", name, *more, "--expect-values", 20, "-o", "o.csv", ok=False, cwd=tmp_path)
        assert done.returncode == 3 and "--expect-values does not apply" in done.stderr


def test_resume_keeps_what_is_expected(problem, roofs):
    lines, folder = problem
    common = ["--passes", 1, "--batch", 2, "--checkpoint", "f.ck", "-q"]
    cut_to(folder, lines, len(lines) // 2)
    done = roofs("fit", "--y", "y.npy", "--mu", 2, "cut.triplets", *common, "--expect-features", 6, ok=False,
                 cwd=folder)
    assert done.returncode == 3
    done = roofs("resume", "f.ck", "-o", "m.json", ok=False, cwd=folder)
    assert done.returncode == 3 and "--expect-features 6" in done.stderr and not (folder / "m.json").exists()
    more = np.random.default_rng(0).standard_normal((2, 12))
    np.save(folder / "more.npy", more)
    seen = len({line.split(",")[0] for line in lines[:len(lines) // 2]}) + 2
    for stated, code in ((seen + 1, 3), (seen, 0)):
        done = roofs("resume", "f.ck", "cut.triplets", "more.npy", "--expect-features", stated, "-o", "m.json",
                     ok=False, cwd=folder)
        assert done.returncode == code, done.stderr
    assert json.loads((folder / "m.json").read_text())["features_seen"] == seen


# ---- HDF5 files whose values are in other files --------------------------------------------------

@pytest.fixture
def h5py(program):
    module = pytest.importorskip("h5py", reason="h5py is not installed (Debian: python3-h5py)")
    if "npz, hdf5" not in " ".join(subprocess.run([program, "fit", "--help"], capture_output=True,
                                                  text=True).stdout.split()):
        pytest.skip("this build has no HDF5")
    return module


def external(h5py, folder, x):
    (folder / "secret.bin").write_bytes(x.tobytes())
    with h5py.File(folder / "X.h5", "w") as file:
        space = h5py.h5s.create_simple(x.shape)
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_external(str(folder / "secret.bin").encode(), 0, x.nbytes)
        h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_DOUBLE, space, creation)


def virtual(h5py, folder, x):
    with h5py.File(folder / "secret.h5", "w") as file:
        file["s"] = x
    layout = h5py.VirtualLayout(shape=x.shape, dtype=x.dtype)
    layout[:] = h5py.VirtualSource(str(folder / "secret.h5"), "s", shape=x.shape)
    with h5py.File(folder / "X.h5", "w", libver="latest") as file:
        file.create_virtual_dataset("x", layout)


def linked(h5py, folder, x):
    with h5py.File(folder / "secret.h5", "w") as file:
        file["s"] = x
    with h5py.File(folder / "X.h5", "w") as file:
        file["x"] = h5py.ExternalLink(str(folder / "secret.h5"), "/s")


@pytest.mark.parametrize("make", [external, virtual, linked])
def test_hdf5_reads_no_other_file_unless_asked(h5py, roofs, tmp_path, make):
    x = np.arange(12.0).reshape(3, 4)
    make(h5py, tmp_path, x)
    command = ["convert", "X.h5", "--dataset", "/x", "--orient", "features", "-o", "o.npy"]
    done = roofs(*command, ok=False, cwd=tmp_path)
    assert done.returncode == 3 and "--external" in done.stderr and not (tmp_path / "o.npy").exists()
    if make is not linked:                                # the only dataset is found without its name
        assert roofs("convert", "X.h5", "--orient", "features", "-o", "o.npy", ok=False, cwd=tmp_path).returncode == 3
    roofs(*command, "--external", cwd=tmp_path)
    assert (np.load(tmp_path / "o.npy") == x).all()
