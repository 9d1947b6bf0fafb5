#include "traces/chakra_wire.hpp"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "models/base/error.hpp"
#include "traces/chakra_wire_fields.hpp"

namespace windtunnel {
namespace {

namespace io = google::protobuf::io;
using google::protobuf::internal::WireFormatLite;
using Value = ChakraAttribute::Value;

// The value types of AttributeProto in the order of their fields: scalar 3 + 2 i, list 4 + 2 i.
enum class Scalar {
  f64,
  f32,
  int32,
  int64,
  uint32,
  uint64,
  sint32,
  sint64,
  fixed32,
  fixed64,
  sfixed32,
  sfixed64,
  boolean,
  text,
  bytes
};

WireFormatLite::WireType wire_type(Scalar scalar) {
  switch (scalar) {
    case Scalar::f64:
    case Scalar::fixed64:
    case Scalar::sfixed64:
      return WireFormatLite::WIRETYPE_FIXED64;
    case Scalar::f32:
    case Scalar::fixed32:
    case Scalar::sfixed32:
      return WireFormatLite::WIRETYPE_FIXED32;
    case Scalar::text:
    case Scalar::bytes:
      return WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    default:
      return WireFormatLite::WIRETYPE_VARINT;
  }
}

double as_double(Scalar scalar, std::uint64_t raw) {
  if (scalar == Scalar::f64) return WireFormatLite::DecodeDouble(raw);
  return WireFormatLite::DecodeFloat(static_cast<std::uint32_t>(raw));
}

std::int64_t as_integer(Scalar scalar, std::uint64_t raw) {
  switch (scalar) {
    case Scalar::int32:
    case Scalar::sfixed32:
      return static_cast<std::int32_t>(raw);
    case Scalar::uint32:
    case Scalar::fixed32:
      return static_cast<std::uint32_t>(raw);
    case Scalar::sint32:
      return WireFormatLite::ZigZagDecode32(static_cast<std::uint32_t>(raw));
    case Scalar::sint64:
      return WireFormatLite::ZigZagDecode64(raw);
    default:
      return static_cast<std::int64_t>(raw);
  }
}

bool is_float(Scalar scalar) {
  return scalar == Scalar::f64 || scalar == Scalar::f32;
}

Value as_value(Scalar scalar, std::uint64_t raw) {
  if (is_float(scalar)) return as_double(scalar, raw);
  if (scalar == Scalar::boolean) return raw != 0;
  if (scalar == Scalar::uint64 || scalar == Scalar::fixed64) return raw;
  return as_integer(scalar, raw);
}

}  // namespace

struct ChakraFile::Input {
  explicit Input(const std::string& path) : file(path, std::ios::binary), stream(&file) {}

  std::ifstream file;
  io::IstreamInputStream stream;
  std::int64_t size = 0;
  std::int64_t message = 0;  // first byte of the one read last, its length included
};

// Reads the fields of one message, and of those nested in it.
class ChakraFile::Message {
 public:
  Message(const ChakraFile& file, io::CodedInputStream& in, std::int64_t first_byte)
      : file_(file), in_(in), first_byte_(first_byte) {}

  [[noreturn]] void fail(const std::string& what) const {
    file_.fail(first_byte_ + in_.CurrentPosition(), what);
  }

  // The number of the next field; 0 at the end of the message.
  int next_field() {
    tag_ = in_.ReadTag();
    if (const int field = WireFormatLite::GetTagFieldNumber(tag_)) return field;
    if (tag_ != 0 || !in_.ConsumedEntireMessage() || in_.BytesUntilLimit() > 0)
      fail("not a protobuf field");
    return 0;
  }

  void skip() {
    if (!WireFormatLite::SkipField(&in_, tag_)) fail("a field is cut off or broken");
  }

  std::uint64_t varint() {
    expect(WireFormatLite::WIRETYPE_VARINT);
    return number(WireFormatLite::WIRETYPE_VARINT);
  }

  std::string text() {
    const int size = length();
    std::string value;
    if (!in_.ReadString(&value, size)) fail("a text is cut off");
    return value;
  }

  template <class ReadField>
  void nested(const ReadField& read_field) {
    const io::CodedInputStream::Limit outer = in_.PushLimit(length());
    while (const int field = next_field()) read_field(field);
    in_.PopLimit(outer);
  }

  // Packed or one by one: readers must take both.
  template <class Take>
  void numbers(WireFormatLite::WireType type, const Take& take) {
    if (WireFormatLite::GetTagWireType(tag_) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      expect(type);
      take(number(type));
      return;
    }
    const io::CodedInputStream::Limit outer = in_.PushLimit(length());
    while (in_.BytesUntilLimit() > 0) take(number(type));
    in_.PopLimit(outer);
  }

  void dependencies(std::vector<std::uint64_t>& ids) {
    numbers(WireFormatLite::WIRETYPE_VARINT, [&](std::uint64_t id) { ids.push_back(id); });
  }

  ChakraAttribute attribute() {
    ChakraAttribute attribute;
    nested([&](int field) {
      if (field == chakra::attribute_field::kName) {
        attribute.name = text();
      } else if (field >= chakra::attribute_field::kDouble &&
                 field <= chakra::attribute_field::kLast) {
        const auto scalar = static_cast<Scalar>((field - chakra::attribute_field::kDouble) / 2);
        attribute.value = field % 2 == 1 ? scalar_value(scalar) : list_value(scalar);
      } else {
        skip();
      }
    });
    return attribute;
  }

 private:
  void expect(WireFormatLite::WireType type) const {
    const WireFormatLite::WireType found = WireFormatLite::GetTagWireType(tag_);
    if (found != type) {
      fail(fmt::format("field {} has wire type {} instead of {}",
                       WireFormatLite::GetTagFieldNumber(tag_), int(found), int(type)));
    }
  }

