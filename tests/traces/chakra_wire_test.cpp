#include "traces/chakra_wire.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace windtunnel {
namespace {

// The name of a file with these bytes.
std::string written(const std::string& bytes) {
  const std::string path =
      ::testing::TempDir() + "windtunnel-chakra-wire-" + std::to_string(getpid()) + ".0.et";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// Two compute nodes, the second after the first, as et_def.proto has them: written by hand from the
// encoding rules of protocol buffers.
const std::string kTwoNodes =
    std::string("\x07\x0a\x05") + "0.0.4" +  // GlobalMetadata: 1 (version)
    "\x1c\x12\x01"
    "a"
    "\x18\x04\x38\x05" +  // Node: 2 name, 3 type COMP, 7 duration 5
    "\x52\x13\x0a\x09"
    "is_cpu_op"
    "\xd8\x01" +  // 10 attr: 1 name, 27 bool_val
    std::string("\0", 1) +
    "\x12\x03"
    "doc" +  // 2 doc_string
    std::string("\x0d\x08\x01\x12\x01", 5) +
    "b" +                                        // Node: 1 id, 2 name
    "\x18\x04\x2a\x01" + std::string("\0", 1) +  // 3 type, 5 data_deps packed: [0]
    "\x38\x96\x01";                              // 7 duration 150

TEST(ChakraWire, ReadsBytesWrittenByHand) {
  ChakraFile file(written(kTwoNodes));
  EXPECT_EQ(file.metadata().version, "0.0.4");
  ChakraNode node;
  ASSERT_TRUE(file.next(node));
  EXPECT_EQ(file.message(), 8);
  EXPECT_EQ(node.id, 0u);
  EXPECT_EQ(node.name, "a");
  EXPECT_EQ(node.type, ChakraNodeType::comp);
  EXPECT_EQ(node.duration_micros, 5u);
  ASSERT_EQ(node.attributes.size(), 1u);
  EXPECT_EQ(node.attributes[0].name, "is_cpu_op");
  EXPECT_EQ(node.attributes[0].value, ChakraAttribute::Value(false));
  ASSERT_TRUE(file.next(node));
  EXPECT_EQ(node.id, 1u);
  EXPECT_EQ(node.data_deps, std::vector<std::uint64_t>{0});
  EXPECT_EQ(node.duration_micros, 150u);
  EXPECT_FALSE(file.next(node));
}

TEST(ChakraWire, WritesTheSameBytes) {
  ChakraNode node;
  node.id = 1;
  node.name = "b";
  node.type = ChakraNodeType::comp;
  node.data_deps = {0};
  node.duration_micros = 150;
  EXPECT_EQ(encode(ChakraMetadata{"0.0.4", {}}), kTwoNodes.substr(0, 8));
  EXPECT_EQ(encode(node), kTwoNodes.substr(37));
}

// Every type of AttributeProto, single and as a list, packed and not.
TEST(ChakraWire, ReadsEveryTypeOfAttribute) {
  const auto of = [](const std::string& value) {
    std::string attribute = "\x0a\x01x" + value;
    std::string node = "\x52" + std::string(1, char(attribute.size())) + attribute;
    return std::string(1, '\0') + std::string(1, char(node.size())) + node;
  };
  using Value = ChakraAttribute::Value;
  using std::string_literals::operator""s;
  const std::pair<std::string, Value> cases[] = {
      {"\x19\0\0\0\0\0\0\xf8\x3f"s, 1.5},                                        // 3 double
      {"\x2d\0\0\xc0\x3f"s, 1.5},                                                // 5 float
      {"\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s, std::int64_t{-1}},       // 7 int32
      {"\x48\x05"s, std::int64_t{5}},                                            // 9 int64
      {"\x58\xff\xff\xff\xff\x0f"s, std::int64_t{4294967295}},                   // 11 uint32
      {"\x68\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s, ~std::uint64_t{0}},      // 13 uint64
      {"\x78\x03"s, std::int64_t{-2}},                                           // 15 sint32
      {"\x88\x01\x04"s, std::int64_t{2}},                                        // 17 sint64
      {"\x9d\x01\xff\xff\xff\xff"s, std::int64_t{4294967295}},                   // 19 fixed32
      {"\xa9\x01\x07\0\0\0\0\0\0\0"s, std::uint64_t{7}},                         // 21 fixed64
      {"\xbd\x01\xff\xff\xff\xff"s, std::int64_t{-1}},                           // 23 sfixed32
      {"\xc9\x01\xfe\xff\xff\xff\xff\xff\xff\xff"s, std::int64_t{-2}},           // 25 sfixed64
      {"\xd8\x01\x01"s, true},                                                   // 27 bool
      {"\xea\x01\x02hi"s, "hi"s},                                                // 29 string
      {"\xfa\x01\x02\0\1"s, "\0\1"s},                                            // 31 bytes
      {"\x22\x0a\x0a\x08\0\0\0\0\0\0\xf8\x3f"s, ChakraAttribute::Doubles{1.5}},  // 4, packed
      {"\x22\x09\x09\0\0\0\0\0\0\xf8\x3f"s, ChakraAttribute::Doubles{1.5}},      // 4, one by one
      {"\x82\x01\x04\x0a\x02\x03\x04"s, ChakraAttribute::Integers{-2, 2}},       // 16 sint32 list
      {"\xe2\x01\x04\x0a\x02\x00\x01"s, ChakraAttribute::Integers{0, 1}},        // 28 bool list
      {"\xf2\x01\x05\x0a\x00\x0a\x01z"s, ChakraAttribute::Strings{"", "z"}},     // 30 string list
  };
  for (const auto& [bytes, value] : cases) {
    ChakraFile file(written(of(bytes)));
    file.metadata();
    ChakraNode node;
    ASSERT_TRUE(file.next(node));
    ASSERT_EQ(node.attributes.size(), 1u);
    EXPECT_EQ(node.attributes[0].name, "x");
    EXPECT_TRUE(node.attributes[0].value == value) << ::testing::PrintToString(bytes);
  }
}

}  // namespace
}  // namespace windtunnel
