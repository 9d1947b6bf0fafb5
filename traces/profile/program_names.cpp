#include "traces/profile/program_names.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

namespace windtunnel {
namespace {

constexpr ActionKind kPassKinds[] = {ActionKind::forward, ActionKind::backward,
                                     ActionKind::backward_input, ActionKind::backward_weight};

// Removes an index from the start of `text`; -1: there is none.
int leading_index(std::string_view& text) {
  int index = -1;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), index);
  if (parsed.ec != std::errc() || index < 0) return -1;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return index;
}

// Parses "0F1": stage, letter and micro-batch, as torch.distributed.pipelining writes actions.
std::optional<NamedPass> pass_of_action(std::string_view text) {
  NamedPass pass;
  pass.stage = leading_index(text);
  if (pass.stage < 0) return std::nullopt;
  for (const ActionKind kind : kPassKinds) {
    std::string_view rest = text;
    if (!rest.starts_with(letters_of(kind))) continue;
    rest.remove_prefix(letters_of(kind).size());
    pass.kind = kind;
    pass.microbatch = leading_index(rest);
    if (pass.microbatch >= 0 && rest.empty()) return pass;
  }
  return std::nullopt;
}

// Splits a text into runs of letters (in lower case) and of digits.
std::vector<std::string> words_of_range(std::string_view text) {
  std::vector<std::string> words;
  char before = ' ';  // class of the last character: letter, digit, other
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    const char is = lower >= 'a' && lower <= 'z' ? 'a' : lower >= '0' && lower <= '9' ? '0' : ' ';
    if (is != ' ') {
      if (is != before) words.emplace_back();
      words.back() += lower;
    }
    before = is;
  }
  return words;
}

bool is_one_of(const std::string& word, std::initializer_list<std::string_view> known) {
  return std::ranges::find(known, word) != known.end();
}

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

// Splits a text into runs of letters, in lower case.
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

std::optional<NamedPass> pass_of_range(std::string_view name) {
  constexpr std::string_view kPipeline = "PP:";
  if (name.starts_with(kPipeline)) return pass_of_action(name.substr(kPipeline.size()));
  // Keeps the last part of a function with its module ("megatron.core.schedules.forward_step").
  const std::size_t dot = name.find_last_of(".:/");
  if (dot != std::string_view::npos) name.remove_prefix(dot + 1);
  std::vector<std::string> words = words_of_range(name);
  if (words.empty()) return std::nullopt;
  NamedPass pass;
  if (is_one_of(words[0], {"backward", "bwd"})) {
    pass.kind = ActionKind::backward;
  } else if (!is_one_of(words[0], {"forward", "fwd"})) {
    return std::nullopt;
  }
  std::size_t at = 1;
  while (at < words.size() &&
         is_one_of(words[at], {"step", "pass", "micro", "microstep", "microbatch", "batch"})) {
    ++at;
  }
  if (at < words.size()) {
    std::string_view digits = words[at++];
    pass.microbatch = leading_index(digits);
    if (pass.microbatch < 0) return std::nullopt;
  }
  return at == words.size() ? std::optional(pass) : std::nullopt;
}

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
