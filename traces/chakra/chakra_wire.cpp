#include "traces/chakra/chakra_wire.hpp"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "models/base/error.hpp"
#include "traces/chakra/chakra.hpp"
#include "traces/chakra/chakra_fields.hpp"
#include "traces/text/input_file.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

using Json = nlohmann::json;

struct Piece {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Finds the JSON objects at this nesting depth; in broken text, only the complete ones.
std::vector<Piece> objects_at(std::string_view text, int depth) {
  std::vector<Piece> pieces;
  int at_depth = 0;
  bool in_text = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
      continue;
    }
    if (c == '"') in_text = true;
    if (c == '{' || c == '[') {
      if (at_depth == depth && c == '{') begin = i + 1;
      ++at_depth;
    }
    if (c == '}' || c == ']') {
      --at_depth;
      if (at_depth == depth && begin > 0) {
        pieces.push_back({begin - 1, i + 1});
        begin = 0;
      }
      if (at_depth < 0) break;
    }
  }
  return pieces;
}

// Reads an integer, which may be in quotes, as protobuf's JSON writes 64-bit integers.
std::optional<std::int64_t> integer_in(const Json& value) {
  if (value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>())) {
    return std::nullopt;
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

std::uint64_t natural_of(const Json& value, std::string_view key) {
  const std::optional<std::int64_t> number = integer_in(value);
  if (!number || *number < 0) {
    throw Error(fmt::format("'{}' is not a whole number of at least 0", key));
  }
  return static_cast<std::uint64_t>(*number);
}

const std::string& text_in(const Json& value, std::string_view key) {
  if (!value.is_string()) throw Error(fmt::format("'{}' is not a text", key));
  return value.get_ref<const std::string&>();
}

template <class Add>
void each_natural(const Json& list, std::string_view key, const Add& add) {
  if (!list.is_array()) throw Error(fmt::format("'{}' is not a list", key));
  for (const Json& value : list) add(natural_of(value, key));
}

chakra::NodeType type_of(const Json& value) {
  static const std::vector<std::string> names = {
      "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
      "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE",
      "STORAGE_NODE", "BATCH_NODE",     "CHECKPOINT_NODE"};
  if (value.is_string()) {
    return static_cast<chakra::NodeType>(
        index_of_name("node type", value.get_ref<const std::string&>(), names));
  }
  const std::uint64_t number = natural_of(value, "type");
  if (number >= names.size()) throw Error(fmt::format("unknown node type {}", number));
  return static_cast<chakra::NodeType>(number);
}

// Adds one value of an attribute, such as {"name": "comm_size", "int64Val": "123"}.
void add_value(const std::string& name, const std::string& type, const Json& value,
               ChakraAttributes& attributes) {
  if (type == "boolVal") {
    if (!value.is_boolean()) throw Error(fmt::format("'{}' is not true or false", name));
    add_attribute(attributes, name, value.get<bool>());
  } else if (type == "doubleVal" || type == "floatVal") {
    if (!value.is_number()) throw Error(fmt::format("'{}' is not a number", name));
    add_attribute(attributes, name, value.get<double>());
  } else if (type == "stringVal" || type == "bytesVal") {
    add_attribute(attributes, name, text_in(value, name));
  } else if (type.ends_with("Val")) {  // int32Val, uint64Val, ...
    const std::optional<std::int64_t> number = integer_in(value);
    if (!number) throw Error(fmt::format("'{}' is not a whole number", name));
    add_attribute(attributes, name, *number);
  }
}

void add_attributes(const Json& list, ChakraAttributes& attributes) {
  if (!list.is_array()) throw Error("'attr' is not a list");
  for (const Json& entry : list) {
    if (!entry.is_object() || !entry.contains("name")) throw Error("an attribute has no 'name'");
    const std::string& name = text_in(entry.at("name"), "name");
    for (const auto& [type, value] : entry.items()) add_value(name, type, value, attributes);
  }
}

// Parses a node as the jsonizer writes it.
chakra::Node node_of_message(const Json& object) {
  chakra::Node node;
  for (const auto& [key, value] : object.items()) {
    if (key == "id") node.set_id(natural_of(value, key));
    if (key == "name") node.set_name(text_in(value, key));
    if (key == "type") node.set_type(type_of(value));
    if (key == "durationMicros") node.set_duration_micros(natural_of(value, key));
    if (key == "ctrlDeps") {
      each_natural(value, key, [&](std::uint64_t id) { node.add_ctrl_deps(id); });
    }
    if (key == "dataDeps") {
      each_natural(value, key, [&](std::uint64_t id) { node.add_data_deps(id); });
    }
    if (key == "attr") add_attributes(value, *node.mutable_attr());
    if (key == "inputs" && value.is_object() && value.contains("values")) {
      node.mutable_inputs()->set_values(text_in(value.at("values"), "values"));
    }
  }
  return node;
}

// Parses a node as the feeder reads it: attributes are keys.
chakra::Node node_of_graph(const Json& object) {
  constexpr std::string_view kNumbers[] = {"tensor_size", "comm_type", "comm_size",
                                           "comm_src",    "comm_dst",  "comm_tag"};
  chakra::Node node;
  for (const auto& [key, value] : object.items()) {
    if (key == "Id") node.set_id(natural_of(value, key));
    if (key == "Name") node.set_name(text_in(value, key));
    if (key == "NodeType") node.set_type(type_of(value));
    if (key == "runtime") node.set_duration_micros(natural_of(value, key));
    if (key == "data_deps") {
      each_natural(value, key, [&](std::uint64_t id) { node.add_data_deps(id); });
    }
    if (key == "ctrl_deps") {
      each_natural(value, key, [&](std::uint64_t id) { node.add_ctrl_deps(id); });
    }
    if (key == "is_cpu_op")
      add_value(key, "boolVal", Json(value == true || value == 1), *node.mutable_attr());
    if (key == "pg_name") add_value(key, "stringVal", value, *node.mutable_attr());
    if (std::ranges::find(kNumbers, key) != std::end(kNumbers)) {
      add_value(key, "int64Val", value, *node.mutable_attr());
    }
  }
  return node;
}

}  // namespace

