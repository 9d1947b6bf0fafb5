// Runs commands as a reader of the documentation does: in a folder that links to the project's
// files, with the program in the path. Files that commands write lie in that folder.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace windtunnel {

class PageReader {
 public:
  // Makes the folder, with links to the program and to the parts of the project `root` that pages
  // name.
  PageReader(std::filesystem::path folder, const std::filesystem::path& root,
             const std::filesystem::path& program);
  ~PageReader();
  PageReader(const PageReader&) = delete;
  PageReader& operator=(const PageReader&) = delete;

  // Returns the content of a file that a command has written; "" if there is none.
  std::string written(const std::string& file) const;
  // Returns the lines of standard output and errors, and whether the command succeeded.
  std::pair<std::vector<std::string>, bool> run(const std::string& command) const;

 private:
  std::filesystem::path folder_;
};

std::string text_of(const std::filesystem::path& path);

// Returns README.md and the pages of docs/ in all its folders, as paths from `root`, sorted.
std::vector<std::string> pages_of(const std::filesystem::path& root);

// Returns the command that made a page of docs/results/, as the page states it; empty if the page
// names none, or if the command's rows are not in tests/data.
std::string made_by(const std::string& page);

}  // namespace windtunnel
