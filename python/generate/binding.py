"""Makes the C source of the extension from the public header: binding.py COMPILER roofs.h arrow.h dlpack.h OUT.c

The compiler's own preprocessor reads the headers, so nothing is declared twice.
"""
import re
import subprocess
import sys

import cffi


def declarations(compiler, header):
    """The header as cffi reads it: macros expanded, no includes, no attributes."""
    with open(header) as file:
        text = re.sub(r"^\s*#\s*include.*$", "", file.read(), flags=re.M)
    command = [compiler, "-E", "-P", "-U__GNUC__", "-xc", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    # inline functions are called like others
    return re.sub(r"static inline ([^{}]*?)\s*\{.*?\}", r"\1;", done, flags=re.S)


def main(compiler, header, arrow, dlpack, out):
    ffi = cffi.FFI()
    ffi.cdef(declarations(compiler, header))
    ffi.cdef(declarations(compiler, arrow))
    ffi.cdef(declarations(compiler, dlpack))
    ffi.cdef('extern "Python" int roofs_python_monitor(void *, const roofs_progress *);'
             'extern "Python" int roofs_python_write(void *, const void *, size_t);'
             'extern "Python" int64_t roofs_python_read(void *, void *, size_t);')
    ffi.cdef('extern "Python" int roofs_python_start(void *, double *, int64_t);')
    ffi.cdef('extern "Python" int roofs_python_finish(void *);')
    ffi.cdef('extern "Python" int roofs_python_gather(void *, const void *, const int64_t *, void *);')
    ffi.set_source("roofs._native", '#include <roofs/roofs.h>\n#include "arrow.h"\n#include "dlpack.h"\n')
    ffi.emit_c_code(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
