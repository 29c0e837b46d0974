# beamheap.spdx.json: what the program is made of, as SPDX 2.3. A row for each library: what it is called, under which licence
# (SPDX's names, from the package's debian/copyright), and how its version is found: by the Debian package that owns a file of
# it, which names the very build that is linked, else by pkg-config. Those that this build does not link have no row.
#
# Equal builds give equal lists: nothing in it is of the time or the place but the date of the commit (or SOURCE_DATE_EPOCH).
find_program(BEAMHEAP_DPKG_QUERY dpkg-query)
set(BEAMHEAP_SBOM_PACKAGES "")
set(BEAMHEAP_SBOM_RELATIONS "")

# sbom_row(NAME LICENCE RELATION VERSION FILE): FILE is what tells the package; RELATION is STATIC_LINK, DYNAMIC_LINK or CONTAINS.
function(sbom_row name licence relation version file)
  set(reference "")
  if(BEAMHEAP_DPKG_QUERY AND file)
    execute_process(COMMAND ${BEAMHEAP_DPKG_QUERY} -S ${file} OUTPUT_VARIABLE owner ERROR_QUIET RESULT_VARIABLE unknown)
    if(NOT unknown AND owner MATCHES "^([^:,\n]+)")
      set(package ${CMAKE_MATCH_1})
      execute_process(COMMAND ${BEAMHEAP_DPKG_QUERY} -W -f "\${Version} \${Architecture}\n" ${package} OUTPUT_VARIABLE told ERROR_QUIET)
      if(told MATCHES "^([^ \n]+) ([^ \n]+)")
        set(version ${CMAKE_MATCH_1})
        set(architecture ${CMAKE_MATCH_2})
        string(REPLACE "+" "%2B" quoted "${package}@${version}?arch=${architecture}")
        set(reference ",\n      \"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\", \"referenceType\": \"purl\", \"referenceLocator\": \"pkg:deb/debian/${quoted}\"}]")
      endif()
    endif()
  endif()
  if(NOT version)
    set(version NOASSERTION)
  endif()
  set(id SPDXRef-${name})
  string(APPEND BEAMHEAP_SBOM_PACKAGES ",\n    {\n      \"SPDXID\": \"${id}\",\n      \"name\": \"${name}\",\n      \"versionInfo\": \"${version}\",\n"
    "      \"downloadLocation\": \"NOASSERTION\",\n      \"filesAnalyzed\": false,\n      \"licenseConcluded\": \"${licence}\",\n"
    "      \"licenseDeclared\": \"${licence}\",\n      \"copyrightText\": \"NOASSERTION\"${reference}\n    }")
  string(APPEND BEAMHEAP_SBOM_RELATIONS ",\n    {\"spdxElementId\": \"SPDXRef-beamheap\", \"relationshipType\": \"${relation}\", \"relatedSpdxElement\": \"${id}\"}")
  set(BEAMHEAP_SBOM_PACKAGES "${BEAMHEAP_SBOM_PACKAGES}" PARENT_SCOPE)
  set(BEAMHEAP_SBOM_RELATIONS "${BEAMHEAP_SBOM_RELATIONS}" PARENT_SCOPE)
endfunction()

# Libraries with archives: the row's last word is the archive that dependencies.cmake has found (BEAMHEAP_<word>).
set(copyleft "LGPL-3.0-or-later OR GPL-2.0-or-later")
foreach(row IN ITEMS "zstd|BSD-3-Clause OR GPL-2.0-only|beamheap_zstd|zstd" "zlib|Zlib|beamheap_zlib|z" "xz-utils|LicenseRef-public-domain|beamheap_lzma|lzma"
        "lz4|BSD-2-Clause|beamheap_lz4|lz4" "xxhash|BSD-2-Clause||xxhash" "libarchive|BSD-2-Clause|beamheap_archive|archive" "nettle|${copyleft}||nettle"
        "bzip2|bzip2-1.0.6||bz2" "elfutils|${copyleft}|beamheap_dw|dw" "sqlite|blessing|beamheap_sqlite|sqlite3"
        "libedit|BSD-3-Clause|beamheap_edit|edit" "libbsd|BSD-3-Clause||bsd" "libmd|BSD-3-Clause||md" "ncurses|X11-distribute-modifications-variant|beamheap_ncurses|tinfo")
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 name)
  list(GET row 1 licence)
  list(GET row 2 module)
  list(GET row 3 archive)
  if(BEAMHEAP_STATIC AND BEAMHEAP_${archive} AND NOT (module AND module STREQUAL "beamheap_${BEAMHEAP_SHARED_OBJECT}"))
    sbom_row(${name} "${licence}" STATIC_LINK "${${module}_VERSION}" "${BEAMHEAP_${archive}}")
  elseif(module AND ${module}_FOUND)
    sbom_row(${name} "${licence}" DYNAMIC_LINK "${${module}_VERSION}" "")
  endif()
