#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "tests/house/source_rules.hpp"

namespace windtunnel {

namespace {

namespace fs = std::filesystem;

// Tests read the files of these folders: data that others published, and inputs of readers.
constexpr std::array<std::string_view, 3> kFolders = {"tests/data", "tests/fuzz/corpus",
                                                      "tests/fuzz/found"};

}  // namespace

std::vector<SourceFile> read_data(const std::string& root) {
  std::vector<SourceFile> files;
  for (const std::string_view folder : kFolders) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / folder)) {
      if (!entry.is_regular_file()) continue;
      files.push_back(read_file(root, fs::relative(entry.path(), root).generic_string()));
    }
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

std::vector<Breach> machine_paths(const SourceFile& file) {
  // A slash behind a host name, as in a web address, begins no path of the machine.
  static const RE2 path(R"((?:^|[^\w.-])(/[A-Za-z]\w*/[\w.-]*))");
  std::vector<Breach> breaches;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    std::string found;
    if (!RE2::PartialMatch(file.lines[i], path, &found)) continue;
    breaches.push_back({file.path, static_cast<int>(i + 1),
                        fmt::format("'{}' is a path of one machine; write it relative", found)});
  }
  return breaches;
}

}  // namespace windtunnel
