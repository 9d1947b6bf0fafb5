#include "traces/profile/names/group_axis.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace windtunnel {
namespace {

struct AxisWord {
  std::string_view word;
  Category axis;
};

// The first row with a word in the description decides: Megatron's pipeline and expert groups also
// contain MODEL_PARALLEL, and an expert's group may be of data or tensor parallelism.
constexpr AxisWord kAxisWords[] = {
    {"data", Category::dp},     {"dp", Category::dp},    {"ddp", Category::dp},
    {"fsdp", Category::dp},     {"hsdp", Category::dp},  {"edp", Category::dp},
    {"pipeline", Category::pp}, {"pp", Category::pp},    {"embedding", Category::pp},
    {"tensor", Category::tp},   {"tp", Category::tp},    {"etp", Category::tp},
    {"context", Category::cp},  {"cp", Category::cp},    {"expert", Category::ep},
    {"ep", Category::ep},       {"model", Category::tp},
};
constexpr std::size_t kShort = 4;  // words up to this length must match completely

// Runs of letters, in lower case.
std::vector<std::string> words_of_group(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    if (lower >= 'a' && lower <= 'z') {
      words.back() += lower;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

}  // namespace

std::optional<Category> axis_of_group(std::string_view described) {
  const std::vector<std::string> words = words_of_group(described);
  for (const auto& [known, axis] : kAxisWords) {
    const bool is_short = known.size() <= kShort && known != "data";
    const bool named = std::ranges::any_of(words, [=, known = known](const std::string& word) {
      return is_short ? word == known : word.starts_with(known);
    });
    if (named) return axis;
  }
  return std::nullopt;
}

bool joins_replicas(std::string_view described) {
  const std::vector<std::string> words = words_of_group(described);
  return std::ranges::any_of(words,
                             [](const std::string& word) { return word.starts_with("replic"); });
}

}  // namespace windtunnel
