# The extension of the Python package: a cffi binding of the public header, with the library linked in.
# Only pip builds it (scikit-build-core sets SKBUILD).
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(
    COMMAND ${Python_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
    OUTPUT_VARIABLE is_free_threaded OUTPUT_STRIP_TRAILING_WHITESPACE)
if(is_free_threaded)
    message(FATAL_ERROR "roofs does not support free-threaded Python: its extension uses the limited API, which that "
                        "build does not have. Use the usual build of Python, without the letter t in its name.")
endif()

set(generated ${PROJECT_BINARY_DIR}/python)
set(generate ${PROJECT_SOURCE_DIR}/python/generate)
file(MAKE_DIRECTORY ${generated})
add_custom_command(
    OUTPUT ${generated}/_native.c
    COMMAND ${Python_EXECUTABLE} ${generate}/binding.py ${CMAKE_C_COMPILER}
            ${PROJECT_SOURCE_DIR}/include/roofs/roofs.h ${generate}/arrow.h ${generate}/dlpack.h
            ${generated}/_native.c
    DEPENDS ${generate}/binding.py ${generate}/arrow.h ${generate}/dlpack.h include/roofs/roofs.h VERBATIM)
add_custom_command(
    OUTPUT ${generated}/_keywords.py
    COMMAND ${Python_EXECUTABLE} ${generate}/keywords.py ${CMAKE_C_COMPILER}
            ${PROJECT_SOURCE_DIR}/src/api/settings.def ${PROJECT_SOURCE_DIR}/include/roofs/roofs.h
            ${generated}/_keywords.py
    DEPENDS ${generate}/keywords.py src/api/settings.def include/roofs/roofs.h VERBATIM)
add_custom_target(roofs_python_keywords DEPENDS ${generated}/_keywords.py)

# The limited API works with every Python from 3.9 on: one wheel per platform.
add_library(roofs_python MODULE ${generated}/_native.c)
add_dependencies(roofs_python roofs_python_keywords)
target_compile_definitions(roofs_python PRIVATE Py_LIMITED_API=0x03090000)
target_include_directories(roofs_python PRIVATE ${PROJECT_SOURCE_DIR}/include ${generate})
target_link_libraries(roofs_python PRIVATE Python::Module roofs_objects)
set_target_properties(roofs_python PROPERTIES PREFIX "" OUTPUT_NAME _native SUFFIX .abi3.so)
roofs_search_in(roofs_python "$ORIGIN")
# Beside the extension: in the same wheel if pip builds the plug-in, too, or in the wheel of packaging/cuda.
if(ROOFS_HAS_CUDA)
    add_dependencies(roofs_python roofs_cuda)
    install(TARGETS roofs_cuda LIBRARY DESTINATION roofs COMPONENT python)
    install(TARGETS roofs_cuda LIBRARY DESTINATION roofs COMPONENT cuda)
endif()

install(TARGETS roofs_python LIBRARY DESTINATION roofs COMPONENT python)
install(FILES ${generated}/_keywords.py DESTINATION roofs COMPONENT python)
