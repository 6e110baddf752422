"""roofs-mpi on one machine, with more ranks than cores: the answer does not depend on their number."""
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from methods import methods_with, required

BUILD = Path(os.environ.get("ROOFS_BUILD", "build"))
PLAIN, SPLIT = BUILD / "roofs", BUILD / "roofs-mpi"
N, P, MU = 403, 60, 6
RANKS = (1, 2, 3, 4)
METHODS = {method: required(method) for method in methods_with("splits")}
QUIET = ["--oversubscribe", "--quiet", "--mca", "btl", "self,vader,tcp"]


def environment():
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "LSAN_OPTIONS": "detect_leaks=0",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def plain(*arguments):
    return subprocess.run([PLAIN, *map(str, arguments)], capture_output=True, text=True, check=True)


def start(ranks, *arguments):
    return subprocess.Popen(["mpirun", *QUIET, "-n", str(ranks), str(SPLIT), *map(str, arguments)],
                            stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=environment(), start_new_session=True)


def split(ranks, *arguments, code=0):
    job = start(ranks, *arguments)
    try:
        out, err = job.communicate(timeout=60)
    finally:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
    assert job.returncode == code, err
    return out, err


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mpi") / "data"
    plain("simulate", "-q", "-o", folder, "--n", N, "--p", P, "--mu", MU, "--corruption", 0.15, "--order", "random")
    x = np.load(folder / "X.npy")
    np.save(folder / "rows.npy", x.T.copy())
    np.savetxt(folder / "X.csv", x.T, delimiter=",", fmt="%.17g")
    np.savetxt(folder / "y.csv", np.load(folder / "y.npy"), fmt="%.17g")
    thin = np.where(np.random.default_rng(3).random(x.shape) < 0.2, x, 0)
    y = thin[:MU].sum(axis=0) + 0.01 * np.random.default_rng(4).normal(size=N)
    y[::9] += 6
    np.save(folder / "thin-y.npy", y)
    scipy.sparse.save_npz(folder / "thin.npz", scipy.sparse.csc_matrix(thin.T))
    with open(folder / "thin.svm", "w") as file:
        for label, row in zip(y, thin.T):
            print(repr(float(label)), *(f"{j + 1}:{float(v)!r}" for j, v in enumerate(row) if v), file=file)
    return folder


