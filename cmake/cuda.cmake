# The plug-in for NVIDIA GPUs: a library that the others load when a fit asks for
# it. Needs nvcc to build and nothing but a driver to run; sanitizers do not look into it.
option(ROOFS_CUDA "build the plug-in for NVIDIA GPUs, where nvcc is found" ON)
set(ROOFS_HAS_CUDA OFF)
if(ROOFS_CUDA AND NOT ROOFS_SANITIZE AND NOT ROOFS_COVERAGE)
    find_program(ROOFS_NVCC nvcc HINTS $ENV{CUDA_PATH}/bin PATHS /usr/local/cuda/bin)
endif()
if(ROOFS_NVCC)
    set(CMAKE_CUDA_COMPILER ${ROOFS_NVCC})
    set(CMAKE_CUDA_ARCHITECTURES 90) # machine code for Hopper, and PTX for what comes after it
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    enable_language(CUDA)
    set(ROOFS_HAS_CUDA ON)

    file(GLOB CUDA_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/cuda/*.cu)
    find_package(Threads REQUIRED)
    add_library(roofs_cuda MODULE ${CUDA_SOURCES} ${PROJECT_SOURCE_DIR}/src/base/status.c
        ${PROJECT_SOURCE_DIR}/src/base/memory.c)
    target_include_directories(roofs_cuda PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(roofs_cuda PRIVATE ROOFS_VERSION="${PROJECT_VERSION}" _DEFAULT_SOURCE)
    target_link_libraries(roofs_cuda PRIVATE Threads::Threads)
    target_link_options(roofs_cuda PRIVATE
        -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/cuda.map)
    set_target_properties(roofs_cuda PROPERTIES
        CUDA_STANDARD 20 CUDA_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/cuda.map)
    install(TARGETS roofs_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
