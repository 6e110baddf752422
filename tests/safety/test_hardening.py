"""What the linker and the compiler were asked to do is in the program and the library."""
import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("ROOFS_BUILD") or Path(__file__).resolve().parent.parent.parent / "build")
FILES = [BUILD / "roofs", BUILD / "libroofs.so"]
pytestmark = [pytest.mark.skipif(not shutil.which("readelf"), reason="no readelf here"),
              pytest.mark.skipif("ROOFS_SANITIZE:STRING=\n" not in (BUILD / "CMakeCache.txt").read_text(),
                                 reason="a build for sanitizers")]


def read(path, *options):
    return subprocess.run(["readelf", "-W", *options, path], capture_output=True, text=True, check=True).stdout


def wrong(path):
    """What is missing in an ELF file, as a list of words."""
    headers, dynamic, symbols = read(path, "-l"), read(path, "-d"), read(path, "--dyn-syms")
    stack = next((line for line in headers.splitlines() if "GNU_STACK" in line), " RWE ")
    missing = {"relro": "GNU_RELRO" not in headers, "bind now": "BIND_NOW" not in dynamic and " NOW" not in dynamic,
               "no executable stack": " RWE " in stack, "stack protector": "__stack_chk_fail" not in symbols,
               "fortify": "_chk@" not in symbols.replace("__stack_chk_fail", ""),
               "no writable code": any(line.split()[-3:-1] == ["RWE"] for line in headers.splitlines()
                                       if "LOAD" in line),
               "position independent": "DYN" not in read(path, "-h"), "no text relocations": "TEXTREL" in dynamic}
    return [what for what, is_missing in missing.items() if is_missing]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_files_are_hardened(path):
    assert wrong(path) == []


def test_jump_targets_are_marked(tmp_path):
    if platform.machine() != "x86_64" or not shutil.which("objdump"):
        pytest.skip("only where objdump knows endbr64")
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", FILES[0]], capture_output=True, text=True).stdout
    assert code.count("endbr64") > 500


def test_unhardened_program_is_found(tmp_path):
    """The same look at a program that was made without."""
    (tmp_path / "soft.c").write_text("int main(void) { return 0; }")
    soft = tmp_path / "soft"
    subprocess.run(["cc", tmp_path / "soft.c", "-o", soft, "-no-pie", "-z", "norelro", "-z", "lazy", "-z", "execstack",
                    "-fno-stack-protector"], check=True, capture_output=True)
    assert {"relro", "bind now", "no executable stack", "stack protector", "fortify",
            "position independent"} <= set(wrong(soft))
