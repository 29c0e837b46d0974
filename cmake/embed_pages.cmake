# cmake -DOUT=FILE -DPAGES=PAGE|PAGE... -P embed_pages.cmake: the pages of `explain` as C++ literals with their names.
string(REPLACE "|" ";" pages "${PAGES}")
set(text "// Made by cmake/embed_pages.cmake from docs/explain.\n")
foreach(page IN LISTS pages)
  get_filename_component(name "${page}" NAME_WE)
  file(READ "${page}" content)
  string(APPEND text "{\"${name}\", R\"page(${content})page\"},\n")
endforeach()
file(WRITE "${OUT}" "${text}")