  int length() {
    expect(WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
    std::uint64_t size = 0;
    if (!in_.ReadVarint64(&size)) fail("a length is cut off");
    if (size > static_cast<std::uint64_t>(in_.BytesUntilLimit())) {
      fail(fmt::format("a field of {} bytes in a message that has {} left", size,
                       in_.BytesUntilLimit()));
    }
    return static_cast<int>(size);
  }

  std::uint64_t number(WireFormatLite::WireType type) {
    std::uint64_t value = 0;
    std::uint32_t half = 0;
    bool read = false;
    if (type == WireFormatLite::WIRETYPE_VARINT) {
      read = in_.ReadVarint64(&value);
    } else if (type == WireFormatLite::WIRETYPE_FIXED64) {
      read = in_.ReadLittleEndian64(&value);
    } else {
      read = in_.ReadLittleEndian32(&half);
      value = half;
    }
    if (!read) fail("a number is cut off");
    return value;
  }

  Value scalar_value(Scalar scalar) {
    const WireFormatLite::WireType type = wire_type(scalar);
    if (type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) return text();
    expect(type);
    return as_value(scalar, number(type));
  }

  Value list_value(Scalar scalar) {
    const WireFormatLite::WireType type = wire_type(scalar);
    ChakraAttribute::Strings texts;
    ChakraAttribute::Doubles doubles;
    ChakraAttribute::Integers integers;
    nested([&](int field) {
      if (field != chakra::kListValues) {
        skip();
      } else if (type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
        texts.push_back(text());
      } else if (is_float(scalar)) {
        numbers(type, [&](std::uint64_t raw) { doubles.push_back(as_double(scalar, raw)); });
      } else {
        numbers(type, [&](std::uint64_t raw) { integers.push_back(as_integer(scalar, raw)); });
      }
    });
    if (type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) return texts;
    if (is_float(scalar)) return doubles;
    return integers;
  }

  const ChakraFile& file_;
  io::CodedInputStream& in_;
  const std::int64_t first_byte_;
  std::uint32_t tag_ = 0;
};

ChakraFile::ChakraFile(const std::string& path) : path_(path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) {
    throw Error(Location{path}, fmt::format("cannot be read: {}", error.message()));
  }
  input_ = std::make_unique<Input>(path);
  if (!input_->file) throw Error(Location{path}, "cannot be read");
  input_->size = static_cast<std::int64_t>(size);
  if (input_->file.peek() == 0x1f) {
    char magic[2] = {};
    input_->file.read(magic, sizeof magic);
    if (magic[1] == '\x8b') throw Error(Location{path}, "is compressed; unpack it with gunzip");
    input_->file.clear();
    input_->file.seekg(0);
  }
}

ChakraFile::~ChakraFile() = default;

std::int64_t ChakraFile::message() const {
  return input_->message;
}

void ChakraFile::fail(std::int64_t byte, const std::string& what) const {
  throw Error(Location{path_}, fmt::format("byte {}: {}", byte, what));
}

// False at the end of the file.
template <class Parse>
bool ChakraFile::read_message(const Parse& parse) {
  const std::int64_t first = input_->stream.ByteCount();
  input_->message = first;
  if (first == input_->size) return false;
  // A stream per message: its positions are int, and a file may be longer.
  io::CodedInputStream in(&input_->stream);
  std::uint64_t size = 0;
  if (!in.ReadVarint64(&size)) fail(first, "the length of a message is cut off or broken");
  const std::int64_t left = input_->size - first - in.CurrentPosition();
  if (size > static_cast<std::uint64_t>(left)) {
    fail(first, fmt::format("a message of {} bytes where the file has {} left: it is cut off, or "
                            "no Chakra execution trace",
                            size, left));
  }
  constexpr std::uint64_t kLargest = 1U << 30U;
  if (size > kLargest) fail(first, fmt::format("a message of {} bytes", size));
  in.PushLimit(static_cast<int>(size));
  Message message(*this, in, first);
  while (const int field = message.next_field()) parse(message, field);
  return true;
}

ChakraMetadata ChakraFile::metadata() {
  ChakraMetadata metadata;
  const bool read = read_message([&](Message& message, int field) {
    switch (field) {
      case chakra::metadata_field::kVersion:
        metadata.version = message.text();
        break;
      case chakra::metadata_field::kAttribute:
        metadata.attributes.push_back(message.attribute());
        break;
      default:
        message.skip();
    }
  });
  if (!read) fail(0, "the file is empty");
  return metadata;
}

bool ChakraFile::next(ChakraNode& node) {
  node = {};
  return read_message([&](Message& message, int field) {
    switch (field) {
      case chakra::node_field::kId:
        node.id = message.varint();
        break;
      case chakra::node_field::kName:
        node.name = message.text();
        break;
      case chakra::node_field::kType:
        node.type = static_cast<ChakraNodeType>(message.varint());
        break;
      case chakra::node_field::kCtrlDeps:
        message.dependencies(node.ctrl_deps);
        break;
      case chakra::node_field::kDataDeps:
        message.dependencies(node.data_deps);
        break;
      case chakra::node_field::kDurationMicros:
        node.duration_micros = message.varint();
        break;
      case chakra::node_field::kInputs:
        message.nested([&](int inner) {
          if (inner == chakra::io_info_field::kValues) {
            node.input_values = message.text();
          } else {
            message.skip();
          }
        });
        break;
      case chakra::node_field::kAttribute:
        node.attributes.push_back(message.attribute());
        break;
      default:
        message.skip();
    }
  });
}

}  // namespace windtunnel
