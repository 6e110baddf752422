"""The rules of the house, read from the source as text. Every rule is first shown to be able to fail."""
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LIBRARY = ("base", "linalg", "robust", "method", "model", "api")   # each may include itself and those before it
ROOMS = {room: LIBRARY[:k + 1] for k, room in enumerate(LIBRARY)}
ROOMS["stream"] = ("base", "linalg", "stream")   # a side branch: only the program uses it
MAX_FILE, MAX_FUNCTION = 600, 100
ALLOCATES = "src/base/memory.c"
CONDITIONAL = ("src/linalg/lanes.h",   # the kernels' one header may look at the compiler
               "src/linalg/formula.h",     # formulas compile for the CPU and for a GPU
               "src/base/memory.c",    # large pages, where the system has them
               "src/stream/registry.c")    # formats whose library may be absent
PARALLEL = ("src/linalg/", "src/stream/simulator.c", "cli/bench", "cli/reproduce/")   # where OpenMP may stand

ALLOCATION = r"(?<![.>\w])(malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|free|strdup|strndup)\s*\("
FORBIDDEN = (r"(?<![.>\w])(printf|vprintf|puts|putchar|perror|exit|_exit|quick_exit|abort|getenv|secure_getenv|setenv|putenv"
             r"|setlocale|signal|sigaction|raise|system)\s*\(|\b(stdout|stderr)\b")
STANDARD_OUTPUT = "src/base/output.c"   # an output called "-"


# ---- reading ---------------------------------------------------------------------

def sources(root, *folders, suffixes=(".c", ".h", ".def", ".inc")):
    return sorted(f for folder in folders for f in (root / folder).rglob("*") if f.suffix in suffixes)


def code(path):
    """The text without comments and without the contents of strings; lines stay where they are."""
    def blank(match):
        text = match.group(0)
        return text[0] + text[-1] if text[0] in "\"'" else " " + "\n" * text.count("\n")
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, path.read_text(), flags=re.S)


def found(root, path, pattern):
    """'file:line: what' for every match in the code."""
    name = path.relative_to(root).as_posix()
    return [f"{name}:{number}: {match.group(0).strip()}" for number, line in enumerate(code(path).split("\n"), 1)
            for match in re.finditer(pattern, line)]


# ---- rules: each gives a list of what is wrong -----------------------------------------

def wrong_includes(root):
    wrong = []
    for path in sources(root, "src", "cli"):
        name = path.relative_to(root)
        own = name.parts[1] if name.parts[0] == "src" else "cli"
        allowed = (*ROOMS, "cli") if own == "cli" else ROOMS.get(own, ())
        for target in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.M):
            room = target.split("/")[0] if "/" in target else ""
            if target != "roofs/roofs.h" and room not in allowed:
                wrong.append(f"{name}: {target}")
    return wrong


def strangers(root):
    """Files of src that stand in no room."""
    return [str(f.relative_to(root)) for f in sources(root, "src") if f.relative_to(root).parts[1] not in ROOMS]


def public_includes(root):
    return re.findall(r"^\s*#\s*include\s*(\S+)", (root / "include/roofs/roofs.h").read_text(), re.M)


def wrong_allocations(root):
    return sum((found(root, f, ALLOCATION) for f in sources(root, "src") if f != root / ALLOCATES), [])


def wrong_calls(root):
    hits = sum((found(root, f, FORBIDDEN) for f in sources(root, "src")), [])
    return [hit for hit in hits if not (hit.startswith(STANDARD_OUTPUT) and hit.endswith("stdout"))]


def long_files(root):
    counts = {f: len(f.read_text().splitlines()) for f in sources(root, "src", "cli")}
    return [f"{f.relative_to(root)}: {lines} lines" for f, lines in counts.items() if lines > MAX_FILE]


def functions(path):
    """(first line, number of lines) of every function: a brace at depth 0 that follows a parenthesis."""
    depth, opened, before, result = 0, 0, "", []
    for number, line in enumerate(code(path).split("\n"), 1):
        if line.lstrip().startswith("#") or line.endswith("\\"):
            continue
        for character in line:
            if character == "{":
                if depth == 0:
                    opened = number if before.rstrip().endswith(")") else 0
                depth += 1
            elif character == "}":
                depth -= 1
                if depth == 0 and opened:
                    result.append((opened, number - opened + 1))
            before = before + character if not character.isspace() else before
    return result


def long_functions(root):
    return [f"{f.relative_to(root)}:{start}: {lines} lines" for f in sources(root, "src", "cli", suffixes=(".c", ".h", ".cu", ".cuh"))
            for start, lines in functions(f) if lines > MAX_FUNCTION]


def wrong_conditions(root):
    """#if outside include guards and the allowed files."""
    wrong = []
    for path in sources(root, "src", "cli"):
        name = path.relative_to(root).as_posix()
        lines = code(path).split("\n")
        guard = next((k for k, line in enumerate(lines) if line.strip()), 0) if path.suffix == ".h" else -1
        for k, line in enumerate(lines):
            is_guard = (k == guard and k + 1 < len(lines) and line.startswith("#ifndef ")
                        and lines[k + 1].split()[:2] == ["#define", line.split()[1]])
            if re.match(r"\s*#\s*(if|ifdef|ifndef|elif)\b", line) and not is_guard and name not in CONDITIONAL:
                wrong.append(f"{name}:{k + 1}: {line.strip()}")
    return wrong


def wrong_parallel(root):
    return [hit for f in sources(root, "src", "cli") for hit in found(root, f, r"#\s*pragma\s+omp.*|\bomp_\w+\s*\(")
            if not hit.startswith(PARALLEL)]


