// The bytes of a file, plain or gzip (one or several members), block by block, with the place of
// the byte that is read: a trace of 10 GB is read in the memory of a block.
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
  // Throw Error (usage): the file cannot be read, its gzip stream is broken or cut off.
  explicit PackedFile(const std::string& path);
  // Whether there is a byte left, which current() then is.
  bool more() { return at_ != end_ || refill(); }
  char current() const { return *at_; }
  void advance() { ++at_; }
  // What reads it has got on. Without that for 64 MB of a file it is refused: a text, a number or
  // blanks of that length are no trace, but a small file that unpacks without end.
  void mark() { marked_ = before_; }

  // Of the byte that was read last; line and column from 1.
  Location place() const;
  std::uint64_t bytes() const;  // unpacked, read so far

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };
  bool refill();

  std::string path_;
  std::uint64_t longest_;  // bytes of one text, one number, or blanks
  std::unique_ptr<gzFile_s, Close> file_;
  std::vector<char> block_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t before_ = 0;      // bytes before the block
  std::uint64_t marked_ = 0;      // of them when it got on
  int lines_before_ = 0;          // line feeds before the block
  std::uint64_t line_start_ = 0;  // of the last line that began before the block
};

// Its bytes one by one, for readers that take a pair of iterators.
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
