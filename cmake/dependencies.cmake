# Debian 12's libraries. With BEAMHEAP_STATIC their archives are linked, so that the program needs the C library alone.
find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(PkgConfig REQUIRED)

# beamheap_package(TARGET MODULE [ARCHIVE...]): TARGET is the pkg-config MODULE; with BEAMHEAP_STATIC, the ARCHIVEs (its
# own first, then what that needs) in place of its shared objects.
function(beamheap_package target module)
  pkg_check_modules(${target} REQUIRED IMPORTED_TARGET ${module})
  add_library(${target} INTERFACE)
  if(BEAMHEAP_STATIC)
    foreach(archive ${ARGN})
      find_library(BEAMHEAP_${archive} NAMES lib${archive}.a REQUIRED)
      target_link_libraries(${target} INTERFACE ${BEAMHEAP_${archive}})
    endforeach()
    target_include_directories(${target} SYSTEM INTERFACE ${${target}_INCLUDE_DIRS})
  else()
    target_link_libraries(${target} INTERFACE PkgConfig::${target})
  endif()
endfunction()

beamheap_package(beamheap_zstd libzstd zstd)
beamheap_package(beamheap_zlib zlib z)
beamheap_package(beamheap_lzma liblzma lzma)
beamheap_package(beamheap_lz4 liblz4 lz4)
# Of libarchive only the readers of zip and tar are used, which need these of the libraries that Debian builds it with.
beamheap_package(beamheap_archive libarchive archive nettle bz2 lzma zstd z)
set(BEAMHEAP_COMPRESSION beamheap_archive beamheap_zstd beamheap_zlib beamheap_lzma beamheap_lz4)
# How wide characters are on a terminal.
beamheap_package(beamheap_utf8proc libutf8proc utf8proc)
# Native stacks and DWARF: libdwfl is part of libdw.
beamheap_package(beamheap_dw libdw dw elf lzma bz2 zstd z)
set(BEAMHEAP_DWARF beamheap_dw)
# Line editing for the shell: where it is there; a static build reads plain lines.
set(BEAMHEAP_EDIT "")
if(NOT BEAMHEAP_STATIC)
  pkg_check_modules(beamheap_edit IMPORTED_TARGET libedit)
  if(beamheap_edit_FOUND)
    add_library(beamheap_edit INTERFACE)
    target_link_libraries(beamheap_edit INTERFACE PkgConfig::beamheap_edit)
    target_compile_definitions(beamheap_edit INTERFACE BEAMHEAP_LINE_EDITING)
    set(BEAMHEAP_EDIT beamheap_edit)
  endif()
endif()

# Debian ships no archive of fmt; its sources are headers, and one file of ours compiles them.
if(BEAMHEAP_STATIC)
  add_library(beamheap_fmt STATIC cmake/fmt.cpp)
  get_target_property(fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(beamheap_fmt SYSTEM PUBLIC ${fmt_include})
  add_link_options(-static-libstdc++ -static-libgcc)
else()
  add_library(beamheap_fmt ALIAS fmt::fmt)
endif()
