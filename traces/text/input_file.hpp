// The one way to open a file that a user names: a regular one, of bounded size where it is read
// whole. What is none (a device, a pipe that nobody writes to, a folder, a loop of links) is
// refused at once instead of hanging the reader or filling memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {

// Of tables, logs, records and traces that are read whole; what is streamed has no such limit.
inline constexpr std::uint64_t kLargestWhole_bytes = std::uint64_t{1} << 30U;
// Of scenarios, configurations and what they name: far above any that somebody wrote.
inline constexpr std::uint64_t kLargestDocument_bytes = std::uint64_t{16} << 20U;
inline constexpr std::uint64_t kLongestLine_bytes = std::uint64_t{64} << 20U;

// How many bytes of a file are held at once: `usual_bytes`, or what this environment variable says
// for all kinds of files ("4 GiB"). Throws Error (usage) where it says no size.
inline constexpr const char* kFileLimitVariable = "WINDTUNNEL_MAX_FILE_SIZE";
std::uint64_t read_limit(std::uint64_t usual_bytes);
// What a refusal ends with: the variable, set to a size that has room for so many bytes.
std::string raised_limit_text(std::uint64_t bytes);

class InputFile {
 public:
  // Read in blocks, however large it is.
  static constexpr std::uint64_t kStreamed = std::numeric_limits<std::uint64_t>::max();

  // Throws Error (usage) with the path and the system's reason where it cannot be opened, with the
  // kind of what is no regular file, and with both sizes where it is larger than
  // read_limit(usual_bytes). Pipes are read where a shell hands them over: /dev/stdin, /dev/fd/N.
  explicit InputFile(const std::string& path, std::uint64_t usual_bytes = kStreamed);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // when it was opened; 0 of a pipe
  int descriptor() const { return descriptor_; }
  int release();  // the descriptor, which the caller closes from now on

  // Up to `bytes` more; 0 at the end.
  std::size_t read(char* into, std::size_t bytes);
  // All of it. Throws Error where it grows beyond the limit.
  std::string whole();

 private:
  [[noreturn]] void fail_size(std::uint64_t bytes) const;

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t most_bytes_ = 0;
};

// The first `bytes`, to see what a file is; "" of one that cannot be read.
std::string beginning_of(const std::string& path, std::size_t bytes);

// The lines of a file, in the memory of one of them.
class InputLines {
 public:
  explicit InputLines(const std::string& path) : file_(path), block_(std::size_t{1} << 16U) {}
  // False at the end; what follows the last line feed is a line, of which ended() is false. Throws
  // Error with the place of a line that is longer than read_limit(kLongestLine_bytes).
  bool next(std::string& line);
  bool ended() const { return ended_; }  // the last line, by a line feed

 private:
  InputFile file_;
  std::uint64_t longest_ = read_limit(kLongestLine_bytes);
  std::vector<char> block_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  int number_ = 0;
  bool ended_ = false;
};

}  // namespace windtunnel
