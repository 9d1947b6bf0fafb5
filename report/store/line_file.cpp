#include "report/store/line_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "models/base/error.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {

LineFile::LineFile(std::string path)
    : path_(std::move(path)), temporary_(fmt::format("{}.{}.tmp", path_, getpid())) {
  errno = 0;
  out_.open(temporary_, std::ios::binary);
  check();
}

LineFile::~LineFile() {
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void LineFile::add(const std::string& line) {
  errno = 0;
  out_ << line;
  check();
}

void LineFile::close() {
  errno = 0;
  out_.close();
  check();
  put_in_place(temporary_, path_);
}

void LineFile::check() const {
  if (!out_.fail()) return;
  const std::error_code error(errno != 0 ? errno : EIO, std::generic_category());
  throw Error(Location{path_}, fmt::format("cannot write: {}", error.message()), ExitCode::failed);
}

}  // namespace windtunnel
