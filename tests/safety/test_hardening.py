"""What the linker and the compiler were asked to do is in the program and the library."""
import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("ROOFS_BUILD") or Path(__file__).resolve().parent.parent.parent / "build")
FILES = [f for f in (BUILD / "roofs", BUILD / "roofs-mpi", BUILD / "libroofs.so") if f.exists()]
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


# ---- where libraries are looked for -----------------------------------------------------------------

def searched(path):
    """The folders in which the loader looks for the libraries of an ELF file, as the file lists them."""
    lines = [line for line in read(path, "-d").splitlines() if "(RUNPATH)" in line or "(RPATH)" in line]
    return [folder for line in lines for folder in line.split("[", 1)[1].rsplit("]", 1)[0].split(":")]


def unsafe(path, forbidden=()):
    """Folders that depend on where the program is started, that anybody may write to, or that are forbidden."""
    def is_unsafe(folder):
        if folder.startswith("$ORIGIN"):
            return False
        return not folder.startswith("/") or folder.startswith(("/tmp", "/var/tmp", "/dev/shm")) \
            or any(Path(folder).is_relative_to(f) for f in forbidden)
    return [folder for folder in searched(path) if is_unsafe(folder)]


def elf_files(folder):
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and "CMakeFiles" not in path.parts and path.suffix != ".o":
            with path.open("rb") as file:
                head = file.read(18)
            if head[:4] == b"\x7fELF" and head[16] in (2, 3):   # a program or a shared library
                yield path


def test_built_files_look_for_libraries_in_safe_folders():
    own = {"roofs", "roofs-mpi", "tests", *(f.name for f in BUILD.glob("lib*.so*"))}
    files = [f for f in elf_files(BUILD) if f.relative_to(BUILD).parts[0] in own]
    assert len(files) > 20
    def of_tests(folder):   # of the tests only: the build itself, wherever it is
        return Path(folder) == BUILD
    found = {f.name: [x for x in unsafe(f) if not of_tests(x)] for f in files}
    assert {name: folders for name, folders in found.items() if folders} == {}


def test_installed_files_look_for_libraries_in_safe_folders(tmp_path):
    subprocess.run(["cmake", "--install", BUILD, "--prefix", tmp_path / "usr"], check=True, capture_output=True)
    files = list(elf_files(tmp_path / "usr"))
    assert {"roofs"} <= {f.name for f in files} and len(files) >= 2
    assert {f.name: unsafe(f, [BUILD]) for f in files if unsafe(f, [BUILD])} == {}


@pytest.mark.parametrize("name", ["roofs", "roofs-mpi"])
def test_library_in_the_current_folder_is_not_loaded(name, tmp_path):
    """An empty entry loads libraries that somebody left in the current folder."""
    if not (BUILD / name).exists():
        pytest.skip(f"{name} is not built")
    (tmp_path / "foreign.c").write_text("int foreign;")   # without the symbols of the library, so the program fails
    needed = [line.split("[")[1].split("]")[0] for line in read(BUILD / name, "-d").splitlines() if "(NEEDED)" in line]
    assert needed
    for library in needed:
        if not library.startswith(("ld-", "libc.", "libm.", "libpthread")):
            subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "foreign.c", "-o", tmp_path / library], check=True)
    done = subprocess.run([BUILD / name, "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("folders, wrong_ones", [("$ORIGIN:", [""]), (":/usr/lib", [""]), ("lib:/usr/lib", ["lib"]),
                                                 ("/usr/lib::/lib", [""]), ("/tmp/x", ["/tmp/x"]), ("/usr/lib", [])])
def test_unsafe_folders_are_found(folders, wrong_ones, tmp_path):
    (tmp_path / "soft.c").write_text("int main(void) { return 0; }")
    subprocess.run(["cc", tmp_path / "soft.c", "-o", tmp_path / "soft", f"-Wl,-rpath,{folders}"], check=True)
    assert unsafe(tmp_path / "soft") == wrong_ones
