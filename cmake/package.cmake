# `make deb` and `make tarball`: the installed files as a Debian package or a portable folder.
set(CPACK_PACKAGE_NAME strata)
set(CPACK_PACKAGE_VERSION ${STRATA_VERSION})
set(CPACK_PACKAGE_CONTACT "strata <strata@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "show where accelerator time goes, and why")
set(CPACK_PACKAGE_DESCRIPTION
    "Reads profiles and traces of Ascend NPUs and NVIDIA GPUs and names what limits a run,\
 what that costs and what to do. With the C library, its header, man pages and completions.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libisal2)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
include(CPack)
