// Every exchange needs time on its links. In random jobs of islands, with every pattern, no cycle
// of steps ends before its links could have carried the bytes of its exchange, whether this is
// hidden, late or at random times.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "policies/analysis/plan_bound.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/iterations/sync_window.hpp"

namespace windtunnel {
namespace {

constexpr int kBoundJobs = 2000;
constexpr int kBoundBlocks = 20;

class SyncDraw {
 public:
  explicit SyncDraw(std::uint64_t number) : random_(55, RandomPurpose::test, number) {}

  std::string text() {
    const std::string_view nic = pick({"100 Mb/s", "1 Gb/s", "10 Gb/s", "400 Gb/s"});
    std::string text = fmt::format(
        "name: bound\n"
        "model: {{layers: 4, hidden: 512, heads: 8, vocabulary: 8192, sequence: 512}}\n"
        "cluster: {{nodes: 4, node: {{base: dgx-h100, gpus: 2, nics: 2, nic: {}}}}}\n"
        "layout: {{tp: {}, sharding: {}}}\n"
        "batch: {{global: {}, micro: 1}}\n"
        "communication: {{overlap: {}, fidelity: {}}}\n",
        nic, pick({"1", "2"}), pick({"none", "zero1", "zero3"}), pick({"16", "64"}),
        pick({"none", "bucketed"}), pick({"closed", "auto"}));
    text += "sync:\n" + level(pick({"4", "4", "2"}), true);
    if (chance(0.2)) text += "  - {islands: 2, every: 400 steps, delay: 400 steps}\n";
    return text;
  }

 private:
  std::string level(std::string_view islands, bool inner) {
    std::string level = fmt::format("  - {{islands: {}", islands);
    const std::string_view pattern = pick({"all-reduce", "all-reduce", "leader", "gossip"});
    const bool poisson = pattern == "gossip" && chance(0.5);
    const bool fragments = inner && chance(0.3);
    const std::string_view every =
        fragments ? "100" : pick({pattern == "gossip" ? "1" : "2", "3", "10", "200"});
    level += fmt::format(", every: {} steps, pattern: {}", every, pattern);
    if (fragments) level += ", fragments: 10";
    if (pattern == "gossip") {
      level += fmt::format(", graph: {}", pick({"ring", "exponential", "random"}));
    }
    if (poisson) {
      level += ", events: poisson";
    } else if (chance(0.6)) {
      level += fmt::format(", delay: {} steps", pick({"1", fragments ? "7" : every}));
    }
    if (pattern != "leader" && chance(0.3)) level += ", compressor: int8";
    return level + "}\n";
  }
  bool chance(double share) { return random_.uniform() < share; }
  std::string_view pick(std::initializer_list<std::string_view> values) {
    return values.begin()[random_.below(values.size())];
  }
  RandomStream random_;
};

// Returns whether the links, not the steps, determine the time of a cycle.
bool is_bound(const Job& job) {
  const PreparedIteration prepared = prepare_iteration(job);
  const DrawnIteration plain = run_draws(job, prepared, 1);
  const std::vector<SyncSeconds> seconds = measure_sync(job, prepared, plain);
  const double step_s = mean_step(job.sync, seconds, plain.step_s.mean).all_s;
  const double closed_s = iteration_step_s(job, prepared);
  bool bound = false;
  double links_s = 0;
  for (int level = 0; level < std::ssize(job.sync); ++level) {
    const double cycle = job.sync[level].cycle_steps();
    const auto link_s = [&](const IterationPlanOptions& options) {
      return plan_bound(iteration_plan(job, prepared, options), job.cluster, CountedTransfers::all)
          .link_s;
    };
    // The bytes are those of one step and of the exchange. In closed form (fidelity: closed)
    // collectives ignore each other, so that only the exchange's bytes count.
    const bool closed = job.communication.fidelity == Fidelity::closed;
    const double bytes_s =
        link_s({.outer = OuterWindow{.level = level}}) - (closed ? link_s({}) : 0);
    EXPECT_GE(step_s * cycle, bytes_s * (1 - 1e-9)) << level;
    links_s += seconds[level].exchange_s / cycle;
    bound = bound || seconds[level].exchange_s > cycle * plain.step_s.mean;
  }
  // The same holds for all levels one after the other, simulated or in closed form.
  if (job.sync.size() > 1) {
    EXPECT_GE(step_s, links_s * (1 - 1e-9));
    EXPECT_GE(closed_s, links_s * (1 - 1e-9));
  }
  return bound;
}

class ExchangeBound : public testing::TestWithParam<int> {};

TEST_P(ExchangeBound, NoCycleBeatsTheBytesOfItsExchange) {
  constexpr int kInBlock = kBoundJobs / kBoundBlocks;
  int bound = 0;
  int ran = 0;
  for (int i = 0; i < kInBlock; ++i) {
    const std::string text = SyncDraw(std::uint64_t(GetParam()) * kInBlock + i).text();
    SCOPED_TRACE(text);
    try {
      bound += is_bound(parse_case(text, "bound.yaml").job) ? 1 : 0;
      ++ran;
    } catch (const Error& refused) {
      EXPECT_TRUE(std::string_view(refused.what()).starts_with("bound.yaml:")) << refused.what();
    }
  }
  EXPECT_GT(ran, kInBlock / 2);
  EXPECT_GT(bound, kInBlock / 50);
}

INSTANTIATE_TEST_SUITE_P(Blocks, ExchangeBound, testing::Range(0, kBoundBlocks / 10));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, ExchangeBound,
                         testing::Range(kBoundBlocks / 10, kBoundBlocks));

}  // namespace
}  // namespace windtunnel
