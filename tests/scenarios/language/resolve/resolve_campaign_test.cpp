// Impossible snapshots, failures and recovery policies are refused at their place in the file.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "models/base/units.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/text/document.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

struct Parts {
  std::string snapshots = "[{tier: storage, every: 1 h}]";
  std::string failures = "[{class: node, rate: 6.5 per 1000 node-days}]";
  std::string recovery = "{spares: 2}";
  std::string layout = "{tp: 8, dp: 8, sharding: zero1}";
};

std::string scenario(const Parts& parts) {
  return fmt::format(
      "name: a\nmodel: llama3-8b\n"
      "cluster: {{nodes: 8, node: dgx-h100, storage: {{write: 10 GB/s, read: 10 GB/s}}}}\n"
      "layout: {}\nbatch: {{global: 64}}\n"
      "snapshots: {}\nfailures: {}\nrecovery: {}\n"
      "campaign: {{length: 30 d, replicas: 10}}\n",
      parts.layout, parts.snapshots, parts.failures, parts.recovery);
}

// Expects that each text is refused in this line of the file; the golden file holds the messages.
void expect_refused(std::string Parts::*part, int line, const std::vector<std::string>& bad,
                    const std::string& golden, Parts parts = {}) {
  EXPECT_EQ(parse_message(scenario(parts), "a.yaml"), "no error");
  std::string text;
  std::set<std::string> messages;
  for (const std::string& value : bad) {
    parts.*part = value;
    const std::string message = parse_message(scenario(parts), "a.yaml");
    EXPECT_TRUE(message.starts_with(fmt::format("a.yaml:{}:", line))) << value << "\n" << message;
    messages.insert(message);
    text += message + "\n";
  }
  EXPECT_EQ(messages.size(), bad.size());
  expect_golden(golden, text);
}

double rate_with(const std::string& failure) {
  return parse_case(scenario({.failures = "[" + failure + "]"}), "a.yaml")
      .job.failures.front()
      .rate_per_node_s;
}

TEST(Failures, MtbfIsTheRateOfWhatItIsOf) {
  EXPECT_NEAR(rate_with("{class: node, mtbf: 120 d, of: node}"), 1 / (120 * kDay_s), 1e-18);
  EXPECT_NEAR(rate_with("{class: node, mtbf: 960 d, of: gpu}"), 8 / (960 * kDay_s), 1e-18)
      << "eight GPUs of a node";
  const auto message = [](const std::string& failure) {
    return parse_message(scenario({.failures = "[" + failure + "]"}), "a.yaml");
  };
  const std::string rate = "rate: 6.5 per 1000 node-days";
  for (const auto& [failure, says] : std::initializer_list<std::pair<std::string, const char*>>{
           {"{class: node, mtbf: 120 d}",
            "does not say to what it refers; add 'of: node', 'of: gpu' or 'of: rack'"},
           {"{class: node, mtbf: 120 d, of: rack}", "with 'of: node'"},
           {"{class: node, mtbf: 120 d, of: node, " + rate + "}", "{class: node, mtbf: ..."},
           {"{class: tray, kind: node, mtbf: 120 d, of: node, " + rate + "}",
            "keep one of them (--set 'failures.0={class: tray, kind: node, mtbf: ..."},
           {"{class: node, of: node, " + rate + "}", "add 'mtbf'"},
           {"{class: node, mtbf: 10 min, of: node}", "2.4 h or more"},
           {"{class: node, mtbf: 120 d, of: switch}", "gpu, rack"}}) {
    EXPECT_NE(message(failure).find(says), std::string::npos) << message(failure);
    EXPECT_TRUE(message(failure).starts_with("a.yaml:7:")) << message(failure);
  }
}

