#include "policies/search/schedule_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "policies/analysis/schedule_analysis.hpp"
#include "policies/evaluation/schedule_validator.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/zero_bubble_profiles.hpp"

namespace windtunnel {
namespace {

double bubble_rate(const ZeroBubbleProfile& profile, const SearchResult& result) {
  return 1 - profile.work_s() / result.value_s;
}

double peak_of(const ScheduleEvaluation& evaluation) {
  return *std::ranges::max_element(evaluation.peak_activation);
}

void expect_sound(const ScheduleRequest& request, const SearchResult& result) {
  EXPECT_NO_THROW(validate_schedule(result.schedule));
  const auto evaluation = evaluate_schedule(result.schedule, request.costs, request.message_s);
  EXPECT_EQ(evaluation.longest_stage_s, result.evaluation.longest_stage_s);
  if (request.memory_limit > 0) {
    EXPECT_LE(peak_of(evaluation), request.memory_limit * (1 + 1e-6));
  }
  EXPECT_GE(result.value_s, result.bound_s * (1 - 1e-9)) << result.bound_because;
  for (const SearchCandidate& candidate : result.candidates) {
    if (candidate.fits) {
      EXPECT_GE(objective_s(candidate.evaluation, SearchObjective::longest_stage),
                result.bound_s * (1 - 1e-9))
          << candidate.name;
    }
  }
}

TEST(ScheduleSearch, MeetsThePublishedRatesOfZeroBubble) {
  int proven = 0;
  for (ZeroBubbleProfile& profile : zero_bubble_profiles()) {
    profile.request.memory_limit = 2 * profile.request.ranks;
    const SearchResult result = search_schedule(profile.request, {.effort = 1e6});
    expect_sound(profile.request, result);
    // Published rates are rounded to 4 decimals.
    EXPECT_LE(bubble_rate(profile, result), profile.zb_2p_rate + 0.5e-4)
        << profile.model << " " << profile.request.microbatches;
    EXPECT_LT(result.gap(), 0.01);
    if (result.gap() < 1e-9) ++proven;
  }
  EXPECT_GE(proven, 2);
}

TEST(ScheduleSearch, BeatsOneShareOfMemoryWithMore) {
  for (const double shares : {1.125, 1.25, 1.5, 1.75}) {
    for (ZeroBubbleProfile& profile : zero_bubble_profiles()) {
      profile.request.memory_limit = shares * profile.request.ranks;
      const SearchResult result = search_schedule(profile.request, {.effort = 0});
      expect_sound(profile.request, result);
      // At least half of the possible gain must be found: at twice the memory the bubble rate falls
      // to nearly nothing.
      EXPECT_LT(bubble_rate(profile, result), profile.zb_1p_rate * (1 - (shares - 1) / 2))
          << profile.model << " " << profile.request.microbatches << " " << shares;
      EXPECT_LT(result.gap(), 0.02);
    }
  }
}

// The order that the paper's heuristic finds in 1f1b's memory is proven optimal.
TEST(ScheduleSearch, ProvesZb1pOptimalOnTheProfiles) {
  for (ZeroBubbleProfile& profile : zero_bubble_profiles()) {
    profile.request.memory_limit = profile.request.ranks;
    const SearchResult result = search_schedule(profile.request, {.effort = 0});
    EXPECT_NEAR(bubble_rate(profile, result), profile.zb_1p_rate, 0.5e-4);
    EXPECT_NEAR(result.gap(), 0, 1e-9);
  }
}

TEST(ScheduleSearch, LocalSearchImprovesAndIsTheSameOnAnyThreads) {
  ZeroBubbleProfile profile = zero_bubble_profiles()[1];
  profile.request.memory_limit = 1.25 * profile.request.ranks;
  const SearchResult without = search_schedule(profile.request, {.effort = 0});
  const SearchResult one = search_schedule(profile.request, {.effort = 2e6, .threads = 1});
  const SearchResult three = search_schedule(profile.request, {.effort = 2e6, .threads = 3});
  EXPECT_LT(one.value_s, without.value_s);
  EXPECT_EQ(one.schedule.actions, three.schedule.actions);
  EXPECT_EQ(one.value_s, three.value_s);
  EXPECT_EQ(one.found_by, three.found_by);
}

TEST(ScheduleSearch, RandomCostsAndLimits) {
  RandomStream random(7, RandomPurpose::test, 0);
  for (int i = 0; i < 40; ++i) {
    const int ranks = 1 + static_cast<int>(random.below(5));
    const int chunks = 1 + static_cast<int>(random.below(3));
    ScheduleRequest request{
        .ranks = ranks, .microbatches = 1 + static_cast<int>(random.below(12)), .chunks = chunks};
    for (int s = 0; s < ranks * chunks; ++s) {
      StageCost cost{0.5 + random.uniform(), 0.5 + random.uniform(), 0.1 + random.uniform()};
      cost.activation = 1 + 0.5 * random.uniform();
      cost.weight_activation = cost.activation * random.uniform();
      cost.recompute_s = i % 4 == 0 ? random.uniform() : 0;
      request.costs.push_back(cost);
    }
    request.message_s = i % 3 == 0 ? 0 : 0.2 * random.uniform();
    request.memory_limit = i % 5 == 0 ? 0 : 1.5 * chunks * ranks * (1 + random.uniform());
    for (const auto objective : {SearchObjective::longest_stage, SearchObjective::makespan}) {
      SearchResult result;
      try {
        result = search_schedule(request, {.objective = objective, .effort = 1e5});
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("memory limit"), std::string::npos);
        EXPECT_GT(chunks, 1);  // 1f1b always fits
        continue;
      }
      if (objective == SearchObjective::longest_stage) expect_sound(request, result);
      EXPECT_GE(result.value_s, result.bound_s * (1 - 1e-9));
      for (const SearchCandidate& candidate : result.candidates) {
        if (!candidate.fits) continue;
        EXPECT_LE(result.value_s, objective_s(candidate.evaluation, objective) * (1 + 1e-12));
      }
    }
  }
}

// The best order and the bound cover all orders that the documentation names; any other named order
// is listed with the reason for leaving it out.
TEST(ScheduleSearch, EveryNamedOrderIsSearchedOrLeftOutWithAReason) {
  ScheduleRequest request{.ranks = 4, .microbatches = 16, .chunks = 2};
  request.message_s = 0.5;
  const SearchResult result = search_schedule(request, {.effort = 0});
  const auto left_out = [&](const std::string& name) {
    const auto found = std::ranges::find(result.left_out, name,
                                         [](const LeftOutOrder& at) { return at.order.name; });
    return found == result.left_out.end() ? std::string() : std::string(found->why);
  };
  EXPECT_EQ(left_out("dualpipev"), "forwards and backwards in pairs that overlap");
  EXPECT_EQ(left_out("bitpipe"), "two directions, with the weights held twice");
  EXPECT_EQ(left_out("zb-v"), "");
  for (const SearchCandidate& candidate : result.candidates) {
    EXPECT_GE(objective_s(candidate.evaluation, SearchObjective::longest_stage),
              result.bound_s * (1 - 1e-9))
        << candidate.name;
  }
  for (size_t i = 1; i < result.left_out.size(); ++i) {
    EXPECT_LE(result.left_out[i - 1].order.evaluation.longest_stage_s,
              result.left_out[i].order.evaluation.longest_stage_s);
  }
}

// Search and analysis must agree on the peak of an order, by which it fits or not.
TEST(ScheduleSearch, PeaksWithRecomputationAreThoseOfTheAnalysis) {
  ScheduleRequest request{.ranks = 4, .microbatches = 8, .chunks = 2};
  // The forward pass keeps its input. The input gradient recomputes ten times as much and leaves
  // half of that.
  request.costs.assign(8, {.forward_s = 1,
                           .backward_input_s = 2,
                           .backward_weight_s = 1,
                           .activation = 1,
                           .weight_activation = 5,
                           .recompute_s = 1,
                           .recomputed = 9});
  request.memory_limit = 24;
  const SearchResult result = search_schedule(request, {.effort = 1e5});
  const ScheduleAnalysis analysis =
      analyse_schedule(result.schedule, request.costs, {{{0}, {0}}, Sends::asynchronous}, {});
  for (int rank = 0; rank < request.ranks; ++rank) {
    EXPECT_DOUBLE_EQ(result.evaluation.peak_activation[rank], analysis.activations[rank].peak);
    EXPECT_LE(result.evaluation.peak_activation[rank], request.memory_limit * (1 + 1e-9));
  }
}

TEST(ScheduleSearch, StopsWithTheBestSoFar) {
  ZeroBubbleProfile profile = zero_bubble_profiles()[1];
  profile.request.memory_limit = 1.25 * profile.request.ranks;
  const std::atomic<bool> stop{true};
  const SearchResult result = search_schedule(profile.request, {.effort = 1e12, .stop = &stop});
  EXPECT_TRUE(result.stopped);
  expect_sound(profile.request, result);
}

TEST(ScheduleSearch, SaysWhenNothingFits) {
  ScheduleRequest request{.ranks = 4, .microbatches = 8, .chunks = 1};
  request.memory_limit = 0.5;
  EXPECT_TRUE(fails([&] { search_schedule(request); }, "memory limit of 0.5"));
}

TEST(ScheduleSearch, ALimitBelowOneMicrobatchSaysWhatThatKeeps) {
  for (const int chunks : {1, 2}) {
    ScheduleRequest request{.ranks = 4, .microbatches = 12, .chunks = chunks, .memory_limit = 1};
    EXPECT_NEAR(search_schedule(request, {.effort = 0}).candidates.front().peak_activation, 1,
                1e-9);
    request.memory_limit = 0.9;
    EXPECT_TRUE(fails([&] { search_schedule(request, {.effort = 0}); },
                      "one micro-batch alone keeps 1 on"));
  }
}

// Every message occupies its port: two ranks that send 16 messages of a second each in both
// directions take longer than 16 s in any order, which the bound knows. As pure delays the messages
// would overlap.
TEST(ScheduleSearch, MessagesTakeTheirPort) {
  ScheduleRequest request{.ranks = 2, .microbatches = 16, .chunks = 1};
  request.costs.assign(2, {0.1, 0.1, 0.1, 1, 0.5});
  request.message_s = 1;
  const SearchOptions options{.objective = SearchObjective::makespan, .effort = 1e4};
  const SearchResult delays = search_schedule(request, options);
  EXPECT_LT(delays.value_s, 12);
  request.port_s = 1;
  const SearchResult ports = search_schedule(request, options);
  EXPECT_GE(ports.bound_s, 16);
  EXPECT_GE(ports.value_s, ports.bound_s * (1 - 1e-9));
  EXPECT_LT(ports.value_s, 19);
  const MessageTimes times{{1}, {1}, 0};
  EXPECT_NEAR(
      evaluate_schedule(ports.schedule, request.costs, SideStreams{.messages = {times}}).makespan_s,
      ports.value_s, 1e-9);
}

}  // namespace
}  // namespace windtunnel
