"""After a power failure every file is the old one or the new one. `make power-loss` does the same 20 times as often."""
import os
import shutil
from pathlib import Path

import power
import pytest

BUILD = Path(os.environ.get("ROOFS_BUILD") or power.ROOT / "build").resolve()
SHIM = BUILD / "tests" / "libroofs_power.so"
pytestmark = pytest.mark.skipif(BUILD.name == "asan" or not SHIM.exists(), reason="not under sanitizers")


@pytest.fixture
def folder(memory_path):
    (memory_path / "lab").mkdir()
    return memory_path / "lab"


def test_files_are_old_or_new_after_every_cut(program, folder):
    table, loads = power.cut_power(program, SHIM, folder, 500, every=3, resumed=2)
    assert sum(result.cuts for result in table.values()) >= 500 and len(table) >= 5
    assert [wrong for result in table.values() for wrong in result.wrong] == []
    assert loads.tried >= 10 and loads.survived == loads.tried and loads.lost == 0, loads.notes


@pytest.mark.skipif(not (BUILD / "roofs-mpi").exists() or not shutil.which("mpirun"), reason="no MPI here")
def test_files_of_ranks_are_old_or_new_after_every_cut(folder):
    result = power.cut_power_of_ranks(BUILD, SHIM, folder)
    assert result.cuts > 100 and result.wrong == []


# ---- the simulation can fail ----------------------------------------------------------------------------

@pytest.fixture
def recorded(program, folder):
    place = power.Place(program, SHIM, folder, 1)
    fit = [*place.lab.args("roofs"), "-o", "model.json", "--checkpoint", "ck", "--checkpoint-every", 4]
    return place.record(*fit)


@pytest.mark.parametrize("ignored", ["sync", "syncfolder"])
def test_missing_sync_is_found(recorded, ignored):
    ops, before = recorded
    assert power.Replay(ops, before, ["ck", "model.json"]).run().wrong == []
    wrong = power.Replay(ops, before, ["ck", "model.json"], ignored=[ignored]).run().wrong
    assert any(w.startswith("ck") for w in wrong) and any(w.startswith("model.json") for w in wrong)


def test_sync_after_the_name_is_found(recorded):
    """The name first, then the content."""
    ops, before = recorded
    swapped = list(ops)
    for k, op in enumerate(ops[:-1]):
        if op.what == "sync" and ops[k + 1].what == "link":
            swapped[k], swapped[k + 1] = ops[k + 1], ops[k]
    assert swapped != ops and power.Replay(swapped, before, ["ck", "model.json"]).run().wrong


@pytest.mark.parametrize("story, is_safe", [
    (["create 1 a", "write 1 0 6e6577", "sync 1", "syncfolder ."], False),                    # written in place
    (["unlink a", "create 1 a", "write 1 0 6e6577", "sync 1", "syncfolder ."], False),        # removed first
    (["create 1 t", "write 1 0 6e6577", "rename t a", "syncfolder ."], False),                # never synced
    (["create 1 t", "write 1 0 6e6577", "sync 1", "rename t a"], True),
    (["create 1 t", "sync 1", "write 1 0 6e6577", "rename t a"], False),                      # synced too early
    (["create 1 t", "unlink t", "create 2 t", "write 2 0 6e6577", "sync 2", "rename t a"], False),   # one name, twice
])
def test_known_ways_to_write_are_judged(tmp_path, story, is_safe):
    ops = power.read_record("\n".join(story), Path(os.path.realpath(tmp_path)))
    replay = power.Replay(ops, {"a": b"old"}, ["a"])
    replay.versions["a"].append(b"new")   # whatever the story does: old and new are allowed
    assert (power.Replay.run(replay).wrong == []) == is_safe