TEST(BadProtection, Tiers) {
  expect_refused(
      &Parts::snapshots, 6,
      {
          "[{tier: storage}]",
          "[{tier: storage, every: {}}]",
          "[{tier: storage, every: {overhead: 0}}]",
          "[{tier: storage, every: {overhead: 3.5 %}}]",
          "[{tier: storage, every: 1 h, keeper: process}]",
          "[{tier: local-disk, every: 1 h, keeper: process}]",
          "[{tier: storage, every: 1 h, changed: 0.1}]",
          "[{tier: storage, every: 1 h, changed: 1.1, full_every: 10}]",
          "[{tier: storage, every: 1 h, kept: 9}]",
          "[{tier: host-memory, every: 1 h, kept: 2}]",
          "[{tier: replicas, every: 1 h}]",
          "[{tier: replicas, mode: lazy}]",
          "[{tier: replicas}]",  // zero1 over all replicas leaves no second copy
          "[{tier: peer, every: 1 h}]",
          "[{tier: storage, every: 1 h}, {tier: storage, every: 1 h}, {tier: storage, every: 1 h}, "
          "{tier: storage, every: 1 h}, {tier: storage, every: 1 h}]",
          "bytecheckpont",
      },
      "protection_tiers.txt");
}

TEST(BadProtection, Codes) {
  const auto peers = [](const std::string& code) {
    return fmt::format("[{{tier: peers, every: 1 h, keeper: process, code: {}}}]", code);
  };
  const auto host = [](const std::string& code) {
    return fmt::format("[{{tier: host-memory, every: 1 h, keeper: process, code: {}}}]", code);
  };
  expect_refused(&Parts::snapshots, 6,
                 {
                     "[{tier: peers, every: 1 h}]",
                     "[{tier: storage, every: 1 h, code: {name: copies}}]",
                     "[{tier: host-memory, every: 1 h, code: xor}]",
                     peers("{name: rs, data: 6, parity: 3}"),  // there are eight nodes
                     peers("{name: rs, data: 4}"),
                     peers("{name: xor}"),
                     peers("{name: xor, data: 3, parity: 2}"),
                     peers("{name: copies, data: 2}"),
                     peers("{name: recompute}"),
                     peers("{name: xor, data: 3, scope: node}"),
                     peers("{name: xor, data: 3, cores: 200}"),
                     peers("{name: xor, data: 0}"),
                     peers("{name: raid, data: 3}"),
                     peers("{data: 3}"),
                     host("{name: xor, data: 8}"),  // there are eight GPUs
                     host("{name: copies, scope: nodes}"),
                     host("{name: recompute, parity: 1}"),
                 },
                 "protection_codes.txt");
}

TEST(BadProtection, Failures) {
  const auto with = [](const std::string& keys) { return fmt::format("[{{{}}}]", keys); };
  expect_refused(
      &Parts::failures, 7,
      {
          with("class: node"),
          with("class: node, rate: 11 per node-day"),
          with("class: node, job_rate: 2000 per day"),
          with("class: node, job_rate: 2 per node-day"),
          with("class: node, job_rate: 1 per day, growth: {exponent: 1, nodes: 8}"),
          with("class: node, rate: 1 per node-day, growth: {exponent: 1}"),
          with("class: node, rate: 1 per node-day, batch: {shares: [0.9, 0.2]}"),
          with("class: node, rate: 1 per node-day, batch: {shares: []}"),
          with("class: node, rate: 1 per node-day, batch: {placement: any}"),
          with("class: process, rate: 1 per node-day, batch: {shares: [1]}"),
          with("class: node, rate: 1 per node-day, keeper: lost"),
          with("class: node, rate: 1 per node-day, slowdown: 2"),
          with("class: slow-node, rate: 1 per node-day"),
          with("class: slow-node, rate: 1 per node-day, slowdown: 0.9"),
          with("class: slow-node, rate: 1 per node-day, slowdown: 2, detect: {heartbeat: 5 s}"),
          with("class: loss-spike, job_rate: 1 per day"),
          with("class: corrupt-snapshot, job_rate: 1 per day, tier: 1"),
          with("class: corrupt-snapshot, job_rate: 1 per day, tier: 4"),
          with("class: node, rate: 1 per node-day, detect: {heartbeat: 0 s}"),
          with("class: node, rate: 1 per node-day, arrivals: {day_amplitude: 1}"),
          with("class: node, arrivals: {trace: infinitehbd, day_amplitude: 0.2}"),
          with("class: node, arrivals: {trace: infinitehbd}, job_rate: 1 per day"),
          with("class: node, rate: 1 per node-day, arrivals: {empirical: infinitehb}"),
          with("class: node, rate: 1 per node-day, arrivals: {weibull: 0}"),
          with("class: node, rate: 1 per node-day, repair: {lognormal: {median: 1 h}}"),
          with("class: node, rate: 1 per node-day, repair: {lognormal: {median: 0 h, sigma: 1}}"),
          with("class: node, rate: 1 per node-day, repair: {empirical: infinitehbd, lognormal: "
               "{median: 1 h, sigma: 1}}"),
          with("class: node, rate: 1 per node-day, manual: 1.5"),
          with("class: node, rate: 1 per node-day, frailty: -1"),
          with("class: node, rate: 1 per node-day, notice: 0 s"),
          with("class: process, rate: 1 per node-day, notice: 2 min"),
          with("class: node, rate: 1 per node-day, notice: 2 min, detect: 5 s"),
          with("class: node, rate: 1 per node-day, notice: 2 min, manual: 0.1"),
          with("class: process, arrivals: {capacity: spot.csv}"),
          with("class: node, arrivals: {capacity: spot.csv}, repair: 1 h"),
          with("class: node, arrivals: {capacity: spot.csv}, batch: {shares: [1]}"),
          with("class: node, arrivals: {capacity: spot.csv, trace: infinitehbd}"),
      },
      "protection_failures.txt");
}

