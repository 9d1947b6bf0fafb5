#include "models/base/error.hpp"

#include <algorithm>
#include <numeric>

namespace windtunnel {
namespace {

// Bytes of a file may stand in a message, but not those that end a text or move a terminal's
// cursor.
std::string shown(std::string_view what) {
  std::string text;
  for (const char c : what) {
    const bool control = (c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == '\x7f';
    text += control ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return text;
}

std::string with_location(const Location& where, const std::string& what) {
  if (where.file.empty()) return what;
  if (where.line == 0) return fmt::format("{}: {}", where.file, what);
  return fmt::format("{}:{}:{}: {}", where.file, where.line, where.column, what);
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

Error::Error(const Location& where, const std::string& what, ExitCode code)
    : std::runtime_error(with_location(where, shown(what))),
      code_(code),
      where_(where),
      text_begin_(std::string_view(this->what()).size() - shown(what).size()) {}

void fail_check(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError(fmt::format("{}:{}: {} ({})", file, line, message, condition));
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  // Half of the letters may be wrong: enough for typing errors and for a forgotten suffix, while
  // an unrelated word still gets the list of what is known.
  size_t best = std::max<size_t>(2, name.size() / 2) + 1;
  std::string nearest;
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(name, candidate);
    if (distance < best) {
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
