"""The rules of CONTRIBUTING.md, checked in the text of the sources. For every rule a test shows that it can fail, in
each kind of file: C, CUDA sources and headers, mpi/ and python/."""
import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("ROOFS_BUILD") or ROOT / "build")
LIBRARY = ("base", "linalg", "robust", "method", "model", "api")   # each may include itself and those before it
LAYERS = {layer: LIBRARY[:k + 1] for k, layer in enumerate(LIBRARY)}
LAYERS["stream"] = ("base", "stream")   # a side branch: only the program uses it
PROGRAM = {"cli": ("base", "stream", "cli"), "mpi": ("base", "stream", "cli")}   # clients of the public header
HEADERS = ("roofs/roofs.h", "roofs/roofs_mpi.h")
C_FOLDERS = ("src", "cli", "mpi", "python")
C_SUFFIXES = (".c", ".h", ".def", ".inc", ".cu", ".cuh")
PYTHON_FOLDERS = ("python/roofs", "python/generate")
MAX_FILE, MAX_FUNCTION, MAX_PYTHON_FUNCTION, MAX_LINE = 600, 100, 60, 120

# ---- exceptions, each with its reason --------------------------------------------------------

ALLOCATES = {"src/base/memory.c": "the allocator",
             "src/linalg/cuda/buffers.cu": "memory of the GPU", "src/linalg/cuda/buffers.cuh": "its templates",
             "cli/report_svg.c": "a copy of a line that getline allocated",
             "mpi/comm_mpi.c": "a library of its own, without base"}
RELEASES = ("cli/",)   # may free what getline, open_memstream and realpath allocate
CONDITIONAL = {"src/linalg/lanes.h": "the kernels' one header depends on the compiler",
               "src/linalg/formula.h": "formulas that compile for the host and for the device",
               "src/base/memory.c": "large pages, where the system has them",
               "src/stream/registry.c": "formats whose library may be absent"}
PARALLEL = ("src/linalg/", "src/stream/simulator.c", "cli/bench", "cli/reproduce/")   # where OpenMP may be used
CALLS = {"src/base/output.c: stdout": 'an output called "-"',
         "cli/bench_sparse.c: _exit": "the end of a forked child",
         "cli/interrupt.c: sigaction": "Ctrl-C ends a fit, not the program",
         "cli/main.c: signal": "a file that may not grow is an error of the write",
         "mpi/main.c: MPI_Abort": "a rank that fails ends the job"}
MUTABLE = {"cli/interrupt.c": "a signal handler reaches nothing else",
           "cli/report_draw.c": "environ, which the C library declares in no header",
           "mpi/main.c": "the communicator and the descriptor of standard error, set once before the verb begins",
           "src/linalg/cuda/staging.cu": "one page-locked buffer survives from fit to fit: locking costs more than a "
                                         "fit"}
PYTHON_NEEDS = {"python/roofs": ("numpy", "scipy", "sklearn"), "python/generate": ("cffi",)}
PYTHON_MAY_USE = ("matplotlib", "tqdm")   # only inside functions: they need not be installed

# Words that the glossary of CONTRIBUTING.md replaces, by the better one: neither in names nor in comments.
BETTER_WORDS = {"partition": "sheaf sheaves", "rescale": "tame tames tamed taming", "ingest options": "taste tastes",
                "output options": "wish wishes", "deferred error": "trouble troubles", "barrier": "meeting meetings",
                "batch, block": "shipment shipments heaps", "upload": "ship ships shipped travel travels",
                "monitor, callback": "watch watches watched watching watcher", "is_root": "speak speaks spoken voice",
                "layer, buffer, capacity": "room rooms", "buffer": "stage stages staged", "offset": "away",
                "reset": "forget forgets forgot forgotten", "record, save": "remember remembers remembered",
                "prefetch": "announces announced", "report, print": "tell tells telling told", "has, finds": "knows",
                "the subject": "nobody everyone everybody anybody anyone somebody someone whoever"}
FORBIDDEN_WORDS = {word: better for better, words in BETTER_WORDS.items() for word in words.split()}

# ---- reading -------------------------------------------------------------------------------

ALLOCATION = (r"(?<![.>\w])(malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|strdup|strndup"
              r"|cudaMalloc\w*|cudaHostAlloc|cuMem\w*Alloc\w*|cudaFree\w*)\s*\(")
RELEASE = r"(?<![.>\w])free\s*\("
OPERATORS = r"\bnew\b|(?<!=)(?<!= )\bdelete\b"   # in CUDA files; `f() = delete` allocates nothing
FORBIDDEN = (r"(?<![.>\w])(printf|vprintf|puts|putchar|perror|exit|_exit|quick_exit|abort|getenv|secure_getenv"
             r"|setenv|putenv|setlocale|signal|sigaction|raise|system|assert|__trap|MPI_Abort)(?=\s*\()"
             r"|\b(stdout|stderr)\b|\bstd::(?:cout|cerr|clog)\b")
