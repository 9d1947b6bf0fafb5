#include "scenarios/language/text/scenario_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/wrapped.hpp"

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

}  // namespace windtunnel
