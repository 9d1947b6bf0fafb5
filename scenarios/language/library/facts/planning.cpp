#include "scenarios/language/library/facts/planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/calibration/prediction_error.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

struct UsualBatch {
  double up_to = 0;  // parameters
  Parameter tokens;
};

const DocumentNode& planning_document() {
  static const DocumentNode document = library_document("planning.yaml");
  return document;
}

const DocumentNode& planning(const std::string& key) {
  return require(planning_document(), key);
}

double count_of(const DocumentNode& map, const std::string& key) {
  return quantity(require(map, key), Dimension::number, key);
}

std::vector<UsualBatch> read_batches(const DocumentNode& document) {
  std::vector<UsualBatch> batches;
  for (const DocumentNode& item : document.items) {
    require_map(item, "batches");
    check_keys(item, {"up_to", "tokens", "origin", "source"});
    const double tokens = quantity(require(item, "tokens"), Dimension::count, "tokens");
    batches.push_back({.up_to = quantity(require(item, "up_to"), Dimension::count, "up_to"),
                       .tokens = {.value = tokens,
                                  .low = tokens,
                                  .high = tokens,
                                  .origin = value_of<Origin>(require_text(item, "origin")),
                                  .source = require_text(item, "source")}});
  }
  return batches;
}

const DocumentEntry& entry_named(const DocumentNode& map, std::string_view name) {
  const auto found = std::ranges::find(map.entries, name, &DocumentEntry::key);
  CHECK(found != map.entries.end(), "no entry '{}'", name);
  return *found;
}

// The entry of the longest name that `gpu` begins with, else "other".
const DocumentEntry& entry_of_gpu(const DocumentNode& map, std::string_view gpu) {
  const DocumentEntry* found = nullptr;
  for (const DocumentEntry& entry : map.entries) {
    const bool longer = found == nullptr || entry.key.size() > found->key.size();
    if (gpu.starts_with(entry.key) && longer) found = &entry;
  }
  return found != nullptr ? *found : entry_named(map, "other");
}

std::vector<std::pair<std::string, Parameter>> read_prices() {
  std::vector<std::pair<std::string, Parameter>> prices;
  for (const DocumentEntry& entry : planning("prices").entries) {
    prices.emplace_back(entry.key, read_number(entry.value, Dimension::number, entry.key));
  }
  return prices;
}

}  // namespace

const Parameter& usual_batch_tokens(double parameters) {
  static const std::vector<UsualBatch> batches = read_batches(planning("batches"));
  for (const UsualBatch& batch : batches) {
    if (parameters <= batch.up_to) return batch.tokens;
  }
  return batches.back().tokens;
}

const FewSteps& few_steps() {
  static const FewSteps few = [] {
    const DocumentNode& map = planning("few_steps");
    const auto number = [&](const char* key) {
      return read_number(require(map, key), Dimension::number, key);
    };
    return FewSteps{number("steps"), number("fewest"), number("told_below")};
  }();
  return few;
}

const Parameter& usual_sequence() {
  static const Parameter sequence =
      read_number(planning("sequence"), Dimension::number, "sequence");
  return sequence;
}

const Parameter& usual_headroom() {
  static const Parameter headroom =
      read_number(planning("headroom"), Dimension::number, "headroom");
  return headroom;
}

const Parameter& usual_price_usd_per_gpu_h(std::string_view gpu) {
  static const std::vector<std::pair<std::string, Parameter>> prices = read_prices();
  const std::string& key = entry_of_gpu(planning("prices"), gpu).key;
  for (const auto& [name, price] : prices) {
    if (name == key) return price;
  }
  throw InternalError("a price that is not listed");
}

bool is_rack(const NodeSpec& node) {
  return node.gpus >= count_of(planning_document(), "rack_gpus");
}

UsualPart usual_failures(const NodeSpec& node) {
  const DocumentNode& failures = planning("failures");
  const DocumentEntry& entry =
      is_rack(node) ? entry_named(failures, "rack") : entry_of_gpu(failures, node.gpu.name);
  const double share = node.gpus / count_of(planning_document(), "failure_gpus");
  DocumentNode classes = entry.value;
  for (DocumentNode& each : classes.items) {
    DocumentNode& rate = each.find("rate")->value;
    const double of_node = share * quantity(rate, Dimension::per_node_s, "rate");
    if (share != 1) rate.text = format_quantity(of_node, Dimension::per_node_s);
  }
  return {"", flow_text(classes), require_text(planning("failure_sources"), entry.key)};
}

const Parameter& failure_rate_error() {
  static const Parameter error = [] {
    std::vector<double> logs;
    for (const DocumentNode& item : planning("failure_clusters").items) {
      require_map(item, "failure_clusters");
      check_keys(item, {"rate", "source"});
      require_text(item, "source");
      logs.push_back(std::log(quantity(require(item, "rate"), Dimension::per_node_s, "rate")));
    }
    const auto clusters = static_cast<double>(logs.size());
    const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / clusters;
    double squares = 0;
    for (const double log : logs) squares += (log - mean) * (log - mean);
    // The difference of two clusters has sqrt(2) times the deviation of one from the mean.
    const double deviation = std::sqrt(2 * squares / (clusters - 1));
    return error_told_by(deviation, static_cast<int>(logs.size()) - 1,
                         fmt::format("{} clusters with a published rate", logs.size()));
  }();
  return error;
}

const UsualPart& usual_recovery() {
  static const UsualPart recovery = {"", flow_text(planning("recovery")),
                                     "assumed: times of a job that is watched"};
  return recovery;
}

UsualPart usual_storage(int gpus) {
  const DocumentNode& storage = planning("storage");
  check_keys(storage, {"gpus", "write", "read", "source"});
  const double shares = gpus / count_of(storage, "gpus");
  const auto of_all = [&](const char* key) {
    const double rate_Bps = quantity(require(storage, key), Dimension::bytes_per_s, key);
    return format_quantity(rate_Bps * shares, Dimension::bytes_per_s);
  };
  return {"", fmt::format("{{write: {}, read: {}}}", of_all("write"), of_all("read")),
          require_text(storage, "source")};
}

const std::vector<UsualPart>& usual_snapshots() {
  static const std::vector<UsualPart> stacks = [] {
    std::vector<UsualPart> all;
    for (const DocumentEntry& entry : planning("snapshots").entries) {
      all.push_back({entry.key, flow_text(entry.value),
                     "assumed: one of the stacks of tiers that a plan tries"});
    }
    return all;
  }();
  return stacks;
}

}  // namespace windtunnel