FORBIDDEN_IN_PROGRAMS = (r"(?<![.>\w])(exit|_exit|quick_exit|abort|setenv|putenv|setlocale|signal|sigaction|raise"
                         r"|system|assert|MPI_Abort)(?=\s*\()")
FORBIDDEN_IN_PYTHON = (r"(sys\.(exit|stdout)|exit|quit|breakpoint|input|signal\..*|logging\..*|locale\..*"
                       r"|os\.(_exit|abort|system|environ|getenv|putenv|kill|fork))$")
CONTAINERS = ("list", "dict", "set", "bytearray", "defaultdict", "deque", "OrderedDict", "Counter")
CHANGES = ("append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "remove", "discard", "clear")


def sources(root, *folders, suffixes=C_SUFFIXES):
    return sorted(f for folder in folders for f in (root / folder).rglob("*") if f.suffix in suffixes)


def modules(root):
    return sources(root, *PYTHON_FOLDERS, suffixes=(".py",))


def place(root, path):
    return path.relative_to(root).as_posix()


def code(path):
    """The text without comments and without the contents of strings; lines stay where they are."""
    def blank(match):
        text = match.group(0)
        return text[0] + text[-1] if text[0] in "\"'" else " " + "\n" * text.count("\n")
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, path.read_text(), flags=re.S)


def plain_code(path):
    """The code without preprocessor lines; `extern "C"` and namespaces do not nest."""
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m.group(0).count("\n"), code(path), flags=re.M)
    return re.sub(r'extern\s*""\s*\{|\bnamespace\s*\w*\s*\{', lambda m: "\n" * m.group(0).count("\n"), text)


def found(root, path, pattern):
    """'file:line: what' for every match in the code."""
    return [f"{place(root, path)}:{number}: {match.group(0).strip()}"
            for number, line in enumerate(code(path).split("\n"), 1) if not re.match(r"\s*#\s*include", line)
            for match in re.finditer(pattern, line)]


def blocks(text):
    """(position of the brace, position after its end, the text before it) of every outermost block of functions,
    types and initialisers; functions are also found inside types."""
    result, stack, start = [], [], 0
    for match in re.finditer(r"[{};]", text):
        at, character = match.start(), match.group(0)
        if character == "{":
            head = text[start:at].strip()
            is_type = re.search(r"\b(struct|union|class|enum)\b[^=()]*$", head) is not None
            stack.append((at, head, is_type))
            start = at + 1 if is_type else start
        elif character == "}" and stack:
            begin, head, is_type = stack.pop()
            if all(outer[2] for outer in stack):
                result.append((begin, at + 1, head))
                start = at + 1
        elif character == "}":
            start = at + 1   # of extern "C" or a namespace
        elif character == ";" and all(outer[2] for outer in stack):
            start = at + 1
    return result


def is_parameter_list(head):
    return re.search(r"\)\s*(const|noexcept|override|\s)*$",
                     head) and "=" not in re.sub(r"\(.*\)", "", head, flags=re.S)


def functions(path):
    """(first line, number of lines) of every function: a block that follows a parameter list."""
    text = plain_code(path)
    return [(text.count("\n", 0, begin) + 1, text.count("\n", begin, end) + 1) for begin, end, head in blocks(text)
            if is_parameter_list(head)]


def called(node):
    """The dotted name of an expression: os.environ.get -> "os.environ.get"."""
    if isinstance(node, ast.Attribute):
        return f"{called(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


# ---- rules: each gives a list of what is wrong -----------------------------------------

def wrong_includes(root):
    wrong = []
    for path in sources(root, *C_FOLDERS):
        name = path.relative_to(root)
        own = name.parts[1] if name.parts[0] == "src" else name.parts[0]
        allowed = LAYERS.get(own, PROGRAM.get(own, ()))
        for target in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.M):
            layer = target.split("/")[0] if "/" in target else ""
            if target not in HEADERS[:1 if own in LAYERS else 2] and layer not in allowed:
                wrong.append(f"{name}: {target}")
    return wrong


def wrong_imports(root):
    """The package imports itself relatively, the standard library, and what it declares; the rest inside functions."""
    wrong = []
    for path in modules(root):
        folder = place(root, path.parent)
        tree = ast.parse(path.read_text())
        inner = {node for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for node in ast.walk(f)}
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module]
            allowed = {*sys.stdlib_module_names, *PYTHON_NEEDS.get(folder, ()),
                       *(PYTHON_MAY_USE if node in inner else ())}
            wrong += [f"{place(root, path)}:{node.lineno}: {name}" for name in names
                      if name.split(".")[0] not in allowed]
    return wrong


