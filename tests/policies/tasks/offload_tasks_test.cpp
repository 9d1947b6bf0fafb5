#include "policies/tasks/offload_tasks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "models/cost/offload/offload.hpp"
#include "policies/protection/snapshot_tasks.hpp"
#include "sim/engine/engine.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

// The node has one GPU with 20 GB/s of PCIe in each direction.
class OneRank : public ::testing::Test {
 protected:
  void SetUp() override {
    offload_.optimizer = MemoryTier::host;
    share();
  }
  void share() { job_.offload = std::make_shared<const Offload>(offload_); }

  // Executes the tasks that `write` adds to the rank.
  template <class Write>
  Timeline executed(const Write& write) {
    Plan plan;
    plan.ranks = 1;
    GroupsAlone alone(plan, job_.cluster);
    const CollectiveCosts costs(job_);
    RankTasks tasks(costs, 0, whole_pipeline_rank(job_.layout), {}, alone);
    OffloadTasks offload(job_, tasks);
    write(tasks, offload);
    plan.classes.push_back(tasks.take());
    validate_plan(plan);
    tasks_ = plan.classes.front().tasks;
    return execute(plan, job_.cluster, {.fold = job_.fold, .calibration = job_.calibration});
  }

  double end_s(const Timeline& timeline, const std::string& name) const {
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      if (tasks_[t].name == name) return timeline.ranks.front().spans[t].end_s;
    }
    ADD_FAILURE() << "no task " << name;
    return 0;
  }

  Job job_ = small_job(1, 1, 1);
  Offload offload_;
  std::vector<Task> tasks_;
};

// By max-min fairness each copy gets half of the link until the smaller one is done.
TEST_F(OneRank, GradientsAndASnapshotShareTheLink) {
  SnapshotTier tier;
  tier.place = SnapshotPlace::host_memory;
  const double state = 14e9 * 7;  // the weights, a seventh, are copied
  const Timeline both = executed([&](RankTasks& tasks, OffloadTasks& offload) {
    offload.evict_gradients({.gradients = 4e9}, "0", 0, -1);
    add_snapshot(job_, tier, state, state, -1, -1, tasks);
  });
  EXPECT_NEAR(end_s(both, "evict gradients 0"), 8e9 / 20e9, 0.01 * 8e9 / 20e9);
  EXPECT_NEAR(end_s(both, "copy to host"), (4e9 + 14e9) / 20e9, 0.01 * 18e9 / 20e9);
}

TEST_F(OneRank, BothWaysOfTheLinkAreIndependent) {
  const Timeline both = executed([&](RankTasks&, OffloadTasks& offload) {
    offload.evict_gradients({.gradients = 2e9}, "0", 0, -1);
    offload.fetch({.weights = 4e9}, "F0.0", 0, 0);
  });
  EXPECT_NEAR(end_s(both, "evict gradients 0"), 0.1, 1e-6);
  EXPECT_NEAR(end_s(both, "fetch weights F0.0"), 0.2, 1e-6);
}

// Updating a parameter moves 30 bytes (4 of gradient, 24 + 2) at the host memory's 200 GB/s; the
// last tile's weights are copied back afterwards.
TEST_F(OneRank, TheStepIsTiledSoThatWeightsReturnBeside) {
  job_.software.reduce_bytes = 4;
  offload_.core_Bps = spec(100e9);
  share();
  const double parameters = 1e9;
  const Timeline timeline =
      executed([&](RankTasks&, OffloadTasks& offload) { offload.step(parameters, {}); });
  const double update_s = 30 * parameters / 200e9;
  const double back_s = 2 * parameters / 20e9;
  EXPECT_NEAR(end_s(timeline, "update 7"), update_s, 0.15 * update_s);  // copies take a part of it
  EXPECT_GT(timeline.makespan_s, update_s + back_s / 8);
  EXPECT_LT(timeline.makespan_s, 1.15 * update_s + back_s / 8);
}

// The time holds whatever share of the optimizer's step runs on the host.
TEST_F(OneRank, TheHostsTimeBetweenStepsStays) {
  job_.software.host_step_s = 30;
  for (const double on_host : {0.0, 0.5, 1.0}) {
    offload_.optimizer_share = on_host;
    share();
    const Timeline timeline =
        executed([&](RankTasks&, OffloadTasks& offload) { offload.step(1e9, {}); });
    const double here_s = (1 - on_host) * 30e9 / 2e12;
    EXPECT_NEAR(timeline.makespan_s, 30 + here_s, 1e-6) << on_host;
  }
}

TEST_F(OneRank, ADelayedStepRunsBesideTheNextIteration) {
  offload_.delayed = true;
  share();
  const Timeline timeline = executed([&](RankTasks& tasks, OffloadTasks& offload) {
    Task pass;
    pass.name = "pass";
    pass.stream = kCompute;
    pass.cost = {{Category::forward, Origin::spec, 10}};
    offload.begin_iteration(1e9, -1);
    const TaskIndex computed = tasks.append(pass);
    offload.step(1e9, {computed});
  });
  EXPECT_NEAR(timeline.makespan_s, 10, 1e-6);
}

