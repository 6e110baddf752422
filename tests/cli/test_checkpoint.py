"""Checkpoints of the program: a fit that was stopped and resumed writes the same model as one that was not; what does
not fit together is refused."""
import gzip
import json
import signal
import subprocess
import time

import numpy as np
import pytest
import scipy.sparse as sp

from conftest import npy
from methods import METHODS, required


@pytest.fixture
def data(memory_path):
    """A corrupted problem as files of every kind."""
    tmp_path = memory_path
    rng = np.random.default_rng(5)
    n, p = 80, 120
    x = rng.standard_normal((p, n))
    x[rng.random((p, n)) < 0.6] = 0
    y = 3 * x[4] - 2 * x[50] + 2 * x[90] + 0.1 * rng.standard_normal(n)
    y[::9] += 30
    np.save(tmp_path / "y.npy", y)
    for name, values in (("x64", x), ("x32", x.astype("f4"))):
        np.save(tmp_path / f"{name}.npy", values)
        for k, piece in enumerate(np.split(values, [50, 70])):
            np.save(tmp_path / f"{name}-{k}.npy", piece)
    np.save(tmp_path / "long64.npy", np.vstack([x] * 4))
    np.save(tmp_path / "long32.npy", np.vstack([x] * 4).astype("f4"))
    sp.save_npz(tmp_path / "long64.npz", sp.csc_matrix(np.vstack([x] * 4).T))
    sp.save_npz(tmp_path / "long32.npz", sp.csc_matrix(np.vstack([x] * 4).T.astype("f4")))
    with open(tmp_path / "named.csv", "w") as file:
        file.write(",".join(f"gene {j}" for j in range(p)) + "\n")
        np.savetxt(file, x.T, delimiter=",", fmt="%.17g")
    with gzip.open(tmp_path / "triplets.csv.gz", "wt") as file:
        file.write("feature,sample,value\n" + "".join(f"{j},{i},{x[j, i]:.17g}\n" for j, i in zip(*np.nonzero(x))))
    return tmp_path


def options(method):
    return ["--method", method, "--mu", 5, "--batch", 4, *required(method)]


def start(program, folder, *args, **more):
    return subprocess.Popen([program, *map(str, args)], cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                            **more)


def stop_when(process, condition, number=signal.SIGTERM):
    """Sends the signal as soon as the condition holds; the exit code, or None when it came too late."""
    while process.poll() is None and not condition():
        time.sleep(0.0005)
    process.send_signal(number)
    process.communicate()
    return process.returncode


def run(roofs, data, *args, **more):
    return roofs(*args, cwd=data, **more)


# ---- the same bits ------------------------------------------------------------------------

codes = []


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("files, more", [
    (["long64.npy"], []), (["long32.npy"], ["--passes", 2]), (["long64.npz"], ["--passes", 2]), (["long32.npz"], []),
    (["named.csv"], ["--batch", 1]), (["x64-0.npy", "x64-1.npy", "long64.npy", "x64-2.npy"], []),
])
def test_interrupted_fit_is_resumed_to_the_same_bits(roofs, program, data, method, files, more):
    fit = ["fit", "--y", "y.npy", *options(method), *more, *files, "-q"]
    run(roofs, data, *fit, "-o", "whole.json")
    process = start(program, data, *fit, "-o", "model.json", "--checkpoint", "ck", "--checkpoint-every", 3, "--threads",
                    2)
    code = stop_when(process, (data / "ck").exists)
    codes.append(code)
    assert code in (143, 0) and not list(data.glob("*.tmp")) and not (data / "ck.lock").exists()
    assert code == 0 or not (data / "model.json").exists()
    run(roofs, data, "resume", "ck", "-o", "model.json", "-q", "--threads", 1)
    assert (data / "model.json").read_bytes() == (data / "whole.json").read_bytes()


def test_most_were_interrupted():
    """Some signals come too late; the tests above would be idle if all did."""
    if len(codes) > 8:
        assert codes.count(143) > len(codes) / 2, codes


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("method", ("roofs", "roofs-bayes"))
def test_silent_pipe_can_be_interrupted(roofs, program, data, method, number, code):
    """Interrupted while it waits for data, the fit is saved; the same data again, or its rest as files, gives the same
    model."""
    x = np.load(data / "x64.npy")
    fit = ["fit", "--y", "y.npy", *options(method), "--passes", 1, "-q"]
    run(roofs, data, *fit, "x64.npy", "-o", "whole.json")
    process = start(program, data, *fit, "-", "-o", "model.json", "--checkpoint", "ck", stdin=subprocess.PIPE)
    process.stdin.write(npy(x)[:30000])
    process.stdin.flush()
    time.sleep(0.3)
    process.send_signal(number)
    _, printed = process.communicate()
    assert process.returncode == code and b"roofs resume ck" in printed and not (data / "model.json").exists()
    run(roofs, data, "resume", "ck", "-", "-o", "model.json", "-q", input=npy(x))
    assert (data / "model.json").read_bytes() == (data / "whole.json").read_bytes()


