# Debian 12's libraries. With BEAMHEAP_STATIC their archives are linked, so that the program needs the C library alone.
find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(PkgConfig REQUIRED)

# beamheap_links(RESULT ARCHIVE...): whether what we use of libdw links with these archives. Debian 13 has no archive of
# libeu, which elfutils needs since 0.192.
function(beamheap_links result)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/links.cpp "extern \"C\" { void* dwfl_begin(const void*); void* dwarf_begin(int, int); }\n"
       "int main() { return dwfl_begin(0) == dwarf_begin(0, 0); }\n")
  try_compile(BEAMHEAP_DW_LINKS ${CMAKE_CURRENT_BINARY_DIR}/links ${CMAKE_CURRENT_BINARY_DIR}/links.cpp LINK_LIBRARIES ${ARGN} Threads::Threads)
  set(${result} ${BEAMHEAP_DW_LINKS} PARENT_SCOPE)
endfunction()

# beamheap_package(TARGET MODULE [ARCHIVE...]): TARGET is the pkg-config MODULE; with BEAMHEAP_STATIC, the ARCHIVEs (its
# own first, then what that needs) in place of its shared objects.
function(beamheap_package target module)
  pkg_check_modules(${target} REQUIRED IMPORTED_TARGET ${module})
  add_library(${target} INTERFACE)
  if(BEAMHEAP_STATIC)
    set(archives "")
    foreach(archive ${ARGN})
      find_library(BEAMHEAP_${archive} NAMES lib${archive}.a REQUIRED)
      list(APPEND archives ${BEAMHEAP_${archive}})
    endforeach()
    set(${target}_links TRUE)
    if(module STREQUAL "libdw")
      beamheap_links(${target}_links ${archives})
    endif()
    if(${target}_links)
      target_link_libraries(${target} INTERFACE ${archives})
      target_include_directories(${target} SYSTEM INTERFACE ${${target}_INCLUDE_DIRS})
      return()
    endif()
    message(STATUS "${module}: its archives need more than this system has; its shared object is linked")
  endif()
  target_link_libraries(${target} INTERFACE PkgConfig::${target})
endfunction()

beamheap_package(beamheap_zstd libzstd zstd)
beamheap_package(beamheap_zlib zlib z)
beamheap_package(beamheap_lzma liblzma lzma)
find_library(BEAMHEAP_xxhash NAMES libxxhash.a)  # which lz4's archive needs where it does not hold it
if(BEAMHEAP_xxhash)
  beamheap_package(beamheap_lz4 liblz4 lz4 xxhash)
else()
  beamheap_package(beamheap_lz4 liblz4 lz4)
endif()
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
