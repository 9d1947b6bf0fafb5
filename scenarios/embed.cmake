# cmake -DROOT=library -DOUTPUT=x.cpp -DFILES=a.yaml|b.csv -P embed.cmake
# Writes the library files as string literals, so that the program needs no files beside it.
string(REPLACE "|" ";" FILES "${FILES}")
set(rows "")
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} text)
  string(APPEND rows "      {\"${file}\", R\"windtunnel(${text})windtunnel\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Generated from scenarios/library by scenarios/embed.cmake.
#include \"scenarios/language/library/library.hpp\"

namespace windtunnel {

const std::vector<LibraryFile>& library_files() {
  static const std::vector<LibraryFile> files = {
${rows}  };
  return files;
}

}  // namespace windtunnel
")