def strangers(root):
    """Files of src that belong to no layer."""
    return [place(root, f) for f in sources(root, "src") if f.relative_to(root).parts[1] not in LAYERS]


def public_includes(root):
    return re.findall(r"^\s*#\s*include\s*(\S+)", (root / "include/roofs/roofs.h").read_text(), re.M)


def wrong_allocations(root):
    wrong = []
    for path in sources(root, *C_FOLDERS):
        name = place(root, path)
        patterns = [ALLOCATION, *([] if name.startswith(RELEASES) else [RELEASE]),
                    *([OPERATORS] if path.suffix in (".cu", ".cuh") else [])]
        wrong += found(root, path, "|".join(patterns)) if name not in ALLOCATES else []
    return wrong


def wrong_python_calls(root, path):
    wrong = []
    for node in ast.walk(ast.parse(path.read_text())):
        name = called(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
        if isinstance(node, ast.Call) and called(node.func) == "print" and "file" not in [k.arg for k in node.keywords]:
            name = "sys.stdout"
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            wrong.append(f"{place(root, path)}:{node.lineno}: except:")
        elif re.match(FORBIDDEN_IN_PYTHON, name):
            wrong.append(f"{place(root, path)}:{node.lineno}: {name}")
    return wrong


def wrong_calls(root):
    """The library neither prints nor exits, nor uses signals, locale or environment; programs return from main."""
    wrong = []
    for path in sources(root, *C_FOLDERS):
        name = place(root, path)
        is_program = name.startswith("cli/") or name == "mpi/main.c"
        hits = found(root, path, FORBIDDEN_IN_PROGRAMS if is_program else FORBIDDEN)
        wrong += [hit for hit in hits if f"{name}: {hit.split(': ')[1]}" not in CALLS]
    return wrong + sum((wrong_python_calls(root, path) for path in modules(root)), [])


def long_files(root):
    counts = {f: len(f.read_text().splitlines()) for f in [*sources(root, *C_FOLDERS), *modules(root)]}
    return [f"{place(root, f)}: {lines} lines" for f, lines in counts.items() if lines > MAX_FILE]


def long_functions(root):
    wrong = [f"{place(root, f)}:{start}: {lines} lines" for f in sources(root, *C_FOLDERS)
             for start, lines in functions(f) if lines > MAX_FUNCTION]
    for path in modules(root):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = node.body[1 if ast.get_docstring(node) is not None and len(node.body) > 1 else 0]
                lines = node.end_lineno - first.lineno + 1   # the body: signatures and docstrings are for readers
                wrong += [f"{place(root, path)}:{node.lineno}: {lines} lines"] if lines > MAX_PYTHON_FUNCTION else []
    return wrong


def long_lines(root):
    """Rows of Markdown tables and links alone on a line cannot be wrapped."""
    folders = ("src", "cli", "mpi", "include", "python", "tests", "bench", "examples", "experiments", "docs", "scripts",
               "cmake")
    files = sources(root, *folders, suffixes=(*C_SUFFIXES, ".py", ".md", ".cmake", ".sh", ".sql"))
    files += [f for f in [*(root / "scripts").glob("*"), *root.glob("*")] if f.suffix in ("", ".md") and f.is_file()]
    return [f"{place(root, f)}:{number}: {len(line)} characters" for f in sorted(set(files))
            for number, line in enumerate(f.read_text().splitlines(), 1)
            if len(line) > MAX_LINE
            and not (f.suffix == ".md" and re.match(r"\s*\||\S*https?://\S+$|\[[^]]*\]: ", line))]


def wrong_conditions(root):
    """#if outside include guards and the allowed files."""
    wrong = []
    for path in sources(root, *C_FOLDERS):
        name = place(root, path)
        lines = code(path).split("\n")
        guard = next((k for k, line in enumerate(lines) if line.strip()), 0) if path.suffix in (".h", ".cuh") else -1
        for k, line in enumerate(lines):
            is_guard = (k == guard and k + 1 < len(lines) and line.startswith("#ifndef ")
                        and lines[k + 1].split()[:2] == ["#define", line.split()[1]])
            if re.match(r"\s*#\s*(if|ifdef|ifndef|elif)\b", line) and not is_guard and name not in CONDITIONAL:
                wrong.append(f"{name}:{k + 1}: {line.strip()}")
    return wrong


def is_mutable(declaration):
    """Whether a declaration outside functions, its blocks left out, defines or declares a variable that can change."""
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)|^(\s*[A-Z_0-9]+\([^()]*\))+|\[[^]]*\]", " ", declaration.strip())
    text = re.sub(r'^extern\s*""', "extern", text)
    left = text.split("=")[0].strip()
    is_type = re.match(r"(typedef|using|namespace|template|friend|static_assert|_Static_assert)\b",
                       left) or re.fullmatch(
        r"(struct|union|enum|class)\s*\w*\s*(:[^{]*)?(\{\})?", left)
    pointer = re.match(r"[^(]*\(\s*\*\s*(const)?\s*\w+\s*\)", left)
    if not left or is_type or not re.search(r"\w[\s*&]+\w", left) or ("(" in left and not pointer):
        return False
    if pointer:
        return pointer.group(1) is None
    return not re.search(r"\bconst(expr)?\b", left.rpartition("*")[2] if "*" in left else left)


