# Debian's cross compiler for aarch64, for `cmake --toolchain`. ROOFS_SYSROOT is a folder with an aarch64 system: the
# libraries of install-dependencies and their headers. qemu runs what is built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ROOFS_SYSROOT)
set(CMAKE_SYSROOT ${ROOFS_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${ROOFS_SYSROOT})
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${ROOFS_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${ROOFS_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${ROOFS_SYSROOT}/usr/share/pkgconfig)
