#include "sim/study/notes/tried_changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/language/library/facts/training_software.hpp"
#include "sim/study/iterations/memory_excess.hpp"
#include "sim/study/simulate.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kTooLarge =
    "name: large\nmodel: llama3-8b\ncluster: {nodes: 1, node: dgx-h100}\n"
    "layout: {sharding: zero1}\nbatch: {global: 64, micro: 8}\n";

// Reads the keys that an advice "--set a=b --set c=d (...)" sets.
Overrides first_set(const std::string& advice) {
  Overrides set;
  const std::size_t begin = advice.find("--set");
  std::string_view text = std::string_view(advice).substr(begin, advice.find(" (", begin) - begin);
  while (!text.empty()) {
    text.remove_prefix(std::string_view("--set ").size());
    const std::string_view one = text.substr(0, text.find(" --set"));
    const std::size_t equals = one.find('=');
    set.emplace_back(one.substr(0, equals), one.substr(equals + 1));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
  }
  return set;
}

// Each advice states memory and time, and the job that follows it fits.
TEST(TriedChanges, WhatIsAdvisedFits) {
  const Case large = parse_case(kTooLarge, "large.yaml");
  ASSERT_NE(memory_excess(large.job, *large.prepared), "");
  const std::string advice = fitting_advice(large);
  EXPECT_THAT(advice, HasSubstr("--set "));
  EXPECT_THAT(advice, HasSubstr(" GiB of 79.2 GiB, "));
  const Case fits = parse_case(kTooLarge, "large.yaml", first_set(advice));
  EXPECT_EQ(memory_excess(fits.job, *fits.prepared), "") << advice;
  EXPECT_THAT(advice, Not(HasSubstr("bucket")));
}

// A dp that the scenario states is adapted if other degrees change.
TEST(TriedChanges, StatedReplicasGiveWay) {
  const Case large = parse_case(std::string(kTooLarge) + "recompute: full\n", "large.yaml",
                                {{"layout.dp", "8"}, {"batch.micro", "8"}});
  const auto tp = [](const Job&) { return std::vector<Overrides>{{{"layout.tp", "4"}}}; };
  const Change change[] = {{tp}};
  const std::vector<TriedChange> tried =
      tried_changes(large, change, [](const TriedChange&) { return true; });
  ASSERT_EQ(tried.size(), 1U);
  EXPECT_EQ(tried[0].set, (Overrides{{"layout.tp", "4"}, {"layout.dp", "2"}}));
}

// NICs that are drawn again change the step; NICs of one speed do not.
TEST(TriedChanges, OtherDrawsOfNicsSayHowFarTheStepMoves) {
  const auto told = [](const std::string& variation) {
    return other_draws(
        parse_case("name: t\nmodel: llama3-8b\ncluster: {nodes: 8, node: dgx-h100, fabric: {base: "
                   "full-bisection, variation: " +
                       variation + "}}\nlayout: {sharding: zero1}\nbatch: {global: 64, micro: 1}\n",
                   "t.yaml"));
  };
  EXPECT_THAT(told("{slow_share: 0.02, slow_factor: 0.3, seed: 1}"),
              testing::MatchesRegex("5 other draws: [0-9.]+ % shorter to [0-9.]+ % longer steps "
                                    "by estimate"));
  EXPECT_EQ(told("{slow_share: 0, seed: 1}"), "");
}

TEST(TriedChanges, TheErrorOfWhatDoesNotFitNamesThem) {
  const Case large = parse_case(kTooLarge, "large.yaml");
  const auto error = [&](StudyDepth depth) {
    return error_of([&] { simulate(large, {.threads = 1, .depth = depth}); }, ExitCode::failed);
  };
  EXPECT_THAT(error(StudyDepth::advice), HasSubstr("; it fits with"));
  EXPECT_THAT(error(StudyDepth::intervals), Not(HasSubstr("tried")));
}

// The named software accepts all changes that are advised for its job.
TEST(TriedChanges, NamedSoftwareTakesWhatIsAdvised) {
  const auto all_sets = [](std::string advice) {
    std::vector<Overrides> sets;
    for (std::size_t at = advice.find("--set"); at != std::string::npos;
         at = advice.find("--set")) {
      advice.erase(0, at);
      sets.push_back(first_set(advice));
      advice.erase(0, advice.find(" ("));
    }
    return sets;
  };
  int advised = 0;
  for (const char* software : {"megatron", "deepspeed", "torchtitan", "maxtext", "neuron"}) {
    for (const char* layout : {"{sharding: none}", "{tp: 2, pp: 2, sharding: none}"}) {
      SCOPED_TRACE(std::string(software) + ", " + layout);
      const std::string text =
          "name: large\nmodel: llama3-8b\ncluster: {nodes: 1, node: dgx-h100}\n"
          "batch: {global: 64, micro: 2}\nrecompute: full\nlayout: " +
          std::string(layout) + "\nsoftware: " + software + "\n";
      const Case large = parse_case(text, "large.yaml", {{"cluster.node.gpu.memory", "40 GB"}});
      ASSERT_NE(memory_excess(large.job, *large.prepared), "");
      const std::vector<BrokenRule> before = broken_rules(*software_of(large), large.job);
      for (Overrides& set : all_sets(fitting_advice(large))) {
        set.emplace_back("cluster.node.gpu.memory", "40 GB");
        const Case changed = parse_case(text, "large.yaml", set);
        for (const BrokenRule& refusal : broken_rules(*software_of(changed), changed.job)) {
          EXPECT_THAT(before, testing::Contains(testing::Field(&BrokenRule::what, refusal.what)));
        }
        ++advised;
      }
    }
  }
  EXPECT_GT(advised, 20);
}

// No advice is given on a job without a scenario, nor any that its scenario would not admit.
TEST(TriedChanges, WithoutATextNothingIsTried) {
  Case large = parse_case(kTooLarge, "large.yaml");
  large.text.clear();
  EXPECT_EQ(fitting_advice(large), "");
  EXPECT_EQ(host_advice(large), "");
}

}  // namespace
}  // namespace windtunnel
