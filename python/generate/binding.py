"""Generates the C source of the extension: binding.py COMPILER roofs.h arrow.h dlpack.h OUT.c

The declarations come from the headers, through the preprocessor of the compiler.
"""
import re
import subprocess
import sys

import cffi

CALLBACKS = """
extern "Python" int roofs_python_monitor(void *, const roofs_progress *);
extern "Python" int roofs_python_write(void *, const void *, size_t);
extern "Python" int64_t roofs_python_read(void *, void *, size_t);
extern "Python" int roofs_python_start(void *, double *, int64_t);
extern "Python" int roofs_python_finish(void *);
extern "Python" int roofs_python_gather(void *, const void *, const int64_t *, void *);
"""


def declarations(compiler, header):
    """The header in the C that cffi parses: macros expanded, no includes, no attributes."""
    with open(header) as file:
        text = re.sub(r"^\s*#\s*include.*$", "", file.read(), flags=re.M)
    command = [compiler, "-E", "-P", "-U__GNUC__", "-xc", "-"]
    expanded = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    # cffi parses declarations only: inline functions lose their bodies
    return re.sub(r"static inline ([^{}]*?)\s*\{.*?\}", r"\1;", expanded, flags=re.S)


def main(compiler, *headers_and_out):
    *headers, out = headers_and_out
    ffi = cffi.FFI()
    for header in headers:
        ffi.cdef(declarations(compiler, header))
    ffi.cdef(CALLBACKS)
    ffi.set_source("roofs._native", '#include <roofs/roofs.h>\n#include "arrow.h"\n#include "dlpack.h"\n')
    ffi.emit_c_code(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
