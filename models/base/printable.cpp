#include "models/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace windtunnel {
namespace {

struct Character {
  char32_t code = 0;
  size_t bytes = 1;
};

// The UTF-8 character at the start of the text; empty if there is none.
std::optional<Character> first_character(std::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return Character{first};
  const size_t bytes = first < 0xc2   ? 0
                       : first < 0xe0 ? 2
                       : first < 0xf0 ? 3
                       : first < 0xf5 ? 4
                                      : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  char32_t code = first & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  // Rejects overlong forms, halves of a UTF-16 pair, and values beyond Unicode.
  const bool is_shorter = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (is_shorter || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return {};
  return Character{code, bytes};
}

// C0, DEL and C1, which terminals interpret, and characters that are invisible, break a line or
// change the writing direction, so that a message would not read as it is written.
bool is_control(char32_t code) {
  constexpr char32_t kByteOrderMark = 0xfeff;
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
         code == kByteOrderMark;
}

// Replaces what follows the first `longest` characters by "...".
std::string shown(std::string_view text, std::string_view kept, size_t longest) {
  std::string result;
  size_t length = 0;
  while (!text.empty()) {
    if (length >= longest) return result + "...";
    const std::optional<Character> character = first_character(text);
    const std::string_view bytes = text.substr(0, character ? character->bytes : 1);
    const bool stays = character && (!is_control(character->code) ||
                                     (bytes.size() == 1 && kept.find(bytes) != kept.npos));
    if (stays) {
      result += bytes;
      ++length;
    } else {
      for (const char c : bytes) {
        result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        length += 4;
      }
    }
    text.remove_prefix(bytes.size());
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text, std::string_view kept) {
  return shown(text, kept, text.npos);
}

std::string excerpt(std::string_view text) {
  constexpr size_t kLongest = 60;
  return shown(text, {}, kLongest);
}

}  // namespace windtunnel
