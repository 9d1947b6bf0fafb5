#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/reliability/stragglers/redundancy.hpp"
#include "scenarios/language/case.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

std::string redundancy_text(const std::string& redundancy,
                            const std::string& layout = "tp: 8, dp: 8",
                            const std::string& rest = {}) {
  return fmt::format(
      "name: a\nmodel: {{layers: 12, hidden: 4096, heads: 32, vocabulary: 32000, sequence: 1024}}\n"
      "cluster: {{nodes: 8, node: dgx-h100, fabric: {{topology: fat-tree}}, jitter: {{sigma: "
      "0.1}}}}\n"
      "layout: {{{}}}\nbatch: {{global: 64}}\nredundancy: {}\n{}\n",
      layout, redundancy, rest);
}

std::shared_ptr<const Redundancy> redundancy_of(const std::string& redundancy) {
  return parse_case(redundancy_text(redundancy), "a.yaml").job.redundancy;
}

std::string redundancy_fault(const std::string& redundancy,
                             const std::string& layout = "tp: 8, dp: 8",
                             const std::string& rest = {}) {
  return error_of([&] { parse_case(redundancy_text(redundancy, layout, rest), "a.yaml"); });
}

TEST(ResolveRedundancy, ASchemeHasItsNumbers) {
  EXPECT_EQ(redundancy_of("none"), nullptr);
  const auto code = redundancy_of("{scheme: gradient-coding, stragglers: 3, tolerance: 0.5}");
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->scheme, RedundancyScheme::gradient_coding);
  EXPECT_EQ(code->stragglers, 3);
  EXPECT_EQ(code->tolerance, 0.5);
  const auto multiplexed =
      redundancy_of("{scheme: m-sgc, burst: 2, window: 4, lambda: 5, tolerance: 1}");
  EXPECT_EQ(multiplexed->burst, 2);
  EXPECT_EQ(multiplexed->window, 4);
  EXPECT_EQ(multiplexed->distinct, 5);
  EXPECT_EQ(redundancy_of("{scheme: replicated, copies: 4}")->copies, 4);
  EXPECT_EQ(redundancy_of("dynamic-backup")->scheme, RedundancyScheme::dynamic_backup);
  EXPECT_EQ(redundancy_of("{scheme: dynamic-backup, noise: 12}")->noise, 12);
}

TEST(ResolveRedundancy, ItIsPartOfWhatACaseIs) {
  const auto key = [](const char* text) { return parse_case(redundancy_text(text), "a.yaml").key; };
  EXPECT_NE(key("{scheme: drop-slowest, stragglers: 1}"),
            key("{scheme: drop-slowest, stragglers: 2}"));
}

// Keys of a scheme that the scenario does not state are listed with the struct's defaults.
TEST(ResolveRedundancy, DefaultsAreExplained) {
  const auto open = [](const char* text) {
    std::string keys;
    for (const ResolvedValue& value : parse_case(redundancy_text(text), "a.yaml").values) {
      if (!value.is_default || !value.key.starts_with("redundancy.")) continue;
      keys += fmt::format("{} {} ", value.key.substr(11), value.value);
    }
    return keys;
  };
  EXPECT_EQ(open("gradient-coding"), "stragglers 1 tolerance 0 ");
  EXPECT_EQ(open("{scheme: gradient-coding, stragglers: 1}"), "tolerance 0 ");
  EXPECT_EQ(open("replicated"), "copies 2 ");
  EXPECT_EQ(open("{scheme: sr-sgc, tolerance: 1}"), "burst 1 window 2 lambda 1 ");
  EXPECT_EQ(open("dynamic-backup"), "tolerance 0 noise 0 ");
  EXPECT_EQ(open("none"), "");
}

TEST(ResolveRedundancy, WhatCannotBeIsRefusedByName) {
  EXPECT_THAT(redundancy_fault("{scheme: drop-slowest, copies: 2}"),
              HasSubstr("redundancy.copies: drop-slowest does not use it"));
  EXPECT_THAT(redundancy_fault("{scheme: gradient-coding, stragglers: 8}"),
              HasSubstr("none is left"));
  EXPECT_THAT(redundancy_fault("{scheme: m-sgc, lambda: 3}"), HasSubstr("tolerance"));
  EXPECT_THAT(redundancy_fault("{scheme: sr-sgc, burst: 2, window: 4, tolerance: 1}"),
              HasSubstr("burst 2 must divide window - 1"));
  EXPECT_THAT(redundancy_fault("drop-slowest", "tp: 8, cp: 8, dp: 1"), HasSubstr("one replica"));
  EXPECT_THAT(redundancy_fault("drop-slowest", "tp: 8, dp: 8, sharding: zero3"),
              HasSubstr("here that is every replica"));
  EXPECT_THAT(redundancy_fault("{scheme: drop-slowest, stragglers: 4}",
                               "tp: 8, dp: 8, sharding: zero3, shard_ranks: 2"),
              HasSubstr("with 4 stragglers among 4 workers none is left"));
  EXPECT_THAT(
      redundancy_fault("drop-slowest", "tp: 8, dp: 8", "sync: [{over: node, every: 10 steps}]"),
      HasSubstr("only one replica"));  // within each island
  EXPECT_THAT(redundancy_fault("drop-slowest", "tp: 8, dp: 8", "communication: {overlap: dear}"),
              HasSubstr("dear"));
  EXPECT_THAT(redundancy_fault("drop-slowest", "tp: 8, dp: 8",
                               "recovery: {when_no_spare: reroute}\nfailures: [{class: node, rate: "
                               "1 per node-day, repair: 1 h}]\ncampaign: {length: 5 d}"),
              HasSubstr("reroute does not go with redundancy"));
  EXPECT_THAT(redundancy_fault("dorp-slowest"), HasSubstr("drop-slowest"));
}

}  // namespace
}  // namespace windtunnel
