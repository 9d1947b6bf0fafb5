#include "tests/house/source_rules.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLineChars = 100;

// This is a row of the floors. A file may include its own folder, which is the longest `path` that
// its own path starts with, and the folders of that row; "" stands for every folder.
struct Folder {
  std::string_view path;
  std::vector<std::string_view> may_include;
};

const std::vector<Folder>& floors() {
  static const std::vector<Folder> table = {
      {"models/base", {}},
      {"models", {}},
      {"kernels", {"models/base"}},
      {"policies", {"models"}},
      {"traces", {"models"}},
      {"scenarios", {"policies", "traces", "models"}},
      {"sim", {"scenarios", "policies", "traces", "models"}},
      {"report", {"sim", "scenarios", "policies", "traces", "models"}},
      {"cli", {"report", "sim", "scenarios", "policies", "traces", "models"}},
      {"validate/harness", {"kernels", "traces", "models"}},
      {"validate/accuracy",
       {"sim", "validate/harness", "scenarios", "kernels", "policies", "traces", "models"}},
      {"validate",
       {"cli", "report", "sim", "scenarios", "kernels", "policies", "traces", "models"}},
      {"include", {}},
      {"examples", {}},
      {"python", {}},
      {"bench", {""}},
      {"tests", {""}},
  };
  return table;
}

// Only some folders may include these headers from outside; `rule` says why.
struct Library {
  std::string_view header;  // what the include starts with
  std::vector<std::string_view> only_in;
  std::string_view rule;
};

const std::vector<Library>& libraries() {
  static const std::vector<Library> table = {
      {"simgrid/", {"sim/engine"}, "SimGrid is included in sim/engine only"},
      {"xbt/", {"sim/engine"}, "SimGrid is included in sim/engine only"},
      {"isa-l", {"kernels", "tests/kernels"}, "ISA-L is included in kernels and their tests only"},
      {"cuda",
       {"kernels", "validate/harness", "tests/cuda_host"},
       "CUDA is included where kernels run only"},
      {"cublas",
       {"kernels", "validate/harness", "tests/cuda_host"},
       "CUDA is included where kernels run only"},
      {"nccl",
       {"kernels", "validate/harness", "tests/cuda_host"},
       "CUDA is included where kernels run only"},
  };
  return table;
}

// models/ holds pure values, so that a case gives the same bytes on any machine.
constexpr std::array<std::string_view, 6> kNotInModels = {"chrono",  "ctime",    "filesystem",
                                                          "fstream", "iostream", "thread"};

// These headers are slow to compile, so that a header which includes them slows every file that
// includes it.
constexpr std::array<std::string_view, 3> kNotInHeaders = {"boost/", "Eigen/", "CLI/"};

bool is_in(std::string_view path, std::string_view folder) {
  return folder.empty() ||
         (path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/');
}

bool is_in_any(std::string_view path, const std::vector<std::string_view>& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](std::string_view folder) { return is_in(path, folder); });
}

// Returns the row with the longest path that holds the file; null if no row does.
const Folder* floor_of(std::string_view path) {
  const Folder* best = nullptr;
  for (const Folder& folder : floors()) {
    if (is_in(path, folder.path) && (!best || folder.path.size() > best->path.size())) {
      best = &folder;
    }
  }
  return best;
}

// Says what is wrong if `from` includes the project's own `target`; empty if nothing is.
std::string project_rule(std::string_view from, const std::string& target,
                         const std::vector<std::string>& paths) {
  if (!std::binary_search(paths.begin(), paths.end(), target)) {
    return fmt::format("'{}' is no file of the project; includes start at its root", target);
  }
  const Folder* folder = floor_of(from);
  if (!folder) return "this folder has no row in the table of floors";
  if (is_in(target, folder->path) || is_in_any(target, folder->may_include)) return "";
  return fmt::format("{}/ may not include '{}'", folder->path, target);
}

