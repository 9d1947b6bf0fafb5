#include "cli/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "models/base/error.hpp"

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

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(Location{path}, what, ExitCode::usage);
}

}  // namespace

void print_result(const std::string& text) {
  write_stream(text, stdout, "standard output");
}

void print_human(const std::string& text, bool stdout_is_taken) {
  if (stdout_is_taken) {
    write_stream(text, stderr, "standard error");
  } else {
    print_result(text);
  }
}

ConsoleStyle human_style(bool stdout_is_taken) {
  return {.colour = isatty(stdout_is_taken ? STDERR_FILENO : STDOUT_FILENO) == 1};
}

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::show(const std::string& text) {
  if (!terminal_) return;
  std::fputs(("\r\x1b[K" + text).c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

void prepare_folder(const std::string& folder) {
  if (fs::exists(folder) && !fs::is_directory(folder)) {
    fail(folder, "is a file; --out takes a folder");
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(folder, fmt::format("cannot make the folder: {}", error.message()));
}

void write_file(const std::string& path, const std::string& content) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  std::ofstream out(temporary, std::ios::binary);
  out << content;
  out.close();
  std::error_code error;
  if (out.fail()) {
    error = std::make_error_code(std::errc(errno));
  } else {
    fs::rename(temporary, path, error);
  }
  if (error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    fail(path, fmt::format("cannot write: {}", error.message()));
  }
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  if (!in || fs::is_directory(path) || !(content << in.rdbuf())) {
    fail(path, fmt::format("cannot read: {}",
                           fs::exists(path) ? "no readable file, or empty" : "no such file"));
  }
  return content.str();
}

}  // namespace windtunnel
