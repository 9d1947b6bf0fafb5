#include "tests/sim/study/random_layout.hpp"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <string_view>
#include <tuple>

#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

// Every compiler evaluates a braced list from left to right, but arguments in any order, so draws
// go through a tuple in braces.
template <class... Drawn>
std::string filled(std::string_view form, const std::tuple<Drawn...>& drawn) {
  return std::apply([&](const auto&... each) { return fmt::format(fmt::runtime(form), each...); },
                    drawn);
}

class Draw {
 public:
  Draw(std::uint64_t number, InnerSpread spread)
      : random_(20261124, RandomPurpose::test, number),
        number_(number),
        in_node_(spread == InnerSpread::in_node) {}

  std::string scenario() {
    experts_ = chance(0.5);
    pools_ = !in_node_ && chance(0.4);  // only few such jobs are accepted
    tp_ = power(0, in_node_ ? 2 : 3);
    std::string text = fmt::format("name: random-layout-{}\n", number_);
    for (const std::string& part : {model(), cluster(), layout()}) text += part;
    text += fmt::format("batch: {{global: 64, micro: 2, shares: {}}}\n",
                        pools_ ? one_of({"even", "auto", "[3, 1]"}) : "even");
    text += fmt::format("precision: {}\n", one_of({"bf16", "bf16", "fp8"}));
    text += fmt::format("recompute: {}\n", one_of({"none", "selective", "full"}));
    const std::string_view overlap =
        one_of({"none", "pipelined", "fused", "domino", "sub-pipelined", "ladder"});
    text +=
        filled("software: {{tp_overlap: {}, ep_merged: {}, ep_overlap: {}, scatter_sends: {}}}\n",
               std::tuple{tp_ > 1 ? overlap : "none", experts_ && chance(0.3),
                          experts_ && !in_node_ && chance(0.3), chance(0.3)});
    text += fmt::format("schedule: {}\n", one_of({"gpipe", "1f1b", "1f1b", "interleaved-1f1b",
                                                  "zb-h1", "zb-v", "dualpipe", "2bp", "hanayo"}));
    text += filled("communication: {{overlap: {}, fidelity: {}, collectives: {{{}}}}}\n",
                   std::tuple{one_of({"none", "bucketed", "bucketed"}), in_node_ ? "auto" : "flows",
                              one_of({"", "", "", "all_reduce: ring", "all_reduce: tree",
                                      "ep: direct", "tp: ring", "all_to_all: hierarchical"})});
    text += compress();
    return text;
  }

 private:
  std::string_view one_of(std::initializer_list<std::string_view> words) {
    return *(words.begin() + random_.below(words.size()));
  }
  int power(int least, int most) {
    return 1 << (least + static_cast<int>(random_.below(std::uint64_t(most - least + 1))));
  }
  bool chance(double share) { return random_.uniform() < share; }

  std::string model() {
    std::string text =
        filled("model: {{layers: {}, hidden: {}, heads: 16, vocabulary: 32000, sequence: {}",
               std::tuple{power(3, 4), power(10, 12), power(10, 12)});
    if (experts_) {
      // The closed form lets a shortcut hide behind compute that already hides tp's collectives, so
      // shortcuts are not drawn together with tp.
      const std::string_view routing = one_of({"imbalance: 1", "imbalance: 1.3", "zipf: 0.5",
                                               in_node_ && tp_ > 1 ? "zipf: 1" : "shortcut: true"});
      text += filled(", moe: {{experts: 8, per_token: 2, ffn: {}, shared_ffn: {}, {}}}",
                     std::tuple{power(10, 12), one_of({"0", "1024"}),
                                !in_node_ && chance(0.2) ? "locality: 0.7" : routing});
    }
    return text + "}\n";
  }

  std::string fabric() {
    const std::string pods = fmt::format("nodes_per_pod: 2, pod_oversubscription: {}", power(0, 2));
    const std::array trees = {"topology: fat-tree, " + pods, "topology: rail-fat-tree, " + pods};
    if (in_node_ || chance(0.4)) return trees[random_.below(trees.size())];
    const std::array others = {
        std::string("topology: rail-only"),
        trees[0] + ", routing: ecmp",
        trees[1] + ", routing: planned",
        trees[1] + ", variation: {sigma: 0.1, seed: 2}",
        "topology: clos, nodes_per_leaf: 1, leaf_oversubscription: 2, " + pods,
        std::string("topology: torus, dimensions: [2, 2], link: 20 GB/s"),
        std::string("topology: dragonfly, nodes_per_router: 1, routers_per_group: 2, local: 20 "
                    "GB/s, global: 10 GB/s"),
        std::string("topology: dragonfly, nodes_per_router: 1, routers_per_group: 4, local: 10 "
                    "GB/s, global: 10 GB/s, routing: adaptive"),
        std::string("topology: dragonfly, nodes_per_router: 1, routers_per_group: 1, local: 10 "
                    "GB/s, global: 10 GB/s, routing: adaptive, background: [{links: global 1, "
                    "load: 0.4}]"),
        trees[0] + ", background: [{links: pod-up, load: 0.3}, {links: nic-in 1, load: 0.5}]",
        std::string("topology: torus, dimensions: [4, 1], link: 5 GB/s, routing: ecmp"),
        std::string("topology: torus, dimensions: [2, 2], link: 10 GB/s, background: [{links: "
                    "torus 1, load: 0.5}]"),
        graph(),
        graph(),
        std::string("topology: sites, sites: [{name: a, nodes: 2}, {name: b, nodes: 2}], wan: 40 "
                    "Gb/s, wan_latency: 1 ms")};
    return others[random_.below(others.size())];
  }

