#include "models/plan/sync_level.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(SyncLevel, AnExchangeIsHiddenUntilTheNextOneBegins) {
  SyncLevel level{.over = "site", .every_steps = 100, .fragments = 8, .delay_steps = 5};
  EXPECT_DOUBLE_EQ(level.cycle_steps(), 12.5);
  EXPECT_EQ(level.hiding_steps(), 5);
  level.delay_steps = 100;
  EXPECT_EQ(level.hiding_steps(), 12);
}

TEST(SyncLevel, TheMeanStepHasAllLevels) {
  const std::vector<SyncLevel> levels = {{.over = "node", .every_steps = 10},
                                         {.over = "site", .every_steps = 100, .fragments = 4}};
  const std::vector<SyncSeconds> seconds = {{.exposed_s = 1}, {.exposed_s = 5}};
  EXPECT_DOUBLE_EQ(mean_step(levels, seconds, 2).all_s, 2 + 0.1 + 0.2);
  EXPECT_DOUBLE_EQ(mean_step({}, {}, 2).all_s, 2);
}

// One of four islands is late and stops halfway: it misses 5 of 10 steps of 2 s, and the first 5 of
// the next period.
TEST(SyncLevel, StepsInVainCountForNothing) {
  const SyncLevel level{.every_steps = 10, .delay_steps = 5};
  const SyncSeconds seconds{.exposed_s = 1, .wait_s = 2, .saved_s = 10.0 / 4, .late = 0.25};
  EXPECT_DOUBLE_EQ(trained_share(level, seconds), 0.75 * (1 - 0.25 * 0.5));
  const MeanStep mean = mean_step({level}, {seconds}, 2);
  EXPECT_DOUBLE_EQ(mean.inner_s, 2 - 0.25);
  EXPECT_DOUBLE_EQ(mean.all_s, (2 - 0.25 + 0.3) / (0.75 * 0.875));
}

TEST(SyncLevel, AnOuterOptimizerKeepsItsMomentum) {
  EXPECT_EQ(outer_state_bytes_per_parameter({.optimizer = OuterOptimizer::average}), 4);
  EXPECT_EQ(outer_state_bytes_per_parameter({.optimizer = OuterOptimizer::nesterov}), 8);
}

TEST(SyncLevel, NeighboursAreThoseOfTheGraph) {
  EXPECT_EQ(graph_degree(SyncGraph::ring, 2), 1);
  EXPECT_EQ(graph_degree(SyncGraph::ring, 16), 2);
  EXPECT_EQ(graph_degree(SyncGraph::exponential, 16), 4);
  EXPECT_EQ(graph_degree(SyncGraph::random, 16), 15);
  SyncLevel level{.pattern = SyncPattern::gossip, .graph = SyncGraph::exponential};
  EXPECT_EQ(gossip_peers(level, 16), 4);
  level.peers = 1;
  EXPECT_EQ(gossip_peers(level, 16), 1);
  EXPECT_EQ(gossip_peers({.graph = SyncGraph::random}, 16), 1);
  EXPECT_EQ(outer_state_bytes_per_parameter({.pattern = SyncPattern::gossip}), 4);
  EXPECT_EQ(outer_state_bytes_per_parameter({.pattern = SyncPattern::none}), 0);
}

// Steps wait for exchanges at random times only if links cannot carry them in the steps between two
// exchanges, so that they queue.
TEST(SyncLevel, ExchangesAtRandomTimesAreNotFreeOfTheirLinks) {
  SyncLevel level{.every_steps = 10, .delay_steps = 2};
  EXPECT_EQ(exposed_seconds(level, 5, 1), 3);
  EXPECT_EQ(exposed_seconds(level, 1, 1), 0);
  level.events = SyncEvents::poisson;
  EXPECT_EQ(exposed_seconds(level, 10, 1), 0);
  EXPECT_EQ(exposed_seconds(level, 46, 1), 36);
  level.delay_steps = 0;
  EXPECT_EQ(exposed_seconds(level, 10, 1), 0);
}

// Each level alone would be hidden, but each takes 0.8 of the time of the stream that they share.
TEST(SyncLevel, LevelsShareTheirLinks) {
  const std::vector<SyncLevel> levels = {{.over = "node", .every_steps = 10, .delay_steps = 10},
                                         {.over = "site", .every_steps = 100, .delay_steps = 100}};
  std::vector<SyncSeconds> seconds = {{.exchange_s = 8}, {.exchange_s = 80}};
  fit_on_links(levels, seconds, 1);
  EXPECT_DOUBLE_EQ(mean_step(levels, seconds, 1).all_s, 1.6);
  seconds = {{.exchange_s = 4}, {.exchange_s = 40}};
  fit_on_links(levels, seconds, 1);
  EXPECT_DOUBLE_EQ(mean_step(levels, seconds, 1).all_s, 1);
}

}  // namespace
}  // namespace windtunnel
