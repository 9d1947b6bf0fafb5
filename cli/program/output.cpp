#include "cli/program/output.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "models/base/wrapped.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

void write_stream(const std::string& text, FILE* stream, const char* name) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  if (!written || std::fflush(stream) != 0) {
    throw Error(fmt::format("cannot write to {}: {}", name, std::strerror(errno)),
                ExitCode::failed);
  }
}

// Shows control characters quoted from files as text; the terminal gets only those of ConsoleStyle.
std::string with_style_only(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t style = std::min(text.find(kBold), text.find(kPlain));
    result += printable(text.substr(0, style), "\n\t");
    if (style == text.npos) break;
    const std::string_view mark = text.substr(style).starts_with(kBold) ? kBold : kPlain;
    result += mark;
    text.remove_prefix(style + mark.size());
  }
  return result;
}

bool& quiet() {
  static bool asked = false;
  return asked;
}

constexpr size_t kUsualWidth = 160;  // characters of a line if the terminal does not tell its width

// Returns COLUMNS, else the terminal's width in characters; 0: the stream is no terminal.
size_t width_of_stream(int stream) {
  if (const char* columns = std::getenv("COLUMNS")) {
    const std::string_view text = columns;
    size_t width = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
    if (error == std::errc() && end == text.data() + text.size() && width > 0) return width;
  }
  winsize size{};
  return ioctl(stream, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// no-color.org: NO_COLOR counts if it is set and not empty.
bool shows_bold(int stream) {
  const auto says = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value != nullptr ? value : "");
  };
  return isatty(stream) == 1 && says("NO_COLOR").empty() && says("TERM") != "dumb";
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(Location{path}, what, ExitCode::failed);
}

}  // namespace

void print_result(const std::string& text) {
  write_stream(text, stdout, "standard output");
}

void print_document(std::string_view kind, const Json& document) {
  print_result(json_text(with_schema(kind, document)));
}

void print_human(const std::string& text, bool stdout_is_taken) {
  print_drawing(wrapped_lines(text, human_style(stdout_is_taken).width), stdout_is_taken);
}

void print_drawing(const std::string& text, bool stdout_is_taken) {
  if (stdout_is_taken) {
    if (!quiet()) print_failure(text);
  } else {
    print_result(with_style_only(text));
  }
}

void print_failure(const std::string& text) {
  write_stream(with_style_only(text), stderr, "standard error");
}

void be_quiet() {
  quiet() = true;
}

std::string beside(const std::string& text) {
  return quiet() ? "" : text;
}

size_t terminal_width(bool stdout_is_taken) {
  return width_of_stream(stdout_is_taken ? STDERR_FILENO : STDOUT_FILENO);
}

ConsoleStyle human_style(bool stdout_is_taken) {
  const int stream = stdout_is_taken ? STDERR_FILENO : STDOUT_FILENO;
  const size_t width = terminal_width(stdout_is_taken);
  return {
      .colour = shows_bold(stream), .width = width > 0 ? width : kUsualWidth, .notes = !quiet()};
}

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1 && !quiet()) {}

Progress::~Progress() {
  wipe();
}

void Progress::wipe() {
  if (std::exchange(shown_, false)) std::fputs("\r\x1b[K", stderr);
}

void Progress::show(const std::string& text) {
  if (!terminal_) return;
  std::fputs(("\r\x1b[K" + printable(text)).c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

void prepare_folder(const std::string& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!error && fs::exists(status) && !fs::is_directory(status)) {
    throw Error(Location{folder}, "is a file; --out takes a folder");
  }
  fs::create_directories(folder, error);
  if (error) fail(folder, fmt::format("cannot make the folder: {}", error.message()));
}

void prepare_folder(const std::string& folder, const std::string& foreign) {
  std::error_code ignored;
  if (fs::exists(fs::path(folder) / foreign, ignored)) {
    throw Error(
        Location{folder},
        fmt::format(
            "already contains a result of another kind ({}); take another folder with --out",
            foreign));
  }
  prepare_folder(folder);
}

void check_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return;
  throw Error(Location{path},
              fmt::format("the folder '{}' does not exist; make it first", folder.string()));
}

void check_output_file(const std::string& path, const std::vector<std::string>& inputs) {
  std::error_code ignored;
  for (const std::string& input : inputs) {
    if (fs::equivalent(path, input, ignored)) {
      throw Error(Location{path}, "the command reads this file; write to another one");
    }
  }
  check_folder_of(path);
}

void write_file(const std::string& path, const std::string& content) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  errno = 0;
  std::ofstream out(temporary, std::ios::binary);
  out << content;
  out.close();
  if (!out.fail()) return put_in_place(temporary, path);
  const std::error_code error(errno != 0 ? errno : EIO, std::generic_category());
  std::error_code ignored;
  fs::remove(temporary, ignored);
  fail(path, fmt::format("cannot write: {}", error.message()));
}

}  // namespace windtunnel
