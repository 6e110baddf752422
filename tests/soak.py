"""An hour of random fits, resumes, kills and corrupt inputs: soak.py [--seconds 3600] [--seed 1] [--only STEP]

Each step draws a problem and does one thing to it; everything follows from the seed and the number of the step, so a
shorter run is the beginning of a longer one, and --only repeats a step. What must hold:

- A fit that was stopped or killed any number of times and resumed writes the model of the undisturbed fit, bit by bit.
- Threads, formats of the input and reading ahead change no bit.
- A signal ends the program within 10 seconds, with exit code 128 + signal, or 0 if the output was complete.
- Nothing takes longer than 60 seconds, and a refusal not longer than 10.
- Damaged input is refused in one line of printable text, with exit code 1, 2, 3 or 5, or read: never a crash.
- What was there before a failure is there after it, and no unfinished file is left.
"""
import argparse
import gzip
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unicodedata
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
METHODS = ("roofs-bayes", "roofs", "os", "grafting", "torrent", "rlhh", "homotopy", "dalm")
REFUSALS = (1, 2, 3, 5)
STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

UNSAFE = {"Cc", "Zl", "Zp"}     # control characters and ends of lines are not printed as they are


class Broken(Exception):
    """Something that must hold does not."""


def must(condition, *what):
    if not condition:
        raise Broken(" ".join(map(str, what)))


