#include "traces/chakra/chakra_wire.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/error_of.hpp"
#include "traces/chakra/chakra_fields.hpp"

namespace windtunnel {
namespace {

using std::string_literals::operator""s;
using ::testing::ElementsAre;

// Returns the name of a file with these bytes.
std::string written(const std::string& bytes) {
  const std::string path =
      ::testing::TempDir() + "windtunnel-chakra-wire-" + std::to_string(getpid()) + ".0.et";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// Two compute nodes, the second after the first, were written by hand from et_def.proto and the
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
  EXPECT_EQ(file.metadata().version(), "0.0.4");
  chakra::Node node;
  ASSERT_TRUE(file.next(node));
  EXPECT_EQ(file.message(), 8);
  EXPECT_EQ(node.id(), 0u);
  EXPECT_EQ(node.name(), "a");
  EXPECT_EQ(node.type(), chakra::COMP_NODE);
  EXPECT_EQ(node.duration_micros(), 5u);
  ASSERT_EQ(node.attr_size(), 1);
  EXPECT_EQ(node.attr(0).name(), "is_cpu_op");
  EXPECT_FALSE(flag_of(node.attr(0)));
  ASSERT_TRUE(file.next(node));
  EXPECT_EQ(node.id(), 1u);
  EXPECT_EQ(node.attr_size(), 0);
  EXPECT_THAT(node.data_deps(), ElementsAre(0));
  EXPECT_EQ(node.duration_micros(), 150u);
  EXPECT_FALSE(file.next(node));
}

TEST(ChakraWire, WritesTheSameBytes) {
  chakra::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  EXPECT_EQ(encode(metadata), kTwoNodes.substr(0, 8));
  chakra::Node node;
  node.set_id(1);
  node.set_name("b");
  node.set_type(chakra::COMP_NODE);
  node.add_data_deps(0);
  node.set_duration_micros(150);
  EXPECT_EQ(encode(node), kTwoNodes.substr(37));
}

// Returns an attribute whose value has these bytes.
chakra::AttributeProto attribute_of(const std::string& value) {
  const std::string attribute = "\x0a\x01x" + value;
  const std::string node = "\x52" + std::string(1, char(attribute.size())) + attribute;
  ChakraFile file(written("\0"s + char(node.size()) + node));
  file.metadata();
  chakra::Node read;
  EXPECT_TRUE(file.next(read) && read.attr_size() == 1);
  return read.attr(0);
}

TEST(ChakraWire, ReadsEveryTypeOfAttribute) {
  const std::pair<std::string, double> numbers[] = {
      {"\x19\0\0\0\0\0\0\xf8\x3f"s, 1.5},                       // 3 double
      {"\x2d\0\0\xc0\x3f"s, 1.5},                               // 5 float
      {"\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s, -1.0},  // 7 int32
      {"\x48\x05"s, 5.0},                                       // 9 int64
      {"\x58\xff\xff\xff\xff\x0f"s, 4294967295.0},              // 11 uint32
      {"\x68\x06"s, 6.0},                                       // 13 uint64
      {"\x78\x03"s, -2.0},                                      // 15 sint32
      {"\x88\x01\x04"s, 2.0},                                   // 17 sint64
      {"\x9d\x01\xff\xff\xff\xff"s, 4294967295.0},              // 19 fixed32
      {"\xa9\x01\x07\0\0\0\0\0\0\0"s, 7.0},                     // 21 fixed64
      {"\xbd\x01\xff\xff\xff\xff"s, -1.0},                      // 23 sfixed32
      {"\xc9\x01\xfe\xff\xff\xff\xff\xff\xff\xff"s, -2.0},      // 25 sfixed64
  };
  for (const auto& [bytes, value] : numbers) {
    EXPECT_EQ(number_of(attribute_of(bytes)), value) << ::testing::PrintToString(bytes);
  }
  const std::string most = "\x68\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s;  // 13 uint64
  EXPECT_EQ(error_of([&] { integer_of(attribute_of(most)); }), "attribute 'x' is not below 2^63");
  EXPECT_TRUE(flag_of(attribute_of("\xd8\x01\x01")));                    // 27 bool
  EXPECT_EQ(text_of(attribute_of("\xea\x01\x02hi")), "hi");              // 29 string
  EXPECT_EQ(text_of(attribute_of("\xfa\x01\x02\xff\xfe")), "\xff\xfe");  // 31 bytes
  const std::string packed = "\x22\x0a\x0a\x08\0\0\0\0\0\0\xf8\x3f"s;    // 4 list of doubles
  const std::string single = "\x22\x09\x09\0\0\0\0\0\0\xf8\x3f"s;
  EXPECT_THAT(numbers_of(attribute_of(packed)), ElementsAre(1.5));
  EXPECT_THAT(numbers_of(attribute_of(single)), ElementsAre(1.5));
  EXPECT_THAT(integers_of(attribute_of("\x52\x04\x0a\x02\x03\x04")), ElementsAre(3, 4));      // 10
  EXPECT_THAT(texts_of(attribute_of("\xf2\x01\x05\x0a\0\x0a\x01z"s)), ElementsAre("", "z"));  // 30
}

}  // namespace
}  // namespace windtunnel
