#include "tests/sim/study/random_scenario.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>

#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {

std::string random_scenario(std::uint64_t number) {
  RandomStream random(20261123, RandomPurpose::test, number);
  const auto one_of = [&](std::initializer_list<std::string_view> words) {
    return *(words.begin() + random.below(words.size()));
  };
  const auto between = [&](int least, int most) {
    return least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least + 1)));
  };
  std::string text = fmt::format("name: random-{}\n", number);
  text +=
      fmt::format("model: {{layers: {}, hidden: {}, heads: 16, vocabulary: {}, sequence: {}}}\n",
                  8 * between(1, 2), 1024 * between(1, 4), one_of({"32000", "128256"}),
                  one_of({"1024", "2048", "4096"}));
  text += fmt::format(
      "cluster:\n  nodes: {}\n  node: {{base: {}, nics: {}}}\n  power: {{usd_per_kwh: 0.1}}\n"
      "  fabric: {{topology: {}, nodes_per_pod: 2, pod_oversubscription: {}}}\n"
      "  storage: {{write: {} GB/s, read: {} GB/s}}\n",
      one_of({"1", "2", "4"}), one_of({"dgx-h100", "dgx-a100", "dgx-v100", "frontier-mi250x"}),
      one_of({"1", "4", "8"}), one_of({"fat-tree", "rail-fat-tree"}), between(1, 4), between(1, 50),
      between(1, 50));
  const int pp = 1 << between(0, 2);
  text += fmt::format("layout: {{tp: {}, pp: {}, sharding: {}, sequence_parallel: {}}}\n",
                      one_of({"1", "2", "8"}), pp, one_of({"none", "zero1", "zero2", "zero3"}),
                      one_of({"true", "false"}));
  text += fmt::format("batch: {{global: {}, micro: {}}}\n", 32 * between(1, 2), between(1, 2));
  text += fmt::format("precision: {}\n", one_of({"fp16", "bf16", "bf16", "fp8"}));
  text += fmt::format("recompute: {}\n", one_of({"none", "selective", "full"}));
  text += fmt::format("schedule: {}\n",
                      one_of({"gpipe", "1f1b", "1f1b", "interleaved-1f1b", "eager-1f1b", "zb-h1",
                              "zb-v", "seq1f1b", "2bp", "hanayo"}));
  text += fmt::format("communication: {{overlap: {}, compressor: {}, fidelity: {}}}\n",
                      one_of({"none", "bucketed", "bucketed", "wfbp"}),
                      one_of({"none", "none", "none", "fp16", "powersgd", "topk", "qsgd"}),
                      one_of({"closed", "flows"}));
  text += fmt::format("snapshots:\n  - {{tier: storage, every: {} min, mode: async}}\n",
                      between(5, 120));
  if (random.uniform() < 0.5) {
    text += fmt::format("  - {{tier: host-memory, every: {} iterations}}\n", between(5, 50));
  }
  text += fmt::format(
      "failures:\n"
      "  - {{class: node, rate: {} per 1000 node-days, repair: {} h}}\n"
      "  - {{class: process, rate: {} per 1000 node-days}}\n",
      between(1, 60), between(1, 48), between(1, 60));
  text += fmt::format("recovery: {{spares: {}, detect: {} s, restart: {} min}}\n", between(0, 2),
                      between(5, 600), between(1, 10));
  text += "campaign: {length: 20 d, replicas: 8}\n";
  text += "job: {tokens: 100 G, price: 2 USD per gpu-hour}\n";
  return text;
}

Case with_fast_host(const std::string& text, const std::string& file) {
  Case read = parse_case(text, file);
  read.job.calibration.host_launch_s.value = 50e-6;
  read.job.calibration.host_run_ahead.value = 0.5;
  read.prepared = nullptr;
  return read;
}

std::optional<Case> random_case(std::uint64_t number) {
  try {
    return with_fast_host(random_scenario(number), fmt::format("random-{}.yaml", number));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace windtunnel
