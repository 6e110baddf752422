"""The sources keep the rules of rules.py. For every rule a test shows that it can fail, in each kind of file: C, CUDA
sources and headers, mpi/ and python/."""
import shutil
import subprocess
from pathlib import Path

import pytest

from rules import (BUILD, C_FOLDERS, EVERYWHERE, FORBIDDEN_WORDS, idle_tests, long_files, long_functions,
                   long_lines, modules, mutable_globals, nameless_tables, public_includes, ROOT, RULES, sources,
                   strangers, wrong_allocations, wrong_calls, wrong_conditions, wrong_imports, wrong_includes,
                   wrong_math, wrong_parallel, wrong_test_names, wrong_words)


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
                          "    static const int b = 1;\n    snprintf(t, 1, \"{\");\n    x = math_exp(z.log(y));"
                          "\n    return fprintf(out, \"x\");\n"
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
    (wrong_includes, "r/src/fit.c", '#include "model/model.h"\n'),
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
    (long_lines, "r/R/fit.R", "# " + "x " * 60 + "\n"),
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
    (wrong_math, "src/base/order.c", BODY % "x = exp(-y);"),
    (wrong_math, "src/robust/tau_formula.h", BODY % "x = 1 + log1pf (y);"),
    (wrong_math, "cli/main.c", BODY % "x = 2 * pow(10, 3);"),
    (wrong_math, "src/method/cuda/b.cu", BODY % "x = erfc(y);"),
    (wrong_math, "src/method/cuda/b.cuh", BODY % "x = (tanh(y));"),
    (wrong_math, "mpi/main.c", BODY % "x = hypot(y, z);"),
    (wrong_math, "python/generate/arrow.h", BODY % "x = lgamma(y);"),
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
