#include "traces/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "models/base/error.hpp"
#include "traces/text/input_file.hpp"

namespace windtunnel {
namespace {

// Copies with plain reads and writes, because mounted storage may not support setting permissions.
std::error_code copied(const std::string& from, const std::string& to) {
  errno = 0;
  std::ifstream in(from, std::ios::binary);
  std::ofstream out(to, std::ios::binary);
  std::array<char, 65536> chunk{};
  while (in && out) {
    in.read(chunk.data(), chunk.size());
    out.write(chunk.data(), in.gcount());
  }
  out.close();
  if (in.eof() && !in.bad() && !out.fail()) return {};
  return {errno != 0 ? errno : EIO, std::generic_category()};
}

}  // namespace

std::string read_file(const std::string& path) {
  return InputFile(path, kLargestWhole_bytes).whole();
}

Location place_of(std::string_view text, const std::string& file, size_t offset) {
  Location at{file, 1, 1};
  for (const char c : text.substr(0, offset)) {
    ++at.column;
    if (c != '\n') continue;
    ++at.line;
    at.column = 1;
  }
  return at;
}

bool contains_text(std::string_view text, std::string_view part) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  const auto same = [&](char a, char b) { return lower(a) == lower(b); };
  return part.empty() ||
         std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  for (std::string_view& line : lines) {
    if (line.ends_with('\r')) line.remove_suffix(1);
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string plain_name(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

void put_in_place(const std::string& finished, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error, ignored;
  fs::rename(finished, path, error);
  for (const std::errc cannot : {std::errc::function_not_supported, std::errc::not_supported,
                                 std::errc::operation_not_permitted, std::errc::invalid_argument,
                                 std::errc::cross_device_link}) {
    if (error != cannot) continue;
    error = copied(finished, path);
    fs::remove(finished, ignored);
    break;
  }
  if (!error) return;
  fs::remove(finished, ignored);
  throw Error(Location{path}, fmt::format("cannot write: {}", error.message()), ExitCode::failed);
}

}  // namespace windtunnel
