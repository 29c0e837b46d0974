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
set(BEAMHEAP_COMPRESSION beamheap_zstd beamheap_zlib beamheap_lzma)
set(BEAMHEAP_DWARF "")
set(BEAMHEAP_EDIT "")

# Debian ships no archive of fmt; its sources are headers, and one file of ours compiles them.
if(BEAMHEAP_STATIC)
  add_library(beamheap_fmt STATIC cmake/fmt.cpp)
  get_target_property(fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(beamheap_fmt SYSTEM PUBLIC ${fmt_include})
  add_link_options(-static-libstdc++ -static-libgcc)
else()
  add_library(beamheap_fmt ALIAS fmt::fmt)
endif()
