// Reads the bytes of a file, plain or gzip (one or several members), block by block, and tells the
// place of the current byte. A trace of 10 GB needs the memory of one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "models/base/error.hpp"

struct gzFile_s;

namespace windtunnel {

class PackedFile {
 public:
  // Throws Error (usage) if the file cannot be read, or its gzip stream is broken or truncated.
  explicit PackedFile(const std::string& path);
  // Whether there is another byte; current() returns it.
  bool more() { return at_ != end_ || refill(); }
  char current() const { return *at_; }
  void advance() { ++at_; }
  // Records progress. If it is not called for 64 MB, the file is refused: no trace contains a text,
  // a number or blanks of that length, but a small file that unpacks without end does.
  void mark() { marked_ = before_; }

  // The place of the byte read last; line and column count from 1.
  Location place() const;
  std::uint64_t bytes() const;  // unpacked, read so far

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };
  bool refill();

  std::string path_;
  std::uint64_t longest_;  // limit of one text, one number, or blanks
  std::unique_ptr<gzFile_s, Close> file_;
  std::vector<char> block_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t before_ = 0;      // bytes before the block
  std::uint64_t marked_ = 0;      // position at the last mark()
  int lines_before_ = 0;          // line feeds before the block
  std::uint64_t line_start_ = 0;  // start of the last line that began before the block
};

// The JSON parser reads the unpacked bytes through this pair of iterators.
class PackedBytes {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  PackedBytes() = default;  // the end
  explicit PackedBytes(PackedFile& file) : file_(&file) {}
  char operator*() const { return file_->current(); }
  PackedBytes& operator++() {
    file_->advance();
    return *this;
  }
  PackedBytes operator++(int) {
    const PackedBytes before = *this;
    ++*this;
    return before;
  }
  bool operator==(const PackedBytes& other) const { return at_end() == other.at_end(); }
  bool operator!=(const PackedBytes& other) const { return !(*this == other); }

 private:
  bool at_end() const { return file_ == nullptr || !file_->more(); }

  PackedFile* file_ = nullptr;
};

}  // namespace windtunnel