def wrong_globals_of(root, path):
    """Variables that can change: outside functions, or static inside them."""
    text = outside = plain_code(path)
    wrong = []
    for begin, end, head in blocks(text):
        is_function, body = is_parameter_list(head), text[begin:end]
        outside = outside[:begin] + (";;" if is_function else "{}") + re.sub(r"[^\n]", " ", body[2:]) + outside[end:]
        for match in re.finditer(r"(?<=[;{}])\s*((?:static|thread_local|_Thread_local)\b[^;{=(]*)",
                                 body if is_function else ""):
            if not re.search(r"\bconst(expr)?\b",
                             match.group(1).rpartition("*")[2]) and "_assert" not in match.group(1):
                wrong.append((begin + match.start(1), match.group(1)))
    for match in re.finditer(r"[^;\s][^;]*", outside):
        if is_mutable(" ".join(match.group(0).lstrip("} ").split())):
            wrong.append((match.start(), match.group(0)))
    return [f"{place(root, path)}:{text.count(chr(10), 0, at) + 1}: {' '.join(what.split())[:60]}"
            for at, what in sorted(wrong)]


def wrong_python_globals(root, path):
    """Containers of a module are constants: in capitals and never changed. No `global`."""
    tree, wrong, constants = ast.parse(path.read_text()), [], set()
    for node in tree.body:
        targets = node.targets if isinstance(node,
                                             ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        value = getattr(node, "value", None)
        is_container = isinstance(value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)) or (
            isinstance(value, ast.Call) and called(value.func).split(".")[-1] in CONTAINERS)
        for target in targets if is_container else ():
            name = called(target)
            constants.add(name)
            if not name.strip("_").isupper() and name != "__all__":
                wrong.append((node.lineno, name))
    for node in ast.walk(tree):
        changed = node.func.value if (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
                                      and node.func.attr in CHANGES) else None
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changed = node.value
        if isinstance(node, ast.Global) or (changed is not None and called(changed) in constants):
            wrong.append((node.lineno, "global" if isinstance(node, ast.Global) else called(changed)))
    return [f"{place(root, path)}:{line}: {what}" for line, what in wrong]


def mutable_globals(root):
    wrong = [hit for f in sources(root, *C_FOLDERS) for hit in wrong_globals_of(root, f)
             if place(root, f) not in MUTABLE]
    return wrong + sum((wrong_python_globals(root, path) for path in modules(root)), [])


def tables_of_functions(texts):
    """Names of the struct types that hold at least two function pointers."""
    all_code = "\n".join(texts)
    pointers = set(re.findall(r"\btypedef\b[^;{}]*\(\s*\*\s*(\w+)\s*\)\s*\(", all_code))
    names = set()
    for match in re.finditer(r"\bstruct\s*(\w*)\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*(\w*)", all_code):
        of_named_types = re.findall(r"^\s*(?:const\s+)?(\w+)\s+\w+\s*;", match.group(2), re.M)
        count = len(re.findall(r"\(\s*\*\s*\w+\s*\)\s*\(", match.group(2))) + sum(m in pointers for m in of_named_types)
        names |= {match.group(1), match.group(3)} if count > 1 else set()
    return names - {""}


def nameless_tables(root):
    """Tables of function pointers are filled by name: every initialiser of such a struct uses designators."""
    texts = {f: plain_code(f) for f in sources(root, *C_FOLDERS, "include")}
    types = "|".join(sorted(tables_of_functions(texts.values()))) or "(?!)"
    wrong = []
    for path, text in texts.items():
        for match in re.finditer(rf"\b({types})\s+(\w+)\s*(\[[^]]*\])?\s*=\s*\{{|\((?:struct )?({types})\)\s*\{{",
                                 text):
            rest = text[match.end():]
            firsts = re.findall(r"(?:\A|\},)\s*\{\s*(\S)",
                                rest[:rest.find("};")]) if match.group(3) else [rest.lstrip()[:1]]
            if any(first not in ".}0" for first in firsts):
                wrong.append(f"{place(root, path)}:{text.count(chr(10), 0, match.start()) + 1}: "
                             f"{match.group(0).strip(' {=')}")
    return wrong


