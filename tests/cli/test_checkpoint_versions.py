"""A checkpoint of every version of the format, written by the program of that version, is resumed to the same model.

    python3 tests/cli/test_checkpoint_versions.py build/roofs FOLDER     makes v<version>.ck and v<version>.json anew

Do this for a new version only: users have files of the earlier ones.
"""
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

KEPT = Path(__file__).resolve().parent / "checkpoints"
OPTIONS = ["--method", "roofs", "--mu", "3", "--batch", "4", "--threads", "1", "--passes", "1"]


def write_data(folder):
    """Whole numbers from a generator of our own, divided by a power of two: the same on every machine."""
    state, numbers = 12345, []
    for _ in range(21 * 16):
        state = (1103515245 * state + 12345) % 2 ** 31
        numbers.append((state >> 12) % 2048 - 1024)
    values = np.array(numbers, dtype=float).reshape(21, 16) / 256
    x, y = values[:20], 3 * values[2] - 2 * values[17] + values[20] / 64
    y[::7] += 50
    np.save(folder / "y.npy", y)
    np.save(folder / "first.npy", x[:12])
    with open(folder / "second.csv", "w") as file:
        np.savetxt(file, x[12:].T, delimiter=",", fmt="%.17g")


def without_library(path):
    model = json.loads(Path(path).read_text())
    del model["library"]
    return model


def agree(new, old):
    """True if `new` has all that `old` has, with the same numbers up to rounding."""
    if isinstance(old, dict):
        return all(name in new and agree(new[name], value) for name, value in old.items())
    if isinstance(old, list):
        return len(new) == len(old) and all(map(agree, new, old))
    return new == pytest.approx(old, rel=1e-12) if isinstance(old, float) else new == old


def test_agreement_can_fail():
    assert agree({"a": [1.0, None], "b": "x"}, {"a": [1.0 + 1e-15, None]})
    assert not agree({"a": [1.0]}, {"a": [1.0 + 1e-9]}) and not agree({}, {"a": 1}) and not agree([1], [1, 2])


@pytest.mark.parametrize("version", [1])
def test_old_checkpoints_are_resumed(roofs, tmp_path, version):
    write_data(tmp_path)
    shutil.copy(KEPT / f"v{version}.ck", tmp_path / "ck")
    shown = json.loads(roofs("inspect", "ck", "--json", cwd=tmp_path).stdout)
    assert (shown["features_seen"], shown["n"], shown["mu"], shown["files"][0]["path"]) == (12, 16, 3, "first.npy")
    roofs("resume", "ck", "first.npy", "second.csv", "-o", "model.json", "-q", cwd=tmp_path)
    resumed, stored = without_library(tmp_path / "model.json"), without_library(KEPT / f"v{version}.json")
    resumed["settings"] = {name: resumed["settings"][name] for name in stored["settings"]}   # later ones are new
    assert agree(resumed, stored)
    roofs("fit", "--y", "y.npy", *OPTIONS, "first.npy", "second.csv", "-o", "whole.json", "-q", cwd=tmp_path)
    whole = without_library(tmp_path / "whole.json")   # sums had another order in earlier versions
    assert agree(without_library(tmp_path / "model.json"), whole)


def test_old_checkpoints_of_ranks_follow_one_hypothesis(roofs, tmp_path):
    """Version 1 of two ranks, method roofs-bayes: later versions compare several hypotheses."""
    write_data(tmp_path)
    for shard in ("", ".1-0", ".1-1"):
        shutil.copy(KEPT / f"v1-ranks.ck{shard}", tmp_path / f"ck{shard}")
    roofs("resume", "ck", "first.npy", "second.csv", "-o", "model.json", "-q", cwd=tmp_path)
    model = json.loads((tmp_path / "model.json").read_text())
    assert model["features_seen"] == 20 and model["settings"]["hypotheses"] == 1
    assert model["hypothesis"] == {"chosen": "usual", "compared": 1}


def test_later_versions_are_refused(roofs, tmp_path):
    content = bytearray((KEPT / "v1.ck").read_bytes())
    content[8] = 200
    (tmp_path / "ck").write_bytes(content)
    done = roofs("resume", "ck", cwd=tmp_path, ok=False)
    assert done.returncode == 3 and "version 200" in done.stderr


if __name__ == "__main__":
    program, folder = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    write_data(folder)
    run = lambda *args: subprocess.run([program, *args], cwd=folder, check=True)
    run("fit", "--y", "y.npy", *OPTIONS, "first.npy", "-o", "first.json", "-q", "--checkpoint", "new.ck")
    run("fit", "--y", "y.npy", *OPTIONS, "first.npy", "second.csv", "-o", "new.json", "-q")