TEST(BadProtection, PlannedStopsNeedATierThatSurvivesThem) {
  for (const char* snapshots : {"[]", "[{tier: replicas}]", "[{tier: host-memory, every: 1 h}]"}) {
    const std::string message =
        parse_message(scenario({.snapshots = snapshots,
                                .failures = "[{class: planned, job_rate: 1 per day}]",
                                .layout = "{tp: 8, dp: 8}"}),
                      "a.yaml");
    EXPECT_NE(message.find("a.yaml:7:12: failures.0: "), std::string::npos) << message;
    EXPECT_NE(message.find("no snapshot tier survives a planned stop"), std::string::npos);
  }
}

TEST(BadProtection, Recoveries) {
  expect_refused(&Parts::recovery, 8,
                 {
                     "{spares: 2, hot_spares: 3}",
                     "{success: 0.0005, restart: 0 s}",
                     "{success: 0}",
                     "{success: 1.01}",
                     "{attended: {from: 8, to: 25}}",
                     "{attended: {from: 8}}",
                     "{elastic: {groups: 3}}",  // there are eight replicas
                     "{elastic: {groups: 1}}",
                     "{elastic: {groups: 2}}",  // the state is spread over all of them
                     "{elastic: {stall: 3 min}}",
                     "{elastic: {groups: 2}, when_no_spare: shrink}",
                     "{elastic: {groups: 2}, when_no_spare: reroute}",
                     "{when_no_spare: re-route}",
                     "{detect: {misses: 0}}",
                     "{detect: 60 s, restart: {scheduler: 30}}",
                     "{restart: {container: 30 s}}",
                     "{base: oobleck, restarts: 30 s}",
                     "{base: obleck}",
                     "hot-spare",
                     "{steady_overhead: -0.1}",
                     "{repair_slots: 2.5}",
                 },
                 "protection_recoveries.txt");
}

// If a group holds state that no other group has, losing it loses the state. `tier: replicas` is
// refused by the same rule.
TEST(BadProtection, GroupsWithoutAWholeCopyOfTheState) {
  const auto message = [](const std::string& layout, int groups) {
    const std::string recovery = fmt::format("{{elastic: {{groups: {}}}}}", groups);
    return parse_message(scenario({.recovery = recovery, .layout = layout}), "a.yaml");
  };
  for (const char* sharding : {"zero1", "zero2", "zero3"}) {
    const std::string all = fmt::format("{{tp: 8, dp: 8, sharding: {}}}", sharding);
    EXPECT_EQ(message(all, 4),
              "a.yaml:8:30: recovery.elastic.groups: the job has 4 groups, but only one copy "
              "of its state; a group without a whole copy cannot go on when another group fails; "
              "write layout.sharding: none, or layout.shard_ranks: 2 for a copy in each group");
    const std::string shared =
        fmt::format("{{tp: 8, dp: 8, sharding: {}, shard_ranks: 2}}", sharding);
    EXPECT_EQ(message(shared, 2), "no error");
    EXPECT_EQ(message(shared, 4), "no error");
    EXPECT_NE(message(shared, 8).find("8 groups, but only 4 copies"), std::string::npos);
  }
  EXPECT_EQ(message("{tp: 8, dp: 8}", 8), "no error");
}