namespace io = google::protobuf::io;

void encode_length(std::size_t length, std::string& bytes) {
  for (; length >= 0x80; length >>= 7) bytes += static_cast<char>(length | 0x80);
  bytes += static_cast<char>(length);
}

void encode(const google::protobuf::MessageLite& message, std::string& bytes) {
  encode_length(message.ByteSizeLong(), bytes);
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
    fail(message_, fmt::format("a message of {} bytes is longer than the {} that are left: the "
                               "file is cut off, or is no Chakra execution trace",
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
    fail(message_, fmt::format("a message of {} bytes is cut off or broken", size));
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

ChakraJson::ChakraJson(const std::string& path) : path_(path), text_(read_file(path)) {
  if (text_.starts_with("\x1f\x8b")) {
    throw Error(Location{path}, "is compressed; unpack it with gunzip");
  }
  const bool graph = text_.find("\"workload_graph\"") != std::string::npos;
  const std::vector<Piece> pieces = objects_at(text_, graph ? 2 : 0);
  std::size_t behind = 0;
  for (const Piece& piece : pieces) {
    const auto byte = static_cast<std::int64_t>(piece.begin);
    if (!graph && text_.find_first_not_of(" \t\r\n,", behind) != piece.begin) {
      fail(static_cast<std::int64_t>(behind), "the JSON is broken here");
    }
    behind = piece.end;
    const Json object = Json::parse(text_.begin() + byte,
                                    text_.begin() + static_cast<std::ptrdiff_t>(piece.end), nullptr,
                                    /*allow_exceptions=*/false);
    if (object.is_discarded()) fail(byte, "the JSON of this node is broken");
    try {
      const bool header = !graph && nodes_.empty() && piece.begin == pieces.front().begin &&
                          !object.contains("id") && !object.contains("type");
      if (header && object.contains("attr")) {
        add_attributes(object.at("attr"), *metadata_.mutable_attr());
      }
      if (header) continue;
      nodes_.push_back(graph ? node_of_graph(object) : node_of_message(object));
      offsets_.push_back(byte);
    } catch (const Error& error) {
      fail(byte, std::string(error.text()));
    }
  }
  const bool whole =
      graph ? Json::accept(text_) : text_.find_first_not_of(" \t\r\n", behind) == std::string::npos;
  if (!whole) fail(static_cast<std::int64_t>(behind), "the JSON is broken here: is it cut off?");
  if (pieces.empty()) throw Error(Location{path}, "contains no node of a Chakra trace");
}

bool ChakraJson::next(chakra::Node& node) {
  if (at_ == nodes_.size()) return false;
  node = nodes_[at_++];
  return true;
}

void ChakraJson::fail(std::int64_t byte, const std::string& what) const {
  throw Error(place_of(text_, path_, static_cast<std::size_t>(byte)), what);
}

bool is_chakra_json(const std::string& path) {
  if (!path.ends_with(".json")) return false;
  const std::string begin = beginning_of(path, 4096);
  const auto has = [&](std::string_view text) { return begin.find(text) != std::string::npos; };
  const bool message = has("\"type\": \"") && has("_NODE\"");
  return !has("\"traceEvents\"") && (has("\"workload_graph\"") || message);
}

}  // namespace windtunnel
