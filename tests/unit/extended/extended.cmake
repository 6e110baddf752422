# Shows that a setting is one row and one field: adds one of each kind to copies of roofs.h and
# settings.def, and compiles src/api/settings*.c with them. The rest of the library is as it is.
set(place ${CMAKE_CURRENT_BINARY_DIR}/extended)
set(list "#define ROOFS_COLOUR_LIST(X) X(RED, 0, \"red\") X(GREEN, 1, \"green\")
enum roofs_colour_choice { ROOFS_COLOUR_RED, ROOFS_COLOUR_GREEN };
")
set(fields "")
set(rows "")
foreach(row IN ITEMS
        "int64_t|INT(new_int, MODEL, 7, 1, 9," "double|REAL(new_real, MODEL, 0.5, 0.0, 1.0,"
        "int64_t|AUTO(new_auto, MODEL, 9,"
        "int64_t|FLAG(new_flag, MODEL, 0," "int64_t|CHOICE(new_choice, MODEL, COLOUR, GREEN,"
        "const char *|TEXT(new_text, MODEL, roofs_method_name, \"os\","
        "int64_t|INT(run_int, EXECUTION, 3, 0, 9," "double|REAL(run_real, EXECUTION, 0.125, 0.0, 1.0,"
        "int64_t|FLAG(run_flag, EXECUTION, 1," "int64_t|CHOICE(run_choice, EXECUTION, COLOUR, RED,"
        "const char *|TEXT(run_text, EXECUTION, roofs_method_name, \"roofs\",")
    string(REGEX MATCH "^(.*)[|](.*\\(([a-z_]+),.*)$" whole "${row}")
    string(APPEND fields "    ${CMAKE_MATCH_1} ${CMAKE_MATCH_3};\n")
    string(APPEND rows "${CMAKE_MATCH_2} \"added by a test\")\n")
endforeach()

file(READ ${PROJECT_SOURCE_DIR}/include/roofs/roofs.h header)
string(REPLACE "} roofs_settings;" "${fields}} roofs_settings;" header "${header}")
string(REPLACE "typedef struct roofs_settings {" "${list}typedef struct roofs_settings {" header "${header}")
file(READ ${PROJECT_SOURCE_DIR}/src/api/settings.def table)
string(REPLACE "#undef INT" "${rows}#undef INT" table "${table}")
file(CONFIGURE OUTPUT ${place}/roofs/roofs.h CONTENT "${header}" @ONLY)
file(CONFIGURE OUTPUT ${place}/api/settings.def CONTENT "${table}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/include/roofs/roofs.h ${PROJECT_SOURCE_DIR}/src/api/settings.def)

file(GLOB SETTINGS_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/api/settings*.c)
add_executable(test_new_settings ${CMAKE_CURRENT_LIST_DIR}/test_new_settings.c
    ${SETTINGS_SOURCES} $<FILTER:$<TARGET_OBJECTS:roofs_objects>,EXCLUDE,/api/settings>)
target_include_directories(test_new_settings BEFORE PRIVATE ${place})
target_link_libraries(test_new_settings PRIVATE
    roofs_flags OpenMP::OpenMP_C PkgConfig::JANSSON PkgConfig::CMOCKA m ${CMAKE_DL_LIBS})
add_test(NAME unit.test_new_settings COMMAND test_new_settings)
