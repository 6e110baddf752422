# Options of the compiler and the linker that limit the harm of bugs. Builds with sanitizers check the
# same things, and builds without optimisation do not support all options: both are without.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

add_library(roofs_hardening INTERFACE)
if(NOT ROOFS_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    foreach(flag IN ITEMS -fstack-protector-strong -fstack-clash-protection -fcf-protection)
        string(MAKE_C_IDENTIFIER "HAVE_${flag}" supported)
        check_c_compiler_flag(${flag} ${supported})
        if(${supported})
            target_compile_options(roofs_hardening INTERFACE ${flag})
        endif()
    endforeach()
    # Some compilers define a lower level by default, and warn about a second definition.
    target_compile_options(roofs_hardening INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
    check_linker_flag(C "-Wl,-z,relro,-z,now,-z,noexecstack" HAVE_LINKER_HARDENING)
    if(HAVE_LINKER_HARDENING)
        target_link_options(roofs_hardening INTERFACE "-Wl,-z,relro,-z,now,-z,noexecstack")
    endif()
endif()

# Gives a target that is installed the folders in which it looks for libraries, such as $ORIGIN. The
# build and the installation have the same ones: if they differ, CMake pads those of the build with
# empty entries, and an empty entry is the current folder of whoever starts the program.
function(roofs_search_in target)
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${ARGN}"
        INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()
