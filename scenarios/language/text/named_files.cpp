#include "scenarios/language/text/named_files.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "scenarios/language/text/document.hpp"

namespace windtunnel {

NamedFiles::NamedFiles(std::string folder, std::vector<NamedFile> given)
    : folder_(std::move(folder)), given_(std::move(given)) {}

std::string NamedFiles::path(const std::string& name) const {
  return (std::filesystem::path(folder_) / name).string();
}

std::string NamedFiles::text(const std::string& name) {
  const auto given = std::ranges::find(given_, name, &NamedFile::name);
  const bool kept = given != given_.end() && given->text;
  std::string text = kept ? *given->text : read_text_file(path(name));
  if (std::ranges::find(read_, name, &NamedFile::name) == read_.end()) {
    NamedFile& file = read_.emplace_back(NamedFile{.name = name, .hash = text_hash(text)});
    if (text.size() <= kMostKept) file.text = text;
  }
  return text;
}

std::string text_hash(const std::string& text) {
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

}  // namespace windtunnel
