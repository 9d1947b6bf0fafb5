// MLCommons Chakra execution traces as bytes: one GlobalMetadata, then Nodes, each behind its
// length as a varint, as encodeMessage in src/third_party/utils/protolib.py of mlcommons/chakra
// writes them. protoc makes the messages of et_def.proto.
#pragma once

#include <et_def.pb.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace windtunnel {

// The message behind its length.
std::string encode(const google::protobuf::MessageLite& message);

// Reads a file message by message and allocates no more than the file is long. Every fault of the
// file is thrown as Error that names it and the byte.
class ChakraFile {
 public:
  explicit ChakraFile(const std::string& path);

  chakra::GlobalMetadata metadata();  // the first message
  bool next(chakra::Node& node);      // false at the end of the file
  std::int64_t message() const;       // where the message that was read last starts
  [[noreturn]] void fail(std::int64_t byte, const std::string& what) const;

 private:
  bool read(google::protobuf::MessageLite& message);

  std::string path_;
  std::ifstream file_;
  google::protobuf::io::IstreamInputStream stream_;
  std::int64_t size_ = 0;
  std::int64_t message_ = 0;
};

}  // namespace windtunnel
