#include "validate/accuracy/pairs/pair_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

using Names = std::pair<std::string, std::string>;

std::optional<Names> last_two(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (size_t at = text.find_first_not_of(separators); at != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(separators, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(separators, end);
  }
  if (parts.size() < 2) return std::nullopt;
  const auto [first, second] = std::minmax(parts[parts.size() - 2], parts.back());
  return Names(first, second);
}

std::optional<Names> nodes_of(const CollectiveRow& row) {
  if (!row.nodes_used.empty()) return last_two(row.nodes_used, ", ;");
  std::string_view log = row.source;
  const size_t end = log.rfind(".log");
  if (end == std::string_view::npos) return std::nullopt;
  log = log.substr(0, end);
  return last_two(log.substr(log.find_last_of('/') + 1), "_");
}

struct SeriesKey {
  CollectiveKind kind;
  int gpus_per_node;
  double bytes;
  bool operator<(const SeriesKey& other) const {
    return std::tie(kind, gpus_per_node, bytes) <
           std::tie(other.kind, other.gpus_per_node, other.bytes);
  }
};

using Repeats = std::vector<double>;  // log bandwidths
using Timings = std::map<SeriesKey, std::map<Names, Repeats>>;

PairMachine machine_of(const std::string& name, const Timings& timings) {
  std::set<std::string> nodes;
  for (const auto& [key, pairs] : timings) {
    for (const auto& [names, repeats] : pairs) nodes.insert({names.first, names.second});
  }
  PairMachine machine{name, {nodes.begin(), nodes.end()}, {}};
  const auto place = [&](const std::string& node) {
    return static_cast<int>(std::distance(nodes.begin(), nodes.find(node)));
  };
  for (const auto& [key, pairs] : timings) {
    PairSeries series{key.kind, key.gpus_per_node, key.bytes, {}};
    for (const auto& [names, repeats] : pairs) {
      double sum = 0;
      for (const double value : repeats) sum += value;
      series.points.push_back({place(names.first), place(names.second),
                               std::exp(sum / static_cast<double>(repeats.size()))});
    }
    machine.series.push_back(std::move(series));
  }
  return machine;
}

}  // namespace

int PairMachine::node_gpus() const {
  int most = 1;
  for (const PairSeries& one : series) most = std::max(most, one.gpus_per_node);
  return most;
}

std::vector<PairMachine> pair_machines(const CollectiveRows& rows) {
  std::map<std::string, Timings> machines;
  for (const CollectiveRow& row : rows.rows) {
    if (!row.unusable.empty()) continue;
    if (row.nodes != 2 || row.gpus % 2 != 0 || row.busbw_Bps <= 0) continue;
    if (row.kind != CollectiveKind::all_to_all && row.kind != CollectiveKind::send_recv) continue;
    const std::optional<Names> names = nodes_of(row);
    if (!names) continue;
    const SeriesKey key{row.kind, row.gpus / 2, row.bytes};
    machines[row.machine][key][*names].push_back(std::log(row.busbw_Bps));
  }
  std::vector<PairMachine> result;
  for (const auto& [name, timings] : machines) result.push_back(machine_of(name, timings));
  return result;
}

}  // namespace windtunnel