def wrong_words(root):
    pattern = re.compile(rf"(?<![A-Za-z])({'|'.join(FORBIDDEN_WORDS)})(?![A-Za-z])", re.I)
    return [f"{place(root, f)}:{number}: {match.group(0)} (say: {FORBIDDEN_WORDS[match.group(0).lower()]})"
            for f in [*sources(root, *C_FOLDERS, "include"), *modules(root)]
            for number, line in enumerate(f.read_text().splitlines(), 1) for match in pattern.finditer(line)]


def wrong_parallel(root):
    return [hit for f in sources(root, *C_FOLDERS) for hit in found(root, f, r"#\s*pragma\s+omp.*|\bomp_\w+\s*\(")
            if not hit.startswith(PARALLEL)]


def idle_tests(root):
    return [place(root, f) for f in (root / "tests/unit").rglob("test_*.c")
            if not re.search(r"\bassert\w*\s*\(", code(f))]


def wrong_test_names(root):
    """A test's name is a sentence about what holds, without an article in front: test_missing_values_are_refused."""
    wrong = []
    for path in sources(root, "tests", "python/tests", suffixes=(".c", ".py")):
        pattern = r"\bvoid (\w+)\(void \*\*" if path.suffix == ".c" else r"^\s*def (test\w*)\("
        wrong += [f"{place(root, path)}: {name}" for name in re.findall(pattern, path.read_text(), re.M)
                  if not re.fullmatch(r"test_(?!(?:an?|the|what)_)[a-z0-9]+(_[a-z0-9#]+)+", name)]
    return wrong


EVERYWHERE = (wrong_includes, wrong_allocations, wrong_calls, long_files, long_functions, long_lines, wrong_conditions,
              mutable_globals, nameless_tables, wrong_words, wrong_parallel)
RULES = (*EVERYWHERE, wrong_imports, strangers, idle_tests, wrong_test_names)


# ---- the house ---------------------------------------------------------------------------

@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_house_keeps_its_rules(rule):
    assert all(sources(ROOT, folder) for folder in C_FOLDERS) and modules(ROOT), "no sources found"
    assert rule(ROOT) == []


def test_public_header_stands_alone():
    assert sorted(public_includes(ROOT)) == ["<stddef.h>", "<stdint.h>"]


@pytest.mark.parametrize("name, wanted", [("libroofs.so", "roofs_create"), ("libroofs_cuda.so", "roofs_cuda_"),
                                          ("libroofs_mpi.so", "roofs_mpi_")])
def test_libraries_export_only_our_names(name, wanted):
    library = BUILD / name
    if not library.exists() or not shutil.which("nm"):
        pytest.skip(f"{name} is not built")
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1].split("@")[0] for line in listed.splitlines()]
    assert any(name.startswith(wanted) for name in names) and [name for name in names
                                                               if not name.startswith("roofs_")] == []


# ---- every rule can fail ---------------------------------------------------------------------

