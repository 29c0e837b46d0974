# libbeamheap.so, for programs of others (include/beamheap/beamheap.h): the objects of the program, which are compiled for any
# place of memory (PIE) and linked once more, without what only the program has. It is a target of its own: users of ./beamheap
# don't wait for it. Archives that are linked in, the C++ library too, stay inside: nobody else's is used, or given to others. Only
# elfutils' is its shared object, since the archive's variables of threads fit no library, and that of bzip2, which it needs itself.
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#ifndef __PIC__\n#error\n#endif\nint main() {}" BEAMHEAP_ANY_PLACE)
set(BEAMHEAP_HAS_LIBRARY FALSE)
if(BEAMHEAP_SANITIZE OR BEAMHEAP_FUZZ OR NOT BEAMHEAP_ANY_PLACE OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  return()
endif()
set(BEAMHEAP_HAS_LIBRARY TRUE)
set(BEAMHEAP_INTERFACE 0)  # as in beamheap.h
file(GLOB sources CONFIGURE_DEPENDS src/cli/library/*.cpp)
add_library(beamheap_shared SHARED ${sources})
target_include_directories(beamheap_shared PRIVATE include src . ${CMAKE_CURRENT_BINARY_DIR}/generated)
set(archives)
foreach(layer cli sql present analyses erlang formats model bytes)
  add_dependencies(beamheap_shared beamheap_${layer})
  list(APPEND archives $<TARGET_FILE:beamheap_${layer}>)
endforeach()
set(unpackers)
foreach(each IN LISTS BEAMHEAP_COMPRESSION)
  get_target_property(links ${each} INTERFACE_LINK_LIBRARIES)
  list(APPEND unpackers ${links})
endforeach()
list(FILTER unpackers EXCLUDE REGEX "/libbz2\\.a$")
target_link_libraries(beamheap_shared PRIVATE -Wl,--start-group ${archives} -Wl,--end-group ${unpackers} -lbz2 PkgConfig::beamheap_dw
  beamheap_sqlite Threads::Threads)
if(BEAMHEAP_STATIC)
  target_sources(beamheap_shared PRIVATE cmake/fmt.cpp)
  target_include_directories(beamheap_shared SYSTEM PRIVATE ${fmt_include})
else()
  target_link_libraries(beamheap_shared PRIVATE fmt::fmt)
endif()
target_compile_options(beamheap_shared PRIVATE ${BEAMHEAP_SMALLEST})
set_target_properties(beamheap_shared PROPERTIES OUTPUT_NAME beamheap VERSION ${PROJECT_VERSION} SOVERSION ${BEAMHEAP_INTERFACE}
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
  LINK_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/cmake/beamheap.map;${archives}")
target_link_options(beamheap_shared PRIVATE -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/cmake/beamheap.map -Wl,--exclude-libs,ALL
  -Wl,--gc-sections -Wl,-z,defs -Wl,-z,nodelete)
if(NOT BEAMHEAP_TESTS)
  set_target_properties(beamheap_shared PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
