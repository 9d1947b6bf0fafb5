// MLCommons Chakra execution traces as bytes: one GlobalMetadata, then Nodes, each behind its
// length as a varint, as encodeMessage in src/third_party/utils/protolib.py of mlcommons/chakra
// writes them. protoc makes the messages of et_def.proto.
#pragma once

#include <et_def.pb.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "traces/text/input_file.hpp"

namespace windtunnel {

// The message behind its length.
std::string encode(const google::protobuf::MessageLite& message);

// The nodes of a trace one after the other, however they are written down. Every fault of the file
// is thrown as Error that names it and the place.
class ChakraNodes {
 public:
  virtual ~ChakraNodes() = default;
  virtual chakra::GlobalMetadata metadata() = 0;  // before the first node
  virtual bool next(chakra::Node& node) = 0;      // false at the end of the file
  virtual std::int64_t message() const = 0;       // where what was read last starts
  [[noreturn]] virtual void fail(std::int64_t byte, const std::string& what) const = 0;
};

// Reads a file message by message and allocates no more than the file is long.
class ChakraFile : public ChakraNodes {
 public:
  explicit ChakraFile(const std::string& path);

  chakra::GlobalMetadata metadata() override;
  bool next(chakra::Node& node) override;
  std::int64_t message() const override;
  [[noreturn]] void fail(std::int64_t byte, const std::string& what) const override;

 private:
  bool read(google::protobuf::MessageLite& message);

  std::string path_;
  InputFile file_;
  std::uint64_t longest_ = read_limit(kLargestWhole_bytes);  // bytes of a message
  google::protobuf::io::FileInputStream stream_;
  std::int64_t size_ = 0;
  std::int64_t message_ = 0;
};

// Chakra traces as JSON, in the two forms that mlcommons/chakra has: what its jsonizer writes (one
// object after the other, the messages of et_def.proto with protobuf's names for JSON), and what
// its feeder reads (a list "workload_graph" with the fields of src/feeder/json_node.cpp).

class ChakraJson : public ChakraNodes {
 public:
  // Reads the file. Throws Error with file:line:column.
  explicit ChakraJson(const std::string& path);
  chakra::GlobalMetadata metadata() override { return metadata_; }
  bool next(chakra::Node& node) override;
  std::int64_t message() const override { return at_ == 0 ? 0 : offsets_[at_ - 1]; }
  [[noreturn]] void fail(std::int64_t byte, const std::string& what) const override;

 private:
  std::string path_;
  std::string text_;
  chakra::GlobalMetadata metadata_;
  std::vector<chakra::Node> nodes_;
  std::vector<std::int64_t> offsets_;  // of the nodes in the text
  std::size_t at_ = 0;
};

}  // namespace windtunnel
