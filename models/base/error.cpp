#include "models/base/error.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "models/base/printable.hpp"

namespace windtunnel {
namespace {

// Messages may have several lines; places may not, whatever a file is called.
constexpr std::string_view kOfMessages = "\n\t";

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small;
}

// The place, in front of the message.
std::string place_text(const Location& where) {
  if (where.file.empty()) return "";
  const std::string file = printable(where.file);
  if (where.line == 0) return fmt::format("{}: ", file);
  return fmt::format("{}:{}:{}: ", file, where.line, where.column);
}

// The number of letters to insert, delete, replace or swap with their neighbour.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> least(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) least[i][0] = i;
  std::iota(least[0].begin(), least[0].end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = least[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
    }
  }
  return least[a.size()][b.size()];
}

// The length of the longest word that both names contain; words are separated by dashes.
size_t shared_word(std::string_view a, std::string_view b) {
  const auto word_at = [](std::string_view text, size_t at) {
    return text.substr(at, std::min(text.find('-', at), text.size()) - at);
  };
  size_t longest = 0;
  for (size_t i = 0; i < a.size(); i += word_at(a, i).size() + 1) {
    for (size_t j = 0; j < b.size(); j += word_at(b, j).size() + 1) {
      if (word_at(a, i) == word_at(b, j)) longest = std::max(longest, word_at(a, i).size());
    }
  }
  return longest;
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
  // Prefers a known name that contains `name` as whole words: for 'h100', dgx-h100 and not gh200;
  // for 'qwen3-30b', qwen3-30b-a3b and not qwen3-32b.
  const auto whole = std::ranges::find_if(known, [&](const std::string& candidate) {
    return fmt::format("-{}-", candidate).find(fmt::format("-{}-", name)) != std::string::npos;
  });
  if (name.size() > 2 && whole != known.end()) return *whole;
  // Half of the letters may be wrong: enough for typing errors and for a forgotten suffix, while
  // an unrelated word still gets the list of what is known.
  std::string nearest;
  // A letter in the other case counts as half an error.
  const std::string small = in_small_letters(name);
  size_t best = 2 * (std::max<size_t>(2, name.size() / 2) + 1);
  for (const std::string& candidate : known) {
    const size_t distance =
        edit_distance(name, candidate) + edit_distance(small, in_small_letters(candidate));
    // Among equals, prefers the name that begins with the typed text: for "qwen2.5-32", 32b and not
    // 3b. Then the name that shares the longest word: for "dgx-h800", hgx-h800 and not dgx-h100.
    const auto likeness = [&](const std::string& one) {
      return std::pair(one.starts_with(name), shared_word(name, one));
    };
    const bool liker = !nearest.empty() && likeness(candidate) > likeness(nearest);
    if (distance < best || (distance == best && liker)) {
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
