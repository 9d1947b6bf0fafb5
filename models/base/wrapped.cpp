#include "models/base/wrapped.hpp"

#include <algorithm>

#include "models/base/unit_names.hpp"

namespace windtunnel {
namespace {

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;  // not a continuation byte
}

// The bytes of the first `count` characters.
size_t bytes_of(std::string_view text, size_t count) {
  size_t at = 0;
  while (at < text.size()) {
    if (begins_character(text[at]) && count-- == 0) break;
    ++at;
  }
  return at;
}

// Whether the blank at `blank` is between a number and its unit: "70 B", "10.0 %", "5 min".
bool divides_quantity(std::string_view text, size_t blank) {
  const std::string_view before = text.substr(0, blank);
  const std::string_view number = before.substr(before.rfind(' ') + 1);
  const bool is_number = !number.empty() &&
                         number.find_first_not_of("0123456789.,") == number.npos &&
                         number.back() >= '0' && number.back() <= '9';
  if (!is_number) return false;
  const std::string_view after = text.substr(blank + 1);
  std::string_view unit = after.substr(0, after.find(' '));
  while (!unit.empty() && (unit.back() == ',' || unit.back() == '.' || unit.back() == ';' ||
                           unit.back() == ')' || unit.back() == ':')) {
    unit.remove_suffix(1);
  }
  return is_unit_name(unit);
}

// Where a line of at most `width` characters ends: before a blank, else after a separator in a name
// or a path, else anywhere.
size_t line_end(std::string_view text, size_t width) {
  const size_t most = bytes_of(text, width);
  if (most == text.size()) return most;
  size_t blank = text.substr(0, most + 1).rfind(' ');
  while (blank != text.npos && blank > 0 && divides_quantity(text, blank)) {
    const size_t earlier = text.substr(0, blank).rfind(' ');
    if (earlier == text.npos || earlier == 0) break;
    blank = earlier;
  }
  if (blank != text.npos && blank > 0) return blank;
  const size_t mark = text.substr(0, most).find_last_of("/,;:=-_");
  return mark != text.npos && mark > 0 ? mark + 1 : most;
}

constexpr size_t kFurtherIndent = 2;
constexpr std::string_view kCommand = "windtunnel ";
constexpr std::string_view kOption = " --";

// The column where the wrapped text begins: after a label and two blanks in the left half, else
// after leading blanks.
size_t text_begin(std::string_view line, size_t width) {
  const size_t first = std::min(line.find_first_not_of(' '), line.size());
  const size_t gap = line.find("  ", first);
  if (gap == line.npos) return first;
  const size_t value = line.find_first_not_of(' ', gap);
  const bool is_label = value != line.npos && width_of(line.substr(0, value)) <= width / 2;
  return is_label ? value : first;
}

bool is_command(std::string_view text) {
  const size_t at = text.find(kCommand);
  const bool begins = at == 0 || (at != text.npos && text.substr(0, at).ends_with(": "));
  return begins && text.find(kOption, at) != text.npos;
}

// "windtunnel run a.yaml --set layout.tp=8 \" and the further options below.
std::vector<std::string> wrapped_command(std::string_view text, size_t width) {
  constexpr std::string_view kGoesOn = " \\";
  std::vector<std::string> lines;
  std::string blanks;
  while (blanks.size() + width_of(text) > width) {
    const size_t room = width - kGoesOn.size() - blanks.size();
    size_t end = text.rfind(kOption, bytes_of(text, room));
    if (end == text.npos || end == 0) end = text.find(kOption, 1);
    if (end == text.npos) break;
    lines.push_back(blanks + std::string(text.substr(0, end)).append(kGoesOn));
    text.remove_prefix(end);
    blanks.assign(kFurtherIndent, ' ');
  }
  lines.push_back(blanks.append(text));
  return lines;
}

}  // namespace

size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, begins_character));
}

std::vector<std::string> wrapped(std::string_view text, size_t width, size_t hang) {
  std::vector<std::string> lines;
  size_t room = width;
  do {
    const size_t end = line_end(text, room);
    lines.push_back(std::string(lines.empty() ? 0 : hang, ' ').append(text.substr(0, end)));
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    room = width - hang;
  } while (!text.empty());
  return lines;
}

std::string wrapped_lines(std::string_view text, size_t width) {
  constexpr size_t kLeast = 20;  // characters of the part that is broken
  if (width == 0) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    const std::string_view line_feed = end == line.npos ? "" : "\n";
    const size_t begin = text_begin(line, width);
    const size_t indent = width_of(line.substr(0, begin));
    if (width_of(line) <= width || indent + kLeast > width) {
      result.append(line).append(line_feed);
      continue;
    }
    const bool labelled = line.find_first_not_of(' ') != begin;
    const std::string_view rest = line.substr(begin);
    const std::vector<std::string> lines =
        is_command(rest) ? wrapped_command(rest, width - indent)
                         : wrapped(rest, width - indent, labelled ? 0 : kFurtherIndent);
    result.append(line.substr(0, begin)).append(lines.front());
    for (size_t i = 1; i < lines.size(); ++i) {
      result.append("\n").append(indent, ' ').append(lines[i]);
    }
    result.append(line_feed);
  }
  return result;
}

}  // namespace windtunnel