GOOD = {
    "include/roofs/roofs.h": "#include <stddef.h>\n",
    "src/base/memory.c": '#include "base/memory.h"\nvoid *take(void)\n{\n    return malloc(1);\n}\n',
    "src/base/memory.h": "/* why */\n#ifndef MEMORY_H\n#define MEMORY_H\nvoid *take(void);\n#endif\n",
    "src/linalg/lanes.h": "#ifndef LANES_H\n#define LANES_H\n#ifdef __AVX2__\n#endif\n#endif\n",
    "src/linalg/cpu/sum.c": '#include "base/memory.h"\n#include "linalg/lanes.h"\n'
                            "void sum(void)\n{\n#pragma omp parallel\n    x.free(y);\n}\n",
    "src/method/method.h": "#ifndef M_H\n#define M_H\ntypedef void (*hook)(void);\n"
                           "typedef struct method {\n    int (*run)(void);\n    int kind;\n    int (*end)(void);\n} "
                           "method;\n"
                           "struct plan {\n    hook at_start;\n    hook at_end;\n};\nextern const method method_a;\n"
                           "#endif\n",
    "src/method/a.c": '#include "method/method.h"\nconst method method_a = {\n    .run = run,\n};\n'
                      "static const method *const all[] = {&method_a};\nstatic const method two[] = {{.run = run}, "
                      "{0}};\n",
    "src/api/settings.c": '#include "roofs/roofs.h"\n#include "method/method.h"\n'
                          'static const char *const help = "printf( { free(";  // exit(\n'
                          "static const int a[] = {1, 2};\nenum { MOST = 3 };\nstruct row;\nint f(FILE *out);\nint "
                          "f(FILE *out)\n{\n"
                          "    static const int b = 1;\n    snprintf(t, 1, \"{\");\n    return fprintf(out, \"x\");\n"
                          "}\n",
    "src/linalg/cuda/buffers.cu": '#include "linalg/cuda/sums.cuh"\n#include <new>\nvoid f(void)\n{\n    '
                                  'cudaMalloc(&p, 1);\n}\n',
    "src/linalg/cuda/sums.cuh": '#pragma once\n#include "base/memory.h"\nextern "C" {\n#include "linalg/lanes.h"\n}\n'
                                "struct sums {\n    double *at;\n    sums(const sums &) = delete;\n};\n"
                                "static __device__ const double SMALL = 1e-3, LARGE = 2;\nstatic constexpr int WIDTH = "
                                "4;\n"
                                "template <typename T> __global__ void sum(T *x)\n{\n    extern __shared__ double "
                                "all[];\n"
                                "    __shared__ double part[4];\n}\n",
    "cli/main.c": '#include "cli/options.h"\n#include "stream/source.h"\nint main(void)\n{\n    printf("hello");\n    '
                  'free(line);\n}\n',
    "mpi/comm_mpi.c": '#include "roofs/roofs_mpi.h"\n#include <mpi.h>\nvoid f(void)\n{\n    free(p);\n}\n',
    "mpi/main.c": '#include "cli/print.h"\n#include "base/memory.h"\nint main(void)\n{\n    fprintf(stderr, "x");\n'
                  "    MPI_Abort(MPI_COMM_WORLD, 1);\n}\n",
    "python/generate/arrow.h": "#ifndef ARROW_H\n#define ARROW_H\nstruct ArrowSchema {\n    void (*release)(struct "
                               "ArrowSchema *);\n"
                               "};\n#endif\n",
    "python/generate/make.py": "import cffi\nimport sys\nprint(1, file=sys.stderr)\n",
    "python/roofs/fit.py": "import os\nimport numpy as np\nfrom ._native import lib\n__all__ = ['fit']\nKINDS = {1: "
                           "'a'}\n"
                           "def fit(path):\n    import matplotlib.pyplot\n    own = {}\n    own[1] = KINDS[1]\n    "
                           "own.update(a=1)\n"
                           "    try:\n        return os.path.join(path, own)\n    except OSError:\n        return "
                           "self.exit()\n",
    "tests/unit/test_a.c": "static void test_names_are_found(void **state)\n{\n    assert_true(1);\n}\n",
    "tests/cli/test_b.py": "def test_names_are_found():\n    pass\n",
}