std::string library_rule(std::string_view from, const std::string& target) {
  for (const Library& library : libraries()) {
    if (target.starts_with(library.header) && !is_in_any(from, library.only_in)) {
      return std::string(library.rule);
    }
  }
  if (is_header(from)) {
    for (std::string_view header : kNotInHeaders) {
      if (target.starts_with(header)) return fmt::format("{} belongs in .cpp files", header);
    }
  }
  if (is_in_any(from, {"include", "examples"}) && target.find('/') != std::string::npos &&
      !target.starts_with("windtunnel/")) {
    return "what is public includes <windtunnel/...> and the standard library only";
  }
  if (is_in(from, "models") &&
      std::find(kNotInModels.begin(), kNotInModels.end(), target) != kNotInModels.end()) {
    return fmt::format("models/ has no clock, files or threads: <{}>", target);
  }
  return "";
}

std::vector<std::string> read_lines(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Counts characters, not bytes, of UTF-8 text.
std::size_t length(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string to_string(const Breach& breach) {
  return fmt::format("{}:{}: {}", breach.path, breach.line, breach.rule);
}

std::vector<SourceFile> read_sources(const std::string& root,
                                     const std::vector<std::string_view>& endings) {
  std::vector<SourceFile> files;
  std::vector<std::string> tops;
  for (const Folder& folder : floors()) {
    const std::string top(folder.path.substr(0, folder.path.find('/')));
    if (std::find(tops.begin(), tops.end(), top) == tops.end()) tops.push_back(top);
  }
  for (const std::string& top : tops) {
    if (!fs::exists(fs::path(root) / top)) continue;
    for (auto at = fs::recursive_directory_iterator(fs::path(root) / top);
         at != fs::recursive_directory_iterator(); ++at) {
      if (at->path().filename() == "node_modules") at.disable_recursion_pending();
      const std::string extension = at->path().extension().string();
      if (std::find(endings.begin(), endings.end(), extension) == endings.end()) {
        continue;
      }
      files.push_back({fs::relative(at->path(), root).generic_string(), read_lines(at->path())});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

SourceFile read_file(const std::string& root, const std::string& path) {
  return {path, read_lines(fs::path(root) / path)};
}

std::vector<Breach> include_breaches(const SourceFile& file,
                                     const std::vector<std::string>& paths) {
  static const RE2 include(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)re");
  std::vector<Breach> breaches;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    std::string opening;
    std::string target;
    if (!RE2::FullMatch(file.lines[i], include, &opening, &target)) continue;
    // Angle brackets do not exempt the project's own files from the floors.
    const bool own = opening == "\"" || floor_of(target) != nullptr;
    const std::string rule =
        own ? project_rule(file.path, target, paths) : library_rule(file.path, target);
    if (!rule.empty()) breaches.push_back({file.path, static_cast<int>(i + 1), rule});
  }
  return breaches;
}

std::vector<Breach> form_breaches(const SourceFile& file) {
  static const RE2 using_namespace(R"(^\s*using\s+namespace\b.*)");
  std::vector<Breach> breaches;
  const auto add = [&](std::size_t index, std::string rule) {
    breaches.push_back({file.path, static_cast<int>(index + 1), std::move(rule)});
  };
  bool once = false;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    if (length(line) > kMaxLineChars) add(i, fmt::format("line over {} characters", kMaxLineChars));
    if (line.find('\t') != std::string::npos) add(i, "tab");
    if (line == "#pragma once") once = true;
    // The public names have their own namespace, so that they do not clash with names of the
    // libraries inside; export.hpp brings them out.
    const bool door = file.path == "include/windtunnel/export.hpp";
    if (!door && RE2::FullMatch(line, using_namespace)) add(i, "using namespace");
  }
  if (is_header(file.path) && !once) add(0, "header without #pragma once");
  return breaches;
}

std::vector<Breach> opened_files(const SourceFile& file) {
  static const RE2 opening(R"(.*(\bifstream\b|\bfopen\(|\bgzopen\(|filebuf\b).*)");
  // These open files themselves: the function that opens files, readers of system files, and
  // readers of files that the harness has written.
  static const std::set<std::string, std::less<>> apart = {
      "traces/text/text.cpp", "kernels/device/host_machine.cpp",
      "validate/harness/ranks/group_devices.cpp", "validate/harness/ranks/own_core.cpp",
      "validate/harness/timing/session.cpp"};
  if (is_in(file.path, "tests") || is_in(file.path, "bench") || is_in(file.path, "examples") ||
      apart.contains(file.path)) {
    return {};
  }
  std::vector<Breach> breaches;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    if (!RE2::FullMatch(file.lines[i], opening)) continue;
    breaches.push_back({file.path, static_cast<int>(i + 1),
                        "files are opened by InputFile (traces/text/input_file.hpp)"});
  }
  return breaches;
}

std::vector<Breach> branches_on_places(const SourceFile& file) {
  static const RE2 branch(R"(.*([=!]= |\bcase )SnapshotPlace::.*|.*SnapshotPlace::\w+ [=!]=.*)");
  static const RE2 named(R"(\bSnapshotPlace::|\busing enum SnapshotPlace\b)");
  static const RE2 set(R"(([^=!]= |[?:] )SnapshotPlace::\w+)");
  // `own` are the headers of the type itself; `setting` are sources that set the place of a tier.
  static const std::set<std::string_view> own = {"models/reliability/snapshot.hpp",
                                                 "models/reliability/snapshot_place.hpp"};
  static const std::set<std::string_view> setting = {
      "sim/study/iterations/iteration_table.cpp", "validate/accuracy/faults/fault_campaign.cpp",
      "validate/accuracy/kinds/checkpoint_accuracy.cpp"};
  if (is_in(file.path, "tests") || is_in(file.path, "bench") || own.contains(file.path)) return {};
  std::vector<Breach> breaches;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    std::string line = file.lines[i];
    if (setting.contains(file.path) && !RE2::FullMatch(line, branch)) {
      RE2::GlobalReplace(&line, set, "");
    }
    if (!RE2::PartialMatch(line, named)) continue;
    breaches.push_back({file.path, static_cast<int>(i + 1),
                        "places differ in their rows (models/reliability/snapshot_place.hpp)"});
  }
  return breaches;
}

std::vector<Breach> repeated_types(const std::vector<SourceFile>& files) {
  static const RE2 definition(R"(^(?:struct|class|union|enum class|enum) (?:alignas\(\d+\) )?(\w+))"
                              R"((?: final)?(?: :.*)?(?: \{.*)?$)");
  std::map<std::string, std::string> first;
  std::vector<Breach> breaches;
  for (const SourceFile& file : files) {
    // Public types have a namespace of their own.
    if (!is_header(file.path) || is_in(file.path, "include")) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::string name;
      if (!RE2::FullMatch(file.lines[i], definition, &name)) continue;
      const auto [at, fresh] = first.try_emplace(name, file.path);
      if (fresh || at->second == file.path) continue;
      breaches.push_back({file.path, static_cast<int>(i + 1),
                          fmt::format("'{}' is defined in {} too", at->first, at->second)});
    }
  }
  return breaches;
}

