"""The installed tree, as another project meets it: found, compiled against, linked both ways, run."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("ROOFS_BUILD") or ROOT / "build").resolve()
EXAMPLES = ROOT / "examples"


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, **more)
    assert done.returncode == 0, f"{done.args}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Installed, then moved: nothing may point to where it was first."""
    first, then = tmp_path_factory.mktemp("first") / "usr", tmp_path_factory.mktemp("moved") / "opt roofs"
    run("cmake", "--install", BUILD, "--prefix", first)
    shutil.move(first, then)
    link = then.parent / "plain"   # pkg-config and make cannot do with blanks
    link.symlink_to(then)
    return link


def one(prefix, pattern):
    found = [f for f in prefix.rglob(pattern)]
    assert len(found) == 1, f"{pattern}: {found}"
    return found[0]


@pytest.fixture(scope="module")
def libraries(prefix):
    return one(prefix, "libroofs.a").parent


def version():
    return re.search(r"project\(roofs VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


# ---- what is there ------------------------------------------------------------------

def test_files_are_installed(prefix, libraries):
    names = ("include/roofs/roofs.h", "bin/roofs", "share/man/man1/roofs.1")
    assert [name for name in names if not (prefix / name).is_file()] == []
    names = ("libroofs.so", "libroofs.so.1", f"libroofs.so.{version()}", "libroofs.a", "pkgconfig/roofs.pc",
             "cmake/roofs/roofsConfig.cmake", "cmake/roofs/roofsConfigVersion.cmake")
    assert [name for name in names if not (libraries / name).is_file()] == []
    # one header; one more where there is MPI
    assert {f.name for f in prefix.rglob("*.h")} - {"roofs_mpi.h"} == {"roofs.h"}


def test_nothing_points_back(prefix):
    texts = [f for f in prefix.rglob("*") if f.suffix in (".pc", ".cmake", ".h", ".1") and ".so" not in f.name]
    assert texts and [f for f in texts if str(BUILD) in f.read_text() or str(ROOT) in f.read_text()] == []


def test_program_runs(prefix):
    assert version() in run(prefix / "bin/roofs", "--version", cwd="/")


def test_man_page_is_readable(prefix):
    if not shutil.which("man"):
        pytest.skip("no man here")
    done = subprocess.run(["man", "--warnings", "-l", prefix / "share/man/man1/roofs.1"], capture_output=True,
                          text=True,
                          env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""},
                          timeout=60)
    if "minimized" in done.stdout + done.stderr:
        pytest.skip("man is a stand-in here")
    assert done.returncode == 0 and done.stderr == ""
    assert "NAME" in done.stdout and "fit" in done.stdout and "EXAMPLES" in done.stdout.upper()


def global_names(*command):
    return {line.split()[-1].split("@")[0] for line in run(*command).splitlines() if len(line.split()) >= 3}


def test_libraries_export_only_our_names(libraries):
    static = global_names("nm", "-g", "--defined-only", libraries / "libroofs.a")
    shared = global_names("nm", "-D", "--defined-only", libraries / "libroofs.so")
    assert static == shared   # the same promise, however it is linked
    assert {"roofs_create", "roofs_consume", "roofs_model_read"} <= static
    assert {name for name in static if not name.startswith("roofs_")} == set()
    for path in [libraries / name for name in ("libroofs_mpi.so", "libroofs_cuda.so") if (libraries / name).exists()]:
        names = global_names("nm", "-D", "--defined-only", path)
        assert names and {name for name in names if not name.startswith("roofs_")} == set(), path


def test_library_needs_little(libraries):
    """Readers of files, and what they need, belong to the program."""
    needed = set(re.findall(r"\(NEEDED\).*\[lib(\w+)[.-]", run("readelf", "-d", libraries / "libroofs.so")))
    assert needed and needed <= {"c", "m", "gomp", "omp", "jansson"}


def test_header_declares_what_the_library_has(prefix, libraries):
    text = re.sub(r"/\*.*?\*/", "", (prefix / "include/roofs/roofs.h").read_text(), flags=re.S)
    inline = set(re.findall(r"static inline \w+ (roofs_\w+)\(|ROOFS_INLINE_CHECKED \w+ (roofs_\w+)\(", text))
    inline = {name for pair in inline for name in pair if name}
    declared = set(re.findall(r"\b(roofs_\w+)\(", text))
    assert declared - inline == global_names("nm", "-D", "--defined-only", libraries / "libroofs.so")
    called = set(re.findall(r"\b(roofs_\w+)\(", (ROOT / "tests/unit/test_api_null.c").read_text()))
    assert declared - called == set()   # no call is forgotten there


@pytest.mark.parametrize("compiler, standard", [("cc", "c11"), ("cc", "c99"), ("c++", "c++11")])
def test_header_stands_alone(prefix, tmp_path, compiler, standard):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    source = tmp_path / ("a.c" if compiler == "cc" else "a.cc")
    source.write_text("#include <roofs/roofs.h>\nint main(void) { return roofs_version() == 0; }\n")
    run(compiler, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{prefix}/include", "-c", source,
        "-o", tmp_path / "a.o")


# ---- what can be built ----------------------------------------------------------------

def check_example(program, libraries, shared):
    out = run(program, env={**os.environ, "LD_LIBRARY_PATH": str(libraries)})
    lines = out.splitlines()
    assert lines[0].startswith("60 features seen, 3 selected")
    coefs = {int(a): (float(b), float(c)) for a, b, c in re.findall(r"feature (\d+): (\S+) \(truth (\S+)\)", out)}
    assert set(coefs) == {4, 27, 51}
    assert all(abs(got - truth) < 0.1 for got, truth in coefs.values())
    untrusted = {int(i) for i in lines[-1].removeprefix("not trusted:").split()}
    assert set(range(0, 300, 10)) <= untrusted
    assert ("libroofs.so" in run("ldd", program, env={**os.environ, "LD_LIBRARY_PATH": str(libraries)})) == shared


@pytest.fixture
def examples(tmp_path):
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    return tmp_path / "examples"


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="no pkg-config here")
@pytest.mark.parametrize("target", ["fit", "fit-static"])
def test_pkgconfig_example_builds(libraries, examples, target):
    where = f"PKG_CONFIG_PATH={libraries}/pkgconfig"
    run("make", "-C", examples / "c-pkgconfig", target, where, "CFLAGS=-O1 -Wall -Wextra -Werror")
    check_example(examples / "c-pkgconfig" / target, libraries, target == "fit")


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="no pkg-config here")
def test_pkgconfig_follows_a_moved_tree(prefix, libraries):
    env = {**os.environ, "PKG_CONFIG_PATH": f"{libraries}/pkgconfig"}
    assert run("pkg-config", "--modversion", "roofs", env=env).strip() == version()
    include = run("pkg-config", "--cflags-only-I", "roofs", env=env).strip().removeprefix("-I")
    assert Path(include).resolve() == (prefix / "include").resolve()


def test_cmake_example_builds(prefix, libraries, examples):
    source, build = examples / "c-cmake", examples / "build"
    run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix.resolve()}",
        "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror")
    run("cmake", "--build", build)
    check_example(build / "fit", libraries, True)
    check_example(build / "fit-static", libraries, False)


def test_cmake_refuses_another_version(prefix, examples):
    path = examples / "c-cmake/CMakeLists.txt"
    path.write_text(path.read_text().replace("roofs 0.2", "roofs 99"))
    done = subprocess.run(["cmake", "-S", path.parent, "-B", examples / "build",
                           f"-DCMAKE_PREFIX_PATH={prefix.resolve()}"],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode != 0 and 'version "99"' in done.stderr
