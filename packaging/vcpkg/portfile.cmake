# vcpkg builds the clone in which this port lies (an overlay port). A port of the registry names the release instead.
get_filename_component(SOURCE_PATH ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
vcpkg_cmake_configure(
    SOURCE_PATH ${SOURCE_PATH}
    OPTIONS -DBUILD_TESTING=OFF -DROOFS_CUDA=OFF -DROOFS_MPI=OFF -DROOFS_HDF5=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/roofs)
vcpkg_fixup_pkgconfig()
vcpkg_copy_tools(TOOL_NAMES roofs AUTO_CLEAN)
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/debug/include ${CURRENT_PACKAGES_DIR}/debug/share)
vcpkg_install_copyright(FILE_LIST ${SOURCE_PATH}/LICENSE)
