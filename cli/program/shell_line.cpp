#include "cli/program/shell_line.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

namespace windtunnel {

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "_-+=.,:/@%";
  const bool plain = !text.empty() && std::ranges::all_of(text, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           kPlain.find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::optional<std::string> output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 4096> chunk{};
  while (const size_t n = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
    text.append(chunk.data(), n);
  }
  const int status = pclose(pipe);
  const bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return ended_well ? std::optional(text) : std::nullopt;
}

}  // namespace windtunnel