namespace {

// Returns whether the folder's CMakeLists.txt names the source, or names a folder that contains it
// as a room of tests.
bool lists(const fs::path& folder, const fs::path& source) {
  bool names = false;
  bool has_rooms = false;
  bool names_room = false;
  for (const std::string& line : read_lines(folder / "CMakeLists.txt")) {
    has_rooms |= line.find("windtunnel_room_tests(") != std::string::npos;
    std::string words = line.substr(0, line.find('#'));
    std::ranges::replace_if(
        words, [](char c) { return c == '(' || c == ')'; }, ' ');
    std::istringstream stream(words);
    for (std::string word; stream >> word;) {
      names |= word == source;
      names_room |= source.generic_string().starts_with(word + "/");
    }
  }
  return names || (has_rooms && names_room);
}

}  // namespace

std::vector<Breach> unlisted_sources(const std::string& root,
                                     const std::vector<SourceFile>& files) {
  std::vector<Breach> breaches;
  for (const SourceFile& file : files) {
    if (is_header(file.path)) continue;
    bool listed = false;
    for (fs::path folder = fs::path(file.path).parent_path(); !listed && !folder.empty();
         folder = folder.parent_path()) {
      listed = lists(fs::path(root) / folder, fs::relative(file.path, folder));
    }
    if (!listed) breaches.push_back({file.path, 1, "no CMakeLists.txt lists this source"});
  }
  return breaches;
}

}  // namespace windtunnel
