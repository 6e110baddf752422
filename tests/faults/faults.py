"""Faults done to a running fit, on purpose. Each function tries one kind of fault and gives an Outcome; nothing here
asserts.

A fault is survived when the program ends as it should (a clear message, the right exit code, no crash, nothing half
written), and nothing is lost when the fit, resumed from what the fault left behind, writes the same model to the bit as
the fit that was never disturbed.
"""
import errno
import os
import random
import resource
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

METHODS = ("roofs-bayes", "roofs", "os", "grafting", "torrent", "rlhh", "homotopy", "dalm")


@dataclass
class Outcome:
    fault: str
    tried: int = 0
    survived: int = 0
    lost: int = 0
    notes: list = field(default_factory=list)

    def add(self, survived, lost, note=""):
        self.tried += 1
        self.survived += bool(survived)
        self.lost += bool(lost)
        if lost or not survived:
            self.notes.append(note)


class Lab:
    """A folder with a problem, the program, and the models of undisturbed fits."""

    def __init__(self, program, folder, n=60, p=480, batch=4, mu=5, seed=1):
        self.program, self.folder, self.batch, self.mu = str(program), Path(folder), batch, mu
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((p, n))
        y = 3 * x[4] - 2 * x[p // 2] + 2 * x[p - 3] + 0.1 * rng.standard_normal(n)
        y[::9] += 30
        np.save(self.folder / "y.npy", y)
        np.save(self.folder / "x.npy", x)
        self.x_bytes = (self.folder / "x.npy").read_bytes()
        self.random = random.Random(seed)
        self.whole = {}

    def args(self, method, *more):
        return ["fit", "--y", "y.npy", "--method", method, "--mu", self.mu, "--batch", self.batch, "--passes", 1,
                "--threads", 1, "x.npy", "-q",
                *(["--clean-ratio", 0.8] if method == "torrent" else []), *more]

    def fit_args(self, method, every=2):
        return self.args(method, "-o", "model.json", "--checkpoint", "ck", "--checkpoint-every", every)

    def start(self, *args, env=None, **more):
        return subprocess.Popen([self.program, *map(str, args)], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE,
                                env={**os.environ, **(env or {})}, **more)

    def run(self, *args, env=None, **more):
        done = subprocess.run([self.program, *map(str, args)], cwd=self.folder, capture_output=True, timeout=120,
                              stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})}, **more)
        done.stderr = done.stderr.decode(errors="replace")
        return done

    def undisturbed(self, method):
        if method not in self.whole:
            began = time.monotonic()
            done = self.run(*self.fit_args(method))
            assert done.returncode == 0, done.stderr
            self.whole[method] = (self.folder / "model.json").read_bytes(), time.monotonic() - began
        self.clear()
        return self.whole[method]

    def clear(self):
        for name in ("model.json", "ck", "ck.lock"):
            (self.folder / name).unlink(missing_ok=True)
        for left in self.folder.glob("*.tmp"):
            left.unlink()

    def model(self):
        path = self.folder / "model.json"
        return path.read_bytes() if path.exists() else None

    def go_on(self, method):
        """Resumes what there is, or begins anew where there is no checkpoint."""
        there = (self.folder / "ck").exists()
        return self.run("resume", "ck", "-o", "model.json", "-q") if there else self.run(*self.fit_args(method))

    def is_lost(self, method):
        """Whether what a fault left behind does not lead to the model of the undisturbed fit."""
        done = self.go_on(method)
        return done.returncode != 0 or self.model() != self.whole[method][0]

    def nothing_half_written(self):
        return not list(self.folder.glob("*.tmp")) and not (self.folder / "ck.lock").exists()


def is_clear(done, code, *words):
    """One line that says what is wrong."""
    return done.returncode == code and done.stderr.count("\n") == 1 and all(word in done.stderr for word in words)


# ---- processes that end ---------------------------------------------------------------------------

def killed(lab, tries=200):
    """SIGKILL at random moments: of the fit, then of the one that resumes it, until one comes through."""
    out = Outcome("SIGKILL at a random moment")
    turn = 0
    while out.tried < tries:
        method = METHODS[turn % len(METHODS)]
        model, seconds = lab.undisturbed(method)
        kills, came_through = 0, False
        while not came_through and kills < 5:
            there = (lab.folder / "ck").exists()
            args = ["resume", "ck", "-o", "model.json", "-q", "--checkpoint-every",
                    2] if there else lab.fit_args(method)
            process = lab.start(*args)
            try:
                process.communicate(timeout=lab.random.uniform(0.05, 1) * seconds)
                came_through = True
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
        lost = lab.is_lost(method)
        for _ in range(kills):
            out.add(not lost, lost, f"{method}, killed {kills} times")
        turn += 1
    return out


