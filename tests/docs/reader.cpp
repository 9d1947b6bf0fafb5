#include "tests/docs/reader.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace windtunnel {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> pages_of(const fs::path& root) {
  std::vector<std::string> pages = {"README.md"};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() != ".md") continue;
    pages.push_back(entry.path().lexically_relative(root).generic_string());
  }
  std::ranges::sort(pages);
  return pages;
}

PageReader::PageReader(fs::path folder, const fs::path& root, const fs::path& program)
    : folder_(std::move(folder)) {
  fs::remove_all(folder_);
  fs::create_directories(folder_ / "bin");
  fs::create_symlink(program, folder_ / "bin" / "windtunnel");
  fs::create_symlink(root / "scenarios", folder_ / "scenarios");
  fs::create_symlink(root / "examples", folder_ / "examples");
  fs::create_directories(folder_ / "tests");
  fs::create_directories(folder_ / "docs" / "results");
  fs::create_symlink(root / "tests/data", folder_ / "tests/data");
  fs::create_directories(folder_ / "tests/scenarios");
  fs::create_symlink(root / "tests/scenarios/imports", folder_ / "tests/scenarios/imports");
}

PageReader::~PageReader() {
  fs::remove_all(folder_);
}

std::string PageReader::written(const std::string& file) const {
  return text_of(folder_ / file);
}

std::pair<std::vector<std::string>, bool> PageReader::run(const std::string& command) const {
  const std::string file = folder_ / "output";
  const std::string script = folder_ / "command";
  std::ofstream(script) << "set -o pipefail\ncd '" << folder_.string() << "'\nPATH=\""
                        << folder_.string() << "/bin:$PATH\"\n"
                        << command << "\n";
  const int status = std::system(("bash '" + script + "' </dev/null >'" + file + "' 2>&1").c_str());
  std::vector<std::string> lines;
  std::istringstream stream(text_of(file));
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  // A page does not show that an output ends in blank lines.
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  // If a pipe's reader (`head`) ends first, SIGPIPE may end the writer.
  constexpr int kStoppedByPipe = 128 + SIGPIPE;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return {lines, code == 0 || code == kStoppedByPipe};
}

std::string made_by(const std::string& page) {
  const std::string before = "\nMade by `";
  const std::size_t at = page.find(before + "windtunnel validate ");
  if (at == std::string::npos) return "";
  const std::size_t from = at + before.size();
  const std::string command = page.substr(from, page.find('`', from) - from);
  return command.find(" tests/data/") == std::string::npos ? "" : command;
}

}  // namespace windtunnel