TEST_F(OneRank, DrivesAreReadAndWritten) {
  offload_.optimizer = MemoryTier::disk;
  offload_.core_Bps = spec(1e12);
  job_.cluster.node.local_disk_Bps = spec(2e9);
  share();
  const double parameters = 1e9;
  const Timeline timeline =
      executed([&](RankTasks&, OffloadTasks& offload) { offload.step(parameters, {}); });
  EXPECT_NEAR(timeline.makespan_s, 2 * 12 * parameters / 2e9, 0.05 * 12);
}

// In a ring of sections (SE-MoE) a layer is fetched only after the layer that used its section has
// been computed.
TEST_F(OneRank, ARingOfSectionsHidesCopiesBehindLayers) {
  struct Layer {
    double fetch_s;
    double compute_s;
  };
  const std::vector<Layer> equal(12, {0.2, 0.1});
  const std::vector<Layer> quick(12, {0.1, 0.2});
  std::vector<Layer> unequal;  // with and without experts
  for (int i = 0; i < 12; ++i) unequal.push_back(i % 2 == 0 ? Layer{0.05, 0.3} : Layer{0.5, 0.25});
  const auto measured = [&](const std::vector<Layer>& layers, int sections) {
    offload_.weights = MemoryTier::host;
    offload_.sections = sections;
    share();
    return executed([&](RankTasks& tasks, OffloadTasks& offload) {
             for (const Layer& layer : layers) {
               const HostCopies piece{.weights = 20e9 * layer.fetch_s};
               Task pass;
               pass.name = "pass";
               pass.stream = kCompute;
               pass.cost = {{Category::forward, Origin::spec, layer.compute_s}};
               pass.after = {offload.fetch(piece, "F", 0, 0)};
               offload.used(piece, tasks.append(pass));
             }
           })
        .makespan_s;
  };
  const auto expected = [](const std::vector<Layer>& layers, int sections) {
    std::vector<double> used_s(sections, 0);
    double fetched_s = 0;
    double computed_s = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      fetched_s = std::max(fetched_s, used_s[i % sections]) + layers[i].fetch_s;
      computed_s = std::max(computed_s, fetched_s) + layers[i].compute_s;
      used_s[i % sections] = computed_s;
    }
    return computed_s;
  };
  for (const auto& layers : {equal, quick, unequal}) {
    for (int sections = 1; sections <= 5; ++sections) {
      EXPECT_NEAR(measured(layers, sections), expected(layers, sections), 1e-6) << sections;
    }
  }
  // With one section copies and layers alternate. With more, the slower of the two decides, and the
  // first copy or last layer is added.
  EXPECT_NEAR(measured(equal, 1), 12 * 0.3, 1e-6);
  for (const int sections : {2, 3}) {
    EXPECT_NEAR(measured(equal, sections), 12 * 0.2 + 0.1, 1e-6);
    EXPECT_NEAR(measured(quick, sections), 0.1 + 12 * 0.2, 1e-6);
  }
  // With unequal layers a third section hides what two cannot.
  EXPECT_LT(measured(unequal, 3), 0.95 * measured(unequal, 2));
}

// If pieces arrive faster than the link evicts them, a pass waits for the eviction two pieces
// before its own.
TEST_F(OneRank, PassesWaitForRoom) {
  const HostCopies piece{.activations = 1e9};
  executed([&](RankTasks&, OffloadTasks& offload) {
    EXPECT_TRUE(offload.take_room(piece).empty());
    offload.evict_activations(piece, "F0.0/0", 0, 0, -1);
    EXPECT_TRUE(offload.take_room(piece).empty());
    offload.evict_activations(piece, "F0.0/1", 0, 0, -1);
    EXPECT_EQ(offload.take_room(piece), std::vector<TaskIndex>{0});
    EXPECT_TRUE(offload.take_room({}).empty());
  });
}

// A piece is fetched only after its eviction, in reverse order, and at most two pieces are on the
// GPU at once.
TEST_F(OneRank, ActivationsComeBackInReverse) {
  const HostCopies piece{.activations = 1e9};
  const Timeline timeline = executed([&](RankTasks& tasks, OffloadTasks& offload) {
    for (const char* name : {"0", "1", "2"}) offload.evict_activations(piece, name, 0, 5, -1);
    for (const char* name : {"2", "1", "0"}) {
      Task pass;
      pass.name = name;
      pass.stream = kCompute;
      pass.cost = {{Category::backward, Origin::spec, 1}};
      pass.after = {offload.fetch(piece, name, 0, 5)};
      offload.used(piece, tasks.append(pass));
    }
  });
  EXPECT_NEAR(end_s(timeline, "evict activations 2"), 0.15, 1e-6);
  EXPECT_NEAR(end_s(timeline, "fetch activations 2"), 0.2, 1e-6);
  EXPECT_NEAR(end_s(timeline, "fetch activations 1"), 0.25, 1e-6);
  EXPECT_NEAR(end_s(timeline, "fetch activations 0"), 1.25, 1e-6);  // begins when "2" is done
}

}  // namespace
}  // namespace windtunnel
