#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/language/case.hpp"
#include "sim/study/notes/note_makers.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

std::string note_of(const std::string& layout, const std::string& then,
                    const std::string& more = {}) {
  const Case the_case = parse_case(
      "name: a\nmodel: {layers: 4, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}\n"
      "cluster: {nodes: 4, node: {base: dgx-h100, gpus: 2}, storage: {write: 20 GB/s, read: 20 "
      "GB/s}}\nlayout: {" +
          layout +
          "}\nbatch: {global: 32, micro: 1}\nprecision: bf16\n"
          "snapshots: [{tier: storage, every: 10 min}]\n"
          "failures: [{class: node, rate: 200 per 1000 node-days, repair: 6 h}]\n"
          "campaign: {length: 1 d, replicas: 2}\nrecovery: {when_no_spare: " +
          then + "}\n" + more,
      "a.yaml");
  for (const Note& note : simulate(the_case).notes) {
    if (note.key == "recovery.when_no_spare") return note.text;
  }
  return {};
}

TEST(WholeJobs, WhatCanBeNoSmallerSaysWhy) {
  const std::string dropped = "redundancy: {scheme: drop-slowest, stragglers: 7}\n";
  const std::string median = "communication: {robust: {rule: median, faulty: 3}}\n";
  EXPECT_EQ(note_of("dp: 8", "shrink", dropped),
            "is shrink, but the job cannot be smaller, so it waits for a node: with 7 stragglers "
            "among 6 workers none is left");
  EXPECT_THAT(note_of("dp: 8", "shrink", median), HasSubstr("7 replicas or more to tolerate"));
  EXPECT_THAT(
      note_of("dp: 8", "relayout", dropped),
      HasSubstr("is relayout, but the job cannot be smaller, so it waits for a node: tp 1 "
                "x pp 1 x dp 4 is not possible: with 7 stragglers among 4 workers none is left"));
  EXPECT_THAT(note_of("tp: 2, pp: 4, dp: 1", "shrink"), HasSubstr("no replica is left"));
}

TEST(WholeJobs, NothingIsSaidOfOthers) {
  EXPECT_EQ(note_of("dp: 8", "shrink"), "");
  EXPECT_EQ(note_of("dp: 8", "relayout"), "");
  EXPECT_EQ(note_of("tp: 2, pp: 4, dp: 1", "wait"), "");
}

}  // namespace
}  // namespace windtunnel