BODY = "void f(void)\n{\n    %s\n}\n"
LONG_BODY = "(void)\n{\n" + "    a();\n" * 100 + "}\n"
WORD = next(iter(FORBIDDEN_WORDS))
BAD = [
    (wrong_includes, "src/base/memory.c", '#include "linalg/columns.h"\n'),
    (wrong_includes, "src/base/memory.c", '#include "memory.h"\n'),
    (wrong_includes, "src/base/memory.c", '#include "../base/memory.h"\n'),
    (wrong_includes, "src/api/settings.c", '#include "cli/options.h"\n'),
    (wrong_includes, "src/stream/csv.c", '#  include "robust/tau.h"\n'),
    (wrong_includes, "src/robust/tau.c", '#include "stream/source.h"\n'),
    (wrong_includes, "cli/main.c", '#include "options.h"\n'),
    (wrong_includes, "cli/main.c", '#include "api/estimator.h"\n'),
    (wrong_includes, "src/base/comm.c", '#include "roofs/roofs_mpi.h"\n'),
    (wrong_includes, "cli/reproduce/oracle.c", '#include "linalg/vector.h"\n'),
    (wrong_includes, "src/stream/csv.c", '#include "linalg/columns.h"\n'),
    (wrong_includes, "src/linalg/cuda/sums.cu", '#include "method/rounds.h"\n'),
    (wrong_includes, "src/robust/cuda/tau.cuh", '#pragma once\nextern "C" {\n#include "method/fit.h"\n}\n'),
    (wrong_includes, "mpi/main.c", '#include "model/model.h"\n'),
    (wrong_includes, "python/generate/arrow.h", '#include "base/status.h"\n'),
    (wrong_imports, "python/roofs/fit.py", "from roofs import fit\n"),
    (wrong_imports, "python/roofs/fit.py", "import matplotlib\n"),
    (wrong_imports, "python/generate/make.py", "import numpy as np\n"),
    (strangers, "src/util.c", "int f(void);\n"),
    (strangers, "src/gpu/util.cu", "int f(void);\n"),
    (strangers, "src/gpu/util.cuh", "int f(void);\n"),
    (wrong_allocations, "src/linalg/cpu/sum.c", BODY % "free(p);"),
    (wrong_allocations, "src/base/other.c", "void *const p = calloc (1, 2);\n"),
    (wrong_allocations, "cli/main.c", BODY % "p = malloc(1);"),
    (wrong_allocations, "src/linalg/cuda/sums.cu", BODY % "cudaMallocHost(&p, 1);"),
    (wrong_allocations, "src/linalg/cuda/sums.cu", BODY % "p = new (std::nothrow) int[4];"),
    (wrong_allocations, "src/linalg/cuda/sums.cuh", BODY % "delete[] p;"),
    (wrong_allocations, "mpi/main.c", BODY % "free(p);"),
    (wrong_allocations, "python/generate/arrow.h", BODY % "p = realloc(p, 2);"),
    (wrong_calls, "src/base/status.c", BODY % 'printf("x");'),
    (wrong_calls, "src/base/status.c", BODY % 'fprintf(stderr, "x");'),
    (wrong_calls, "src/base/status.c", 'const char *const f = getenv("HOME");\n'),
    (wrong_calls, "src/base/status.c", BODY % "abort();"),
    (wrong_calls, "cli/main.c", BODY % "exit(1);"),
    (wrong_calls, "src/linalg/cuda/sums.cu", BODY % "std::cout << 1;"),
    (wrong_calls, "src/linalg/cuda/sums.cuh", BODY % "assert(n > 0);"),
    (wrong_calls, "mpi/comm_mpi.c", BODY % "MPI_Abort(MPI_COMM_WORLD, 1);"),
    (wrong_calls, "mpi/main.c", BODY % "abort();"),
    (wrong_calls, "python/generate/arrow.h", BODY % "exit(1);"),
    (wrong_calls, "python/roofs/fit.py", "print('x')\n"),
    (wrong_calls, "python/roofs/fit.py", "import sys\nsys.exit(1)\n"),
    (wrong_calls, "python/roofs/fit.py", "import os\nos.environ['A'] = 'b'\n"),
    (wrong_calls, "python/roofs/fit.py", "import signal\nsignal.signal(2, None)\n"),
    (wrong_calls, "python/roofs/fit.py", "import logging\nlogging.info('x')\n"),
    (wrong_calls, "python/generate/make.py", "try:\n    f()\nexcept:\n    pass\n"),
    (long_files, "cli/main.c", "int f(void);\n" * 601),
    (long_files, "src/linalg/cuda/sums.cu", "int f(void);\n" * 601),
    (long_files, "src/linalg/cuda/sums.cuh", "int f(void);\n" * 601),
    (long_files, "mpi/main.c", "int f(void);\n" * 601),
    (long_files, "python/roofs/fit.py", "f()\n" * 601),
    (long_functions, "cli/main.c", "int main(int c,\n         char **v)\n{\n" + "    a();\n" * 100 + "}\n"),
    (long_functions, "cli/main.c", "int main(void) {\n" + "    if (a) {\n    }\n" * 50 + "}\n"),
    (long_functions, "src/linalg/cuda/sums.cu", 'extern "C" {\nnamespace gpu {\nvoid f' + LONG_BODY + "}\n}\n"),
    (long_functions, "src/linalg/cuda/sums.cuh",
     "template <typename T> void f(T a)\n{\n" + "    g<<<1, 2>>>(a);\n" * 100 + "}\n"),
    (long_functions, "src/linalg/cuda/sums.cuh", "struct sums {\nint f" + LONG_BODY + "};\n"),
    (long_functions, "mpi/main.c", "int main" + LONG_BODY),
    (long_functions, "python/roofs/fit.py", "def f():\n" + "    a()\n" * 61),
    (long_lines, "src/base/status.c", "/* " + "x" * 120 + " */\n"),
    (long_lines, "src/linalg/cuda/sums.cu", "/* " + "x" * 120 + " */\n"),
    (long_lines, "src/linalg/cuda/sums.cuh", "/* " + "x" * 120 + " */\n"),
    (long_lines, "mpi/main.c", "/* " + "x" * 120 + " */\n"),
    (long_lines, "python/roofs/fit.py", "# " + "x " * 60 + "\n"),
    (long_lines, "docs/guide.md", "word " * 30 + "\n"),
    (wrong_conditions, "src/base/order.c", "#ifdef __linux__\n#endif\n"),
    (wrong_conditions, "src/base/memory.h", "#ifndef M_H\n#define M_H\n#if A\n#endif\n#endif\n"),
    (wrong_conditions, "src/linalg/cuda/sums.cu", "#if __CUDA_ARCH__ >= 900\n#endif\n"),
    (wrong_conditions, "src/linalg/cuda/sums.cuh", "#pragma once\n#ifdef __CUDACC__\n#endif\n"),
    (wrong_conditions, "mpi/main.c", "#ifndef OPEN_MPI\n#endif\n"),
    (wrong_conditions, "python/generate/arrow.h", "#ifndef A_H\n#define A_H\n#if A\n#endif\n#endif\n"),
    (mutable_globals, "src/base/status.c", "static int count;\n"),
    (mutable_globals, "src/base/status.c", "static const char *last = 0;\n"),
    (mutable_globals, "src/base/status.c", "struct row {\n    int a;\n} row;\n"),
    (mutable_globals, "src/base/status.c", "static int (*hook)(void);\n"),
    (mutable_globals, "src/base/status.c", BODY % "static int calls = 0;"),
    (mutable_globals, "src/base/status.h", "extern int verbose;\n"),
    (mutable_globals, "cli/main.c", "volatile int stop;\n"),
    (mutable_globals, "src/linalg/cuda/sums.cu", "static std::mutex lock;\n"),
    (mutable_globals, "src/linalg/cuda/sums.cu", BODY % "static thread_local double x[4];"),
    (mutable_globals, "src/linalg/cuda/sums.cuh", "static __device__ double total;\n"),
    (mutable_globals, "mpi/comm_mpi.c", "static MPI_Comm all = MPI_COMM_NULL;\n"),
    (mutable_globals, "python/generate/arrow.h", "static int seen[2] = {0};\n"),
    (mutable_globals, "python/roofs/fit.py", "cache = {}\n"),
    (mutable_globals, "python/roofs/fit.py", "CACHE = dict()\ndef f(a):\n    CACHE[a] = 1\n"),
    (mutable_globals, "python/roofs/fit.py", "ALL = []\ndef f(a):\n    ALL.append(a)\n"),
    (mutable_globals, "python/roofs/fit.py", "LAST = None\ndef f(a):\n    global LAST\n    LAST = a\n"),
    (nameless_tables, "src/method/b.c", "const method method_b = {run, 1};\n"),
    (nameless_tables, "src/method/b.c", "static const method both[] = {{.run = run}, {run, 1}};\n"),
    (nameless_tables, "src/method/b.c", BODY % "*p = (struct plan){stop};"),
    (nameless_tables, "src/method/cuda/b.cu", 'extern "C" const struct method method_b = {\n    run,\n};\n'),
    (nameless_tables, "src/method/cuda/b.cuh", "static const plan last = {stop};\n"),
    (nameless_tables, "mpi/main.c", BODY % "method m = {run, 1};"),
    (nameless_tables, "python/generate/arrow.h",
     "struct hooks {\n    int (*a)(void), (*b)(void);\n};\nstatic const struct hooks h = {f};\n"),
    (wrong_words, "src/base/status.c", f"/* The {WORD}. */\n"),
    (wrong_words, "src/linalg/cuda/sums.cu", f"int a_{WORD}(void);\n"),
    (wrong_words, "src/linalg/cuda/sums.cuh", f"int {WORD}_b(void);\n"),
    (wrong_words, "mpi/main.c", f"// {WORD.capitalize()}\n"),
    (wrong_words, "python/roofs/fit.py", f"def f(a_{WORD}):\n    pass\n"),
    (wrong_parallel, "cli/main.c", BODY % "\n#pragma omp parallel for"),
    (wrong_parallel, "src/method/cuda/b.cu", BODY % "omp_set_num_threads(2);"),
    (wrong_parallel, "src/method/cuda/b.cuh", BODY % "\n#pragma omp simd"),
    (wrong_parallel, "mpi/main.c", BODY % "\n#pragma omp parallel"),
    (wrong_parallel, "python/generate/arrow.h", BODY % "omp_get_max_threads();"),
    (idle_tests, "tests/unit/test_a.c", "int main(void)\n{\n    // assert_true(1)\n}\n"),
    (wrong_test_names, "tests/unit/test_a.c", "static void names_are_found(void **state)\n{\n}\n"),
    (wrong_test_names, "tests/cli/test_b.py", "def test_the_names_are_found():\n    pass\n"),
    (wrong_test_names, "python/tests/test_c.py", "def test_names():\n    pass\n"),
]


def build(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_good_house_is_left_alone(tmp_path, rule):
    assert rule(build(tmp_path, GOOD)) == []


@pytest.mark.parametrize("rule, name, text", BAD, ids=[f"{rule.__name__}-{k}" for k, (rule, _, _) in enumerate(BAD)])
def test_bad_house_is_seen(tmp_path, rule, name, text):
    wrong = rule(build(tmp_path, {**GOOD, name: text}))
    assert len(wrong) == 1 and name in wrong[0]


@pytest.mark.parametrize("rule", EVERYWHERE, ids=lambda rule: rule.__name__)
def test_rule_is_shown_to_fail_in_every_kind_of_file(rule):
    names = [name for planted, name, _ in BAD if planted is rule]
    kinds = {name.split("/")[0] if name.startswith(("mpi/", "python/")) else Path(name).suffix for name in names}
    assert kinds >= {".c", ".cu", ".cuh", "mpi", "python"}


def test_public_includes_are_seen(tmp_path):
    text = '#include <stddef.h>\n#include "base/status.h"\n'
    assert public_includes(build(tmp_path, {"include/roofs/roofs.h": text})) == ["<stddef.h>", '"base/status.h"']
