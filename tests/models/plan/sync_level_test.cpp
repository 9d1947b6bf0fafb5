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
  EXPECT_DOUBLE_EQ(mean_step_s(levels, seconds, 2), 2 + 0.1 + 0.2);
  EXPECT_DOUBLE_EQ(mean_step_s({}, {}, 2), 2);
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

TEST(SyncLevel, NobodyWaitsForExchangesAtRandomTimes) {
  SyncLevel level{.every_steps = 10, .delay_steps = 2};
  EXPECT_EQ(exposed_seconds(level, 5, 1), 3);
  EXPECT_EQ(exposed_seconds(level, 1, 1), 0);
  level.events = SyncEvents::poisson;
  EXPECT_EQ(exposed_seconds(level, 5, 1), 0);
}

}  // namespace
}  // namespace windtunnel
