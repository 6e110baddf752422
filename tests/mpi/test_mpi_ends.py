"""roofs-mpi ends, with one message, whatever a single rank does otherwise than the others."""
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from test_mpi import QUIET, SPLIT, environment, plain, processes

N, P, MU = 203, 24, 4
SECONDS = 10   # every job ends within this time


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ends") / "data"
    plain("simulate", "-q", "-o", folder, "--n", N, "--p", P, "--mu", MU)
    x, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    np.save(folder / "fewer-samples.npy", x[:, :150])
    np.save(folder / "fewer-y.npy", y[:150])
    np.save(folder / "fewer-features.npy", x[:20])
    np.save(folder / "f32.npy", x.astype(np.float32))
    x[13, N - 1] += 1
    np.save(folder / "other-value.npy", x)
    y[3] += 1
    np.save(folder / "other-y.npy", y)
    for name in ("a", "b"):
        (folder / f"names-{name}").write_text("".join(f"{name}{j}\n" for j in range(P)))
    (folder / "short.csv").write_text("".join(",".join(map(repr, row.tolist())) + "\n" for row in x[:20]))
    (folder / "long.csv").write_text("".join(",".join(map(repr, row.tolist())) + "\n" for row in x))
    plain("fit", "-q", "--mu", MU, "--y", folder / "y.npy", folder / "X.npy", "-o", folder / "model.json")
    return folder


def job_of(*ranks):
    """A job in which every rank has a command line of its own."""
    words = ["mpirun", *QUIET]
    for k, arguments in enumerate(ranks):
        words += [*([":"] if k else []), "-n", "1", str(SPLIT), *map(str, arguments)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
                            start_new_session=True)


def end_of(*ranks):
    """The exit code and the messages of the job; fails if it does not end."""
    job = job_of(*ranks)
    try:
        out, err = job.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        pytest.fail(f"the job does not end within {SECONDS} seconds")
    finally:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
    return job.returncode, out, err


def fit(data, folder, *more, x="X.npy", y="y.npy", mu=MU):
    return ["fit", "-q", "--threads", 1, "--mu", mu, "--batch", 7, "--y", data / y, data / x, "-o", folder / "m.json",
            *more]


OTHERWISE = {   # what one rank does, and what the message says
    "samples": (dict(x="fewer-samples.npy", y="fewer-y.npy"), [], f"samples: .*{N}.*150|150.*{N}"),
    "features": (dict(x="fewer-features.npy"), [], "not the same file"),
    "features of text": (dict(x="short.csv"), ["--orient", "features"], "not the same file"),
    "values": (dict(x="other-value.npy"), [], "other-value.npy|X.npy is not the same file"),
    "response": (dict(y="other-y.npy"), [], "y.npy is not the same file"),
    "type": (dict(x="f32.npy"), [], "not the same file"),
    "names": ({}, ["--names", "names-b"], "files"),
    "mu": (dict(mu=MU + 1), [], f"differ in mu: {MU} .*{MU + 1}|differ in mu: {MU + 1} .*{MU}"),
    "no mu": (dict(mu=0), [], "mu"),
    "method": ({}, ["--method", "roofs"], "method is roofs"),
    "batch": ({}, ["--batch", 8], "batch is"),
    "intercept": ({}, ["--no-intercept"], "intercept is|unknown option"),
    "passes": ({}, ["--passes", 2], "passes is"),
    "checkpoint": ({}, ["--checkpoint", "ck"], "options of roofs fit"),
    "explain": ({}, ["--explain"], "options of roofs fit"),
    "missing file": (dict(x="none.npy"), [], "none.npy"),
    "unknown option": ({}, ["--nonsense"], "nonsense"),
    "bad value": ({}, ["--eta", "-1"], "eta"),
    "help": ({}, ["--help"], "ends alone"),
    "limit": ({}, ["--max-memory", "1000"], "1000"),
}


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("name", OTHERWISE)
def test_fit_of_one_rank_that_differs_ends_the_job(data, tmp_path, name, which):
    changes, more, message = OTHERWISE[name]
    places = {"names-b": data / "names-b", "ck": tmp_path / "ck"}
    more = [places.get(word, word) for word in more]
    ranks = [fit(data, tmp_path), fit(data, tmp_path)]
    ranks[which] = fit(data, tmp_path, *more, **changes)
    code, _, err = end_of(*ranks)
    assert code in (1, 2, 3, 5), err
    assert re.search(message, err), err
    assert "rank" in err or which == 0, err
    assert not (tmp_path / "m.json").exists()


def test_settings_of_the_execution_may_differ(data, tmp_path):
    code, _, err = end_of(fit(data, tmp_path), fit(data, tmp_path, "--threads", 2, "--max-memory", "1G", "-q"))
    assert code == 0 and (tmp_path / "m.json").exists(), err


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("words", [["predict", "model.json", "X.npy"], ["evaluate", "model.json", "."], [], ["nothing"],
                                   ["--version"], ["--wait-limit", "x", "fit"]])
def test_verb_of_one_rank_that_differs_ends_the_job(data, tmp_path, words, which):
    other = [str(data / word) if (data / word).exists() else word for word in words]
    ranks = [fit(data, tmp_path), other] if which else [other, fit(data, tmp_path)]
    code, _, err = end_of(*ranks)
    assert code == 2 and err, err
    assert not (tmp_path / "m.json").exists()


