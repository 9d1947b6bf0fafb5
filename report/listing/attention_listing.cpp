#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/listing/listing.hpp"
#include "scenarios/language/library/facts/attention_kernels.hpp"
#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

constexpr AttentionHalves kHalves{400, 50};  // no effect at the 16,384 tokens of the listing

// This is the speed of the kernel with causal heads of 128 over 16,384 tokens.
std::string share_text(const AttentionSpeeds& speeds, bool backward) {
  const AttentionShare share = attention_share(speeds, backward, true, 128, 16384, kHalves);
  return fmt::format("{:.0f} % {}", 100 * share.of_peak, to_string(share.origin));
}

struct Row {
  std::string gpus;
  std::string forward;
  std::string backward;
};

std::vector<Row> rows_of(const AttentionKernelEntry& kernel) {
  std::vector<Row> rows;
  for (const GpuSpec& gpu : library_gpus()) {
    const auto speeds = attention_speeds(kernel.name, gpu.name);
    if (speeds == nullptr) continue;
    const Row row{gpu.name, share_text(*speeds, false), share_text(*speeds, true)};
    const auto same = std::ranges::find_if(rows, [&](const Row& other) {
      return other.forward == row.forward && other.backward == row.backward;
    });
    if (same == rows.end()) {
      rows.push_back(row);
    } else {
      same->gpus += " " + row.gpus;
    }
  }
  return rows;
}

Json curve_json(const AttentionCurve& curve) {
  return {{"pass", curve.backward ? "backward" : "forward"},
          {"mask", curve.causal ? "causal" : "none"},
          {"head", curve.width},
          {"tokens", curve.tokens},
          {"flop_s", curve.flop_s},
          {"origin", to_string(curve.origin)},
          {"source", curve.source}};
}

}  // namespace

TextTable attention_table() {
  TextTable table =
      titled_table("attention | forward, of the peak > | backward, of the peak > | on");
  for (const AttentionKernelEntry& kernel : attention_kernels()) {
    std::string name = kernel.name;
    for (const Row& row : rows_of(kernel)) {
      table.rows.push_back({name, row.forward, row.backward, row.gpus});
      name.clear();
    }
  }
  return table;
}

Json attention_document() {
  const auto kernel_json = [](const AttentionKernelEntry& kernel) {
    Json entry = {{"name", kernel.name}, {"help", kernel.help}, {"gpus", Json::array()}};
    for (const GpuSpec& gpu : library_gpus()) {
      const auto speeds = attention_speeds(kernel.name, gpu.name);
      if (speeds == nullptr) continue;
      entry["gpus"].push_back({{"name", gpu.name},
                               {"measured_peak_flop_s", speeds->measured_peak_flop_s},
                               {"in_step", speeds->in_step.value},
                               {"curves", list_json(speeds->curves, curve_json)}});
    }
    return entry;
  };
  return {{"attention", list_json(attention_kernels(), kernel_json)}};
}

}  // namespace windtunnel
