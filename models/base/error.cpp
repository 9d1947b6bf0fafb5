#include "models/base/error.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "models/base/printable.hpp"

namespace windtunnel {
namespace {

// A message has lines of its own; a place does not, whatever the file is called.
constexpr std::string_view kOfMessages = "\n\t";

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small;
}

// What stands before the message.
std::string place_text(const Location& where) {
  if (where.file.empty()) return "";
  const std::string file = printable(where.file);
  if (where.line == 0) return fmt::format("{}: ", file);
  return fmt::format("{}:{}:{}: ", file, where.line, where.column);
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

}  // namespace

Error::Error(const std::string& what, ExitCode code) : Error(Location{}, what, code) {}

Error::Error(const Location& where, const std::string& what, ExitCode code)
    : Error(where, place_text(where), what, code) {}

Error::Error(const Location& where, const std::string& place, const std::string& what,
             ExitCode code)
    : std::runtime_error(place + printable(what, kOfMessages)),
      code_(code),
      where_(where),
      text_begin_(place.size()) {}

void fail_check(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError(fmt::format("{}:{}: {} ({})", file, line, message, condition));
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  // Half of the letters may be wrong: enough for typing errors and for a forgotten suffix, while
  // an unrelated word still gets the list of what is known.
  std::string nearest;
  // A letter of the other case is half an error.
  const std::string small = in_small_letters(name);
  size_t best = 2 * (std::max<size_t>(2, name.size() / 2) + 1);
  for (const std::string& candidate : known) {
    const size_t distance =
        edit_distance(name, candidate) + edit_distance(small, in_small_letters(candidate));
    // Of equals the one that what was typed begins: "qwen2.5-32" is rather 32b than 3b.
    const bool begins = candidate.starts_with(name) && !nearest.starts_with(name);
    if (distance < best || (distance == best && !nearest.empty() && begins)) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string unknown_name(std::string_view noun, std::string_view name,
                         const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  if (!nearest.empty()) {
    return fmt::format("unknown {} '{}'; did you mean '{}'?", noun, name, nearest);
  }
  return fmt::format("unknown {} '{}'; known: {}", noun, name, fmt::join(known, ", "));
}

}  // namespace windtunnel
