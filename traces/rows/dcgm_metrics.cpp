#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "traces/rows/fault_records.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kLast = "DCGM_FI_DEV_XID_ERRORS";
constexpr std::string_view kCount = "DCGM_EXP_XID_ERRORS_COUNT";
// The default window of kCount is from github.com/NVIDIA/dcgm-exporter, pull 239.
constexpr double kUsualWindow_s = 300;
constexpr double kLatest_s = 1e11;  // larger times are in milliseconds
constexpr int kLargestXid = 999'999;

struct Series {
  Location where;
  std::string name;
  std::map<std::string, std::string, std::less<>> labels;
  std::vector<std::pair<double, double>> samples{};  // time in seconds, value

  std::string label(std::string_view key) const {
    const auto found = labels.find(key);
    return found == labels.end() ? "" : found->second;
  }
};

// Takes a number from the beginning of `text`.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

class MetricsReader {
 public:
  explicit MetricsReader(std::string file) : file_(std::move(file)) {}

  void line(std::string_view text, int number) {
    line_ = number;
    whole_ = text;
    std::string_view rest = trimmed(text);
    if (rest.empty() || rest.starts_with('#')) return;
    if (rest.find('{') == std::string_view::npos) return bare_line(rest);
    Series read = take_series(rest);
    rest = trimmed(rest);
    if (rest == "=>") {
      current_ = add(std::move(read));
      return;
    }
    const std::optional<double> value = take_number(rest);
    if (!value) fail(rest, "expected a value");
    rest = trimmed(rest);
    if (rest.empty()) {
      if (read.name != kLast && read.name != kCount) {
        add(std::move(read));  // only names a node
        return;
      }
      fail(rest,
           "the sample has no time, because an exporter prints only current values; print samples "
           "over time with `promtool query range`");
    }
    const double at_s = take_time(rest);
    series_[add(std::move(read))].samples.emplace_back(at_s, *value);
  }

  ClusterRecords finished() {
    records_.named_in = "metrics";
    for (const Series& each : series_) {
      for (const auto& [at_s, value] : each.samples) records_.watch(at_s);
    }
    std::ranges::stable_sort(series_, {}, [](const Series& each) {
      return each.samples.empty() ? 0.0 : each.samples.front().first;
    });
    // [node and GPU][time] The value; later series win.
    std::map<std::string, std::map<double, double>> last_xids;
    for (const Series& each : series_) {
      const std::string node = node_of(each);
      if (each.name == kLast) {
        auto& samples = last_xids[node + "\n" + gpu_of(each)];
        for (const auto& [at_s, value] : each.samples) samples[at_s] = xid_of(each, value);
      } else if (each.name == kCount) {
        add_rises(each, node);
      }
    }
    for (const auto& [gpu, samples] : last_xids) add_changes(gpu, samples);
    if (standing_ > 0) {
      records_.notes.emplace_back(
          "standing", fmt::format("{} GPUs show an Xid from their first sample on, which is older "
                                  "than the log and is not counted",
                                  standing_));
    }
    note_xids(counts_, records_);
    return std::move(records_);
  }

 private:
  [[noreturn]] void fail(std::string_view at, const std::string& what) const {
    const auto column = at.empty() ? whole_.size() : std::size_t(at.data() - whole_.data());
    throw Error({file_, line_, static_cast<int>(column) + 1},
                at.empty() ? what : fmt::format("{}, not '{}'", what, excerpt(at.substr(0, 30))));
  }

