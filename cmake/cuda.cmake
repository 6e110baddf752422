# The plug-in for NVIDIA GPUs. libroofs loads it when a fit runs on a GPU. It needs nvcc to build and
# only a driver to run. Sanitizers do not support it.
#   ON        build it if nvcc is found
#   REQUIRED  a missing nvcc and its warnings are errors (continuous integration)
set(ROOFS_CUDA ON CACHE STRING "build the plug-in for NVIDIA GPUs: ON (if nvcc is found), OFF or REQUIRED")
set_property(CACHE ROOFS_CUDA PROPERTY STRINGS ON OFF REQUIRED)
set(ROOFS_HAS_CUDA OFF)
if(NOT ROOFS_CUDA OR ROOFS_SANITIZE OR ROOFS_COVERAGE)
    return()
endif()
# The last path is the toolkit that `scripts/install-dependencies cuda` installs.
find_program(ROOFS_NVCC nvcc HINTS $ENV{CUDA_PATH}/bin
    PATHS /usr/local/cuda/bin ${PROJECT_SOURCE_DIR}/build/cuda-toolkit/nvidia/cu13/bin)
if(NOT ROOFS_NVCC)
    if(ROOFS_CUDA STREQUAL "REQUIRED")
        message(FATAL_ERROR "nvcc is not found; run: scripts/install-dependencies cuda")
    endif()
    message(STATUS "nvcc is not found: the plug-in for NVIDIA GPUs is not built")
    return()
endif()
set(CMAKE_CUDA_COMPILER ${ROOFS_NVCC})
# PTX for GPUs from compute capability 8.0 on, which the driver compiles; machine code for 9.0 (Hopper), and PTX of it
# for later ones. `80-virtual` alone tests the code of earlier GPUs on a later one.
set(ROOFS_CUDA_ARCHITECTURES "80-virtual;90" CACHE STRING "compute capabilities of the plug-in")
set(CMAKE_CUDA_ARCHITECTURES ${ROOFS_CUDA_ARCHITECTURES})
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
enable_language(CUDA)
set(ROOFS_HAS_CUDA ON)

file(GLOB CUDA_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/cuda/*.cu)
find_package(Threads REQUIRED)
add_library(roofs_cuda MODULE ${CUDA_SOURCES} ${PROJECT_SOURCE_DIR}/src/base/status.c
    ${PROJECT_SOURCE_DIR}/src/base/escape.c ${PROJECT_SOURCE_DIR}/src/base/memory.c)
target_include_directories(roofs_cuda PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(roofs_cuda PRIVATE ROOFS_VERSION="${PROJECT_VERSION}" _DEFAULT_SOURCE)
# Without -Wextra: it rejects enum constants in `n < LIMIT ? n : LIMIT`, and has no option to accept them.
set(warnings -Wall,-Wunused-parameter,-Wimplicit-fallthrough,-Wtype-limits)
target_compile_options(roofs_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${warnings}>)
if(ROOFS_WERROR OR ROOFS_CUDA STREQUAL "REQUIRED")
    target_compile_options(roofs_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
target_link_libraries(roofs_cuda PRIVATE Threads::Threads)
target_link_options(roofs_cuda PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/cuda.map)
set_target_properties(roofs_cuda PROPERTIES
    CUDA_STANDARD 20 CUDA_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/cuda.map)
install(TARGETS roofs_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# Measures rounds on a GPU. Built with the plug-in, so that it follows the engines.
add_executable(cuda_rounds ${PROJECT_SOURCE_DIR}/bench/cuda_rounds.cu)
target_include_directories(cuda_rounds PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(cuda_rounds PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(cuda_rounds PROPERTIES CUDA_STANDARD 20 RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