TEST(BadProtection, RecordsThatCannotBeRead) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                       fmt::format("windtunnel-bad-protection-{}", getpid());
  std::filesystem::create_directory(folder);
  const auto message = [&](const std::string& text, const std::string& law) {
    const std::string file = (folder / "own.csv").string();
    std::ofstream(file) << text;
    const std::string failures = fmt::format("[{{class: node, {}}}]", law);
    std::string said =
        parse_message(scenario({.failures = failures}), (folder / "a.yaml").string());
    for (size_t at = said.find(folder.string()); at != std::string::npos;
         at = said.find(folder.string())) {
      said.replace(at, folder.string().size() + 1, "");
    }
    return said;
  };
  const std::string trace = "arrivals: {trace: own.csv}";
  const std::string gaps = "rate: 1 per node-day, arrivals: {empirical: own.csv}";
  const std::string repair = "rate: 1 per node-day, repair: {empirical: own.csv}";
  const std::string capacity = "arrivals: {capacity: own.csv}";
  EXPECT_EQ(message("1\n2\n", trace), "no error");
  EXPECT_EQ(message("1\n2\n", gaps), "no error");
  EXPECT_EQ(message("2\n1\n", repair), "no error");
  EXPECT_EQ(message("# recorded\nhours\n1\n2\n", trace), "no error");
  EXPECT_EQ(message("hours\r\n2\r\n1\r\n", repair), "no error");
  EXPECT_EQ(message("1\nhours\n", trace),
            "a.yaml:7:44: own.csv:2:1: 'hours' is not a number of hours");
  EXPECT_EQ(message("1\ntwo\n", trace), "a.yaml:7:44: own.csv:2:1: 'two' is not a number of hours");
  EXPECT_EQ(message("2\n1\n", trace),
            "a.yaml:7:44: own.csv:2:1: 1 hours is before the line above; arrivals must be in "
            "ascending order");
  EXPECT_EQ(message("-1\n", repair), "a.yaml:7:68: own.csv:1:1: -1 hours is negative");
  EXPECT_EQ(message("# nothing\n", repair), "a.yaml:7:68: own.csv: has no times");
  EXPECT_EQ(message("nan\n", repair), "a.yaml:7:68: own.csv:1:1: 'nan' is not a number of hours");
  EXPECT_EQ(message("3\n", gaps),
            "a.yaml:7:70: failures.0.arrivals.empirical: 'own.csv' has no gaps, because all "
            "failures have the same time");
  EXPECT_EQ(message("3\n3\n", gaps),
            "a.yaml:7:70: failures.0.arrivals.empirical: 'own.csv' has no gaps, because all "
            "failures have the same time");
  // Logs of faults are recognised by their columns.
  EXPECT_EQ(message("start_h,repair_h,node\n1,2,3\n4,0,1\n", trace), "no error");
  EXPECT_EQ(message("start_h,repair_h,node\n1,2,3\n4,0,1\n", repair), "no error");
  EXPECT_EQ(message("start_h,repair_h\n1,0\n", repair), "a.yaml:7:68: own.csv: has no times");
  EXPECT_TRUE(message("begin,end\n1,2\n", trace).starts_with("a.yaml:7:44: own.csv:1:"));
  EXPECT_TRUE(message("start_h,node\n1,2\nx,2\n", trace).starts_with("a.yaml:7:44: own.csv:3:"));
  // These files state how many nodes a provider gives.
  EXPECT_EQ(message("time_s,nodes\n0,8\n60,5\n", capacity), "no error");
  EXPECT_EQ(message("time_s,nodes\n60,8\n0,5\n", capacity),
            "a.yaml:7:47: failures.0.arrivals.capacity: own.csv:3:1: time_s: must be at least 0 "
            "and at least that of the row above");
  EXPECT_EQ(message("time_s,nodes\n60,-8\n", capacity),
            "a.yaml:7:47: failures.0.arrivals.capacity: own.csv:2:2: nodes: expected a number "
            "from 0 to 10000000");
  EXPECT_EQ(message("time_s,nodes\n", capacity),
            "a.yaml:7:47: failures.0.arrivals.capacity: own.csv: has no rows");
  EXPECT_EQ(message("time_s,nodes\n0,8\n", capacity + ", rate: 1 per node-day"),
            "a.yaml:7:63: failures.0.rate: a trace has its own rate; remove this key");
  std::ofstream(folder / "own.csv") << "time_s,nodes\n0,9\n100,6\n500,8\n";
  const Parts spot{.failures = "[{class: node, notice: 2 min, arrivals: {capacity: own.csv}}]"};
  const FailureClass taken =
      parse_case(scenario(spot), (folder / "a.yaml").string()).job.failures[0];
  EXPECT_EQ(taken.notice_s, 120);
  EXPECT_EQ(taken.trace_s, (std::vector<double>{0}));
  EXPECT_EQ(taken.taken[0].from_s, 100);
  EXPECT_EQ(taken.taken[0].until_s, (std::vector<double>{500, 500}));
  std::ofstream(folder / "own.csv") << "# a log\nstart_h,repair_h,node\n1,2,3\n4,0,1\n";
  const Parts logged{.failures =
                         "[{class: node, arrivals: {trace: own.csv}, repair: {empirical: "
                         "own.csv}}]"};
  const Case result = parse_case(scenario(logged), (folder / "a.yaml").string());
  EXPECT_EQ(result.job.failures[0].trace_s, (std::vector<double>{3600, 4 * 3600}));
  EXPECT_EQ(result.job.failures[0].trace_nodes, (std::vector<std::int32_t>{3, 1}));
  EXPECT_EQ(result.job.failures[0].repair.empirical_s, (std::vector<double>{7200}));
  std::filesystem::remove_all(folder);
}