  // Reads "79 @[1722816000.123]", a sample of the series above it.
  void bare_line(std::string_view text) {
    std::string_view rest = text;
    const std::optional<double> value = take_number(rest);
    rest = trimmed(rest);
    if (!value || !take_text(rest, "@[")) {
      fail(text, "expected a line 'NAME{LABELS} =>', 'NAME{LABELS} VALUE TIME' or 'VALUE @[TIME]'");
    }
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos) fail(text, "expected ']' after the time");
    if (!current_) fail(text, "expected a line 'NAME{LABELS} =>' before samples");
    std::string_view time = rest.substr(0, close);
    series_[*current_].samples.emplace_back(take_time(time), *value);
  }

  double take_time(std::string_view text) const {
    std::string_view rest = trimmed(text);
    const std::optional<double> at = take_number(rest);
    if (!at || !(*at >= 0 && *at < 1e16) || !trimmed(rest).empty()) {
      fail(text, "expected a time in seconds or milliseconds since 1970");
    }
    return *at > kLatest_s ? *at / 1000 : *at;
  }

  // Takes NAME{A="b",C="d"} or {__name__="NAME",...} from the beginning of `rest`.
  Series take_series(std::string_view& rest) const {
    Series read{.where = {file_, line_, static_cast<int>(rest.data() - whole_.data()) + 1},
                .name = "",
                .labels = {}};
    const std::size_t open = rest.find('{');
    read.name = std::string(trimmed(rest.substr(0, open)));
    rest.remove_prefix(open + 1);
    while (!take_text(rest, "}")) {
      const std::size_t equals = rest.find("=\"");
      if (equals == std::string_view::npos) fail(rest, "expected a label NAME=\"VALUE\" or '}'");
      const std::string key(trimmed(rest.substr(0, equals)));
      rest.remove_prefix(equals + 2);
      std::string value;
      while (!rest.empty() && rest[0] != '"') {
        if (rest[0] == '\\' && rest.size() > 1) rest.remove_prefix(1);
        value += rest[0];
        rest.remove_prefix(1);
      }
      if (!take_text(rest, "\"")) fail(rest, fmt::format("the label '{}' is not closed", key));
      read.labels[key] = std::move(value);
      take_text(rest, ",");
      rest = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
    }
    if (read.name.empty()) read.name = read.label("__name__");
    return read;
  }

  // Returns the index of the series, added if it is new. Series of other metrics only tell nodes
  // and times.
  std::size_t add(Series read) {
    std::string key = read.name;
    for (const auto& [label, value] : read.labels) key += "\n" + label + "\n" + value;
    const auto [known, is_new] = index_.try_emplace(std::move(key), series_.size());
    if (is_new) series_.push_back(std::move(read));
    return known->second;
  }

  std::string node_of(const Series& each) {
    std::string node = each.label("Hostname");
    if (node.empty()) node = each.label("node");
    if (node.empty()) {
      node = each.label("instance");
      node.erase(std::min(node.rfind(':'), node.size()));
    }
    if (!node.empty()) records_.nodes.insert(node);
    if (node.empty() && (each.name == kLast || each.name == kCount)) {
      throw Error(each.where, "expected a label Hostname, node or instance, which names the node");
    }
    return node;
  }

  static std::string gpu_of(const Series& each) {
    const std::string uuid = each.label("UUID");
    return uuid.empty() ? each.label("gpu") : uuid;
  }

  static int xid_of(const Series& each, double value) {
    if (std::isnan(value)) return 0;  // a stale marker at the end of a series
    if (value >= 0 && value <= kLargestXid && value == std::floor(value)) return int(value);
    throw Error(each.where, fmt::format("a sample is {}, which is not an Xid", value));
  }

  void add_fault(const std::string& node, double at_s, int xid) {
    const auto fault = fault_of_xid(xid, true, counts_);
    if (!fault) return;
    records_.faults.push_back(
        {.at_s = at_s, .node = node, .kind = fault->first, .cause = fault->second});
  }

  void add_changes(const std::string& gpu, const std::map<double, double>& samples) {
    std::optional<int> before;
    for (const auto& [at_s, value] : samples) {
      const int xid = static_cast<int>(value);
      if (!before && xid > 0) ++standing_;
      if (before && xid > 0 && xid != *before) add_fault(gpu.substr(0, gpu.find('\n')), at_s, xid);
      before = xid;
    }
  }

  // A sample counts the Xids in the window before it; after a gap longer than that, counting starts
  // from 0 again.
  void add_rises(const Series& each, const std::string& node) {
    std::string_view text =
        each.labels.contains("xid") ? each.labels.find("xid")->second : std::string_view();
    int xid = 0;
    if (!take_whole(text, 1, 6, xid) || !text.empty()) {
      throw Error(each.where, "expected a label xid, the number of an Xid");
    }
    const std::string stated = each.label("window_size_in_ms");
    std::string_view window_ms = stated;
    const double window_s = take_number(window_ms).value_or(kUsualWindow_s * 1000) / 1000;
    std::vector<std::pair<double, double>> samples = each.samples;
    std::ranges::sort(samples);
    double before = 0, before_s = 0;
    for (const auto& [at_s, value] : samples) {
      if (at_s > before_s + window_s) before = 0;
      if (value > before) add_fault(node, at_s, xid);
      before = std::isnan(value) ? 0 : value;
      before_s = at_s;
    }
  }

  std::string file_;
  std::string_view whole_;
  int line_ = 0;
  std::vector<Series> series_;
  std::map<std::string, std::size_t> index_;
  std::optional<std::size_t> current_;
  ClusterRecords records_;
  XidCounts counts_;
  int standing_ = 0;
};

}  // namespace

bool is_dcgm_metrics(std::string_view text) {
  const std::string_view begin = text.substr(std::min(text.find_first_not_of("\r\n"), text.size()));
  const bool labelled = begin.substr(0, begin.find('\n')).find('{') != std::string_view::npos;
  return labelled && (text.find(kLast) != std::string_view::npos ||
                      text.find(kCount) != std::string_view::npos);
}

std::vector<FaultLog> read_dcgm_metrics(std::string_view text, const std::string& file,
                                        const FaultLog& head) {
  MetricsReader reader(file);
  int number = 0;
  for (const std::string_view line : lines_of(text)) reader.line(line, ++number);
  return fault_logs_of(reader.finished(), head, file);
}

}  // namespace windtunnel
