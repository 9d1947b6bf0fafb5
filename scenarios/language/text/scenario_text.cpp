#include "scenarios/language/text/scenario_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "models/base/wrapped.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

constexpr size_t kCommentColumns = 98;

}  // namespace

std::string scenario_text_of(const DocumentNode& tree, const PartComments& comments) {
  std::string text;
  for (const DocumentEntry& entry : tree.entries) {
    const auto comment = comments.find(entry.key);
    if (comment != comments.end()) {
      text += fmt::format("# {}\n", fmt::join(wrapped(comment->second, kCommentColumns), "\n# "));
    }
    if (entry.value.kind == DocumentNode::Kind::list && !entry.value.items.empty()) {
      text += entry.key + ":\n";
      for (const DocumentNode& item : entry.value.items) {
        text += fmt::format("  - {}\n", flow_text(item));
      }
    } else if (entry.key == "cluster") {
      text += "cluster:\n";
      for (const DocumentEntry& part : entry.value.entries) {
        text += fmt::format("  {}: {}\n", part.key, flow_text(part.value));
      }
    } else {
      text += fmt::format("{}: {}\n", entry.key, flow_text(entry.value));
    }
  }
  return text;
}

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
