#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "tests/house/source_rules.hpp"

namespace windtunnel {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kTopPages = {"ARCHITECTURE.md", "CHANGELOG.md",
                                                       "CONTRIBUTING.md", "README.md"};

bool is_fence(std::string_view line) {
  return line.starts_with("```");
}

// Returns the anchor that GitHub gives a heading: lower case, blanks as hyphens, no punctuation.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const unsigned char c : heading) {
    if (c == ' ') {
      anchor += '-';
    } else if (std::isalnum(c) != 0 || c == '-' || c == '_' || c >= 0x80) {
      anchor += static_cast<char>(std::tolower(c));
    }
  }
  return anchor;
}

std::set<std::string> anchors_of(const SourceFile& page) {
  std::set<std::string> anchors;
  bool in_fence = false;
  for (const std::string& line : page.lines) {
    if (is_fence(line)) in_fence = !in_fence;
    const std::size_t marks = line.find_first_not_of('#');
    if (in_fence || marks == 0 || marks == line.npos || line[marks] != ' ') continue;
    const std::string anchor = anchor_of(std::string_view(line).substr(marks + 1));
    std::string name = anchor;
    for (int i = 1; !anchors.insert(name).second; ++i) name = fmt::format("{}-{}", anchor, i);
  }
  return anchors;
}

// Returns "" if the link leads to a file and, if it names a heading, to that heading; otherwise
// says what is wrong.
std::string fault_of_link(const std::string& root, const SourceFile& page,
                          const std::string& link) {
  const std::size_t hash = link.find('#');
  const std::string path = link.substr(0, hash);
  const fs::path target = path.empty()
                              ? fs::path(page.path)
                              : (fs::path(page.path).parent_path() / path).lexically_normal();
  if (!fs::exists(fs::path(root) / target)) return fmt::format("'{}' leads to no file", link);
  if (hash == std::string::npos || target.extension() != ".md") return "";
  const SourceFile there = path.empty() ? page : read_file(root, target.generic_string());
  const bool known = anchors_of(there).contains(link.substr(hash + 1));
  return known ? "" : fmt::format("'{}' leads to no heading", link);
}

}  // namespace

std::vector<SourceFile> read_pages(const std::string& root) {
  std::vector<SourceFile> pages;
  for (const std::string_view page : kTopPages) pages.push_back(read_file(root, std::string(page)));
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / "docs")) {
    if (entry.path().extension() != ".md") continue;
    pages.push_back(read_file(root, fs::relative(entry.path(), root).generic_string()));
  }
  std::ranges::sort(pages, {}, &SourceFile::path);
  return pages;
}

std::vector<Breach> broken_links(const std::string& root, const SourceFile& page) {
  static const RE2 link(R"(\]\(([^()\s]+)\))");
  std::vector<Breach> breaches;
  bool in_fence = false;
  for (std::size_t i = 0; i < page.lines.size(); ++i) {
    if (is_fence(page.lines[i])) in_fence = !in_fence;
    if (in_fence) continue;
    re2::StringPiece rest(page.lines[i]);
    for (std::string target; RE2::FindAndConsume(&rest, link, &target);) {
      if (target.find("://") != std::string::npos) continue;
      const std::string fault = fault_of_link(root, page, target);
      if (!fault.empty()) breaches.push_back({page.path, static_cast<int>(i + 1), fault});
    }
  }
  return breaches;
}

namespace {

constexpr std::array<std::string_view, 5> kPhysicsSections = {
    "## Formula", "## Source", "## Constants", "## Limits", "## What it misses"};

}  // namespace

std::vector<Breach> wrong_sections(const SourceFile& page) {
  std::vector<Breach> breaches;
  std::size_t next = 0;
  for (std::size_t i = 0; i < page.lines.size(); ++i) {
    const std::string& line = page.lines[i];
    if (!line.starts_with("## ")) continue;
    if (next < kPhysicsSections.size() && line == kPhysicsSections[next]) {
      ++next;
      continue;
    }
    breaches.push_back(
        {page.path, static_cast<int>(i + 1), fmt::format("'{}' is no section here", line)});
  }
  if (next < kPhysicsSections.size()) {
    breaches.push_back({page.path, static_cast<int>(page.lines.size()),
                        fmt::format("'{}' is missing", kPhysicsSections[next])});
  }
  return breaches;
}

namespace {

constexpr std::array<std::string_view, 4> kPageFolders = {"guide", "reference", "physics",
                                                          "results"};

// Returns "" if the page exists or is another project's: its path names none of our four folders,
// and no page of ours has its name.
std::string fault_of_page(const std::string& root, const std::string& page) {
  const fs::path docs = fs::path(root) / "docs";
  const fs::path below = fs::path(page).lexically_relative("docs");
  if (fs::exists(docs / below)) return "";
  if (below.has_parent_path()) {
    const std::string folder = below.begin()->string();
    const bool ours = std::ranges::find(kPageFolders, folder) != kPageFolders.end();
    return ours ? fmt::format("there is no page '{}'", page) : "";
  }
  for (const std::string_view folder : kPageFolders) {
    if (!fs::exists(docs / folder / below)) continue;
    return fmt::format("the page '{}' is docs/{}/{}", page, folder, below.string());
  }
  return "";
}

}  // namespace

std::vector<Breach> missing_pages(const std::string& root, const SourceFile& file) {
  // A path behind the name of another project belongs to that project. A name in square brackets is
  // the text of a link, or a heading of tests/answers/answers.txt.
  static const RE2 named(R"((?:^|[^\w./\[-])(docs/(?:[\w-]+/)?[\w.-]+\.md))");
  std::vector<Breach> breaches;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    re2::StringPiece rest(file.lines[i]);
    for (std::string page; RE2::FindAndConsume(&rest, named, &page);) {
      const std::string fault = fault_of_page(root, page);
      if (!fault.empty()) breaches.push_back({file.path, static_cast<int>(i + 1), fault});
    }
  }
  return breaches;
}

}  // namespace windtunnel