TEST(BadProtection, WhatIsLeftOutFollows) {
  const auto job = [](const Parts& parts) { return parse_case(scenario(parts), "a.yaml").job; };
  // Repairs default to a day for nodes, and to none where the network is routed around.
  const Job kinds = job({.failures = "[{class: node, rate: 1 per node-day}, "
                                     "{class: network, job_rate: 1 per day}]"});
  EXPECT_DOUBLE_EQ(kinds.failures[0].repair.fixed_s, 86400);
  EXPECT_DOUBLE_EQ(kinds.failures[1].repair.fixed_s, 0);
  EXPECT_DOUBLE_EQ(kinds.failures[1].rate_per_job_s, 1 / 86400.0);
  EXPECT_LT(kinds.failures[0].detect_s, 0);
  // Detection depends on the kind of failure, and is summed for the GPUs of the job.
  const Job seen = job({.failures = "[{class: node, rate: 1 per node-day}, {class: hang, rate: 1 "
                                    "per node-day}, {class: process, rate: 1 per node-day, "
                                    "detect: 7 s}]",
                        .recovery = "{detect: {heartbeat: 10 s, timeout: 5 min}, restart: "
                                    "{scheduler: 30 s, communicators_per_gpu: 1 s}}"});
  EXPECT_DOUBLE_EQ(seen.failures[0].detect_s, 25);
  EXPECT_DOUBLE_EQ(seen.failures[1].detect_s, 300);
  EXPECT_DOUBLE_EQ(seen.failures[2].detect_s, 7);
  EXPECT_DOUBLE_EQ(seen.recovery.detect_s, 25);
  EXPECT_DOUBLE_EQ(seen.recovery.restart_s, 30 + 64);
  // A record has one gap fewer than times, and the gaps add up to its length.
  const Job gaps = job({.failures = "[{class: node, rate: 1 per node-day, arrivals: {empirical: "
                                    "infinitehbd}}]"});
  EXPECT_EQ(gaps.failures[0].gaps_s.size(), 583u);
  EXPECT_EQ(gaps.failures[0].arrivals, Arrivals::empirical);
}

}  // namespace
}  // namespace windtunnel
