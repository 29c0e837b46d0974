# Debian 12's libraries. With BEAMHEAP_STATIC their archives are linked, and that of the C library, so that the program
# needs a kernel alone.
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
    set(BEAMHEAP_SHARED_OBJECT ${module} PARENT_SCOPE)
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
# Native stacks and DWARF: libdwfl is part of libdw.
beamheap_package(beamheap_dw libdw dw elf lzma bz2 zstd z)
set(BEAMHEAP_DWARF beamheap_dw)
# Queries over an input, and databases to keep.
beamheap_package(beamheap_sqlite sqlite3 sqlite3)
# A library of the terminal, where it is there: an interface library NAME of the pkg-config module, with its DEFINE, linked by the archives
# that it needs. OUT is its name, or empty; WITHOUT says what the program lacks then.
function(beamheap_terminal_library out name module define without)
  set(${out} "" PARENT_SCOPE)
  pkg_check_modules(${name} IMPORTED_TARGET ${module})
  if(NOT ${name}_FOUND)
    return()
  endif()
  set(archives PkgConfig::${name})
  # Its macros say which functions of the C library are wanted: all are for C++, and precompiled headers say so already.
  set_property(TARGET PkgConfig::${name} PROPERTY INTERFACE_COMPILE_OPTIONS "")
  if(BEAMHEAP_STATIC)
    set(archives "")
    foreach(archive IN LISTS ARGN)
      find_library(BEAMHEAP_${archive} NAMES lib${archive}.a)
      if(NOT BEAMHEAP_${archive})
        message(STATUS "${module}: lib${archive}.a is not here; ${without}")
        return()
      endif()
      list(APPEND archives ${BEAMHEAP_${archive}})
    endforeach()
  endif()
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE ${archives})
  target_include_directories(${name} SYSTEM INTERFACE ${${name}_INCLUDE_DIRS})
  target_compile_definitions(${name} INTERFACE ${define})
  set(${out} ${name} PARENT_SCOPE)
endfunction()
# Line editing for the shell. Its archive needs those of libbsd and terminfo.
beamheap_terminal_library(BEAMHEAP_EDIT beamheap_edit libedit BEAMHEAP_LINE_EDITING "the shell reads plain lines" edit bsd md tinfo)
# The screen of `ui`: ncurses for wide characters. What terminals can do is read from the machine's terminfo.
beamheap_terminal_library(BEAMHEAP_SCREEN beamheap_ncurses ncursesw BEAMHEAP_SCREEN "there is no `ui`" ncursesw tinfo)

# Debian ships no archive of fmt; its sources are headers, and one file of ours compiles them.
if(BEAMHEAP_STATIC)
  add_library(beamheap_fmt STATIC cmake/fmt.cpp)
  get_target_property(fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(beamheap_fmt SYSTEM PUBLIC ${fmt_include})
  target_compile_options(beamheap_fmt PRIVATE $<$<CONFIG:Release>:-Os>)  # as what calls it is: figures are written for people
  add_link_options(-static-libstdc++ -static-libgcc)
else()
  add_library(beamheap_fmt ALIAS fmt::fmt)
endif()

# The C library, too: then the program runs on kernels of the last ten years, whatever C library they have, or none. It stays one
# that is loaded anywhere (PIE). Relative relocations in their short form, 300 KB less, are for C libraries that know them.
include(CheckCXXSourceRuns)
function(beamheap_runs_with result)
  set(CMAKE_REQUIRED_LINK_OPTIONS ${ARGN})
  set(CMAKE_REQUIRED_LIBRARIES Threads::Threads)
  check_cxx_source_runs("#include <iostream>\n#include <thread>\nint main() { std::thread([] { std::cout << 1; }).join(); }" ${result})
  set(${result} ${${result}} PARENT_SCOPE)
endfunction()
set(BEAMHEAP_WHOLLY_STATIC "")
if(BEAMHEAP_STATIC AND NOT DEFINED BEAMHEAP_SHARED_OBJECT AND NOT CMAKE_CROSSCOMPILING)
  beamheap_runs_with(BEAMHEAP_STATIC_PIE_RUNS -static-pie)
  beamheap_runs_with(BEAMHEAP_SHORT_RELOCATIONS_RUN -static-pie -Wl,-z,pack-relative-relocs)
  if(BEAMHEAP_STATIC_PIE_RUNS)
    set(BEAMHEAP_WHOLLY_STATIC -static-pie -Wl,--gc-sections)
    if(BEAMHEAP_SHORT_RELOCATIONS_RUN)
      list(APPEND BEAMHEAP_WHOLLY_STATIC -Wl,-z,pack-relative-relocs)
    endif()
  else()
    message(STATUS "no archive of the C library: the program needs its shared object")
  endif()
endif()
