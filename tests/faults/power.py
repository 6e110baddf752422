"""Power failures, simulated: power.py [--program build/roofs] [--build build] [--cuts 10000] [--seed 1]

libroofs_power.so records what the program does to its files: created, written, synced, linked, renamed, unlinked. The
record is replayed here with the power cut after every operation. What was synced is on the disk. Of what was not, any
subset may be: every write of up to 4096 bytes, and every change of a name, in a folder that was not synced since. A
journalling file system keeps the order of names; here even that is not assumed.

After each cut each file must be the one that was promised last, or a later one that was under way: whole, never half,
never none. Every version that can be left of a checkpoint is then loaded and resumed by the program itself.
"""
import argparse
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import faults

ROOT = Path(__file__).resolve().parent.parent.parent
NAMING = ("create", "link", "rename", "unlink")


@dataclass
class Op:
    what: str
    file: str = ""       # its number in the record
    path: str = ""
    to: str = ""         # of a rename
    offset: int = 0
    data: bytes = b""


def read_record(text, folder):
    """The operations on files in `folder`; others, such as those of MPI in /tmp, are left out."""
    ops = []

    def here(path):
        full = Path(os.path.normpath(folder / path))
        return full.name if full.parent == folder else None
    for line in text.splitlines():
        what, *rest = line.split(" ")
        if what == "create" and here(rest[1]):
            ops.append(Op(what, rest[0], here(rest[1])))
        elif what == "link" and here(rest[1]):
            ops.append(Op(what, rest[0], here(rest[1])))
        elif what == "rename" and here(rest[0]) and here(rest[1]):
            ops.append(Op(what, path=here(rest[0]), to=here(rest[1])))
        elif what == "unlink" and here(rest[0]):
            ops.append(Op(what, path=here(rest[0])))
        elif what == "write":
            ops.append(Op(what, rest[0], offset=int(rest[1]), data=bytes.fromhex(rest[2])))
        elif what == "truncate":
            ops.append(Op(what, rest[0], offset=int(rest[1])))
        elif what == "sync":
            ops.append(Op(what, rest[0]))
        elif what == "syncfolder" and Path(os.path.normpath(folder / rest[0])) == folder:
            ops.append(Op(what))
    return ops


def write_into(content, op):
    if op.what == "truncate":
        return content[:op.offset].ljust(op.offset, b"\0")
    content = content.ljust(op.offset, b"\0")
    return content[:op.offset] + op.data + content[op.offset + len(op.data):]


def change_names(names, op):
    """Does nothing where the change is not possible: what it needs was lost."""
    if op.what in ("create", "link"):
        names[op.path] = op.file
    elif op.path in names:
        file = names.pop(op.path)
        if op.what == "rename":
            names[op.to] = file


@dataclass
class Result:
    cuts: int = 0
    states: int = 0
    wrong: list = field(default_factory=list)
    left: dict = field(default_factory=dict)   # path: the contents that a cut can leave

    def add(self, other):
        self.cuts += other.cuts
        self.states += other.states
        self.wrong += other.wrong