class Step:
    """A folder with a problem that is drawn from the seed, and the program."""

    def __init__(self, program, folder, seed, number):
        self.program, self.folder = str(program), Path(folder)
        self.random = random.Random(f"{seed}-{number}")
        rng = np.random.default_rng([seed, number])
        self.n, self.p = self.random.randrange(8, 80), self.random.randrange(6, 300)
        x = rng.standard_normal((self.p, self.n))
        if self.random.random() < 0.3:
            x *= rng.random((self.p, self.n)) < 0.2   # sparse
        y = x.T @ (rng.standard_normal(self.p) * (rng.random(self.p) < 3 / self.p)) + 0.1 * rng.standard_normal(self.n)
        y[rng.random(self.n) < 0.15] += 20
        self.x, self.dtype = x, self.random.choice(("f8", "f4"))
        np.save(self.folder / "y.npy", y)
        np.save(self.folder / "x.npy", x.astype(self.dtype))
        self.method = self.random.choice(METHODS)
        self.options = ["--method", self.method, "--mu", self.random.randrange(1, 9), "--batch",
                        self.random.choice((1, 3, 8, 40)), "--passes", self.random.choice((1, 1, 2)), "--orient",
                        "features", *(["--clean-ratio", "0.8"] if self.method == "torrent" else [])]

    def fit(self, *more, file="x.npy"):
        return ["fit", "--y", "y.npy", file, "-q", *self.options, *more]

    def path(self, name):
        return self.folder / name

    def start(self, *args, **more):
        return subprocess.Popen([self.program, *map(str, args)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **more)

    def run(self, *args, codes=(0,), within=60, **more):
        began = time.monotonic()
        try:
            done = subprocess.run([self.program, *map(str, args)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=within, **more)
        except subprocess.TimeoutExpired:
            raise Broken(f"still running after {within} s: {args}") from None
        text = done.stderr.decode(errors="replace")
        must(done.returncode in codes, "exit", done.returncode, *args, text[:2000])
        must("Sanitizer" not in text and "runtime error" not in text, text[:2000])
        done.text, done.seconds = text, time.monotonic() - began
        return done

    def leftovers(self):
        return [p.name for p in self.folder.iterdir() if p.name.startswith(".roofs") or p.name.endswith(".tmp")]

    def refused_well(self, done):
        lines = done.text.splitlines()
        must(done.seconds < 10, "refused only after", done.seconds, "s")
        must(1 <= len(lines) <= 2 and lines[0].startswith("roofs"), "message", repr(done.text[:500]))
        unsafe = any(unicodedata.category(ch) in UNSAFE for line in lines for ch in line)
        must(not unsafe, "message", repr(done.text[:500]))

    def whole(self):
        self.run(*self.fit("-o", "whole.json", "--threads", 1))
        return self.path("whole.json").read_bytes()


# ---- what is done ---------------------------------------------------------------------------------------

def same_bits(s):
    """Threads, files and reading ahead change nothing."""
    whole = s.whole()
    np.save(s.path("wide.npy"), np.asfortranarray(s.x.astype(s.dtype)))
    half = s.p // 2
    np.save(s.path("x1.npy"), s.x[:half].astype(s.dtype))
    np.save(s.path("x2.npy"), s.x[half:].astype(s.dtype))
    (s.path("x.npy.gz")).write_bytes(gzip.compress(s.path("x.npy").read_bytes()))
    for args in (s.fit("--threads", 2), s.fit("--ahead"), s.fit(file="wide.npy"), s.fit(file="x.npy.gz"),
                 s.fit("x2.npy", file="x1.npy")):
        s.run(*args, "-o", "other.json")
        must(s.path("other.json").read_bytes() == whole, "other bits:", *args)


def stopped_and_resumed(s, signals=(*STOPS, signal.SIGKILL), most=6):
    began = time.monotonic()
    whole = s.whole()
    seconds = time.monotonic() - began
    every = s.random.choice((1, 2, 7))
    args = s.fit("-o", "model.json", "--checkpoint", "ck", "--checkpoint-every", every)
    killed = set()   # a file that was killed between its temporary and its final name stays until the next write
    for _ in range(most):
        process = s.start(*args)
        number = s.random.choice(signals)
        try:
            process.wait(s.random.uniform(0.1, 1.2) * seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
        signalled = time.monotonic()
        try:
            text = process.communicate(timeout=10)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Broken(f"{number.name}: still running after 10 s") from None
        code = process.returncode
        must("Sanitizer" not in text, text[:2000])
        must(code in (0, 128 + number, -number), number.name, "exit", code, text)
        killed |= set(s.leftovers()) if number == signal.SIGKILL else set()
        must(set(s.leftovers()) <= killed, "left behind:", s.leftovers(), "after", time.monotonic() - signalled)
        if code == 0:
            break
        must(not s.path("model.json").exists() or s.path("model.json").read_bytes() == whole, "half a model")
        if s.path("ck").exists():
            s.run("inspect", "ck")
            args = ["resume", "ck", "-o", "model.json", "-q", "--checkpoint-every", every]
    s.run(*args)
    must(s.path("model.json").read_bytes() == whole, "other bits after a resume")
    must(not s.leftovers() and not s.path("ck.lock").exists(), "left behind:", s.leftovers())


def full_disk(s):
    """Files may grow to a limit only: the model, the checkpoint and the copy from before stay."""
    whole = s.whole()
    args = s.fit("-o", "model.json", "--checkpoint", "ck", "--checkpoint-every", 3)
    s.run(*args)
    before = {name: s.path(name).read_bytes() for name in ("model.json", "ck")}
    limit = s.random.randrange(0, len(before["ck"]))
    done = s.run(*args, codes=(0, 1), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    must(not s.leftovers(), "left behind:", s.leftovers())
    if done.returncode:
        s.refused_well(done)
        must("cannot be written" in done.text, done.text)
        must(s.path("model.json").read_bytes() == before["model.json"], "the model changed")
        s.run("inspect", "ck")   # that from before, or a later one that was small enough
    s.run("resume", "ck", "-o", "model.json", "-q")
    must(s.path("model.json").read_bytes() == whole, "other bits after a full disk")


def damage(s, content):
    """Some bytes changed, cut off, repeated or put in."""
    content = bytearray(content)
    for _ in range(s.random.choice((1, 1, 2, 5))):
        at, kind = s.random.randrange(len(content) + 1), s.random.randrange(5)
        head = s.random.random() < 0.5
        at = min(at, s.random.randrange(1, 200)) if head else at
        if kind == 0 and content:
            content[min(at, len(content) - 1)] ^= 1 << s.random.randrange(8)
        elif kind == 1:
            del content[at:]
        elif kind == 2:
            content[at:at] = bytes(s.random.randrange(256) for _ in range(s.random.randrange(1, 20)))
        elif kind == 3:
            del content[at:at + s.random.randrange(1, 40)]
        else:
            content[at:at] = content[max(0, at - 30):at]
    return bytes(content)


def write_format(s, ending):
    name = "in" + ending
    if ending == ".npy":
        shutil.copy(s.path("x.npy"), s.path(name))
    else:
        s.run("convert", "x.npy", "--orient", "features", "-o", name, "-q", "--y", "y.npy",
              *([] if ending == ".svm" else ["--save-y", "unused.npy"]))
    return name


def damaged_input(s):
    """Features of every format: read or refused; neither a model nor anything else is left of a refusal."""
    name = write_format(s, s.random.choice((".npy", ".npz", ".csv", ".tsv", ".svm", ".triplets")))
    good = s.path(name).read_bytes()
    s.run(*s.fit("-o", "good.json"))
    orient = ["--orient", "features"] if name.endswith(".npy") else []
    for _ in range(8):
        content = damage(s, good)
        s.path(name).write_bytes(gzip.compress(content) if s.random.random() < 0.2 else content)
        fit = ["fit", "--y", "y.npy", name, "-q", "--mu", 3, "--passes", 1, "-o", "model.json", *orient]
        for args in (fit, ["predict", "good.json", name, "-o", "yhat.txt", *orient],
                     ["convert", name, "-o", "out.npz", "-q", *orient]):
            out = s.path(args[args.index("-o") + 1])
            out.unlink(missing_ok=True)
            done = s.run(*args, codes=(0, *REFUSALS))
            must(not s.leftovers(), "left behind:", s.leftovers())
            must((done.returncode == 0) == out.exists(), "exit", done.returncode, "and", out.name, out.exists())
            if done.returncode:
                s.refused_well(done)


def damaged_results(s):
    """Models and checkpoints: read or refused, and never changed."""
    s.run(*s.fit("-o", "good.json", "--checkpoint", "good.ck"))
    for _ in range(8):
        model, ck = damage(s, s.path("good.json").read_bytes()), damage(s, s.path("good.ck").read_bytes())
        s.path("model.json").write_bytes(model)
        s.path("ck").write_bytes(ck)
        for args in (["inspect", "model.json"], ["predict", "model.json", "x.npy", "--orient", "features"]):
            done = s.run(*args, codes=(0, *REFUSALS))
            if done.returncode:
                s.refused_well(done)
        if ck != s.path("good.ck").read_bytes():
            for args in (["inspect", "ck"], ["resume", "ck", "-o", "other.json"]):
                s.refused_well(s.run(*args, codes=REFUSALS))
            must(s.path("ck").read_bytes() == ck, "a refused checkpoint changed")
        must(s.path("model.json").read_bytes() == model and not s.path("other.json").exists(), "a file changed")


def round_trips(s):
    """Through every format, the same numbers and predictions."""
    s.run(*s.fit("-o", "model.json"))
    s.run("predict", "model.json", "x.npy", "-o", "wanted.npy", "--orient", "features")
    wanted = s.path("wanted.npy").read_bytes()
    for ending in s.random.sample((".npz", ".csv", ".tsv", ".svm", ".triplets"), 3):
        name = write_format(s, ending)
        # LIBSVM files and triplets end with the last value that is not zero
        if ending in (".npz", ".csv", ".tsv"):
            orient = ["--orient", "samples"] if ending == ".npz" else []
            s.run("convert", name, "-o", "back.npy", "-q", *orient)
            back = np.load(s.path("back.npy"))
            must(back.shape == s.x.shape and np.array_equal(back, s.x.astype(s.dtype).astype(back.dtype)), name)
            s.run("predict", "model.json", name, "-o", "other.npy", *orient)
            must(s.path("other.npy").read_bytes() == wanted, "other predictions from", name)


def two_at_once(s):
    """One of two fits on a checkpoint is refused, or comes after the other; the model is the same."""
    whole = s.whole()
    args = s.fit("--checkpoint", "ck", "--checkpoint-every", 1)
    both = [s.start(*args, "-o", f"m{k}.json") for k in range(2)]
    codes = []
    for process in both:
        text = process.communicate(timeout=60)[1].decode(errors="replace")
        codes.append(process.returncode)
        must(process.returncode == 0 or (process.returncode == 1 and "in use by" in text), process.returncode, text)
    must(0 in codes, "both were refused")
    for k, code in enumerate(codes):
        must(code or s.path(f"m{k}.json").read_bytes() == whole, "other bits from two at once")
    must(not s.path("ck.lock").exists() and not s.leftovers(), "left behind")
    s.run("resume", "ck", "-o", "again.json", "-q")
    must(s.path("again.json").read_bytes() == whole, "other bits after two at once")


def stopped_verbs(s):
    """A signal to predict, convert and simulate: a whole file or none."""
    s.run(*s.fit("-o", "model.json"))
    write_format(s, ".csv")
    for args in (["predict", "model.json", "in.csv", "-o", "out.txt"], ["convert", "in.csv", "-o", "out.npz", "-q"],
                 ["simulate", "-o", ".", "--n", 200, "--p", 2000, "--mu", 3, "-q", "--threads", 1]):
        out = s.path("X.npy" if args[0] == "simulate" else args[args.index("-o") + 1])
        s.run(*args)
        whole = out.read_bytes()
        out.unlink()
        process, number = s.start(*args), s.random.choice((*STOPS, signal.SIGKILL))
        time.sleep(s.random.uniform(0, 0.05))
        process.send_signal(number)
        process.communicate(timeout=10)
        must(process.returncode in (0, 128 + number, -number), args[0], number.name, "exit", process.returncode)
        must(not out.exists() or out.read_bytes() == whole, "half of", out.name)
        must(number == signal.SIGKILL or not s.leftovers(), "left behind:", s.leftovers())
        for name in s.leftovers():
            s.path(name).unlink()


ACTIONS = (same_bits, stopped_and_resumed, stopped_and_resumed, full_disk, damaged_input, damaged_input,
           damaged_results, round_trips, two_at_once, stopped_verbs)


# ---- the table --------------------------------------------------------------------------------------------

def do_step(program, where, seed, number):
    """What was done, and what is wrong with it: None if nothing."""
    folder = tempfile.mkdtemp(prefix="roofs-soak-", dir=where)
    try:
        step = Step(program, folder, seed, number)
        action = step.random.choice(ACTIONS)
        action(step)
        return action.__name__, None
    except (Broken, subprocess.TimeoutExpired) as error:
        return action.__name__, str(error)
    except Exception:   # of the test itself, such as a file that is missing: the state is not what it should be
        return action.__name__, traceback.format_exc()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def soak(program, seconds, seed):
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    rows, wrong = {}, []
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        began = time.monotonic()
        name, reason = do_step(program, where, seed, number)
        took = time.monotonic() - began
        tried, broken, total, slowest = rows.get(name, (0, 0, 0.0, 0.0))
        rows[name] = (tried + 1, broken + (reason is not None), total + took, max(slowest, took))
        if reason is not None:
            wrong.append(f"step {number} ({name}): {reason}")
            print(wrong[-1], file=sys.stderr, flush=True)
        number += 1
    return rows, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.environ.get("ROOFS") or ROOT / "build" / "roofs", type=Path)
    parser.add_argument("--seconds", default=3600, type=float)
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--only", type=int, help="repeat one step")
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    if args.only is not None:
        name, reason = do_step(args.program.resolve(), None, args.seed, args.only)
        print(f"step {args.only} ({name}): {reason or 'fine'}")
        return 1 if reason else 0
    rows, wrong = soak(args.program.resolve(), args.seconds, args.seed)
    print(f"seed {args.seed}, {args.seconds:.0f} s\n")
    print("| what | steps | broken | seconds | slowest step (s) |\n|---|---|---|---|---|")
    for name, (tried, broken, total, slowest) in sorted(rows.items()):
        print(f"| {name.replace('_', ' ')} | {tried} | {broken} | {total:.0f} | {slowest:.1f} |")
    print(f"| all | {sum(r[0] for r in rows.values())} | {len(wrong)} | {sum(r[2] for r in rows.values()):.0f} | "
          f"{max(r[3] for r in rows.values()):.1f} |")
    return 1 if wrong or len(rows) < min(len(set(ACTIONS)), args.seconds / 15) else 0


if __name__ == "__main__":
    sys.exit(main())
