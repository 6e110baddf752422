# libroofs_mpi and roofs-mpi, if MPI is found. libroofs and roofs do not need MPI.
option(ROOFS_MPI "build roofs-mpi, if MPI is installed" ON)
set(ROOFS_HAS_MPI 0)
if(NOT ROOFS_MPI OR SKBUILD)
    return()
endif()
find_package(MPI QUIET COMPONENTS C)
if(NOT MPI_C_FOUND)
    message(STATUS "MPI is not found: roofs-mpi is not built")
    return()
endif()
set(ROOFS_HAS_MPI 1)

add_library(roofs_mpi_objects OBJECT ${PROJECT_SOURCE_DIR}/mpi/comm_mpi.c
            ${PROJECT_SOURCE_DIR}/mpi/wait.c)
target_include_directories(roofs_mpi_objects PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(roofs_mpi_objects PUBLIC roofs_flags MPI::MPI_C)

add_library(roofs_mpi_shared SHARED)
target_link_libraries(roofs_mpi_shared PRIVATE roofs_mpi_objects PUBLIC roofs_shared)
set_target_properties(roofs_mpi_shared PROPERTIES
    OUTPUT_NAME roofs_mpi VERSION ${PROJECT_VERSION} SOVERSION ${ROOFS_ABI}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
roofs_search_in(roofs_mpi_shared "$ORIGIN")

add_executable(roofs_mpi ${PROJECT_SOURCE_DIR}/mpi/main.c)
target_link_libraries(roofs_mpi PRIVATE roofs_verbs roofs_mpi_objects roofs_readers roofs_objects)
set_target_properties(roofs_mpi PROPERTIES
    OUTPUT_NAME roofs-mpi RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
roofs_search_in(roofs_mpi ${ROOFS_PROGRAM_SEARCH})
