#include "tests/sim/study/random_layout.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>

#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {

std::string random_layout(std::uint64_t number, InnerSpread spread) {
  RandomStream random(20261124, RandomPurpose::test, number);
  const auto one_of = [&](std::initializer_list<std::string_view> words) {
    return *(words.begin() + random.below(words.size()));
  };
  const auto power = [&](int least, int most) {
    return 1 << (least +
                 static_cast<int>(random.below(static_cast<std::uint64_t>(most - least + 1))));
  };
  const auto chance = [&](double share) { return random.uniform() < share; };
  const bool in_node = spread == InnerSpread::in_node;
  const bool experts = chance(0.5);
  const int tp = power(0, in_node ? 2 : 3);
  const int cp = chance(0.4) ? power(0, in_node && tp > 2 ? 1 : 2) : 1;
  const int ep = experts ? power(0, 3) : 1;
  const int pp = power(0, 2);
  std::string text = fmt::format("name: random-layout-{}\n", number);
  text += fmt::format("model: {{layers: {}, hidden: {}, heads: 16, vocabulary: 32000, sequence: {}",
                      8 * (1 + static_cast<int>(random.below(2))), power(10, 12), power(10, 12));
  if (experts) {
    text +=
        fmt::format(", moe: {{experts: 8, per_token: 2, ffn: {}, shared_ffn: {}, imbalance: {}}}",
                    power(10, 12), one_of({"0", "1024"}), one_of({"1", "1.3"}));
  }
  text += "}\n";
  text += fmt::format("cluster:\n  nodes: {}\n  node: {{base: {}, nics: {}}}\n", power(0, 2),
                      in_node ? one_of({"dgx-h100", "dgx-a100"})
                              : one_of({"dgx-h100", "dgx-a100", "dgx-v100", "frontier-mi250x"}),
                      one_of({"1", "4", "8"}));
  text += fmt::format("  fabric: {{topology: {}, nodes_per_pod: 2, pod_oversubscription: {}}}\n",
                      one_of({"fat-tree", "rail-fat-tree"}), power(0, 2));
  if (chance(0.2)) {
    text += fmt::format("  slow_nodes: [{{node: 0, slowdown: {}}}]\n", one_of({"1.3", "2"}));
  }
  text += fmt::format(
      "layout: {{tp: {}, cp: {}, ep: {}, pp: {}, sharding: {}, sequence_parallel: {}, context: "
      "{}}}\n",
      tp, cp, ep, pp, one_of({"none", "zero1", "zero2", "zero3"}), tp > 1 ? "true" : "false",
      one_of({"ring", "ring", "ulysses"}));
  text += fmt::format("batch: {{global: {}, micro: 2}}\n", 64);
  text += fmt::format("precision: {}\n", one_of({"bf16", "bf16", "fp8"}));
  text += fmt::format("recompute: {}\n", one_of({"none", "selective", "full"}));
  text += fmt::format(
      "software: {{tp_overlap: {}}}\n",
      tp > 1 ? one_of({"none", "pipelined", "fused", "domino", "sub-pipelined", "ladder"})
             : "none");
  text += fmt::format("schedule: {}\n", one_of({"gpipe", "1f1b", "1f1b", "interleaved-1f1b",
                                                "zb-h1", "zb-v", "dualpipe", "2bp", "hanayo"}));
  text += fmt::format("communication: {{overlap: {}, fidelity: {}}}\n",
                      one_of({"none", "bucketed", "bucketed"}), in_node ? "auto" : "flows");
  return text;
}

std::optional<Case> random_layout_case(std::uint64_t number, InnerSpread spread) {
  try {
    return parse_case(random_layout(number, spread), fmt::format("random-layout-{}.yaml", number));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace windtunnel
