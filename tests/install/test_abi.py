"""The rules of docs/versioning.md: what scripts/abi-check accepts, and what it refuses."""
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
HEADER = (ROOT / "include/roofs/roofs.h").read_text()
STRUCTS = ["error", "settings", "setting_info", "method_info", "block", "comm", "progress", "description", "feature",
           "batch", "result"]

pytestmark = pytest.mark.skipif(not shutil.which("abidiff") or not shutil.which("cc"),
                                reason="no abidiff, or no compiler")


def build(folder, text):
    """A library whose one function has every struct of the header."""
    (folder / "include/roofs").mkdir(parents=True)
    (folder / "include/roofs/roofs.h").write_text(text)
    arguments = ", ".join(f"roofs_{name} *{name}" for name in STRUCTS)
    (folder / "probe.c").write_text(f"#include <roofs/roofs.h>\nvoid roofs_probe({arguments}) {{}}\n")
    subprocess.run(["cc", "-g", "-shared", "-fPIC", "-w", "-I", folder / "include", "-o", folder / "probe.so",
                    folder / "probe.c"], check=True)
    return folder / "probe.so", folder / "include"


@pytest.fixture(scope="module")
def frozen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("frozen")
    library, headers = build(folder / "now", HEADER)
    subprocess.run([ROOT / "scripts/abi-check", "--store", library, headers, folder / "probe.xml"], check=True)
    return folder / "probe.xml"


def changed(old, new):
    assert len(re.findall(old, HEADER, flags=re.M)) == 1, old
    return re.sub(old, new, HEADER, flags=re.M)


def compare(frozen, folder, text):
    library, headers = build(folder / "then", text)
    return subprocess.run([ROOT / "scripts/abi-check", "--compare", frozen, library, headers],
                          capture_output=True).returncode


@pytest.mark.parametrize("old, new", [
    ("roofs-nothing|\\Z", ""),
    ("^} roofs_settings;", "int64_t more; } roofs_settings;"),
    ("^} roofs_block;", "int64_t more; } roofs_block;"),
    ("^} roofs_comm;", "int (*more)(void *); } roofs_comm;"),
    ("^} roofs_result;", "const double *more; } roofs_result;"),
    (r'X\(CANCELLED, 8, "stopped by the caller"\)', 'X(CANCELLED, 8, "stopped by the caller") X(MORE, 9, "more")'),
])
def test_additions_are_allowed(frozen, tmp_path, old, new):
    assert compare(frozen, tmp_path, changed(old, new)) == 0


def test_structs_may_grow_with_the_types_of_its_fields(frozen, tmp_path):
    text = changed("^} roofs_block;", "int64_t more; } roofs_block;")
    assert compare(frozen, tmp_path, text.replace("    ROOFS_2BIT = 4 ", "    ROOFS_2BIT = 4, ROOFS_MORE = 5 ")) == 0
    assert compare(frozen, tmp_path / "renumbered", text.replace("ROOFS_2BIT = 4 ", "ROOFS_2BIT = 5 ")) != 0


def test_growth_does_not_hide_a_change(frozen, tmp_path):
    text = changed("^} roofs_settings;", "int64_t more; } roofs_settings;")
    assert compare(frozen, tmp_path, text.replace("    double tol; ", "    int64_t tol; ")) != 0


@pytest.mark.parametrize("old, new", [
    (r"^    int64_t max_iter;.*\n", ""),
    (r"^    int64_t device;  .*\n", ""),
    (r"^    int64_t batch;       /\*", "    int64_t more; int64_t batch; /*"),
    (r"^    double eta;", "    int64_t eta;"),
    (r"^    const void \*starts;.*\n", ""),
    (r"^    const unsigned char \*trust;.*\n", ""),
    (r"^    char text\[1000\];", "    char text[900];"),
    ("^} roofs_error;", "int64_t more; } roofs_error;"),
    ("^} roofs_feature;", "int64_t more; } roofs_feature;"),
    ("^} roofs_batch;", "int64_t more; } roofs_batch;"),
    (r"X\(CANCELLED, 8,", "X(CANCELLED, 9,"),
    (r"ROOFS_F64 = 0,\n    ROOFS_F32 = 1,", "ROOFS_F64 = 1, ROOFS_F32 = 0,"),
])
def test_changes_are_refused(frozen, tmp_path, old, new):
    assert compare(frozen, tmp_path, changed(old, new)) != 0