def test_pipe_with_other_data_is_refused(roofs, program, data):
    x = np.load(data / "x64.npy")
    process = start(program, data, "fit", "--y", "y.npy", *options("roofs"), "-", "--checkpoint", "ck",
                    stdin=subprocess.PIPE)
    process.stdin.write(npy(x)[:30000])
    process.stdin.flush()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    process.communicate()
    x[0, 0] += 1
    done = run(roofs, data, "resume", "ck", "-", "-o", "model.json", input=npy(x), ok=False)
    assert done.returncode == 3 and "differ from those that were read" in done.stderr
    assert not (data / "model.json").exists()
    done = run(roofs, data, "resume", "ck", "x64-1.npy", ok=False)
    assert done.returncode == 3 and "stopped inside it" in done.stderr


def test_checkpoints_do_not_change_the_fit(roofs, data):
    for method in METHODS:
        fit = ["fit", "--y", "y.npy", *options(method), "triplets.csv.gz", "-q"]
        run(roofs, data, *fit, "-o", "whole.json")
        run(roofs, data, *fit, "-o", "model.json", "--checkpoint", "ck", "--checkpoint-every", 1)
        assert (data / "model.json").read_bytes() == (data / "whole.json").read_bytes()


# ---- new features ----------------------------------------------------------------------------

def test_growing_folder_is_read_on(roofs, data):
    """Only the new files are used; those before are compared; batches end where files begin anew."""
    folder = data / "days"
    folder.mkdir()
    x = np.load(data / "x64.npy")
    np.save(folder / "day1.npy", x[:40])
    fit = ["fit", "--y", "y.npy", *options("roofs"), "-q", "-o"]
    run(roofs, data, *fit, "first.json", "days", "--checkpoint", "ck")
    np.save(folder / "day2.npy", x[40:80])
    np.save(folder / "day10.npy", x[80:])
    done = json.loads(run(roofs, data, "resume", "ck", "days", "-o", "model.json", "--json").stdout)
    assert done["features_seen"] == 120
    run(roofs, data, *fit, "whole.json", "days")
    assert (data / "model.json").read_bytes() == (data / "whole.json").read_bytes()
    again = run(roofs, data, "resume", "ck", "days", "-o", "again.json", "-q")
    assert again.returncode == 0 and (data / "again.json").read_bytes() == (data / "whole.json").read_bytes()


def test_new_files_alone_are_enough(roofs, data):
    fit = ["fit", "--y", "y.npy", *options("roofs-bayes"), "--passes", 1, "-q", "-o"]
    run(roofs, data, *fit, "whole.json", "x64-0.npy", "x64-2.npy", "--batch", 50)
    run(roofs, data, *fit, "first.json", "x64-0.npy", "--batch", 50, "--checkpoint", "ck")
    run(roofs, data, "resume", "ck", "x64-2.npy", "-o", "model.json", "-q")
    assert (data / "model.json").read_bytes() == (data / "whole.json").read_bytes()


def test_new_standard_input_is_read(roofs, data):
    x = np.load(data / "x64.npy")
    fit = ["fit", "--y", "y.npy", *options("roofs"), "-q", "-o"]
    run(roofs, data, *fit, "whole.json", "x64-0.npy", "x64-1.npy", "--batch", 50)
    run(roofs, data, *fit, "first.json", "-", "--batch", 50, "--checkpoint", "ck", input=npy(x[:50]))
    run(roofs, data, "resume", "ck", "-", "-o", "model.json", "-q", input=npy(x[50:70]))
    assert (data / "model.json").read_bytes() == (data / "whole.json").read_bytes()


def test_new_files_may_have_names_of_their_own(roofs, data):
    (data / "few").write_text("".join(f"n{j}\n" for j in range(50)))
    (data / "all").write_text("".join(f"n{j}\n" for j in range(120)))
    fit = ["fit", "--y", "y.npy", *options("roofs"), "-q", "-o"]
    run(roofs, data, *fit, "whole.json", "x64-0.npy", "x64-1.npy", "x64-2.npy", "--names", "all", "--batch", 10)
    run(roofs, data, *fit, "first.json", "x64-0.npy", "--names", "few", "--batch", 10, "--checkpoint", "ck")
    done = run(roofs, data, "resume", "ck", "x64-1.npy", "x64-2.npy", ok=False)
    assert done.returncode == 2 and "--names" in done.stderr
    run(roofs, data, "resume", "ck", "x64-1.npy", "x64-2.npy", "--names", "all", "-o", "model.json", "-q")
    assert (data / "model.json").read_bytes() == (data / "whole.json").read_bytes()


