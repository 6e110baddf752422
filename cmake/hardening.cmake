# What the compiler and the linker can do against bugs that are still there. Not in builds
# for sanitizers, which look for the same things themselves, nor without optimisation.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

add_library(roofs_hardening INTERFACE)
if(NOT ROOFS_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    foreach(flag IN ITEMS -fstack-protector-strong -fstack-clash-protection -fcf-protection)
        string(MAKE_C_IDENTIFIER "HAVE_${flag}" known)
        check_c_compiler_flag(${flag} ${known})
        if(${known})
            target_compile_options(roofs_hardening INTERFACE ${flag})
        endif()
    endforeach()
    # Some compilers set a lower level themselves, and warn where it is set again.
    target_compile_options(roofs_hardening INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
    check_linker_flag(C "-Wl,-z,relro,-z,now,-z,noexecstack" HAVE_LINKER_HARDENING)
    if(HAVE_LINKER_HARDENING)
        target_link_options(roofs_hardening INTERFACE "-Wl,-z,relro,-z,now,-z,noexecstack")
    endif()
endif()
