#include "traces/profile/packed_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

#include "models/base/units.hpp"
#include "traces/text/input_file.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20U;
}  // namespace

void PackedFile::Close::operator()(gzFile_s* file) const {
  gzclose_r(file);
}

PackedFile::PackedFile(const std::string& path)
    : path_(path), longest_(read_limit(kLongestLine_bytes)), block_(kBlockBytes) {
  InputFile file(path);
  file_.reset(gzdopen(file.descriptor(), "rb"));
  if (!file_) {
    throw Error(Location{path}, fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  file.release();
  gzbuffer(file_.get(), static_cast<unsigned>(kBlockBytes));
}

bool PackedFile::refill() {
  const char* const begin = block_.data();
  if (end_ != nullptr) {
    const auto size = static_cast<std::uint64_t>(end_ - begin);
    lines_before_ += static_cast<int>(std::count(begin, end_, '\n'));
    const auto last =
        std::find(std::make_reverse_iterator(end_), std::make_reverse_iterator(begin), '\n');
    const auto line = static_cast<std::uint64_t>(last.base() - begin);
    if (line > 0) line_start_ = before_ + line;
    before_ += size;
  }
  if (before_ - marked_ > longest_) {
    throw Error(
        place(),
        fmt::format("{} of a single text, number or blanks, which no trace contains{}",
                    format_bytes(static_cast<double>(longest_)), raised_limit_text(2 * longest_)));
  }
  const int read = gzread(file_.get(), block_.data(), static_cast<unsigned>(block_.size()));
  int code = Z_OK;
  const char* const reason = gzerror(file_.get(), &code);
  at_ = begin;
  end_ = begin + std::max(read, 0);
  // A truncated stream first returns what it has, and then this code.
  if (read <= 0 && code == Z_BUF_ERROR) {
    throw Error(Location{path_},
                "the gzip stream is cut off; the file was perhaps not copied completely");
  }
  if (read < 0) {
    const char* const words = code == Z_ERRNO ? std::strerror(errno) : reason;
    throw Error(Location{path_},
                fmt::format("unpacking failed after {} bytes: {}", before_, words));
  }
  return read > 0;
}

Location PackedFile::place() const {
  const char* const begin = block_.data();
  const char* const last = at_ == nullptr || at_ == begin ? begin : at_ - 1;
  const auto lines = static_cast<int>(std::count(begin, last, '\n'));
  const auto found =
      std::find(std::make_reverse_iterator(last), std::make_reverse_iterator(begin), '\n');
  const auto line = static_cast<std::uint64_t>(found.base() - begin);
  const std::uint64_t start = line > 0 ? before_ + line : line_start_;
  const std::uint64_t column = before_ + static_cast<std::uint64_t>(last - begin) - start + 1;
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  return {path_, lines_before_ + lines + 1, static_cast<int>(std::min(column, kMost))};
}

std::uint64_t PackedFile::bytes() const {
  return before_ + static_cast<std::uint64_t>(at_ - block_.data());
}

}  // namespace windtunnel