  // Four nodes form a ring, hang below two leaves, hang on switches of their own with two paths
  // between these, or form a row.
  std::string graph() {
    const auto cable = [](std::string_view a, std::string_view b, std::string_view bandwidth) {
      return fmt::format("{{a: {}, b: {}, bandwidth: {}}}", a, b, bandwidth);
    };
    std::string text =
        fmt::format("topology: graph, routing: {}, edges: [", one_of({"spray", "ecmp", "planned"}));
    const int form = static_cast<int>(random_.below(4));
    for (int node = 0; node < 4; ++node) {
      const std::string own = fmt::format("node {}", node);
      if (node > 0) text += ", ";
      if (form == 0) text += cable(own, fmt::format("node {}", (node + 1) % 4), "10 GB/s");
      if (form == 1) text += cable(own, node < 2 ? "left" : "right", "50 GB/s");
      if (form == 2) {
        text += cable(own, "near", "20 GB/s") + ", " + cable(own, "far", "20 GB/s");
      }
      if (form == 3) text += cable(own, fmt::format("s{}", node), "100 GB/s");
      if (form == 3 && node > 0) {
        text += ", " + cable(fmt::format("s{}", node - 1), fmt::format("s{}", node), "8 GB/s");
      }
    }
    if (form == 1) text += ", " + cable("left", "right", "10 GB/s");
    return text + "]";
  }

  // Each kind of node has one or two nodes.
  std::string pools() {
    const int nodes = power(0, 1);
    const bool apart = chance(0.4);
    std::string text = "cluster:\n  pools:\n";
    for (const std::string_view node : {"dgx-h100", "dgx-a100"}) {
      text +=
          fmt::format("    - {{name: {}, nodes: {}, node: {{base: {}, nics: {}}}, network: {}}}\n",
                      node.substr(4), nodes, node, one_of({"1", "4", "8"}), apart ? node : "one");
    }
    if (apart) text += "  common: {bandwidth: 25 Gb/s}\n";
    return text;
  }

  // Draws which kind of node each rank uses.
  std::string placing() {
    std::string text;
    if (chance(0.3)) {
      text += fmt::format(", order: {}",
                          one_of({"[tp, cp, pp, dp]", "[pp, dp, tp, cp]", "[dp, pp, cp, tp]"}));
    }
    if (chance(0.3)) text += ", stages: auto";
    if (!experts_ && chance(0.8)) text += ", shard_shares: [3, 1]";
    const std::string_view where =
        one_of({"", "{pp: [h100, a100]}", "{pp: [a100, h100]}", "{dp: [h100, a100]}"});
    return where.empty() ? text : text + fmt::format(", place: {}", where);
  }

  std::string cluster() {
    const std::string_view anywhere =
        one_of({"dgx-h100", "dgx-a100", "dgx-v100", "frontier-mi250x", "polaris-a100",
                "pcie-rtx3080", "pcie-rtx3080, host_bridge: 20 GB/s"});
    std::string text =
        pools_
            ? pools()
            : filled("cluster:\n  nodes: {}\n  node: {{base: {}, nics: {}}}\n",
                     std::tuple{power(0, 2), in_node_ ? one_of({"dgx-h100", "dgx-a100"}) : anywhere,
                                one_of({"1", "4", "8"})});
    text += fmt::format("  fabric: {{{}}}\n", fabric());
    if (!in_node_ && chance(0.2)) text += "  degraded_nics: [{node: 0, nic: 0, factor: 0.5}]\n";
    if (chance(0.2)) {
      text += fmt::format("  slow_nodes: [{{node: 0, slowdown: {}}}]\n", one_of({"1.3", "2"}));
    }
    return text;
  }

  std::string layout() {
    const int cp = chance(0.4) ? power(0, in_node_ && tp_ > 2 ? 1 : 2) : 1;
    return filled(
        "layout: {{tp: {}, cp: {}, ep: {}, pp: {}, sharding: {}, sequence_parallel: {}, context: "
        "{}{}}}\n",
        std::tuple{tp_, cp, experts_ ? power(0, 3) : 1, power(0, 2),
                   one_of({"none", "zero1", "zero2", "zero3"}), tp_ > 1 && chance(0.8),
                   one_of({"ring", "ring", "ulysses"}), pools_ ? placing() : ""});
  }

  // Makes some axes send their data in few bits.
  std::string compress() {
    std::string text;
    const auto add = [&](std::string_view axis, std::string_view choice) {
      if (!choice.empty()) text += fmt::format("  - {{axis: {}, {}}}\n", axis, choice);
    };
    const std::string_view tp = one_of({"", "", "name: int4", "name: fp8, hop: across"});
    const std::string_view cp = one_of({"", "", "name: int8", "name: fp8, hop: across"});
    const std::string_view ep =
        one_of({"", "", "name: fp8, passes: dispatch", "name: int8, hop: across", "name: int4"});
    const std::string_view pp = one_of({"", "", "", "name: int8"});
    add("tp", tp);
    add("cp", cp);
    add("ep", ep);
    add("pp", pp);
    return text.empty() ? text : "compress:\n" + text;
  }

  RandomStream random_;
  const std::uint64_t number_;
  const bool in_node_;
  bool experts_ = false;
  bool pools_ = false;  // nodes are unlike
  int tp_ = 1;
};

}  // namespace

std::string random_layout(std::uint64_t number, InnerSpread spread) {
  return Draw(number, spread).scenario();
}

std::optional<Case> random_layout_case(std::uint64_t number, InnerSpread spread) {
  try {
    return parse_case(random_layout(number, spread), fmt::format("random-layout-{}.yaml", number));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace windtunnel
