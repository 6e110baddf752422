# Installs headers, libraries, pkg-config file, CMake package, programs, man page and shell completion.
include(CMakePackageConfigHelpers)

install(TARGETS roofs RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS roofs_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(ROOFS_HAS_MPI)
    install(TARGETS roofs_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(TARGETS roofs_mpi_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(FILES include/roofs/roofs_mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/roofs)
endif()
install(FILES ${ROOFS_ARCHIVE} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/roofs/roofs.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/roofs)
install(FILES ${PROJECT_BINARY_DIR}/roofs.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/roofs.bash RENAME roofs
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_BINARY_DIR}/roofs.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${PROJECT_BINARY_DIR}/_roofs DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

# Paths relative to the pkg-config file, so that `cmake --install --prefix` and moved trees work.
file(RELATIVE_PATH ROOFS_PC_UP ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/roofs.pc.in roofs.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/roofs.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(cmake/roofsConfig.cmake.in roofsConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/roofs
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/roofsConfigVersion.cmake
    COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/roofsConfig.cmake ${PROJECT_BINARY_DIR}/roofsConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/roofs)