endforeach()

# Libraries of headers, whose code is compiled in.
find_path(BEAMHEAP_TOML_HEADER toml++/toml.h)
find_path(BEAMHEAP_JSON_HEADER nlohmann/json.hpp)
find_path(BEAMHEAP_FMT_HEADER fmt/format.h)
find_path(BEAMHEAP_CLI11_HEADER CLI/CLI.hpp)
sbom_row(fmt MIT STATIC_LINK "${fmt_VERSION}" "${BEAMHEAP_FMT_HEADER}/fmt/format.h")
sbom_row(cli11 BSD-3-Clause STATIC_LINK "${CLI11_VERSION}" "${BEAMHEAP_CLI11_HEADER}/CLI/CLI.hpp")
sbom_row(tomlplusplus MIT STATIC_LINK "" "${BEAMHEAP_TOML_HEADER}/toml++/toml.h")
sbom_row(nlohmann-json MIT STATIC_LINK "" "${BEAMHEAP_JSON_HEADER}/nlohmann/json.hpp")

# What the compiler adds: its own libraries, and the C library where all is static.
foreach(row IN ITEMS "libstdc++|GPL-3.0-or-later WITH GCC-exception-3.1|libstdc++.a|BEAMHEAP_STATIC" "libgcc|GPL-3.0-or-later WITH GCC-exception-3.1|libgcc.a|BEAMHEAP_STATIC"
        "glibc|LGPL-2.1-or-later|libc.a|BEAMHEAP_WHOLLY_STATIC")
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 name)
  list(GET row 1 licence)
  list(GET row 2 file)
  list(GET row 3 linked)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${file} OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  get_filename_component(path "${path}" REALPATH)
  string(REPLACE "libstdc++" "libstdcxx" name "${name}")
  if(${linked})
    sbom_row(${name} "${licence}" STATIC_LINK "" "${path}")
  else()
    sbom_row(${name} "${licence}" DYNAMIC_LINK "" "")
  endif()
endforeach()

# The script of the report, which is committed as it was built.
file(READ src/present/web/package.json package)
foreach(row IN ITEMS "d3-hierarchy|ISC" "preact|MIT")
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 name)
  list(GET row 1 licence)
  string(JSON version GET "${package}" dependencies ${name})
  sbom_row(${name} ${licence} CONTAINS "${version}" "")
endforeach()

set(created "$ENV{SOURCE_DATE_EPOCH}")
if(NOT created)
  execute_process(COMMAND git -C ${CMAKE_CURRENT_SOURCE_DIR} log -1 --format=%ct OUTPUT_VARIABLE created OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT created MATCHES "^[0-9]+$")
  set(created 0)
endif()
set(ENV{SOURCE_DATE_EPOCH} ${created})
string(TIMESTAMP date "%Y-%m-%dT%H:%M:%SZ" UTC)
string(SHA256 contents "${BEAMHEAP_SBOM_PACKAGES}")
string(SUBSTRING ${contents} 0 16 contents)
file(CONFIGURE OUTPUT beamheap.spdx.json @ONLY CONTENT [[{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "beamheap-@PROJECT_VERSION@",
  "documentNamespace": "https://beamheap.invalid/spdx/beamheap-@PROJECT_VERSION@-@contents@",
  "creationInfo": {"created": "@date@", "creators": ["Tool: beamheap's build"]},
  "hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-public-domain", "extractedText": "liblzma is in the public domain."}],
  "packages": [
    {
      "SPDXID": "SPDXRef-beamheap",
      "name": "beamheap",
      "versionInfo": "@PROJECT_VERSION@",
      "downloadLocation": "NOASSERTION",
      "filesAnalyzed": false,
      "licenseConcluded": "Apache-2.0",
      "licenseDeclared": "Apache-2.0",
      "copyrightText": "2026 the beamheap authors"
    }@BEAMHEAP_SBOM_PACKAGES@
  ],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-beamheap"}@BEAMHEAP_SBOM_RELATIONS@
  ]
}
]])
