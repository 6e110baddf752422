"""Every fault is survived and nothing is lost. docs/reliability.md has the table, made by table.py with these
functions."""
import os
import re
from pathlib import Path

import faults
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("ROOFS_BUILD") or ROOT / "build")
SLOW = BUILD.name == "asan"   # sanitizers: fewer tries
SHIM = BUILD / "tests" / "libroofs_faults.so"


@pytest.fixture
def lab(program, memory_path):
    return faults.Lab(program, memory_path)


def check(outcome, at_least=1):
    for one in outcome if isinstance(outcome, list) else [outcome]:
        assert one.tried >= at_least and one.survived == one.tried and one.lost == 0, (one.fault, one.tried,
                                                                                       one.survived, one.lost,
                                                                                       one.notes[:5])


def test_killed_fits_are_resumed(lab):
    check(faults.killed(lab, 40 if SLOW else 200), 40)


def test_interrupted_fits_are_resumed(lab):
    check(faults.interrupted(lab, 10 if SLOW else 40), 5)


def test_damaged_checkpoints_are_refused(program, memory_path):
    check(faults.damaged(faults.Lab(program, memory_path, n=8, p=20), *((5, 29) if SLOW else (1, 13))), 50)


@pytest.mark.skipif(not SHIM.exists(), reason="no shim in this build")
def test_failing_writes_lose_nothing(program, memory_path):
    check(faults.failing_writes(faults.Lab(program, memory_path, p=64, mu=3, batch=4), SHIM, stride=7 if SLOW else 1),
          4 if SLOW else 30)   # a call whose failure is hidden would end the walk


@pytest.mark.skipif(BUILD.name == "coverage", reason="the size limit also stops the profile of gcov")
def test_full_disk_loses_nothing(lab):
    check(faults.full_disk(lab, 10 if SLOW else 40))


def test_failing_sources_lose_nothing(lab):
    few = 4 if SLOW else 16
    check([faults.source_ends_early(lab, few), faults.source_changes(lab, few), faults.source_stalls(lab, few)])


@pytest.mark.skipif(not SHIM.exists(), reason="no shim in this build")
def test_files_are_written_in_order(lab):
    """What a power failure must not see: a name before its content. Each file is written and synced; then it gets its
    name, or a temporary name and a rename; then the folder is synced."""
    done = lab.run(*lab.fit_args("roofs", every=20),
                   env={"LD_PRELOAD": str(SHIM), "FAULT_LOG": "log", "ASAN_OPTIONS": "verify_asan_link_order=0"})
    assert done.returncode == 0, done.stderr
    calls = (lab.folder / "log").read_text().split("\n")
    story = re.sub(r"(write \n)+", "write\n", "\n".join(calls))
    files = story.count("sync file")
    assert files >= 4   # checkpoints and the model
    named = r"(link \n|rename \n|link \nrename \n)"
    assert len(re.findall(rf"write\nflush \nsync file\n{named}sync folder\n", story)) == files


def test_idle_shim_is_noticed(lab):
    """The tests above would be idle if faults never came."""
    if not SHIM.exists():
        pytest.skip("no shim in this build")
    done = lab.run(*lab.fit_args("roofs"),
                   env={"LD_PRELOAD": str(SHIM), "FAULT_AT": "3", "ASAN_OPTIONS": "verify_asan_link_order=0"})
    assert done.returncode == 1


def test_table_is_all_survived():
    text = (ROOT / "docs" / "reliability.md").read_text()
    rows = re.findall(r"^\| (.+?) \| ([\d,]+) \| ([\d,]+) \| (\d+) \|$", text, re.M)
    assert len(rows) >= 10
    for fault, tried, survived, lost in rows:
        assert tried == survived and lost == "0", fault