class Replay:
    """Cuts the power after every operation. `ignored` operations are not done, as if the program had left them out."""

    def __init__(self, ops, before, watched, seed=1, most=64, ignored=()):
        self.ops, self.watched, self.ignored, self.most = ops, watched, ignored, most
        self.random = random.Random(seed)
        self.names = {path: f"before {path}" for path in before}             # on the disk for sure
        self.safe = {f"before {path}": content for path, content in before.items()}
        self.data = {}      # file: writes that were not synced
        self.pending = []   # changes of names that were not synced
        self.versions = {path: [before.get(path)] for path in watched}
        self.promised = {path: 0 for path in watched}
        self.shards = {}    # a version of a checkpoint: the files of ranks that it needs
        self.named, self.full = dict(self.names), dict(self.safe)            # what a program sees without a cut

    def step(self, op):
        if op.what in ("write", "truncate"):
            self.full[op.file] = write_into(self.full.get(op.file, b""), op)
            self.data.setdefault(op.file, []).append(op)
        elif op.what == "sync" and "sync" not in self.ignored:
            for write in self.data.pop(op.file, []):
                self.safe[op.file] = write_into(self.safe.get(op.file, b""), write)
        elif op.what == "syncfolder":
            for path in self.watched:
                self.promised[path] = len(self.versions[path]) - 1
            if "syncfolder" not in self.ignored:
                for change in self.pending:
                    change_names(self.names, change)
                self.pending = []
        elif op.what in NAMING:
            self.pending.append(op)
            change_names(self.named, op)
            for path in {op.path, op.to} & set(self.watched):
                self.versions[path].append(self.seen(path))
                self.shards[self.seen(path)] = self.newest_shards(path)

    def seen(self, path):
        return self.full.get(self.named[path], b"") if path in self.named else None

    def newest_shards(self, path):
        found = {name: re.fullmatch(re.escape(path) + r"\.(\d+)-\d+", name) for name in self.named}
        stamps = [int(match.group(1)) for match in found.values() if match]
        return {name: self.seen(name) for name, match in found.items() if match and int(match.group(1)) == max(stamps)}

    def subsets(self, items):
        """All subsets if they are few; else none, all, the first ones, and some at random."""
        if 2 ** len(items) <= self.most:
            return [c for k in range(len(items) + 1) for c in itertools.combinations(items, k)]
        first = [items[:k] for k in range(0, len(items) + 1, max(1, len(items) // 8))]
        some = [[x for x in items if self.random.random() < 0.5] for _ in range(self.most - len(first) - 1)]
        return [*first, items, *some]

    def contents(self, file):
        """What a file may hold after the cut."""
        safe, writes = self.safe.get(file, b""), self.data.get(file, [])
        for chosen in self.subsets(writes):
            content = safe
            for op in chosen:
                content = write_into(content, op)
            yield content

    def cut(self, at, result):
        result.cuts += 1
        for chosen in self.subsets(self.pending):
            names = dict(self.names)
            for op in chosen:
                change_names(names, op)
            for path in self.watched:
                allowed = self.versions[path][self.promised[path]:]
                for content in self.contents(names[path]) if path in names else [None]:
                    result.states += 1
                    result.left.setdefault(path, set()).add(content)
                    if content not in allowed:
                        size = "no file" if content is None else f"{len(content)} bytes"
                        result.wrong.append(f"{path} after operation {at}: {size}")
                    for shard, wanted in self.shards.get(content, {}).items():
                        if shard not in names or any(c != wanted for c in self.contents(names[shard])):
                            result.wrong.append(f"{path} after operation {at}: without {shard}")

    def run(self):
        result = Result()
        self.cut(0, result)
        for k, op in enumerate(self.ops):
            self.step(op)
            self.cut(k + 1, result)
        return result


# ---- what the program does --------------------------------------------------------------------------

class Place:
    """A folder with a small problem, in which commands are recorded."""

    def __init__(self, program, shim, folder, seed):
        self.lab = faults.Lab(program, folder, n=12, p=96, mu=2, seed=seed)
        self.shim, self.folder, self.seed = shim, Path(os.path.realpath(folder)), seed

    def record(self, *args, named=False, program=None, ok=True):
        """The operations of a command, and the files that were there before."""
        before = {p.name: p.read_bytes() for p in self.folder.iterdir() if p.is_file()}
        log = self.folder.parent / (self.folder.name + ".record")
        log.unlink(missing_ok=True)
        env = {"LD_PRELOAD": str(self.shim), "POWER_LOG": str(log), **({"POWER_NAMED": "1"} if named else {})}
        done = subprocess.run([*(program or [self.lab.program]), *map(str, args)], cwd=self.folder, capture_output=True,
                              text=True, timeout=300, env={**os.environ, **env})
        assert done.returncode == 0 or not ok, done.stderr
        ops = read_record(log.read_text(), self.folder)
        log.unlink()
        return ops, before

    def clear(self):
        for path in self.folder.iterdir():
            if path.name not in ("x.npy", "y.npy"):
                path.unlink()


def commands(place, method, every):
    """Commands in an order in which each finds what the one before left; what each writes."""
    fit = [*place.lab.args(method), "-o", "model.json", "--checkpoint", "ck", "--checkpoint-every", every]
    yield "fit, nothing before", fit, ["ck", "model.json"]
    yield "fit over an earlier one", [*fit, "--trace", "trace"], ["ck", "model.json", "trace"]
    yield "resume", ["resume", "ck", "-o", "model.json", "-q"], ["ck", "model.json"]
    yield "predict", ["predict", "model.json", "x.npy", "--orient", "features", "-o", "yhat.txt"], ["yhat.txt"]
    yield "convert", ["convert", "x.npy", "--orient", "features", "--y", "y.npy", "--save-y", "copy.txt", "-o", "x.svm",
                      "-q"], ["x.svm", "copy.txt"]
    if shutil.which("gnuplot"):
        yield "report", ["report", "model.json", "-o", "page.html"], ["page.html"]


def check_left(place, method, left, most, out):
    """Loads every checkpoint that a cut can leave; resumes some of them to the model of the undisturbed fit."""
    whole = (place.folder / "model.json").read_bytes()
    kept = {p.name: p.read_bytes() for p in place.folder.iterdir()}
    contents = sorted(c for c in left.get("ck", ()) if c is not None)
    for k, content in enumerate(contents):
        (place.folder / "ck").write_bytes(content)
        loaded = place.lab.run("inspect", "ck").returncode == 0
        same = True
        if k % max(1, len(contents) // most) == 0:
            (place.folder / "model.json").unlink(missing_ok=True)
            done = place.lab.run("resume", "ck", "-o", "model.json", "-q")
            same = done.returncode == 0 and (place.folder / "model.json").read_bytes() == whole
        out.add(loaded, not loaded or not same, f"{method}: version {k} of {len(contents)}")
    for name, content in kept.items():
        (place.folder / name).write_bytes(content)


def tries(place, methods, every, resumed):
    """For each command: its name, the replay of its record, and the checks of what can be left."""
    for method, named in zip(itertools.cycle(methods), itertools.cycle((False, True))):
        place.clear()
        middle = None
        for what, args, watched in commands(place, method, every):
            if what == "resume":
                (place.folder / "ck").write_bytes(middle)
            ops, before = place.record(*args, named=named)
            replay = Replay(ops, before, watched, seed=place.seed)
            result = replay.run()
            if "ck" in watched:
                middle = replay.versions["ck"][len(replay.versions["ck"]) // 2]
            loads = faults.Outcome(f"{method}, {what}")
            if "ck" in watched:
                check_left(place, method, result.left, resumed, loads)
            yield f"{what}{', named temporaries' if named else ''}", result, loads


def cut_power(program, shim, folder, cuts, every=1, resumed=4, seed=1):
    """At least this many cuts: the sums by command, and the checks of what they left."""
    place, table, loads = Place(program, shim, folder, seed), {}, faults.Outcome("checkpoint after a power failure")
    for what, result, loaded in tries(place, faults.METHODS, every, resumed):
        table.setdefault(what, Result()).add(result)
        loads.tried += loaded.tried
        loads.survived += loaded.survived
        loads.lost += loaded.lost
        loads.notes += loaded.notes
        if sum(r.cuts for r in table.values()) >= cuts and (cuts < 5000 or len(table) >= 10):
            return table, loads


def cut_power_of_ranks(build, shim, folder, ranks=2):
    """A fit over ranks: a file of each, and one that names them. Also after an earlier one."""
    place, result = Place(build / "roofs-mpi", shim, folder, 1), Result()
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), str(build / "roofs-mpi")]
    fit = [*place.lab.args("roofs"), "-o", "model.json", "--checkpoint", "ck", "--checkpoint-every", 2]
    for named in (False, True):
        ops, before = place.record(*fit, named=named, program=mpirun)
        result.add(Replay(ops, before, ["ck", "model.json"]).run())
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build" / "roofs", type=Path)
    parser.add_argument("--build", default=ROOT / "build", type=Path)
    parser.add_argument("--cuts", default=10000, type=int)
    parser.add_argument("--seed", default=1, type=int)
    args = parser.parse_args()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="roofs-", dir=memory) as folder:
        (Path(folder) / "lab").mkdir()
        table, loads = cut_power(args.program.resolve(), args.build.resolve() / "tests" / "libroofs_power.so",
                                 Path(folder) / "lab", args.cuts, seed=args.seed)
        if (args.build / "roofs-mpi").exists() and shutil.which("mpirun"):
            (Path(folder) / "ranks").mkdir()
            table["fit of two ranks"] = cut_power_of_ranks(
                args.build.resolve(), args.build.resolve() / "tests" / "libroofs_power.so", Path(folder) / "ranks")
    print("| command | cuts | states of the disk | neither old nor new |\n|---|---|---|---|")
    everything = Result()
    for what, result in table.items():
        everything.add(result)
        print(f"| {what} | {result.cuts:,} | {result.states:,} | {len(result.wrong)} |")
    print(f"| all | {everything.cuts:,} | {everything.states:,} | {len(everything.wrong)} |")
    print(f"\n{loads.tried} checkpoints that a cut can leave: {loads.survived} loaded, {loads.lost} lost")
    print(*everything.wrong[:10], *loads.notes[:10], sep="\n")
    return 1 if everything.wrong or loads.lost or loads.survived != loads.tried else 0


if __name__ == "__main__":
    sys.exit(main())