def idle_tests(root):
    return [str(f.relative_to(root)) for f in (root / "tests/unit").rglob("test_*.c") if not re.search(r"\bassert\w*\s*\(", code(f))]


RULES = (wrong_includes, strangers, wrong_allocations, wrong_calls, long_files, long_functions, wrong_conditions,
         wrong_parallel, idle_tests)


# ---- the house ---------------------------------------------------------------------------

@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house(rule):
    assert sources(ROOT, "src", "cli"), "nothing to look at"
    assert rule(ROOT) == []


def test_public_header_stands_alone():
    assert sorted(public_includes(ROOT)) == ["<stddef.h>", "<stdint.h>"]


def test_exported_names():
    library = ROOT / "build" / "libroofs.so"
    if not library.exists() or not shutil.which("nm"):
        pytest.skip("no shared library here")
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1].split("@")[0] for line in listed.splitlines()]
    assert "roofs_create" in names and [name for name in names if not name.startswith("roofs_")] == []


# ---- every rule can fail ---------------------------------------------------------------------

GOOD = {
    "include/roofs/roofs.h": "#include <stddef.h>\n",
    "src/base/memory.c": '#include "base/memory.h"\nvoid *take(void)\n{\n    return malloc(1);\n}\n',
    "src/base/memory.h": "/* why */\n#ifndef MEMORY_H\n#define MEMORY_H\nvoid *take(void);\n#endif\n",
    "src/linalg/lanes.h": "#ifndef LANES_H\n#define LANES_H\n#ifdef __AVX2__\n#endif\n#endif\n",
    "src/linalg/cpu/sum.c": '#include "base/memory.h"\n#include "linalg/lanes.h"\nvoid sum(void)\n{\n#pragma omp parallel\n    x.free(y);\n}\n',
    "src/api/settings.c": '#include "roofs/roofs.h"\n#include "method/method.h"\nconst char *help = "printf( { free(";  // exit(\n'
                          "int a[] = {1, 2};\nint f(FILE *out)\n{\n    snprintf(t, 1, \"{\");\n    return fprintf(out, \"x\");\n}\n",
    "cli/main.c": '#include "cli/options.h"\n#include "api/settings.h"\nint main(void)\n{\n    printf("hello");\n}\n',
    "tests/unit/test_a.c": "int main(void)\n{\n    assert_true(1);\n}\n",
}

BAD = [
    (wrong_includes, "src/base/memory.c", '#include "linalg/columns.h"\n'),
    (wrong_includes, "src/base/memory.c", '#include "memory.h"\n'),
    (wrong_includes, "src/base/memory.c", '#include "../base/memory.h"\n'),
    (wrong_includes, "src/api/settings.c", '#include "cli/options.h"\n'),
    (wrong_includes, "src/stream/csv.c", '#  include "robust/tau.h"\n'),
    (wrong_includes, "src/robust/tau.c", '#include "stream/source.h"\n'),
    (wrong_includes, "cli/main.c", '#include "options.h"\n'),
    (strangers, "src/util.c", "int a;\n"),
    (wrong_allocations, "src/linalg/cpu/sum.c", "void f(void)\n{\n    free(p);\n}\n"),
    (wrong_allocations, "src/base/other.c", "void *p = calloc (1, 2);\n"),
    (wrong_calls, "src/base/status.c", 'void f(void)\n{\n    printf("x");\n}\n'),
    (wrong_calls, "src/base/status.c", 'void f(void)\n{\n    fprintf(stderr, "x");\n}\n'),
    (wrong_calls, "src/base/status.c", 'char *f = getenv("HOME");\n'),
    (wrong_calls, "src/base/status.c", "void f(void)\n{\n    abort();\n}\n"),
    (long_files, "cli/main.c", "int a;\n" * 601),
    (long_functions, "cli/main.c", "int main(int c,\n         char **v)\n{\n" + "    a();\n" * 100 + "}\n"),
    (long_functions, "cli/main.c", "int main(void) {\n" + "    if (a) {\n    }\n" * 50 + "}\n"),
    (long_functions, "src/linalg/cuda/sums.cuh", "template <typename T> void f(T a)\n{\n" + "    g<<<1, 2>>>(a);\n" * 100 + "}\n"),
    (wrong_conditions, "src/base/order.c", "#ifdef __linux__\n#endif\n"),
    (wrong_conditions, "src/base/memory.h", "#ifndef M_H\n#define M_H\n#if A\n#endif\n#endif\n"),
    (wrong_parallel, "cli/main.c", "void f(void)\n{\n#pragma omp parallel for\n}\n"),
    (idle_tests, "tests/unit/test_a.c", "int main(void)\n{\n    // assert_true(1)\n}\n"),
]


def build(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_good_house_is_left_alone(tmp_path, rule):
    assert rule(build(tmp_path, GOOD)) == []


@pytest.mark.parametrize("rule, name, text", BAD, ids=[f"{rule.__name__}-{k}" for k, (rule, _, _) in enumerate(BAD)])
def test_a_bad_house_is_seen(tmp_path, rule, name, text):
    wrong = rule(build(tmp_path, {**GOOD, name: text}))
    assert len(wrong) == 1 and name in wrong[0]


def test_public_includes_are_seen(tmp_path):
    text = '#include <stddef.h>\n#include "base/status.h"\n'
    assert public_includes(build(tmp_path, {"include/roofs/roofs.h": text})) == ["<stddef.h>", '"base/status.h"']
