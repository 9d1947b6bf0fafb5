// MLCommons Chakra execution traces as bytes: one GlobalMetadata, then Nodes, each behind its
// length as a varint. Only the messages and fields that a Plan needs; all others are skipped.
//
// Field numbers: mlcommons/chakra, schema/protobuf/et_def.proto at commit 6dc63e1 (those used here
// are the same since schema version 0.0.4, which the files state). Framing: encodeMessage in
// src/third_party/utils/protolib.py of the same repository.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace windtunnel {

// AttributeProto. Of the fifteen scalar types (and their lists) only the widest are told apart when
// read: integers come as int64 or uint64, floats as double, bytes as string.
struct ChakraAttribute {
  using Integers = std::vector<std::int64_t>;
  using Doubles = std::vector<double>;
  using Strings = std::vector<std::string>;
  using Value = std::variant<std::monostate, bool, std::int32_t, std::int64_t, std::uint64_t,
                             double, std::string, Integers, Doubles, Strings>;
  std::string name;
  Value value;
};

struct ChakraMetadata {
  std::string version;
  std::vector<ChakraAttribute> attributes;
};

enum class ChakraNodeType : std::uint64_t {
  invalid = 0,
  metadata = 1,
  mem_load = 2,
  mem_store = 3,
  comp = 4,
  comm_send = 5,
  comm_recv = 6,
  comm_coll = 7,
  storage = 8,
  batch = 9,
  checkpoint = 10,
};

struct ChakraNode {
  std::uint64_t id = 0;
  std::string name;
  ChakraNodeType type = ChakraNodeType::invalid;
  std::vector<std::uint64_t> ctrl_deps;
  std::vector<std::uint64_t> data_deps;
  std::uint64_t duration_micros = 0;
  std::string input_values;  // IOInfo of the inputs
  std::vector<ChakraAttribute> attributes;
};

// The message behind its length.
std::string encode(const ChakraMetadata& metadata);
std::string encode(const ChakraNode& node);

// Reads a file message by message and allocates no more than the file is long. Every fault of the
// file is thrown as Error that names it and the byte.
class ChakraFile {
 public:
  explicit ChakraFile(const std::string& path);
  ~ChakraFile();
  ChakraFile(const ChakraFile&) = delete;
  ChakraFile& operator=(const ChakraFile&) = delete;

  ChakraMetadata metadata();     // the first message
  bool next(ChakraNode& node);   // false at the end of the file
  std::int64_t message() const;  // where the message that was read last starts
  [[noreturn]] void fail(std::int64_t byte, const std::string& what) const;

 private:
  struct Input;
  class Message;
  template <class Parse>
  bool read_message(const Parse& parse);

  std::string path_;
  std::unique_ptr<Input> input_;
};

}  // namespace windtunnel
