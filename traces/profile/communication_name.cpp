#include "traces/profile/communication_name.hpp"

#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

struct CallWord {
  std::string_view word;  // letters and digits of a name, in lower case
  NamedCall call;
};

// The first matching beginning counts: all_to_all comes before all, reduce_scatter before reduce.
constexpr CallWord kWords[] = {
    {"allreduce", {CallKind::collective, CollectiveKind::all_reduce}},
    {"allgather", {CallKind::collective, CollectiveKind::all_gather}},
    {"alltoall", {CallKind::collective, CollectiveKind::all_to_all}},
    {"reducescatter", {CallKind::collective, CollectiveKind::reduce_scatter}},
    {"reduce", {CallKind::collective, CollectiveKind::reduce}},
    {"broadcast", {CallKind::collective, CollectiveKind::broadcast}},
    {"barrier", {CallKind::collective, CollectiveKind::all_reduce, true}},
    {"gather", {CallKind::collective, CollectiveKind::gather}},
    {"send", {CallKind::send}},
    {"recv", {CallKind::receive}},
};

std::optional<NamedCall> call_of_plain(std::string_view plain) {
  for (const auto& [word, call] : kWords) {
    if (plain.starts_with(word)) return call;
  }
  return std::nullopt;
}

struct ElementType {
  std::string_view name;
  int bytes;
};

constexpr ElementType kElements[] = {
    {"float8", 1},  {"byte", 1},     {"char", 1},         {"bool", 1},           {"uint8", 1},
    {"int8", 1},    {"bfloat16", 2}, {"half", 2},         {"float16", 2},        {"short", 2},
    {"float32", 4}, {"int32", 4},    {"complexfloat", 8}, {"complexdouble", 16}, {"float64", 8},
    {"int64", 8},   {"double", 8},   {"long", 8},         {"float", 4},          {"int", 4},
};

}  // namespace

std::optional<NamedCall> call_of_c10d(std::string_view name) {
  return call_of_plain(plain_name(name));
}

std::optional<NamedCall> call_of_kernel(std::string_view name) {
  const std::string plain = plain_name(name);
  const std::size_t nccl = plain.find("ccl");
  if (nccl == std::string::npos) return std::nullopt;
  for (const std::string_view prefix : {"devkernel", "kernel"}) {
    const std::size_t at = plain.find(prefix, nccl);
    if (at == std::string::npos) continue;
    const std::optional<NamedCall> call =
        call_of_plain(std::string_view(plain).substr(at + prefix.size()));
    if (!call || call->kind != CallKind::collective) return std::nullopt;
    return call;
  }
  return std::nullopt;
}

int element_bytes_of(std::string_view dtype) {
  const std::string plain = plain_name(dtype);
  for (const auto& [name, bytes] : kElements) {
    if (plain.starts_with(name)) return bytes;
  }
  return 0;
}

}  // namespace windtunnel
