#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include "traces/chakra_wire.hpp"
#include "traces/chakra_wire_fields.hpp"

namespace windtunnel {
namespace {

namespace io = google::protobuf::io;
using google::protobuf::internal::WireFormatLite;

template <class Write>
std::string message_of(const Write& write) {
  std::string bytes;
  {
    io::StringOutputStream stream(&bytes);
    io::CodedOutputStream out(&stream);
    write(out);
  }
  return bytes;
}

std::string with_length(const std::string& message) {
  return message_of([&](io::CodedOutputStream& out) {
    out.WriteVarint64(message.size());
    out.WriteString(message);
  });
}

void write_varint(int field, std::uint64_t value, io::CodedOutputStream& out) {
  if (value != 0) WireFormatLite::WriteUInt64(field, value, &out);
}

void write_text(int field, const std::string& value, io::CodedOutputStream& out) {
  if (!value.empty()) WireFormatLite::WriteString(field, value, &out);
}

template <class Number, class WriteNumber>
void write_packed(int field, const std::vector<Number>& numbers, io::CodedOutputStream& out,
                  const WriteNumber& write_number) {
  if (numbers.empty()) return;
  WireFormatLite::WriteBytes(field, message_of([&](io::CodedOutputStream& packed) {
                               for (const Number& number : numbers) write_number(number, packed);
                             }),
                             &out);
}

const auto kWriteVarint = [](auto number, io::CodedOutputStream& out) {
  out.WriteVarint64(static_cast<std::uint64_t>(number));
};
const auto kWriteDouble = [](double number, io::CodedOutputStream& out) {
  out.WriteLittleEndian64(WireFormatLite::EncodeDouble(number));
};

// The field of the value itself; written even when it is 0 or empty, because it is in a oneof.
struct WriteValue {
  io::CodedOutputStream& out;

  void operator()(std::monostate) const {}
  void operator()(bool value) const {
    WireFormatLite::WriteBool(chakra::attribute_field::kBool, value, &out);
  }
  void operator()(std::int32_t value) const {
    WireFormatLite::WriteInt32(chakra::attribute_field::kInt32, value, &out);
  }
  void operator()(std::int64_t value) const {
    WireFormatLite::WriteInt64(chakra::attribute_field::kInt64, value, &out);
  }
  void operator()(std::uint64_t value) const {
    WireFormatLite::WriteUInt64(chakra::attribute_field::kUint64, value, &out);
  }
  void operator()(double value) const {
    WireFormatLite::WriteDouble(chakra::attribute_field::kDouble, value, &out);
  }
  void operator()(const std::string& value) const {
    WireFormatLite::WriteString(chakra::attribute_field::kString, value, &out);
  }
  void operator()(const ChakraAttribute::Integers& values) const {
    list(chakra::attribute_field::kInt64List, [&](io::CodedOutputStream& inner) {
      write_packed(chakra::kListValues, values, inner, kWriteVarint);
    });
  }
  void operator()(const ChakraAttribute::Doubles& values) const {
    list(chakra::attribute_field::kDoubleList, [&](io::CodedOutputStream& inner) {
      write_packed(chakra::kListValues, values, inner, kWriteDouble);
    });
  }
  void operator()(const ChakraAttribute::Strings& values) const {
    list(chakra::attribute_field::kStringList, [&](io::CodedOutputStream& inner) {
      for (const std::string& value : values) {
        WireFormatLite::WriteString(chakra::kListValues, value, &inner);
      }
    });
  }
  template <class Write>
  void list(int field, const Write& write) const {
    WireFormatLite::WriteBytes(field, message_of(write), &out);
  }
};

void write_attributes(int field, const std::vector<ChakraAttribute>& attributes,
                      io::CodedOutputStream& out) {
  for (const ChakraAttribute& attribute : attributes) {
    WireFormatLite::WriteBytes(field, message_of([&](io::CodedOutputStream& inner) {
                                 write_text(chakra::attribute_field::kName, attribute.name, inner);
                                 std::visit(WriteValue{inner}, attribute.value);
                               }),
                               &out);
  }
}

}  // namespace

std::string encode(const ChakraMetadata& metadata) {
  return with_length(message_of([&](io::CodedOutputStream& out) {
    write_text(chakra::metadata_field::kVersion, metadata.version, out);
    write_attributes(chakra::metadata_field::kAttribute, metadata.attributes, out);
  }));
}

std::string encode(const ChakraNode& node) {
  return with_length(message_of([&](io::CodedOutputStream& out) {
    write_varint(chakra::node_field::kId, node.id, out);
    write_text(chakra::node_field::kName, node.name, out);
    write_varint(chakra::node_field::kType, static_cast<std::uint64_t>(node.type), out);
    write_packed(chakra::node_field::kCtrlDeps, node.ctrl_deps, out, kWriteVarint);
    write_packed(chakra::node_field::kDataDeps, node.data_deps, out, kWriteVarint);
    write_varint(chakra::node_field::kDurationMicros, node.duration_micros, out);
    if (!node.input_values.empty()) {
      WireFormatLite::WriteBytes(
          chakra::node_field::kInputs, message_of([&](io::CodedOutputStream& inner) {
            write_text(chakra::io_info_field::kValues, node.input_values, inner);
          }),
          &out);
    }
    write_attributes(chakra::node_field::kAttribute, node.attributes, out);
  }));
}

}  // namespace windtunnel
