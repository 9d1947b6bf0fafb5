#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/base/units.hpp"
#include "models/calibration/prediction_error.hpp"
#include "models/cost/memory/tiers.hpp"
#include "report/figures/figures.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {
namespace {

std::string totals_text(const std::vector<GpuMemory>& memory) {
  std::string text;
  for (const GpuMemory& rank : memory) {
    text += fmt::format("{}{:.1f}", text.empty() ? "" : " ", rank.total() / kGibibyte);
  }
  return text + " GiB";
}

// Returns "weights 2.9 GiB and optimizer 17 GiB in host memory".
std::string tiers_text(const GpuMemory& rank) {
  std::string text;
  const std::pair<const char*, const TierMemory*> tiers[] = {{"in host memory", &rank.host},
                                                             {"on drives", &rank.disk}};
  for (const auto& [where, tier] : tiers) {
    std::string parts;
    const std::pair<const char*, double> of_it[] = {{"weights", tier->weights},
                                                    {"gradients", tier->gradients},
                                                    {"optimizer", tier->optimizer},
                                                    {"activations", tier->activations}};
    for (const auto& [name, bytes] : of_it) {
      if (bytes <= 0) continue;
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", name, format_memory(bytes));
    }
    if (!parts.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", parts, where);
  }
  return text;
}

}  // namespace

std::vector<std::pair<const char*, double>> memory_parts(const GpuMemory& rank) {
  return {{"weights", rank.weights},     {"gradients", rank.gradients},
          {"optimizer", rank.optimizer}, {"activations", rank.activations},
          {"buffers", rank.buffers},     {"framework", rank.framework + rank.fragmentation}};
}

std::string may_not_fit_text(const Calibration& calibration, double bytes, double usable_bytes) {
  constexpr double kToldChance = 0.01;
  const Parameter& error = calibration.memory_error;
  const double chance = chance_above(error, usable_bytes / bytes);
  if (chance < kToldChance) return "";
  return fmt::format("with a chance of {:.0f} % (predicted within {}, one sigma, {})", 100 * chance,
                     format_percent(std::expm1(error.value)), to_string(error.origin));
}

std::string may_not_fit_text(const Record& record) {
  const std::vector<GpuMemory>& memory = record.iteration.memory;
  const GpuMemory* peak = tightest(memory, record.job);
  if (peak == nullptr) return "";
  return may_not_fit_text(record.job.calibration, peak->total(),
                          tightest_bytes(memory, record.job));
}

SummarySection memory_section(const Record& record) {
  const std::vector<GpuMemory>& memory = record.iteration.memory;
  const double usable = tightest_bytes(memory, record.job);
  SummarySection section{fmt::format("Memory per GPU (usable {})", format_memory(usable)), {}};
  const GpuMemory* peak = tightest(memory, record.job);
  if (peak == nullptr) return section;
  section.add("peak", "{} ({}) on pipeline rank {}", format_memory(peak->total()),
              format_percent(peak->total() / usable), peak - memory.data());
  const std::string chance = may_not_fit_text(record);
  if (record.memory_excess.empty() && !chance.empty()) {
    section.rows.push_back({"may not fit", chance});
  }
  std::string split;
  for (const auto& [name, bytes] : memory_parts(*peak)) {
    if (bytes > 0) {
      split += fmt::format("{}{} {}", split.empty() ? "" : ", ", name, format_memory(bytes));
    }
  }
  section.rows.push_back({"parts", split});
  const auto setter = std::ranges::find(
      record.activation_peaks, fmt::format("pp {}", peak - memory.data()), &ActivationPeak::rank);
  if (setter != record.activation_peaks.end()) {
    section.add("peak during", "{} at {}, with {} of activations", setter->task,
                format_seconds(setter->at_s), format_memory(setter->bytes));
  }
  if (memory.size() > 1) section.rows.push_back({"by rank", totals_text(memory)});
  if (offload_of(record.job).any()) {
    section.rows.push_back({"offloaded", tiers_text(*peak)});
    for (const MemoryTier tier : kTiersBesideGpu) {
      const double bytes = tier_of_node(record.job, memory, tier).total();
      if (bytes <= 0) continue;
      section.add(tier == MemoryTier::disk ? "drives" : "host", "{} of the {} of a node",
                  format_memory(bytes),
                  format_memory(tier_capacity(record.job.cluster.node, tier)));
    }
  }
  if (!record.memory_excess.empty()) section.rows.push_back({"excess", record.memory_excess});
  return section;
}

}  // namespace windtunnel
