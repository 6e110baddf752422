# The shared and the static library. Both export only names that begin with roofs_. The static one is
# a single object, in which objcopy makes hidden names local; where there is no objcopy, they stay
# visible. The SONAME is libroofs.so.ROOFS_ABI.
add_library(roofs_shared SHARED)
target_link_libraries(roofs_shared PRIVATE roofs_objects)
set_target_properties(roofs_shared PROPERTIES
    OUTPUT_NAME roofs VERSION ${PROJECT_VERSION} SOVERSION ${ROOFS_ABI}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
roofs_search_in(roofs_shared "$ORIGIN")

set(localize ${CMAKE_COMMAND} -E true)
if(CMAKE_OBJCOPY)
    set(localize ${CMAKE_OBJCOPY} --localize-hidden)
endif()
set(ROOFS_ARCHIVE ${PROJECT_BINARY_DIR}/libroofs.a)
add_custom_command(
    OUTPUT ${ROOFS_ARCHIVE}
    COMMAND ${CMAKE_LINKER} -r -o roofs_whole.o $<TARGET_OBJECTS:roofs_objects>
    COMMAND ${localize} roofs_whole.o
    COMMAND ${CMAKE_COMMAND} -E rm -f ${ROOFS_ARCHIVE}
    COMMAND ${CMAKE_AR} qcs ${ROOFS_ARCHIVE} roofs_whole.o
    DEPENDS roofs_objects $<TARGET_OBJECTS:roofs_objects>
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Making libroofs.a")
add_custom_target(roofs_static ALL DEPENDS ${ROOFS_ARCHIVE})

# The program prints its man page and its completion from the tables of its options.
add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/roofs.1
    COMMAND roofs help --man > ${PROJECT_BINARY_DIR}/roofs.1
    DEPENDS roofs VERBATIM
    COMMENT "Printing the man page")
add_custom_target(roofs_man ALL DEPENDS ${PROJECT_BINARY_DIR}/roofs.1)

add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/roofs.bash
    COMMAND roofs help --completion bash > ${PROJECT_BINARY_DIR}/roofs.bash
    COMMAND roofs help --completion zsh > ${PROJECT_BINARY_DIR}/_roofs
    COMMAND roofs help --completion fish > ${PROJECT_BINARY_DIR}/roofs.fish
    DEPENDS roofs VERBATIM
    COMMENT "Printing the shell completion")
add_custom_target(roofs_completion ALL DEPENDS ${PROJECT_BINARY_DIR}/roofs.bash)
