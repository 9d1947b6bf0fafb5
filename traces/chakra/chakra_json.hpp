// Reads Chakra traces in JSON, in the two forms of mlcommons/chakra: the output of its jsonizer
// (consecutive objects, which are the messages of et_def.proto with protobuf's JSON names), and the
// input of its feeder (a list "workload_graph" with the fields of src/feeder/json_node.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/chakra/chakra_wire.hpp"

namespace windtunnel {

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
