// Files that a user names are opened only here. A file must be regular, and of bounded size if it
// is read whole. Anything else (a device, a pipe without a writer, a folder, a loop of links) is
// refused at once instead of blocking the reader or filling memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {

// For tables, logs, records and traces that are read whole; streamed files have no such limit.
inline constexpr std::uint64_t kLargestWhole_bytes = std::uint64_t{1} << 30U;
// For scenarios, configurations and files that they name: far more than a person writes.
inline constexpr std::uint64_t kLargestDocument_bytes = std::uint64_t{16} << 20U;
inline constexpr std::uint64_t kLongestLine_bytes = std::uint64_t{64} << 20U;

// read_limit() returns how many bytes of a file may be in memory: `usual_bytes`, or the value of
// this environment variable ("4 GiB"), which holds for all kinds of files. Throws Error (usage) if
// the value is not a size.
inline constexpr const char* kFileLimitVariable = "WINDTUNNEL_MAX_FILE_SIZE";
std::uint64_t read_limit(std::uint64_t usual_bytes);
// The advice at the end of a refusal: the variable with a value that allows this many bytes.
std::string raised_limit_text(std::uint64_t bytes);

class InputFile {
 public:
  // The file is read in blocks, so its size is not limited.
  static constexpr std::uint64_t kStreamed = std::numeric_limits<std::uint64_t>::max();

  // Throws Error (usage): with the path and the system's reason if it cannot be opened, with the
  // kind if it is not a regular file, with both sizes if it is larger than read_limit(usual_bytes).
  // Pipes can be read if a shell passes them: /dev/stdin, /dev/fd/N.
  explicit InputFile(const std::string& path, std::uint64_t usual_bytes = kStreamed);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // when opened; 0 for a pipe
  int descriptor() const { return descriptor_; }
  int release();  // returns the descriptor, which the caller must close

  // Reads up to `bytes` more; 0 at the end.
  std::size_t read(char* into, std::size_t bytes);
  // Reads the rest. Throws Error if the file grows beyond the limit.
  std::string whole();

 private:
  [[noreturn]] void fail_size(std::uint64_t bytes) const;

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t most_bytes_ = 0;
};

// Returns the first `bytes`, to detect the format; "" if the file cannot be read.
std::string beginning_of(const std::string& path, std::size_t bytes);

// Reads a file line by line, with one line in memory.
class InputLines {
 public:
  explicit InputLines(const std::string& path) : file_(path), block_(std::size_t{1} << 16U) {}
  // Returns false at the end. Text after the last line feed is a line, for which ended() is false.
  // Throws Error with the place of a line longer than read_limit(kLongestLine_bytes).
  bool next(std::string& line);
  bool ended() const { return ended_; }  // whether the last line had a line feed

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
