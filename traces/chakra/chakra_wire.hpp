// MLCommons Chakra execution traces as bytes: one GlobalMetadata, then Nodes, each preceded by its
// length as a varint, as encodeMessage in src/third_party/utils/protolib.py of mlcommons/chakra
// writes them. protoc generates the messages from et_def.proto.
#pragma once

#include <et_def.pb.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "traces/text/input_file.hpp"

namespace windtunnel {

// encode_length() appends the length as a varint. encode() appends the length of the message and
// then the message.
void encode_length(std::size_t length, std::string& bytes);
void encode(const google::protobuf::MessageLite& message, std::string& bytes);
std::string encode(const google::protobuf::MessageLite& message);

// The nodes of a trace one after the other, for either file format. Faults of the file are thrown
// as Error with file and place.
class ChakraNodes {
 public:
  virtual ~ChakraNodes() = default;
  virtual chakra::GlobalMetadata metadata() = 0;  // before the first node
  virtual bool next(chakra::Node& node) = 0;      // false at the end of the file
  virtual std::int64_t message() const = 0;       // start of the message read last
  [[noreturn]] virtual void fail(std::int64_t byte, const std::string& what) const = 0;
};

// Reads a file message by message; allocates no more than the size of the file.
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
  std::uint64_t longest_ = read_limit(kLargestWhole_bytes);  // limit for a message
  google::protobuf::io::FileInputStream stream_;
  std::int64_t size_ = 0;
  std::int64_t message_ = 0;
};

// Reads Chakra traces in JSON, in the two forms of mlcommons/chakra: the output of its jsonizer
// (consecutive objects, which are the messages of et_def.proto with protobuf's JSON names), and the
// input of its feeder (a list "workload_graph" with the fields of src/feeder/json_node.cpp).

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
  std::vector<std::int64_t> offsets_;  // of the nodes within the text
  std::size_t at_ = 0;
};

}  // namespace windtunnel
