// Checks the rules that a machine can check by reading the sources: which folder may include which
// (the floors of ARCHITECTURE.md), and the form of a file. Each breach names its line.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

struct SourceFile {
  std::string path;  // from the root of the project, '/' between parts
  std::vector<std::string> lines;
};

struct Breach {
  std::string path;
  int line = 0;  // from 1
  std::string rule;
};

inline std::string_view folder_of(std::string_view path) {
  return path.substr(0, path.rfind('/'));
}

inline bool is_header(std::string_view path) {
  return path.ends_with(".hpp") || path.ends_with(".cuh");
}

std::string to_string(const Breach& breach);  // "models/cost/op/op.hpp:3: rule"

// C++ and CUDA sources have the first endings, sources in other languages the second.
inline const std::vector<std::string_view> kSources = {".cpp", ".hpp", ".cu", ".cuh"};
inline const std::vector<std::string_view> kScripts = {".js", ".mjs", ".py"};

// Returns all files with one of the endings in the project's folders, sorted by path, without build
// output and installed packages.
std::vector<SourceFile> read_sources(const std::string& root,
                                     const std::vector<std::string_view>& endings = kSources);

SourceFile read_file(const std::string& root, const std::string& path);

// Finds includes of a higher floor, of a library that belongs elsewhere, or of no file of the
// project. `paths` are all files of the project that may be included.
std::vector<Breach> include_breaches(const SourceFile& file, const std::vector<std::string>& paths);

// Finds long lines, tabs, headers without `#pragma once`, `using namespace` in a header.
std::vector<Breach> form_breaches(const SourceFile& file);

// Finds files that are opened for reading without InputFile, which refuses pipes and devices: a
// pipe would hang there, and a device would fill memory.
std::vector<Breach> opened_files(const SourceFile& file);

// Finds code that branches on the place of a snapshot: such a difference belongs in the row of the
// place (models/reliability/snapshot_place.hpp).
std::vector<Breach> branches_on_places(const SourceFile& file);

// Finds types that two headers define. All types are in one namespace, so that a program that
// contains both would break the one-definition rule: the code of one type would run on objects of
// the other.
std::vector<Breach> repeated_types(const std::vector<SourceFile>& files);

// Finds includes of a room that comes after the file's own in the list of rooms; the list keeps any
// two rooms from needing each other.
std::vector<Breach> room_breaches(const SourceFile& file);

// Finds headers of the same name, except public headers.
std::vector<Breach> repeated_headers(const std::vector<SourceFile>& files);

// Finds functions at namespace level over 70 lines that are no tables.
std::vector<Breach> long_functions(const SourceFile& file);

// Finds sources that are never compiled, because no CMakeLists.txt between them and the root names
// them or a room of tests that contains them.
std::vector<Breach> unlisted_sources(const std::string& root, const std::vector<SourceFile>& files);

// Finds parametrised tests without a function that names them, except ranges of numbers
// (testing::Range): ctest would list them by a number, or by the bytes of their parameter.
std::vector<Breach> unnamed_tests(const SourceFile& file);

// Returns the files of data that tests read, sorted by path.
std::vector<SourceFile> read_data(const std::string& root);

// Finds absolute paths of the machine that a file was written on: they exist nowhere else, and may
// tell who wrote it.
std::vector<Breach> machine_paths(const SourceFile& file);

// Returns README.md, the other pages at the root, and the pages of docs/ in all its folders, sorted
// by path.
std::vector<SourceFile> read_pages(const std::string& root);

// Finds links of a page that lead to no file of the project, or to no heading of the file.
std::vector<Breach> broken_links(const std::string& root, const SourceFile& page);

// A page of docs/physics must have the sections Formula, Source, Constants, Limits and What it
// misses, in this order and no others, after a text that says what it models.
std::vector<Breach> wrong_sections(const SourceFile& page);

// Finds pages "docs/FOLDER/NAME.md" that a file names and that do not exist.
std::vector<Breach> missing_pages(const std::string& root, const SourceFile& file);

// Finds sources of the program without a test of the same name in the same folder under tests/,
// except sources whose row in `table` (tested_by.csv) names the test that runs them. Finds rows
// that no longer hold, too.
std::vector<Breach> untested_sources(const std::vector<SourceFile>& files, const SourceFile& table);

// Finds rooms of fewer than four sources that `table` (small_rooms.csv) does not list, and rows of
// the table whose room has four by now.
std::vector<Breach> small_rooms(const std::vector<SourceFile>& files, const SourceFile& table);

// Finds headers that at most one other file and no test includes, and that `table`
// (headers_of_one.csv) does not list. Finds rows that no longer hold, too. Public headers are
// exempt.
std::vector<Breach> headers_of_one(const std::vector<SourceFile>& files, const SourceFile& table);

// Finds comments that have to be decoded: a sentence begins with "Of", "Whose", "Likewise" and the
// like, or a comment on lines of its own has no finite verb that the rule knows.
std::vector<Breach> decoded_comments(const SourceFile& file);

}  // namespace windtunnel
