#include "traces/perfetto/perfetto.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "models/base/error.hpp"
#include "tests/support/error_of.hpp"
#include "traces/perfetto/tracks.hpp"

namespace windtunnel {
namespace {

using nlohmann::json;

// There are two ranks. Rank 0 computes twice and sends three messages; rank 1 posts their receives
// at time 0 on an unordered stream. Messages 0 and 1 overlap in transit, message 2 does not.
struct Sample {
  Plan plan;
  Timeline timeline;
};

Task message(TaskKind kind, int tag) {
  Task task;
  task.kind = kind;
  task.name = kind == TaskKind::send ? "send" : "recv";
  task.stream = kind == TaskKind::send ? 1 : 0;
  task.peer_slot = 0;
  task.tag = tag;
  task.bytes = 1e6;
  task.category = Category::pp;
  return task;
}

Sample sample() {
  Sample s;
  s.plan.ranks = 2;
  s.plan.classes.resize(2);
  RankClass& first = s.plan.classes[0];
  first.name = "pp 0";
  first.members = {0};
  first.streams = {{"compute", StreamOrder::in_order}, {"send", StreamOrder::unordered}};
  first.peers = {{1}};
  Task forward;
  forward.name = "F \"0\"\\\n<0>";
  forward.stage = 3;
  forward.microbatch = 5;
  forward.cost = {{Category::forward, Origin::assumed, 0.25},
                  {Category::tp, Origin::assumed, 0.75}};
  first.tasks = {forward, forward};
  RankClass& second = s.plan.classes[1];
  second.name = "pp 1";
  second.members = {1};
  second.streams = {{"recv", StreamOrder::unordered}};
  second.peers = {{0}};
  for (int tag = 0; tag < 3; ++tag) {
    first.tasks.push_back(message(TaskKind::send, tag));
    second.tasks.push_back(message(TaskKind::recv, tag));
  }
  s.timeline.ranks = {{0, 0, 4, {{0, 1}, {1, 2}, {1, 1.5}, {1.25, 1.75}, {2, 2.5}}},
                      {1, 1, 4, {{0, 1.5}, {0, 1.75}, {0, 2.5}}}};
  s.timeline.recorded_as = {0, 1};
  s.timeline.makespan_s = 2.5;
  return s;
}

std::string trace_text(const Sample& s, const PerfettoOptions& options = {}) {
  std::ostringstream out;
  write_perfetto(out, s.plan, s.timeline, options);
  return out.str();
}

std::vector<json> events_of(const json& trace, const std::string& phase) {
  std::vector<json> events;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == phase) events.push_back(event);
  }
  return events;
}

TEST(Perfetto, ParsesAndEscapesNames) {
  const json trace = json::parse(trace_text(sample()));
  const std::vector<json> events = events_of(trace, "X");
  ASSERT_EQ(events.size(), 8u);
  EXPECT_EQ(events[0].at("name"), "F \"0\"\\\n<0>");
  EXPECT_EQ(events[0].at("args").at("stage"), 3);
  EXPECT_EQ(events[0].at("args").at("microbatch"), 5);
  EXPECT_EQ(events[0].at("cat"), "tp");  // tp is the larger part of its cost
  EXPECT_EQ(events[0].at("ts"), 0.0);
  EXPECT_EQ(events[0].at("dur"), 1e6);
}

TEST(Perfetto, NamesProcessesAndThreads) {
  const json trace = json::parse(trace_text(sample()));
  std::set<std::string> names;
  for (const json& event : events_of(trace, "M")) names.insert(event.at("args").at("name"));
  EXPECT_EQ(names, (std::set<std::string>{"rank 0: pp 0 (stands for 4 ranks)", "compute", "send",
                                          "send +1", "rank 1: pp 1 (stands for 4 ranks)", "recv",
                                          "recv +1"}));
}

TEST(Perfetto, EventsOfOneTrackDoNotOverlap) {
  const json trace = json::parse(trace_text(sample()));
  std::map<std::pair<int, int>, double> end_us;
  for (const json& event : events_of(trace, "X")) {
    double& last = end_us[{event.at("pid"), event.at("tid")}];
    EXPECT_GE(event.at("ts").get<double>(), last) << event;
    last = event.at("ts").get<double>() + event.at("dur").get<double>();
  }
  EXPECT_EQ(end_us.size(), 5u);  // compute, two lanes of sends, two of receives
}