def interrupted(lab, tries=40):
    """SIGINT, SIGTERM and SIGHUP at random moments: exit 130, 143 and 129, and a checkpoint, unless there was nothing
    yet to keep."""
    out = Outcome("SIGINT, SIGTERM, SIGHUP at a random moment")
    for k in range(10 * tries):
        if out.tried == tries:
            break
        method, number = METHODS[k % len(METHODS)], (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[k % 3]
        _, seconds = lab.undisturbed(method)
        process = lab.start(*lab.fit_args(method, every=1000))
        while process.poll() is None and not (lab.folder / "ck.lock").exists():
            time.sleep(0.0005)
        try:
            process.communicate(timeout=lab.random.uniform(0, 0.7) * seconds)
            continue   # it was faster
        except subprocess.TimeoutExpired:
            process.send_signal(number)
            process.communicate()
        if process.returncode == 0:
            continue
        fine = (process.returncode == 128 + number and (lab.folder / "ck").exists() and lab.nothing_half_written()
                and not lab.model())
        lost = lab.is_lost(method)
        out.add(fine, lost, f"{method}: exit {process.returncode}")
    return out


# ---- bad checkpoints ------------------------------------------------------------------------------

def damaged(lab, stride=1, stride_of_fit=1):
    """Every prefix and every changed byte of a small checkpoint: refused with exit 3. The part behind the list of files
    is the library's own; tests/unit/test_api_checkpoint.c does the same to it, faster."""
    cut, flipped = Outcome("checkpoint cut off"), Outcome("checkpoint with a changed byte")
    lab.clear()
    done = lab.run("fit", "--y", "y.npy", "--method", "roofs", "--mu", 1, "--batch", 200, "x.npy", "-q", "-o",
                   "model.json", "--checkpoint", "ck")
    assert done.returncode == 0, done.stderr
    content = (lab.folder / "ck").read_bytes()

    def refused(out, changed, what):
        (lab.folder / "bad").write_bytes(changed)
        done = lab.run("inspect" if len(changed) % 16 else "resume", "bad")
        kept = (lab.folder / "bad").read_bytes() == changed
        out.add(is_clear(done, 3, "bad") or (len(changed) < 8 and done.returncode == 3), not kept,
                f"{what}: {done.returncode} {done.stderr}")
    fit_begins = 48 + int.from_bytes(content[32:40], "little")   # head, head of the first section, its length
    places = [*range(0, fit_begins, stride), *range(fit_begins, len(content), stride_of_fit)]
    for size in places:
        refused(cut, content[:size], f"the first {size} bytes")
    for place in places:
        refused(flipped, content[:place] + bytes([content[place] ^ (1 << place % 8)]) + content[place + 1:],
                f"byte {place}")
    (lab.folder / "bad").unlink()
    return [cut, flipped]


# ---- disks that fail ------------------------------------------------------------------------------

def failing_writes(lab, shim, numbers=(errno.EIO, errno.ENOSPC), stride=1):
    """Each call that writes made to fail once: fwrite, fflush, fsync, rename."""
    results = []
    for number in numbers:
        out = Outcome(f"write error ({errno.errorcode[number]}) at the k-th call")
        lab.undisturbed("roofs")
        for k in range(1, 100000, stride):
            lab.clear()
            done = lab.run(*lab.fit_args("roofs", every=20),
                           env={"LD_PRELOAD": str(shim), "FAULT_AT": str(k), "FAULT_ERRNO": str(number),
                                "ASAN_OPTIONS": "verify_asan_link_order=0"})
            if done.returncode == 0:
                break   # there is no k-th call
            whole = not (lab.folder / "ck").exists() or lab.run("inspect", "ck").returncode == 0
            fine = is_clear(done, 1, os.strerror(number)) and lab.nothing_half_written() and whole
            lost = lab.is_lost("roofs")
            out.add(fine, lost, f"call {k}: {done.returncode} {done.stderr}")
        results.append(out)
    return results


def full_disk(lab, steps=40):
    """Files may only grow to a limit (RLIMIT_FSIZE): the checkpoint from before stays as it was, byte by byte."""
    out = Outcome("disk full (size limit) while writing a checkpoint")
    lab.undisturbed("roofs")
    process = lab.start(*lab.fit_args("roofs", every=3))
    while process.poll() is None and not (lab.folder / "ck").exists():
        time.sleep(0.0005)
    process.kill()
    process.communicate()
    before = (lab.folder / "ck").read_bytes()
    for k in range(steps):
        limit = k * len(before) // steps
        (lab.folder / "ck").write_bytes(before)
        (lab.folder / "model.json").unlink(missing_ok=True)
        (lab.folder / "ck.lock").unlink(missing_ok=True)
        done = lab.run("resume", "ck", "-o", "model.json", "-q",
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        same = (lab.folder / "ck").read_bytes() == before
        fine = is_clear(done, 1, os.strerror(errno.EFBIG), "ck") and lab.nothing_half_written() and same
        lost = lab.is_lost("roofs")
        out.add(fine, lost, f"limit {limit}: {done.returncode} {done.stderr}")
    return out


# ---- data that fail -------------------------------------------------------------------------------

def source_ends_early(lab, tries=20):
    """The file is cut off somewhere: exit 3, the features before are kept, the whole file goes on from there."""
    out = Outcome("source ends early")
    for k in range(tries):
        method = METHODS[k % len(METHODS)]
        lab.undisturbed(method)
        (lab.folder / "x.npy").write_bytes(lab.x_bytes[:lab.random.randrange(1000, len(lab.x_bytes))])
        done = lab.run(*lab.fit_args(method))
        fine = is_clear(done, 3, "x.npy") and lab.nothing_half_written() and not lab.model()
        (lab.folder / "x.npy").write_bytes(lab.x_bytes)
        out.add(fine, lab.is_lost(method), f"{method}: {done.returncode} {done.stderr}")
    return out


def source_changes(lab, tries=20):
    """The file is truncated while it is read, then put back: an error, and nothing lost. Changed between two runs:
    refused, and put back it goes on."""
    out = Outcome("source changes under the reader")
    for k in range(tries):
        method = METHODS[k % len(METHODS)]
        _, seconds = lab.undisturbed(method)
        process = lab.start(*lab.fit_args(method))
        while process.poll() is None and not (lab.folder / "ck").exists():
            time.sleep(0.0005)
        if k % 2:
            os.truncate(lab.folder / "x.npy", lab.random.randrange(1000, len(lab.x_bytes)))
            process.communicate()
            fine = process.returncode in (0, 3)   # 0: it had read everything
        else:
            process.kill()
            process.communicate()
            changed = bytearray(lab.x_bytes)
            changed[128 + 8 * lab.random.randrange(60)] ^= 1   # in the first feature
            (lab.folder / "x.npy").write_bytes(changed)
            done = lab.run("resume", "ck", "-o", "model.json")
            fine = is_clear(done, 3, "x.npy", "differ from those that were read")
        (lab.folder / "x.npy").write_bytes(lab.x_bytes)
        out.add(fine, lab.is_lost(method), f"{method}: {process.returncode}")
    return out


def source_stalls(lab, tries=10):
    """A pipe sends nothing more and the program gets a signal: the checkpoint has what came, and can be resumed."""
    out = Outcome("source stalls, then SIGTERM")
    for k in range(tries):
        method = METHODS[k % len(METHODS)]
        lab.undisturbed(method)
        args = [a if a != "x.npy" else "-" for a in lab.fit_args(method)]
        process = lab.start(*args, stdin=subprocess.PIPE)
        process.stdin.write(lab.x_bytes[:lab.random.randrange(40000, 60000)])
        process.stdin.flush()
        while process.poll() is None and not (lab.folder / "ck").exists():
            time.sleep(0.001)
        time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        process.communicate()
        fine = process.returncode == 143 and lab.nothing_half_written()
        with open(lab.folder / "x.npy", "rb") as whole:
            done = subprocess.run([lab.program, "resume", "ck", "-", "-o", "model.json", "-q"], cwd=lab.folder,
                                  stdin=whole, capture_output=True)
        out.add(fine, done.returncode != 0 or lab.model() != lab.whole[method][0],
                f"{method}: {process.returncode} {done.stderr.decode()}")
    return out


# ---- memory ---------------------------------------------------------------------------------------

def failing_allocations(build):
    """tests/unit/test_api_no_memory.c: every allocation of the library made to fail once."""
    done = subprocess.run([Path(build) / "tests" / "test_api_no_memory"], capture_output=True, text=True)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("allocations made to fail:")]
    tried = int(lines[0].split(":")[1]) if lines else 0
    return Outcome("allocation fails", tried, tried if done.returncode == 0 and tried else 0,
                   0 if done.returncode == 0 and tried else 1)
