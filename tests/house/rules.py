"""The rules of CONTRIBUTING.md, each a function that returns the violations in the text of the sources."""
import ast
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("ROOFS_BUILD") or ROOT / "build")
LIBRARY = ("base", "linalg", "robust", "method", "model", "api")   # each may include itself and those before it
LAYERS = {layer: LIBRARY[:k + 1] for k, layer in enumerate(LIBRARY)}
LAYERS["table"] = ("base", "table")   # columns of tables to features: for the library and for the readers
LAYERS["api"] += ("table",)
LAYERS["stream"] = ("base", "table", "stream")   # a side branch: only the program uses it
PROGRAM = {"cli": ("base", "table", "stream", "cli"), "mpi": ("base", "table", "stream", "cli", "mpi"),   # clients
           "r": ("", "base")}   # "": beside the file
HEADERS = ("roofs/roofs.h", "roofs/roofs_mpi.h")
C_FOLDERS = ("src", "cli", "mpi", "python", "r/src")
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
               "src/linalg/lanes_packed.h": "decoding by the instructions of a machine",
               "src/linalg/formula.h": "formulas that compile for the host and for the device",
               "src/linalg/cuda/capability.cuh": "GPUs without clusters",
               "src/base/memory.c": "large pages, where the system has them",
               "src/stream/registry.c": "formats whose library may be absent"}
PARALLEL = ("src/base/threads.c", "src/linalg/", "src/stream/simulator.c", "cli/bench",
            "cli/reproduce/")   # where OpenMP may be used
CALLS = {"src/base/standard.c: stdout": 'an output called "-"',
         "cli/bench_sparse.c: _exit": "the end of a forked child",
         "cli/interrupt.c: _exit": "a program that does not end after a signal",
         "cli/interrupt.c: sigaction": "Ctrl-C ends a fit, not the program",
         "cli/main.c: signal": "a file that may not grow is an error of the write",
         "mpi/main.c: MPI_Abort": "a rank that fails ends the job",
         "python/roofs/table.py: sys.exit": "a program", "python/roofs/table.py: sys.stdout": "its output"}
MUTABLE = {"cli/interrupt.c": "a signal handler reaches nothing else",
           "cli/report_draw.c": "environ, which the C library declares in no header",
           "mpi/main.c": "the communicator and what this rank has printed, set before the verb begins",
           "src/linalg/cuda/staging.cu": "one page-locked buffer survives from fit to fit: locking costs more than a "
                                         "fit"}
LIBM = {"src/linalg/formula.h": "CUDA's own exp and log, on the device",
        "cli/report_plot.c": "the axis of a picture", "cli/report_fit_plots.c": "axes of pictures",
        "cli/reproduce/figure.c": "axes of pictures", "cli/reproduce/experiment.c": "a guess of the time"}
PYTHON_NEEDS = {"python/roofs": ("numpy", "scipy", "sklearn", "joblib"), "python/generate": ("cffi",)}
PYTHON_MAY_USE = ("matplotlib", "tqdm", "pyarrow")   # only inside functions: they need not be installed

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
NOT_PORTABLE = (r"(?<![.>\w])(exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|cbrt|hypot|sin|cos|tan|sincos|asin|acos"
                r"|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|erf|erfc|lgamma|tgamma|j[01n]|y[01n])[fl]?(?=\s*\()")
CONTAINERS = ("list", "dict", "set", "bytearray", "defaultdict", "deque", "OrderedDict", "Counter")
CHANGES = ("append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "remove", "discard", "clear")


def sources(root, *folders, suffixes=C_SUFFIXES):
    """Without docs/generated, which `make docs` writes and git ignores."""
    return sorted(f for folder in folders for f in (root / folder).rglob("*") if f.suffix in suffixes
                  and "generated" not in f.relative_to(root).parts)


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
    of_python = sum((wrong_python_calls(root, path) for path in modules(root)), [])
    return wrong + [hit for hit in of_python if re.sub(r":\d+:", ":", hit) not in CALLS]


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
               "cmake", "r", "packaging")
    files = sources(root, *folders, suffixes=(*C_SUFFIXES, ".py", ".md", ".cmake", ".sh", ".sql", ".R", ".Rd", ".Rmd"))
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


def wrong_math(root):
    """Calls of the C library whose last bits differ from system to system; base/portable_math.h has the same bits."""
    return [hit for f in sources(root, *C_FOLDERS) if place(root, f) not in LIBM
            for hit in found(root, f, NOT_PORTABLE)]


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
              mutable_globals, nameless_tables, wrong_words, wrong_parallel, wrong_math)
RULES = (*EVERYWHERE, wrong_imports, strangers, idle_tests, wrong_test_names)
