# cmake --install: the program, and for those who build on it the library, its headers, a CMake package
# (`find_package(beamheap)`, targets beamheap::beamheap and beamheap::reader) and a file of pkg-config. A .deb with the program alone by `cpack -G DEB`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS beamheap RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(FILES cmake/debian/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
# What the program says of itself: its manual page and what shells complete.
if(NOT CMAKE_CROSSCOMPILING)
  set(told ${CMAKE_CURRENT_BINARY_DIR}/told)
  add_custom_command(TARGET beamheap POST_BUILD VERBATIM
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:beamheap> -DINTO=${told} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/tell.cmake)
  install(FILES ${told}/beamheap.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  install(FILES ${told}/beamheap.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME beamheap COMPONENT program)
  install(FILES ${told}/_beamheap DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
  install(FILES ${told}/beamheap.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
endif()
# What it is made of, and what its JSON follows.
include(cmake/sbom.cmake)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/beamheap.spdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY tests/schema/ DESTINATION ${CMAKE_INSTALL_DATADIR}/beamheap/schema COMPONENT program FILES_MATCHING PATTERN "*.schema.json")
install(FILES README.md CHANGELOG.md SECURITY.md docs/ci.md docs/live.md docs/catch.md docs/fleets.md docs/assistants.md docs/embedding.md docs/json.md docs/support.md docs/glossary.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
# What Debian wants to be told of a package.
configure_file(cmake/debian/changelog.in debian/changelog @ONLY)
execute_process(COMMAND gzip -9nfk ${CMAKE_CURRENT_BINARY_DIR}/debian/changelog RESULT_VARIABLE ended)
if(ended EQUAL 0)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/debian/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
endif()
install(FILES cmake/debian/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME beamheap COMPONENT program)

# For those who build on it. beamheap.h and libbeamheap.so answer what the program answers; the headers beside it and
# libbeamheap_reader.a, the layers that read, fmt with them where the build compiles it itself, give the model itself to C++.
set(BEAMHEAP_READER_OBJECTS "")
foreach(layer beamheap_bytes beamheap_model beamheap_formats)
  list(APPEND BEAMHEAP_READER_OBJECTS $<TARGET_OBJECTS:${layer}>)
  if(TARGET ${layer}_small)
    list(APPEND BEAMHEAP_READER_OBJECTS $<TARGET_OBJECTS:${layer}_small>)
  endif()
endforeach()
if(BEAMHEAP_STATIC)
  list(APPEND BEAMHEAP_READER_OBJECTS $<TARGET_OBJECTS:beamheap_fmt>)
endif()
add_library(beamheap_reader STATIC ${BEAMHEAP_READER_OBJECTS})
set_target_properties(beamheap_reader PROPERTIES LINKER_LANGUAGE CXX)

set(BEAMHEAP_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/beamheap)
install(TARGETS beamheap_reader ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY include/beamheap DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
if(BEAMHEAP_HAS_LIBRARY)  # where it has been built
  install(TARGETS beamheap_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library OPTIONAL)
  file(RELATIVE_PATH BEAMHEAP_FROM_PC "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")  # wherever it is moved
  configure_file(cmake/beamheap.pc.in beamheap.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/beamheap.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endif()
configure_package_config_file(cmake/beamheapConfig.cmake.in beamheapConfig.cmake INSTALL_DESTINATION ${BEAMHEAP_PACKAGE_DIR}
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/beamheapConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/beamheapConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/beamheapConfigVersion.cmake
        DESTINATION ${BEAMHEAP_PACKAGE_DIR} COMPONENT library)

set(CPACK_PACKAGE_VENDOR "the beamheap authors")
set(CPACK_PACKAGE_CONTACT "the beamheap authors <beamheap@packages.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "tells why an Erlang VM died or grew")
set(CPACK_PACKAGE_DESCRIPTION
    "Reads the crash dump or the core image that an Erlang VM (Erlang, Elixir,
Gleam) left behind, and says what happened: which process held the memory and
what it is, who waits for whom, which table, queue or log overflowed. One
command, offline, on dumps that are larger than memory; the same questions to
dumps of all releases since R10B and to core images since OTP 23.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_CURRENT_BINARY_DIR};beamheap;program;/")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
if(BEAMHEAP_WHOLLY_STATIC)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
elseif(BEAMHEAP_STATIC)
  # The C library of the machine that built it is the oldest that is sure to do.
  execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE glibc OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^glibc " "" glibc "${glibc}")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${glibc})")
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)
