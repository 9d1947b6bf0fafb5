#include "traces/text/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "models/base/units.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

// Returns "; did you mean 'out/record.json'?" if the folder has a file with a similar name.
std::string like_file(const std::string& path) {
  const fs::path wanted(path);
  if (!wanted.has_filename()) return "";
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code none;  // a folder that cannot be read gives no advice
  for (fs::directory_iterator entry(folder, none), end; !none && entry != end;
       entry.increment(none)) {
    const std::string name = entry->path().filename().string();
    const bool other = name != wanted.filename();  // a link to a missing file has its own name
    if (other && name.front() == wanted.filename().string().front()) names.push_back(name);
  }
  std::ranges::sort(names);
  const std::string nearest = nearest_name(wanted.filename().string(), names);
  if (nearest.empty()) return "";
  return fmt::format("; did you mean '{}'?", (wanted.parent_path() / nearest).string());
}

[[noreturn]] void fail_system(const std::string& path, int error) {
  throw Error(Location{path},
              fmt::format("cannot be read: {}{}", std::generic_category().message(error),
                          error == ENOENT ? like_file(path) : ""));
}

bool handed_over(const std::string& path) {
  return path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

std::string_view kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

std::uint64_t read_limit(std::uint64_t usual_bytes) {
  const char* const text = std::getenv(kFileLimitVariable);
  if (text == nullptr || *text == '\0') return usual_bytes;
  constexpr double kMost = 1e18;
  double bytes = 0;
  try {
    bytes = parse_quantity(text, Dimension::bytes);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", kFileLimitVariable, error.text()));
  }
  if (bytes < 1 || bytes > kMost) {
    throw Error(fmt::format("{}: '{}' must be from 1 B to {}", kFileLimitVariable, text,
                            format_bytes(kMost)));
  }
  return static_cast<std::uint64_t>(bytes);
}

// Suggests whole GiB, so that the variable does not lower the limit of another kind of file.
std::string raised_limit_text(std::uint64_t bytes) {
  const std::uint64_t room = std::bit_ceil(std::max(bytes, kLargestWhole_bytes));
  return fmt::format("; the environment variable {}={}GiB raises that", kFileLimitVariable,
                     room / kLargestWhole_bytes);
}

// O_NONBLOCK lets a pipe without a writer open, so that it can be refused.
InputFile::InputFile(const std::string& path, std::uint64_t usual_bytes)
    : path_(path),
      descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)),
      most_bytes_(usual_bytes == kStreamed ? kStreamed : read_limit(usual_bytes)) {
  if (descriptor_ < 0 && errno == ENXIO)
    throw Error(Location{path}, "is a socket; expected a file");
  if (descriptor_ < 0) fail_system(path, errno);
  const auto refuse = [&](const std::string& what) {
    close(std::exchange(descriptor_, -1));
    throw Error(Location{path}, what);
  };
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) {
    refuse(fmt::format("cannot be read: {}", std::generic_category().message(errno)));
  }
  if (S_ISDIR(status.st_mode)) refuse("is a folder; expected a file");
  const bool pipe = handed_over(path) && S_ISFIFO(status.st_mode);
  if (!S_ISREG(status.st_mode) && !pipe) {
    refuse(fmt::format("is {}; expected a file", kind_of(status.st_mode)));
  }
  fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
  size_ = pipe ? 0 : static_cast<std::uint64_t>(status.st_size);
  if (size_ <= most_bytes_) return;
  close(std::exchange(descriptor_, -1));
  fail_size(size_);
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

int InputFile::release() {
  return std::exchange(descriptor_, -1);
}

void InputFile::fail_size(std::uint64_t bytes) const {
  throw Error(
      Location{path_},
      fmt::format("has {} or more; a file of this kind may have at most {}{}",
                  format_bytes(static_cast<double>(bytes)),
                  format_bytes(static_cast<double>(most_bytes_)), raised_limit_text(bytes)));
}

std::size_t InputFile::read(char* into, std::size_t bytes) {
  for (;;) {
    const ssize_t got = ::read(descriptor_, into, bytes);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) fail_system(path_, errno);
  }
}

std::string InputFile::whole() {
  std::string content;
  content.reserve(size_);
  std::array<char, 65536> block{};
  while (const std::size_t got = read(block.data(), block.size())) {
    if (content.size() + got > most_bytes_) fail_size(content.size() + got);
    content.append(block.data(), got);
  }
  return content;
}

std::string beginning_of(const std::string& path, std::size_t bytes) {
  try {
    InputFile file(path);
    std::string begin(bytes, '\0');
    std::size_t filled = 0;
    while (const std::size_t got = file.read(begin.data() + filled, bytes - filled)) filled += got;
    begin.resize(filled);
    return begin;
  } catch (const Error&) {
    return "";  // the file's reader will report the fault
  }
}

bool InputLines::next(std::string& line) {
  line.clear();
  ended_ = false;
  ++number_;
  for (;;) {
    if (at_ == filled_) {
      at_ = 0;
      filled_ = file_.read(block_.data(), block_.size());
      if (filled_ == 0) return !line.empty();
    }
    const char* const from = block_.data() + at_;
    const char* const end = block_.data() + filled_;
    const char* const feed = std::find(from, end, '\n');
    line.append(from, feed);
    at_ += static_cast<std::size_t>(feed - from);
    if (line.size() > longest_) {
      throw Error(
          Location{file_.path(), number_, 1},
          fmt::format("a line has more than {}{}", format_bytes(static_cast<double>(longest_)),
                      raised_limit_text(2 * longest_)));
    }
    if (feed == end) continue;
    ++at_;
    ended_ = true;
    return true;
  }
}

}  // namespace windtunnel
