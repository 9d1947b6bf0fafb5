#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "models/base/printable.hpp"
#include "traces/nccl/nccl_tests_row.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

using Json = nlohmann::json;

// Offsets of the entries of the top-level key "results". The text must be valid JSON.
std::vector<size_t> result_offsets(std::string_view text) {
  std::vector<size_t> found;
  int depth = 0;
  std::string_view key;
  bool in_results = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      const size_t from = ++at;
      while (text[at] != '"') at += text[at] == '\\' ? 2 : 1;
      if (depth == 1) key = text.substr(from, at - from);
    } else if (c == '{' || c == '[') {
      if (c == '[' && depth == 1) in_results = key == "results";
      if (in_results && depth == 2) found.push_back(at);
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
      if (depth == 1) in_results = false;
    }
  }
  return found;
}

class JsonReader {
 public:
  JsonReader(std::string_view text, const std::string& file, const LogContext& log)
      : text_(text), file_(file), log_(log), top_{file, 1, 1} {}

  std::vector<CollectiveRow> read() {
    parse();
    read_devices();
    std::string collective = log_.collective;
    for (const Json& arg : list(document_, "args")) {
      if (collective.empty() && arg.is_string()) collective = collective_in(arg.get<std::string>());
    }
    if (collective.empty()) collective = collective_in_name(file_);
    if (collective.empty()) {
      throw Error(top_,
                  "neither 'args' nor the file's name says which collective ran (all_reduce_perf, "
                  "...); state it with --collective");
    }
    const NamedCollective named = collective_named(collective, top_);
    start_.kind = named.kind;
    start_.unusable = named.unusable;
    if (const auto version = document_.find("nccl_version");
        version != document_.end() && version->is_number_integer()) {
      start_.nccl_version = version_text(version->get<long>());
    }
    const std::vector<size_t> offsets = result_offsets(text_);
    const Json& results = list(document_, "results");
    if (results.empty()) throw Error(top_, "'results' is empty, so the run did not finish");
    for (size_t i = 0; i < results.size(); ++i) {
      at_ = i < offsets.size() ? place_of(text_, file_, offsets[i]) : top_;
      read_result(results[i]);
    }
    return std::move(rows_);
  }

 private:
  void parse() {
    try {
      document_ = Json::parse(text_);
    } catch (const Json::parse_error& error) {
      const size_t offset = error.byte > 0 ? error.byte - 1 : 0;
      throw Error(place_of(text_, file_, offset),
                  "the JSON is broken here: cut short, or not written by nccl-tests");
    } catch (const Json::out_of_range&) {
      throw Error(top_, "a number in the JSON is too large");
    }
    if (!document_.is_object()) throw Error(top_, "expected an object");
  }

  const Json& list(const Json& in, const char* key) const {
    const auto found = in.find(key);
    if (found == in.end()) throw Error(top_, fmt::format("the key '{}' is missing", key));
    if (!found->is_array()) throw Error(top_, fmt::format("'{}' is no list", key));
    return *found;
  }

  // Reads the whole number at a key; returns `usual` if the key is missing.
  int count(const Json& in, const char* key, int usual) const {
    constexpr int kMost = 1000;
    const auto found = in.find(key);
    if (found == in.end()) return usual;
    if (found->is_number_integer() && *found >= 0 && *found <= kMost) return found->get<int>();
    throw Error(top_, fmt::format("'{}' is {}, not a whole number from 0 to {}", key,
                                  excerpt(found->dump()), kMost));
  }

  static std::string text(const Json& in, const char* key, const Location& where) {
    const auto found = in.find(key);
    if (found == in.end()) return {};
    if (found->is_string()) return found->get<std::string>();
    throw Error(where, fmt::format("'{}' is {}, not a text", key, excerpt(found->dump())));
  }

  // One entry per process, about its first GPU; each process runs nthreads * ngpus ranks.
  void read_devices() {
    const auto config = document_.find("config");
    if (config == document_.end() || !config->is_object()) {
      throw Error(top_, "the key 'config' is missing, which says which GPUs ran");
    }
    const Json& devices = list(*config, "devices");
    std::set<std::string> hosts;
    int of_group_0 = 0;
    for (const Json& device : devices) {
      if (!device.is_object()) throw Error(top_, "a device is not an object");
      if (count(device, "group", 0) != 0) continue;
      ++of_group_0;
      hosts.insert(text(device, "hostname", top_));
      start_.gpu = text(device, "device_info", top_);
    }
    start_.gpus = of_group_0 * count(*config, "nthreads", 1) * count(*config, "ngpus", 1);
    start_.nodes = static_cast<int>(hosts.size());
    start_.source = file_;
    start_.machine = log_.machine.empty() ? start_.gpu : log_.machine;
    start_.network = log_.network;
    if (start_.gpus < 2) {
      throw Error(top_, fmt::format("'config' has {} ranks; at least two are needed", start_.gpus));
    }
  }

  double number(const Json& in, const char* key, const char* of) const {
    const auto found = in.find(key);
    if (found == in.end()) throw Error(at_, fmt::format("{}: the key '{}' is missing", of, key));
    if (!found->is_number()) {
      throw Error(at_,
                  fmt::format("{}: '{}' is {}, not a number", of, key, excerpt(found->dump())));
    }
    return found->get<double>();
  }

  void read_result(const Json& result) {
    if (!result.is_object()) throw Error(at_, "a result is not an object");
    bool any = false;
    for (const char* key : {"out_of_place", "in_place"}) {
      const auto half = result.find(key);
      if (half == result.end() || half->is_null()) continue;
      if (!half->is_object()) throw Error(at_, fmt::format("'{}' is no object", key));
      read_half(result, *half, key);
      any = true;
    }
    if (!any) throw Error(at_, "a result has neither 'out_of_place' nor 'in_place'");
  }

  void read_half(const Json& result, const Json& half, const char* name) {
    CollectiveRow row = start_;
    row.id = fmt::format("{}:{}", file_, at_.line);
    row.in_place = std::string_view(name) == "in_place";
    row.bytes = number(result, "size", "a result");
    row.dtype = text(result, "type", at_);
    if (half.contains("nwrong") && !half.at("nwrong").is_null()) {
      const double wrong = number(half, "nwrong", name);
      if (wrong > 0) row.unusable = fmt::format("{:.0f} elements of the result were wrong", wrong);
    }
    // "%lf" prints six decimals.
    constexpr double kHalfStep = 5e-7;
    const char* time = half.contains("cpu_time") ? "cpu_time" : "time";
    RowNumbers numbers{{number(half, time, name), kHalfStep},
                       PrintedNumber{number(half, "alg_bw", name), kHalfStep},
                       PrintedNumber{number(half, "bus_bw", name), kHalfStep}};
    numbers.size_at = numbers.time_at = numbers.algbw_at = numbers.busbw_at = numbers.dtype_at =
        at_;
    finish_row(numbers, row);
    rows_.push_back(std::move(row));
  }

  std::string_view text_;
  const std::string& file_;
  const LogContext& log_;
  Location top_;
  Location at_;
  Json document_;
  CollectiveRow start_;  // what all rows share
  std::vector<CollectiveRow> rows_;
};

}  // namespace

std::vector<CollectiveRow> parse_nccl_tests_json(std::string_view text, const std::string& file,
                                                 const LogContext& log) {
  return JsonReader(text, file, log).read();
}

}  // namespace windtunnel
