# The paper's experiments (experiments/*.json) become part of the program, so that
# an installed one needs no other file.
file(GLOB EXPERIMENTS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/experiments/*.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${EXPERIMENTS})
set(EXPERIMENTS_C ${PROJECT_BINARY_DIR}/experiments_data.c)
set(arrays "")
set(table "")
foreach(path IN LISTS EXPERIMENTS)
    get_filename_component(name ${path} NAME_WE)
    file(READ ${path} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND arrays "static const char ${name}[] = {${bytes}0};\n")
    string(APPEND table "    {\"${name}\", ${name}},\n")
endforeach()
file(CONFIGURE OUTPUT ${EXPERIMENTS_C} @ONLY CONTENT
"/* Made from the files in experiments. */
#include \"cli/reproduce/experiment.h\"

@arrays@
const experiment_text experiment_texts[] = {
@table@    {0},
};
")
