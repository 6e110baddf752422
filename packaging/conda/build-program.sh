#!/bin/sh
set -eu
# shellcheck disable=SC2086 # a list of words from conda-build
cmake ${CMAKE_ARGS:-} -G Ninja -B build-conda -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
    -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_TESTING=OFF -DROOFS_CUDA=OFF -DROOFS_MPI=OFF -DROOFS_HDF5=OFF
cmake --build build-conda --parallel "${CPU_COUNT:-2}"
cmake --install build-conda
