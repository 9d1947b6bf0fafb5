#include "traces/chakra/chakra_wire.hpp"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <unistd.h>

#include <limits>

#include "models/base/error.hpp"

namespace windtunnel {

namespace io = google::protobuf::io;

void encode(const google::protobuf::MessageLite& message, std::string& bytes) {
  std::size_t length = message.ByteSizeLong();
  for (; length >= 0x80; length >>= 7) bytes += static_cast<char>(length | 0x80);
  bytes += static_cast<char>(length);
  message.AppendPartialToString(&bytes);
}

std::string encode(const google::protobuf::MessageLite& message) {
  std::string bytes;
  encode(message, bytes);
  return bytes;
}

ChakraFile::ChakraFile(const std::string& path)
    : path_(path),
      file_(path),
      stream_(file_.descriptor()),
      size_(static_cast<std::int64_t>(file_.size())) {
  unsigned char magic[2] = {};
  const ssize_t got = pread(file_.descriptor(), magic, sizeof magic, 0);
  if (got == sizeof magic && magic[0] == 0x1f && magic[1] == 0x8b) {
    throw Error(Location{path}, "is compressed; unpack it with gunzip");
  }
}

std::int64_t ChakraFile::message() const {
  return message_;
}

void ChakraFile::fail(std::int64_t byte, const std::string& what) const {
  throw Error(Location{path_}, fmt::format("byte {}: {}", byte, what));
}

// Returns false at the end of the file.
bool ChakraFile::read(google::protobuf::MessageLite& message) {
  message_ = stream_.ByteCount();
  if (message_ == size_) return false;
  // Each message has a stream of its own, because positions in a stream are int and a file may be
  // longer.
  io::CodedInputStream in(&stream_);
  std::uint64_t size = 0;
  if (!in.ReadVarint64(&size)) fail(message_, "the length of a message is cut off or broken");
  const std::int64_t left = size_ - message_ - in.CurrentPosition();
  if (size > static_cast<std::uint64_t>(left)) {
    fail(message_, fmt::format("a message of {} bytes where the file has {} left: it is cut off, "
                               "or no Chakra execution trace",
                               size, left));
  }
  // Protobuf's messages are limited to the range of int.
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  if (size > kMost) fail(message_, fmt::format("a message of {} bytes", size));
  if (size > longest_) {
    fail(message_, fmt::format("a message of {} bytes{}", size, raised_limit_text(size)));
  }
  in.PushLimit(static_cast<int>(size));
  if (!message.ParseFromCodedStream(&in) || !in.ConsumedEntireMessage()) {
    fail(message_, fmt::format("a message of {} bytes that is cut off or broken", size));
  }
  return true;
}

chakra::GlobalMetadata ChakraFile::metadata() {
  chakra::GlobalMetadata metadata;
  if (!read(metadata)) fail(0, "the file is empty");
  return metadata;
}

bool ChakraFile::next(chakra::Node& node) {
  return read(node);
}

}  // namespace windtunnel
