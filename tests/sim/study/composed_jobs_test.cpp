// Layout, levels of synchronisation, stragglers, redundancy, compressors, snapshot tiers and
// recovery are combined at random: each scenario is refused with its place and reason, or its
// bytes, memory and time add up.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "models/base/random.hpp"
#include "models/cost/memory/memory.hpp"
#include "tests/sim/study/record_bounds.hpp"

namespace windtunnel {
namespace {

constexpr int kComposedJobs = 1000;
constexpr int kComposedBlocks = 20;  // blocks run in parallel

class Draw {
 public:
  explicit Draw(std::uint64_t number) : random_(20261125, RandomPurpose::test, number) {}

  std::string one_of(std::initializer_list<std::string_view> words) {
    return std::string(*(words.begin() + random_.below(words.size())));
  }
  // Returns ", key: word", or "".
  std::string maybe(std::string_view key, std::initializer_list<std::string_view> words) {
    return random_.uniform() < 0.5 ? "" : fmt::format(", {}: {}", key, one_of(words));
  }
  bool chance(double share) { return random_.uniform() < share; }

 private:
  RandomStream random_;
};

std::string random_level(Draw& draw, std::string_view over, std::string_view every) {
  std::string level = fmt::format("{{over: {}", over);
  const std::string pattern = draw.one_of(
      {"all-reduce", "all-reduce", "all-reduce", "all-reduce", "leader", "gossip", "none"});
  if (pattern != "none") level += fmt::format(", every: {} steps", every);
  if (pattern != "all-reduce" || draw.chance(0.3)) level += ", pattern: " + pattern;
  if (pattern == "gossip") {
    level += draw.maybe("graph", {"ring", "exponential", "random"});
    level += draw.maybe("peers", {"1", "2"});
    if (draw.chance(0.3)) return level + ", events: poisson}";
  }
  if (pattern == "all-reduce" && draw.chance(0.2)) level += ", paths: [2, 2]";
  if (pattern == "none") return level + "}";
  level += draw.maybe("fragments", {"1", "4", "60"});
  level += draw.maybe("delay", {"0 steps", "2 steps", "40 steps"});
  if (draw.chance(0.2)) level += draw.maybe("optimizer_states", {"0", "2"});
  if (draw.chance(0.5))
    level += draw.maybe("compressor", {"int8", "int4", "topk", "qsgd", "powersgd"});
  if (draw.chance(0.3)) level += draw.maybe("optimizer", {"nesterov", "average"});
  if (draw.chance(0.3)) level += draw.maybe("wait_for", {"all", "all-but-1", "dynamic"});
  return level + "}";
}

std::string random_sync(Draw& draw) {
  if (draw.chance(0.2)) return "";
  std::string levels = random_level(draw, draw.one_of({"node", "node", "replica", "site"}),
                                    draw.one_of({"10", "50", "500"}));
  if (draw.chance(0.2)) levels += ", " + random_level(draw, "site", "1000");
  return fmt::format("sync: [{}]\n", levels);
}

// Returns a scheme of redundancy against slow workers, or "".
std::string random_redundancy(Draw& draw) {
  if (draw.chance(0.7)) return "";
  return fmt::format("redundancy: {{scheme: {}}}\n",
                     draw.one_of({"gradient-coding", "sr-sgc", "m-sgc", "replicated",
                                  "drop-slowest", "backup-workers", "dynamic-backup"}));
}

std::string random_job(std::uint64_t number) {
  Draw draw(number);
  std::string text = fmt::format(
      "name: composed-{}\n"
      "model: {{layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024{}}}\n"
      "cluster: {{nodes: 4, node: dgx-h100, fabric: {{topology: sites, wan: {} Gb/s, sites: "
      "[{{name: "
      "a, nodes: 2}}, {{name: b, nodes: 2}}]}}, storage: {{write: 10 GB/s, read: 10 GB/s}}{}}}\n",
      number, draw.chance(0.15) ? ", moe: {experts: 8, per_token: 2}" : "",
      draw.one_of({"1", "10", "100"}), draw.chance(0.3) ? ", jitter: {sigma: 0.1}" : "");
  const std::string pp = draw.one_of({"1", "1", "2", "4"});
  text += fmt::format("layout: {{tp: {}, pp: {}, sharding: {}{}}}\n", draw.one_of({"1", "2", "8"}),
                      pp, draw.one_of({"none", "zero1", "zero2", "zero3"}),
                      pp != "1" && draw.chance(0.8) ? ", order: [tp, pp, dp]" : "");
  text += "batch: {global: 64, micro: 1}\n";
  text += fmt::format("schedule: {}\n", draw.one_of({"1f1b", "gpipe", "zb-h1", "1f1b"}));
  text += fmt::format("communication: {{overlap: {}, compressor: {}{}}}\n",
                      draw.one_of({"none", "bucketed", "bucketed", "dear", "priority"}),
                      draw.one_of({"none", "none", "none", "fp8", "powersgd", "qsgd", "onebit-adam",
                                   "demo", "topk"}),
                      draw.one_of({"", "", "", "", ", robust: {rule: median}",
                                   ", aggregation: parameter-server", ", embeddings: all-to-all"}));
  const std::string sync = random_sync(draw);
  text += sync + random_redundancy(draw);
  text += fmt::format("snapshots:\n  - {{tier: {}, every: {}, mode: {}}}\n",
                      draw.one_of({"storage", "storage", "local-disk"}),
                      draw.one_of({"30 min", "100 iterations"}),
                      draw.one_of({"sync", "async", "lazy"}));
  if (draw.chance(0.4)) {
    text += fmt::format("  - {{tier: {}, every: 20 iterations}}\n",
                        draw.one_of({"host-memory", "peers", "replicas"}));
  }
  text +=
      "failures:\n  - {class: node, rate: 20 per 1000 node-days, repair: 12 h}\n"
      "  - {class: process, rate: 20 per 1000 node-days}\n";
  text += fmt::format(
      "recovery: {{spares: {}, detect: 30 s, restart: 5 min, when_no_spare: {}{}}}\n",
      draw.one_of({"0", "1"}), draw.one_of({"wait", "wait", "wait", "shrink", "relayout"}),
      draw.chance(0.2) ? draw.maybe("stream", {"state", "weights"}) : "");
  text += "campaign: {length: 20 d, replicas: 4}\njob: {tokens: 10 G}\n";
  return text;
}

const std::vector<RecordBound>& sync_bounds() {
  static const std::vector<RecordBound> all = {
      {"the mean step is the inner step and what each level adds",
       [](const Record& record) {
         const IterationReport& report = record.iteration;
         if (report.sync.empty()) return true;
         double mean_s = report.inner_step_s;
         double trained = 1;
         for (std::size_t level = 0; level < report.sync.size(); ++level) {
           mean_s += mean_exposed_s(record.job.sync[level], report.sync[level].seconds);
           trained *= trained_share(record.job.sync[level], report.sync[level].seconds);
         }
         return near(report.time_s, mean_s / trained) && trained > 0 && trained <= 1;
       }},
      {"who exchanges takes time for its bytes, and nobody else does",
       [](const Record& record) {
         for (const SyncReport& level : record.iteration.sync) {
           if ((level.sent_bytes > 0) != (level.seconds.exchange_s > 0)) return false;
         }
         return true;
       }},
      {"outer states stand in memory",
       [](const Record& record) {
         double bytes_per_parameter = 0;
         for (const SyncLevel& level : record.job.sync) {
           bytes_per_parameter += outer_state_bytes_per_parameter(level);
         }
         const double outer = outer_state_bytes(record.job, 1e6, 0);
         return (bytes_per_parameter > 0) == (outer > 0) &&
                fullest_bytes(record.iteration.memory) > outer;
       }},
  };
  return all;
}

class ComposedJobs : public testing::TestWithParam<int> {};

TEST_P(ComposedJobs, AddUpOrAreRefusedWithTheReason) {
  expect_run_or_refused(
      {"composed", kComposedJobs, kComposedBlocks, random_job, within_bounds(sync_bounds())},
      GetParam());
}

// Some of the jobs run in every test run, the others only in long ones.
INSTANTIATE_TEST_SUITE_P(Blocks, ComposedJobs, testing::Range(0, kComposedBlocks / 10));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, ComposedJobs,
                         testing::Range(kComposedBlocks / 10, kComposedBlocks));

}  // namespace
}  // namespace windtunnel