def test_ranks_warn_once_and_like_one(data, tmp_path):
    y = np.load(data / "y.npy")
    for change in (lambda i: i % 3 == 0, lambda i: i < N // 2):   # on all ranks, on some
        np.save(tmp_path / "y.npy", np.where(change(np.arange(N)), 7, y))
        arguments = ["fit", "--y", tmp_path / "y.npy", "--mu", MU, data / "X.npy", "--json"]
        one = plain(*arguments)
        out, err = split(3, *arguments)
        words = json.loads(one.stdout)["warnings"]
        assert "equal-responses" in words and json.loads(out)["warnings"] == words
        assert err.count("roofs: warning: ") == len(words)


def assert_same_answer(one, many):
    assert [f["index"] for f in many["features"]] == [f["index"] for f in one["features"]]
    assert many["outliers"] == one["outliers"] and many["n"] == one["n"]
    wanted, got = ([f["coef"] for f in model["features"]] for model in (one, many))
    np.testing.assert_allclose(got, wanted, rtol=1e-9)
    np.testing.assert_allclose(many["intercept"], one["intercept"], rtol=1e-9, atol=1e-12)


def assert_same_groups(one, many):
    assert len(one["groups"]) == len(many["groups"]) > 0
    for a, b in zip(one["groups"], many["groups"], strict=True):
        assert [m["index"] for m in a["members"]] == [m["index"] for m in b["members"]]
        np.testing.assert_allclose([a[key] for key in ("mass", "exists", "correlation", "effect", "error")],
                                   [b[key] for key in ("mass", "exists", "correlation", "effect", "error")], rtol=1e-6)
    np.testing.assert_allclose([one["noise"][key] for key in ("scale", "intercept", "skew", "tail")],
                               [many["noise"][key] for key in ("scale", "intercept", "skew", "tail")], rtol=1e-6)
    for key in ("center", "error"):
        np.testing.assert_allclose([f[key] for f in many["features"]], [f[key] for f in one["features"]], rtol=1e-6,
                                   atol=1e-12)


def look_alikes(folder, samples):
    """Features in blocks of six that look alike, of which few are kept; a cause in three of the blocks."""
    rng = np.random.default_rng(samples)
    x = np.repeat(rng.standard_normal((10, samples)), 6, axis=0) + 0.1 * rng.standard_normal((60, samples))
    y = x[7] - x[20] + x[44] + rng.standard_normal(samples)
    y[::10] = 50
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", y)
    return ["--y", folder / "y.npy", "--mu", 6, "--batch", 10, folder / "x.npy"]


def models(folder, name, arguments, ranks=RANKS):
    plain("fit", "-q", *arguments, "-o", folder / f"{name}.json")
    one = json.loads((folder / f"{name}.json").read_text())
    for count in ranks:
        split(count, "fit", "-q", *arguments, "-o", folder / f"{name}-{count}.json")
        yield one, json.loads((folder / f"{name}-{count}.json").read_text())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_model_does_not_depend_on_the_ranks(data, tmp_path, method, kind):
    files = ["--y", data / "y.npy",
             data / "X.npy"] if kind == "dense" else ["--y", data / "thin-y.npy", data / "thin.npz"]
    for one, many in models(tmp_path, "model",
                            ["--mu", MU, "--batch", 17, "--method", method, *METHODS[method], *files]):
        assert len(one["features"]) >= MU - 1
        assert_same_answer(one, many)
        if method == "roofs-bayes":
            assert_same_groups(one, many)


@pytest.mark.parametrize("y, x",
                         [("y.npy", "rows.npy"), ("y.csv", "X.csv"), ("y.npy", "X.npy.gz"), (None, "thin.svm"),
                          ("y.npy", "X.h5")])
def test_every_format_is_split(data, tmp_path, y, x):
    if x.endswith(".gz") and not (data / x).exists():
        subprocess.run(["gzip", "-k", data / "X.npy"], check=True)
    if x.endswith(".h5"):
        h5py = pytest.importorskip("h5py")
        with h5py.File(data / x, "w") as file:
            file.create_dataset("x", data=np.load(data / "rows.npy"), chunks=(50, 7))
    response = ["--y", data / y] if y else []
    for one, many in models(tmp_path, "model", ["--mu", MU, *response, data / x], ranks=(3,)):
        assert_same_answer(one, many)


def test_choices_of_the_library_do_not_depend_on_the_ranks(data, tmp_path):
    """The number of features without --mu, also under a limit of memory, and the number of passes."""
    files = ["--batch", 17, "--y", data / "y.npy", data / "X.npy"]
    for one, many in models(tmp_path, "default", files, ranks=(3,)):
        assert many["settings"] == one["settings"] and one["settings"]["mu"] == P
        assert_same_answer(one, many)
    for one, many in models(tmp_path, "passes", ["--mu", 4, *files], ranks=(3,)):
        assert len(many["history"]) == len(one["history"]) > P // 17 + 1
        assert_same_answer(one, many)
    out, _ = split(3, "fit", "--json", "--max-memory", "4M", "--threads", 1, *files, "-o", tmp_path / "limited.json")
    assert json.loads(out)["kept"] > 0


def test_names_in_rows_are_split(data, tmp_path):
    with open(tmp_path / "rows.csv", "w") as file:
        for j, row in enumerate(np.load(data / "X.npy")):
            print(f"f{j}", *(repr(float(v)) for v in row), sep=",", file=file)
    arguments = ["--mu", MU, "--batch", 7, "--orient", "features", "--y", data / "y.npy", tmp_path / "rows.csv"]
    for one, many in models(tmp_path, "model", arguments, ranks=(1, 2, 3)):
        assert_same_answer(one, many)
        assert [f["name"] for f in many["features"]] == [f"f{f['index']}" for f in many["features"]]


def test_simulate_predict_and_evaluate_agree(data, tmp_path):
    options = ["--n", N, "--p", P, "--mu", MU, "--corruption", 0.15, "--order", "random"]
    split(3, "simulate", "-q", "-o", tmp_path / "data", *options)
    for name in ("X.npy", "y.npy", "beta.npy", "clean.npy", "truth.json"):
        assert (tmp_path / "data" / name).read_bytes() == (data / name).read_bytes(), name
    plain("fit", "-q", "--mu", MU, "--y", data / "y.npy", data / "X.npy", "-o", tmp_path / "model.json")
    for name in ("yhat.npy", "yhat.csv"):
        plain("predict", tmp_path / "model.json", data / "X.npy", "-o", tmp_path / f"one-{name}")
        split(3, "predict", tmp_path / "model.json", data / "X.npy", "-o", tmp_path / f"many-{name}")
        assert (tmp_path / f"many-{name}").read_bytes() == (tmp_path / f"one-{name}").read_bytes()
    for name in ("ends.npy", "ends.csv"):
        plain("predict", tmp_path / "model.json", data / "X.npy", "--interval", 0.9, "-o", tmp_path / f"one-{name}")
        split(3, "predict", tmp_path / "model.json", data / "X.npy", "--interval", 0.9, "-o", tmp_path / f"many-{name}")
        assert (tmp_path / f"many-{name}").read_bytes() == (tmp_path / f"one-{name}").read_bytes()
    wanted = plain("evaluate", tmp_path / "model.json", data).stdout
    assert split(2, "evaluate", tmp_path / "model.json", data)[0] == wanted


def test_same_ranks_give_the_same_bits(data, tmp_path):
    for name in ("a", "b"):
        split(3, "fit", "-q", "--mu", MU, "--y", data / "y.npy", data / "X.npy", "-o", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


# ---- what is sent ---------------------------------------------------------------------------

def test_traffic_of_a_batch_follows_the_formula(data, tmp_path):
    """docs/scaling.md: the second batch is the difference of two fits."""
    ranks, batch, sent, model = 4, 30, [], None
    for features in (batch, 2 * batch):
        np.save(tmp_path / "X.npy", np.load(data / "X.npy")[:features])
        _, err = split(ranks, "--traffic", "fit", "-q", "--method", "roofs", "--mu", MU, "--batch", batch, "--y",
                       data / "y.npy",
                       tmp_path / "X.npy", "-o", tmp_path / "model.json")
        printed = json.loads(err.splitlines()[-1])
        sent.append(printed["sum_bytes"] + printed["gather_bytes"])
        model = json.loads((tmp_path / "model.json").read_text())
    rounds = model["history"][1]["rounds"]
    columns = (MU + batch) + (rounds - 1) * MU
    own = N // ranks   # of rank 0
    assert sent[1] - sent[0] == (ranks - 1) * (48 * batch + 7 * 8 + 8 * columns + rounds * (8 * own + 4 * 8))


# ---- failures -------------------------------------------------------------------------------

def test_broken_file_ends_all_ranks_with_one_message(data, tmp_path):
    x = np.load(data / "X.npy")
    x[20, N - 3] = np.nan
    np.save(tmp_path / "X.npy", x)
    _, err = split(3, "fit", "-q", "--mu", MU, "--y", data / "y.npy", tmp_path / "X.npy", "-o", tmp_path / "model.json",
                   code=3)
    assert err.count("rank 2") == 1 and "feature 20" in err and f"sample {N - 3}" in err
    assert not (tmp_path / "model.json").exists()


def test_missing_file_is_reported_once(data, tmp_path):
    _, err = split(3, "fit", "-q", "--mu", MU, "--y", data / "y.npy", tmp_path / "none.npy", code=3)
    assert err.count("none.npy") == 1


def test_verbs_for_one_process_are_refused(data):
    for options in (["--mu", "auto"], ["--mu", MU, "--missing", "median"]):
        _, err = split(2, "fit", *options, "--y", data / "y.npy", data / "X.npy", code=2)
        assert "one process" in err
    _, err = split(2, "fit", "--mu", MU, "--method", "dalm", "--y", data / "y.npy", data / "X.npy", code=2)
    assert "dalm cannot work on samples split over ranks; these can: roofs, " in err


def processes(text):
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == bytes(SPLIT) and text.encode() in words:
            found.append(int(folder.name))
    return found


def test_dead_rank_ends_the_job(data, tmp_path):
    marker = str(tmp_path / "model.json")
    job = start(3, "fit", "-q", "--mu", 20, "--batch", 1, "--passes", 1000, "--max-iter", 1000000, "--tol", 0, "--y",
                data / "y.npy", data / "X.npy",
                "-o", marker)
    try:
        while len(processes(marker)) < 3 and job.poll() is None:
            time.sleep(0.05)
        time.sleep(1)
        os.kill(processes(marker)[-1], signal.SIGKILL)
        killed = time.monotonic()
        _, err = job.communicate(timeout=40)
        assert time.monotonic() - killed < 30 and job.returncode != 0
    finally:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
    assert processes(marker) == [] and not Path(marker).exists()


# ---- checkpoints -----------------------------------------------------------------------------

def shards_of(path):
    return sorted(p.name for p in path.parent.glob(path.name + ".*") if not p.name.endswith(".lock"))


def stop_at(data, features, tmp_path):
    """A stream whose second file is broken: the fit stops there and keeps its checkpoint."""
    x = np.load(data / "X.npy")
    np.save(tmp_path / "a.npy", x[:features])
    np.save(tmp_path / "b.npy", x[features:])
    broken = x[features:].copy()
    broken[3, 7] = np.nan
    np.save(tmp_path / "broken.npy", broken)


@pytest.mark.parametrize("method", ["roofs", "roofs-bayes"])
@pytest.mark.parametrize("ranks, then", [(3, 2), (2, 4), (3, 1), (3, 0)])
def test_checkpoint_resumes_with_other_ranks(data, tmp_path, method, ranks, then):
    stop_at(data, 30, tmp_path)
    options = ["--mu", MU, "--batch", 10, "--method", method, "--passes", 1, "--y", data / "y.npy"]
    plain("fit", "-q", *options, tmp_path / "a.npy", tmp_path / "b.npy", "-o", tmp_path / "whole.json")
    checkpoint = tmp_path / "fit.ck"
    split(ranks, "fit", "-q", *options, "--checkpoint", checkpoint, "--checkpoint-every", 1, tmp_path / "a.npy", "-o",
          tmp_path / "half.json")
    assert len(shards_of(checkpoint)) == ranks
    resume = ["resume", "-q", checkpoint, tmp_path / "a.npy", tmp_path / "b.npy", "-o", tmp_path / "model.json"]
    plain(*resume) if then == 0 else split(then, *resume)
    one, many = (json.loads((tmp_path / name).read_text()) for name in ("whole.json", "model.json"))
    assert many["features_seen"] == P
    assert_same_answer(one, many)
    assert len(shards_of(checkpoint)) == (then if then > 1 else 0)


def test_ranks_compare_hypotheses(data, tmp_path):
    """Many responses are equal, so that the starts of the clean samples differ. The fit is also stopped half way."""
    y = np.load(data / "y.npy")
    y[np.random.default_rng(5).random(N) < 0.4] = 3
    np.save(tmp_path / "y.npy", y)
    stop_at(data, 30, tmp_path)
    options = ["--passes", 1, "--mu", MU, "--batch", 10, "--y", tmp_path / "y.npy"]
    files = [tmp_path / "a.npy", tmp_path / "b.npy"]
    plain("fit", "-q", *options, *files, "-o", tmp_path / "one.json")
    split(2, "fit", "-q", *options, *files, "-o", tmp_path / "two.json")
    split(2, "fit", "-q", *options, "--checkpoint", tmp_path / "ck", files[0], "-o", tmp_path / "half.json")
    split(2, "resume", "-q", tmp_path / "ck", *files, "-o", tmp_path / "resumed.json")
    assert (tmp_path / "resumed.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    one, two = (json.loads((tmp_path / name).read_text()) for name in ("one.json", "two.json"))
    assert one["hypothesis"] == two["hypothesis"] and two["hypothesis"]["compared"] > 1
    assert_same_answer(one, two)


def test_ranks_compare_orders(data, tmp_path):
    options = ["--passes", 1, "--hypotheses", 1, "--mu", MU, "--batch", 10, "--y", data / "y.npy", "--orders", 3]
    stop_at(data, 30, tmp_path)
    files = [tmp_path / "a.npy", tmp_path / "b.npy"]
    plain("fit", "-q", *options, *files, "-o", tmp_path / "one.json")
    split(2, "fit", "-q", *options, *files, "-o", tmp_path / "two.json")
    one, two = (json.loads((tmp_path / name).read_text()) for name in ("one.json", "two.json"))
    assert [f["frequency"] for f in one["features"]] == [f["frequency"] for f in two["features"]]
    assert one["orders"]["count"] == 3 and one["orders"] == pytest.approx(two["orders"], rel=1e-6, abs=1e-9)


def test_resume_after_a_failure_gives_the_same_bits(data, tmp_path):
    """A value that is not finite stops the fit in the second file; with the repaired file it ends in the same model."""
    stop_at(data, 30, tmp_path)
    options = ["--mu", MU, "--batch", 10, "--y", data / "y.npy"]
    names = [tmp_path / "a.npy", tmp_path / "next.npy"]
    (tmp_path / "next.npy").write_bytes((tmp_path / "b.npy").read_bytes())
    split(3, "fit", "-q", *options, *names, "-o", tmp_path / "whole.json")
    (tmp_path / "next.npy").write_bytes((tmp_path / "broken.npy").read_bytes())
    _, err = split(3, "fit", "-q", *options, "--checkpoint", tmp_path / "ck", "--checkpoint-every", 2, *names, code=3)
    assert err.count("rank 0") == 1
    (tmp_path / "next.npy").write_bytes((tmp_path / "b.npy").read_bytes())
    split(3, "resume", "-q", tmp_path / "ck", "-o", tmp_path / "model.json")
    assert (tmp_path / "model.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


def test_damaged_shard_is_refused_by_all(data, tmp_path):
    split(3, "fit", "-q", "--mu", MU, "--y", data / "y.npy", data / "X.npy", "--checkpoint", tmp_path / "ck", "-o",
          tmp_path / "m.json")
    shard = tmp_path / shards_of(tmp_path / "ck")[1]
    raw = bytearray(shard.read_bytes())
    raw[len(raw) // 2] ^= 1
    shard.write_bytes(raw)
    for ranks in (2, 3):
        _, err = split(ranks, "resume", tmp_path / "ck", data / "X.npy", code=3)
        assert err.count("is damaged: its checksum does not match") == 1
    shard.unlink()
    _, err = split(2, "resume", tmp_path / "ck", data / "X.npy", code=3)
    assert shard.name in err


def test_rank_without_memory_ends_the_job(data, tmp_path):
    """Rank 2 may map little: its message, and no other, says so."""
    x = np.random.default_rng(5).normal(size=(40, 60_000))
    np.save(tmp_path / "X.npy", x)
    np.save(tmp_path / "y.npy", x[:3].sum(axis=0))
    line = [str(SPLIT), "fit", "-q", "--mu", "30", "--batch", "20", "--y", str(tmp_path / "y.npy"),
            str(tmp_path / "X.npy"), "-o", str(tmp_path / "m.json")]
    # What the process has when it begins differs by system: less and less is allowed until it fails inside the fit.
    for kilobytes in (400_000, 330_000, 300_000, 280_000, 260_000):
        (tmp_path / "m.json").unlink(missing_ok=True)
        small = ["sh", "-c", f'ulimit -v {kilobytes}; exec "$@"', "sh", *line]
        job = subprocess.run(["mpirun", *QUIET, "-n", "2", *line, ":", "-n", "1", *small], capture_output=True,
                             text=True, timeout=60,
                             env=environment())
        if job.returncode != 0:
            break
    else:
        pytest.skip("no limit was low enough")
    assert not (tmp_path / "m.json").exists()
    if "roofs fit" in job.stderr:
        assert job.stderr.count("roofs fit:") == 1 and "rank 2" in job.stderr


@pytest.mark.parametrize("more", ([], ["--groups", "exact"]))
@pytest.mark.parametrize("samples", (500, 1300))     # with and without correlations on some of the samples
def test_ranks_find_the_same_groups(tmp_path, samples, more):
    for one, many in models(tmp_path, "g", [*look_alikes(tmp_path, samples), *more], (2, 3)):
        assert_same_groups(one, many)
        assert any(m["index"] not in [f["index"] for f in one["features"]] for g in one["groups"] for m in g["members"])
        for a, b in zip(one["groups"], many["groups"], strict=True):
            assert a["complete"] == b["complete"]
            np.testing.assert_allclose([m["probability"] for m in b["members"]],
                                       [m["probability"] for m in a["members"]], atol=1e-8)