@pytest.mark.parametrize("line", [["predict", "{model}", "{x}", "-o", "{out}"],
                                  ["simulate", "-q", "-o", "{out}", "--n", 50, "--p", 9, "--mu", 2]])
@pytest.mark.parametrize("which", [0, 1])
def test_other_verbs_compare_their_options_and_files(data, tmp_path, line, which):
    names = dict(model=data / "model.json", x=data / "X.npy", out=tmp_path / "out")
    same = [str(word).format(**names) for word in line]
    changed = {str(data / "X.npy"): str(data / "fewer-samples.npy"), "9": "8"}
    other = [changed.get(word, word) for word in same]
    assert same != other
    code, _, err = end_of(*([same, other] if which else [other, same]))
    assert code != 0 and "differ" in err, err
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").iterdir())
    code, _, err = end_of(same, same)
    assert code == 0, err


def test_limit_that_only_one_rank_passes_ends_all(data, tmp_path):
    """The ranks hold 101 and 102 samples. The limit is what the first one needs."""
    _, _, err = end_of(fit(data, tmp_path, "--max-memory", 1), fit(data, tmp_path, "--max-memory", 1))
    needed = int(re.search(r"needs (\d+) bytes", err).group(1))
    ranks = [fit(data, tmp_path, "--max-memory", needed)] * 2
    code, _, err = end_of(*ranks)
    assert code == 5 and err.count("rank 1: the fit needs") == 1, err


def test_every_limit_ends_the_job(data, tmp_path):
    """Limits from far too low to enough: a job ends with a model or with a message."""
    _, _, err = end_of(fit(data, tmp_path, "--max-memory", 1), fit(data, tmp_path, "--max-memory", 1))
    needed = int(re.search(r"needs (\d+) bytes", err).group(1))
    ends = set()
    for limit in (needed // 2, needed - 1, needed + 1000, needed + 100_000):
        names = ["--names", data / "names-a"]
        code, _, err = end_of(*[fit(data, tmp_path, "--max-memory", limit, *names)] * 2)
        assert code in (0, 5) and (code == 0 or "limit" in err), err
        ends.add(code)
    assert ends == {0, 5}


def test_rank_that_stands_still_is_named(data, tmp_path):
    """A stopped process does not end: the limit of --wait-limit does, and names the rank and the call."""
    marker = str(tmp_path / "m.json")
    line = ["--wait-limit", 2, "fit", "-q", "--mu", 20, "--batch", 1, "--passes", 1000, "--max-iter", 1000000, "--tol",
            0, "--method", "roofs", "--y", data / "y.npy", data / "X.npy", "-o", marker]
    job = job_of(line, line, line)
    stopped = []
    try:
        while len(processes(marker)) < 3 and job.poll() is None:
            time.sleep(0.05)
        time.sleep(1.5)
        stopped = [max(processes(marker))]
        os.kill(stopped[0], signal.SIGSTOP)
        begun = time.monotonic()
        _, err = job.communicate(timeout=30)
        assert time.monotonic() - begun < 2 + SECONDS and job.returncode != 0
        assert re.search(r"rank [12] did not arrive at (sum|gather) \d+ within 2 seconds", err), err
    finally:
        for process in stopped:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
    assert not Path(marker).exists()


def test_slow_rank_is_waited_for(data, tmp_path):
    """A rank that only comes late, within the limit, changes nothing."""
    marker = str(tmp_path / "m.json")
    line = ["--wait-limit", 20, "fit", "-q", "--mu", MU, "--batch", 1, "--passes", 40, "--y", data / "y.npy",
            data / "X.npy", "-o", marker]
    job = job_of(line, line)
    try:
        while len(processes(marker)) < 2 and job.poll() is None:
            time.sleep(0.01)
        if job.poll() is None:
            slow = max(processes(marker))
            os.kill(slow, signal.SIGSTOP)
            time.sleep(2)
            os.kill(slow, signal.SIGCONT)
        _, err = job.communicate(timeout=40)
    finally:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
    assert job.returncode == 0 and Path(marker).exists(), err


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("more, message", [(["--checkpoint-every", 7], "options of roofs resume"),
                                           (["--max-memory", 1], "limit"), (["{x}"], "options|list of files"),
                                           (["--names", "{names}"], "list of files|names"),
                                           (["--nonsense"], "nonsense")])
def test_resume_of_one_rank_that_differs_ends_the_job(data, tmp_path, more, message, which):
    checkpoint = tmp_path / "ck"
    code, _, err = end_of(*[fit(data, tmp_path, "--checkpoint", checkpoint, "--passes", 1)] * 2)
    assert code == 0, err
    before = {path.name: path.read_bytes() for path in tmp_path.glob("ck*")}
    ranks = [["resume", "-q", checkpoint, "-o", tmp_path / "again.json"]] * 2
    more = [str(word).format(x=data / "X.npy", names=data / "names-a") for word in more]
    ranks[which] = [*ranks[which], *more]
    code, _, err = end_of(*ranks)
    assert code in (1, 2, 3, 5) and re.search(message, err), err
    assert not (tmp_path / "again.json").exists()
    assert {path.name: path.read_bytes() for path in tmp_path.glob("ck*")} == before
