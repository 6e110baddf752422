#!/bin/sh
set -eu
"$PYTHON" -m pip install . --no-deps --no-build-isolation -Ccmake.define.ROOFS_CUDA=OFF