# ---- what is refused -----------------------------------------------------------------------------

@pytest.fixture
def ended(roofs, data):
    run(roofs, data, "fit", "--y", "y.npy", *options("roofs"), "x64-0.npy", "x64-1.npy", "-o", "m.json", "-q",
        "--checkpoint", "ck")
    return data


def refused(roofs, folder, *args, because, code=3):
    before = (folder / "ck").read_bytes() if (folder / "ck").exists() else None
    done = run(roofs, folder, "resume", *args, "-o", "out.json", ok=False)
    assert done.returncode == code, done.stderr
    assert because in done.stderr and done.stderr.count("\n") == 1
    assert not (folder / "out.json").exists() and not (folder / "ck.lock").exists()
    assert before is None or (folder / "ck").read_bytes() == before


def test_changed_files_are_refused(roofs, ended):
    x = np.load(ended / "x64-1.npy")
    np.save(ended / "x64-1.npy", x + (np.arange(20)[:, None] == 7))
    refused(roofs, ended, "ck", because="x64-1.npy: features 0 to 19 differ from those")
    np.save(ended / "x64-1.npy", x[:-1])
    refused(roofs, ended, "ck", because="x64-1.npy has 19 features, but 20")
    np.save(ended / "x64-1.npy", np.vstack([x, x]))
    refused(roofs, ended, "ck", "x64-1.npy", because="more than the 20 features")
    (ended / "x64-1.npy").unlink()
    refused(roofs, ended, "ck", because="x64-1.npy")
    run(roofs, ended, "resume", "ck", "x64-2.npy", "-o", "m.json", "-q")


def test_missing_checkpoint_is_refused(roofs, ended):
    refused(roofs, ended, "nothing", because="nothing")
    refused(roofs, ended, "m.json", because="not a checkpoint")
    assert run(roofs, ended, "resume", ok=False).returncode == 2


def test_new_files_in_a_later_pass_are_refused(roofs, data):
    run(roofs, data, "fit", "--y", "y.npy", *options("roofs"), "--passes", 2, "x64-0.npy", "-o", "m.json", "-q",
        "--checkpoint", "ck")
    refused(roofs, data, "ck", "x64-0.npy", "x64-1.npy", because="x64-1.npy is new, but the fit is in pass 2; new")
    refused(roofs, data, "ck", "x64-1.npy", because="x64-0.npy is not given")


def test_wider_numbers_are_refused(roofs, data):
    run(roofs, data, "fit", "--y", "y.npy", *options("roofs"), "x32-0.npy", "-o", "m.json", "-q", "--checkpoint", "ck")
    refused(roofs, data, "ck", "x64-1.npy", because="64-bit")


def test_other_samples_are_refused(roofs, ended):
    np.save(ended / "short.npy", np.ones((3, 79)))
    refused(roofs, ended, "ck", "short.npy", because="short.npy")


def test_resume_does_not_overwrite_its_inputs(roofs, ended):
    for args in (["ck", "-o", "ck"], ["ck", "x64-2.npy", "-o", "x64-2.npy"], ["ck", "ck"]):
        done = run(roofs, ended, "resume", *args, ok=False)
        assert done.returncode == 2, done.stderr


# ---- two at once ----------------------------------------------------------------------------------

def test_second_process_is_refused(roofs, program, data):
    process = start(program, data, "fit", "--y", "y.npy", *options("roofs"), "-", "--checkpoint", "ck",
                    stdin=subprocess.PIPE)
    process.stdin.write(npy(np.load(data / "x64.npy"))[:30000])
    process.stdin.flush()
    while not (data / "ck.lock").exists() or not (data / "ck.lock").read_text():
        time.sleep(0.01)
    done = run(roofs, data, "fit", "--y", "y.npy", *options("roofs"), "x64.npy", "--checkpoint", "ck", "-o", "m.json",
               ok=False)
    assert done.returncode == 1 and f"in use by process {process.pid}" in done.stderr and not (data / "m.json").exists()
    process.kill()
    process.communicate()
    run(roofs, data, "fit", "--y", "y.npy", *options("roofs"), "x64.npy", "--checkpoint", "ck", "-o", "m.json", "-q")
    assert not (data / "ck.lock").exists() and not list(data.glob("*.tmp"))