TEST(Perfetto, ReceiveIsDrawnFromItsSend) {
  const json trace = json::parse(trace_text(sample()));
  std::vector<double> starts_us;
  for (const json& event : events_of(trace, "X")) {
    if (event.at("pid") == 1) starts_us.push_back(event.at("ts"));
  }
  EXPECT_EQ(starts_us, (std::vector<double>{1e6, 2e6, 1.25e6}));  // lane 0, lane 0, lane 1
}

TEST(Perfetto, ArrowsJoinSendsAndReceives) {
  const json trace = json::parse(trace_text(sample()));
  const std::vector<json> tails = events_of(trace, "s");
  const std::vector<json> heads = events_of(trace, "f");
  ASSERT_EQ(tails.size(), 3u);
  ASSERT_EQ(heads.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(tails[i].at("id"), heads[i].at("id"));
    EXPECT_EQ(tails[i].at("pid"), 0);
    EXPECT_EQ(heads[i].at("pid"), 1);
    EXPECT_LT(tails[i].at("ts"), heads[i].at("ts"));
  }
}

TEST(Perfetto, SaysWhatItShows) {
  const json trace =
      json::parse(trace_text(sample(), {.label = "draw 3 of 8", .shows = "a \"b\""}));
  EXPECT_EQ(trace.at("otherData").at("shows"), "a \"b\"");
  std::set<std::string> processes;
  for (const json& event : events_of(trace, "M")) {
    if (event.at("name") == "process_name") processes.insert(event.at("args").at("name"));
  }
  EXPECT_EQ(processes, (std::set<std::string>{"rank 0: pp 0 (stands for 4 ranks) [draw 3 of 8]",
                                              "rank 1: pp 1 (stands for 4 ranks) [draw 3 of 8]"}));
  EXPECT_FALSE(json::parse(trace_text(sample())).contains("otherData"));
}

TEST(Perfetto, LimitsRanks) {
  const json trace = json::parse(trace_text(sample(), {.max_ranks = 1}));
  for (const json& event : trace.at("traceEvents")) EXPECT_EQ(event.at("pid"), 0);
  EXPECT_EQ(events_of(trace, "X").size(), 5u);
  EXPECT_TRUE(events_of(trace, "s").empty());
}

TEST(Perfetto, CountsTheRanksLeftOut) {
  const Sample s = sample();
  std::ostringstream out;
  EXPECT_EQ(write_perfetto(out, s.plan, s.timeline, {.max_ranks = 1}), 1);
  EXPECT_EQ(write_perfetto(out, s.plan, s.timeline, {.max_ranks = 2}), 0);
  EXPECT_EQ(write_perfetto(out, s.plan, s.timeline, {.max_ranks = 64}), 0);
}

TEST(Perfetto, WhatIsTooLongForNanosecondsIsAnError) {
  EXPECT_EQ(nanoseconds(1.5e-9), 2);
  EXPECT_EQ(nanoseconds(9.2e9), 9'200'000'000'000'000'000);
  for (const double seconds : {9.3e9, std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(fails([&] { nanoseconds(seconds); }, "292 years", ExitCode::failed));
  }
  Sample s = sample();
  s.timeline.ranks[0].spans[0].end_s = 1e10;
  EXPECT_THROW(trace_text(s), Error);
}

TEST(Perfetto, SameBytesTwice) {
  EXPECT_EQ(trace_text(sample()), trace_text(sample()));
}

TEST(Perfetto, CountsTheActivationsAlive) {
  Sample s = sample();
  // Rank 0 holds 3 MB from the start of its first task at 0 s, and 2 MB more from the start of its
  // second at 1 s, when the first frees its own; the second frees at 2 s.
  std::vector<Task>& tasks = s.plan.classes[0].tasks;
  tasks[0].allocate_bytes = tasks[0].free_bytes = 3e6;
  tasks[1].allocate_bytes = tasks[1].free_bytes = 2e6;
  const std::vector<json> counts = events_of(json::parse(trace_text(s)), "C");
  ASSERT_EQ(counts.size(), 3U);
  const double bytes[] = {3e6, 2e6, 0};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(counts[i].at("pid"), 0);
    EXPECT_EQ(counts[i].at("ts"), i * 1e6);
    EXPECT_EQ(counts[i].at("args").at("bytes"), bytes[i]);
  }
}

}  // namespace
}  // namespace windtunnel
