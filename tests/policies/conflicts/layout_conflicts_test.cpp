#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "models/workload/axes.hpp"
#include "models/workload/layer_table.hpp"
#include "models/workload/training.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/conflicts/features.hpp"
#include "policies/iteration.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/pool_job.hpp"
#include "tests/support/small_job.hpp"
#include "tests/support/towers.hpp"

namespace windtunnel {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::string refusal_of(const std::function<void(Job& job)>& change) {
  Job job = small_job(1, 1, 4);
  change(job);
  return error_of([&] { check_conflicts(layout_conflicts(), job); });
}

TEST(LayoutConflicts, APlainJobHasNone) {
  EXPECT_EQ(refusal_of([](Job&) {}), "no error");
}

// Rows are checked before the number of ranks is, so that the error names the cause and not its
// consequence.
TEST(LayoutConflicts, NameTheReasonOfALayoutThatCannotBe) {
  const auto linear = [](ContextForm form) {
    return [form](Job& job) {
      job.layout.cp = 3;
      job.layout.context = form;
      job.model.attention = AttentionKernel::linear;
    };
  };
  EXPECT_THAT(refusal_of(linear(ContextForm::ring)),
              EndsWith("; linear attention takes lasp or ulysses"));
  EXPECT_EQ(refusal_of(linear(ContextForm::lasp)), "no error");
  EXPECT_EQ(refusal_of(linear(ContextForm::ulysses)), "no error");
  const auto flash = [](ContextForm form) {
    return [form](Job& job) {
      job.layout.cp = 2;
      job.layout.context = form;
    };
  };
  EXPECT_THAT(refusal_of(flash(ContextForm::lasp)), EndsWith("model.attention: linear"));
  EXPECT_THAT(refusal_of(flash(ContextForm::rsa)), EndsWith("model.attention: unfused"));
  EXPECT_EQ(refusal_of(flash(ContextForm::ring)), "no error");
  EXPECT_THAT(refusal_of([](Job& job) {
                job.model.attention = AttentionKernel::linear;
                job.model.frames = 4;
              }),
              testing::StartsWith("model.frames: frames divide the sequence of softmax attention, "
                                  "not of linear attention"));
}

TEST(LayoutConflicts, APatternHasLayersOfOneHalf) {
  const auto pattern = [](TensorOverlap form) {
    return [form](Job& job) {
      job.layout.tp = 2;
      job.model.pattern = "M-M*";
      job.software.tp_overlap = form;
    };
  };
  EXPECT_THAT(refusal_of(pattern(TensorOverlap::domino)), EndsWith("take pipelined or none"));
  EXPECT_EQ(refusal_of(pattern(TensorOverlap::pipelined)), "no error");
  EXPECT_EQ(refusal_of(pattern(TensorOverlap::none)), "no error");
}

// A step of a single rank ends by itself, whatever order of gradients is requested.
TEST(LayoutConflicts, DispatchNeedsStepsThatEnd) {
  const auto dispatched = [](int dp) {
    return [dp](Job& job) {
      job.layout.dp = dp;
      job.software.dispatch_latency_s = 1e-3;
      job.communication.overlap = GradientOverlap::dear;
    };
  };
  EXPECT_THAT(refusal_of(dispatched(4)), EndsWith("set communication.overlap: bucketed"));
  EXPECT_EQ(refusal_of(dispatched(1)), "no error");
}

// Automatic shares conflict with other features only where they come out unequal, which they do not
// on nodes that are all alike.
TEST(LayoutConflicts, SharesAreAskedWhereTheyAreUnlike) {
  Job job = pool_job(PoolAxis::dp);
  job.batch.shares = BatchShares::automatic;
  job.communication.overlap = GradientOverlap::dear;
  ASSERT_TRUE(first_refusal(share_conflicts(), job));
  const auto fault = [&] { return error_of([&] { prepare_iteration(job); }); };
  EXPECT_THAT(fault(), HasSubstr("different numbers of micro-batches"));
  for (Pool& pool : job.cluster.pools) pool.node = job.cluster.pools[0].node;
  job.cluster.node = job.cluster.shared = shared_node(job.cluster.pools);
  EXPECT_EQ(fault(), "no error");
}

// A frozen tower leaves Muon only the decoder's matrices.
TEST(LayoutConflicts, MuonUpdatesNoTower) {
  const auto muon = [](bool projector) {
    return [projector](Job& job) {
      job = job_with_tower(std::move(job));
      job.software.optimizer = Optimizer::muon;
      job.training = std::make_shared<const Training>(Training{.frozen_projector = !projector});
    };
  };
  EXPECT_THAT(refusal_of(muon(true)), EndsWith("or set train.frozen: [tower, projector]"));
  EXPECT_EQ(refusal_of(muon(false)), "no error");
}

struct RowCase {
  const char* part;  // a part of the row's text
  std::function<void(Job& job)> change;
};

void make_table(Job& job) {
  job.network = std::make_shared<const LayerTable>();
}

void make_mesh(Job& job) {
  job.layout.tp = 4;
  job.layout.tensor = TensorForm::two_d;
}

void dispatch(Job& job) {
  job.software.dispatch_latency_s = 1e-3;
}

void cross_in_ranks(Job& job) {
  job.layout.pp = 2;
  job.communication.boundary_rank = 8;
}

std::vector<RowCase> table_cases() {
  std::vector<RowCase> cases;
  for (const Axis& axis : kAxes) {
    if (axis.name == "dp") continue;
    cases.push_back({"is 2, but model 'small' is a table of layers", [&axis](Job& job) {
                       make_table(job);
                       job.layout.*axis.size = 2;
                     }});
  }
  cases.push_back({"muon updates the matrices", [](Job& job) {
                     make_table(job);
                     job.software.optimizer = Optimizer::muon;
                   }});
  cases.push_back({"only a search can choose the layers to recompute", [](Job& job) {
                     make_table(job);
                     job.recompute.modules = 1;
                   }});
  cases.push_back({"adapters belong to matrices of a", [](Job& job) {
                     make_table(job);
                     const Training training{.adapter = {.kind = AdapterKind::lora, .rank = 8}};
                     job.training = std::make_shared<const Training>(training);
                   }});
  return cases;
}

std::vector<RowCase> model_cases() {
  const auto context = [](ContextForm form, AttentionKernel attention) {
    return [=](Job& job) {
      job.layout.cp = 2;
      job.layout.context = form;
      job.model.attention = attention;
    };
  };
  const auto choose_keys = [](Job& job) {
    job.model.sparse = {.heads = 4, .width = 64, .top_k = 256};
  };
  return {
      {"chooses among the keys of the whole sequence",
       [=](Job& job) {
         choose_keys(job);
         job.layout.cp = 2;
       }},
      {"that a causal mask leaves",
       [=](Job& job) {
         choose_keys(job);
         job.model.bidirectional = true;
       }},
      {"scores whole tokens",
       [=](Job& job) {
         choose_keys(job);
         make_mesh(job);
       }},
      {"multi-token prediction",
       [](Job& job) {
         make_mesh(job);
         job.model.mtp_layers = 1;
       }},
      {"linear attention is causal",
       [](Job& job) {
         job.model.attention = AttentionKernel::linear;
         job.model.bidirectional = true;
       }},
      {"frames divide the sequence of softmax",
       [](Job& job) {
         job.model.attention = AttentionKernel::linear;
         job.model.frames = 4;
       }},
      {"takes lasp or ulysses", context(ContextForm::ring, AttentionKernel::linear)},
      {"the state of linear attention", context(ContextForm::lasp, AttentionKernel::flash)},
      {"rsa keeps the scores in memory; set", context(ContextForm::rsa, AttentionKernel::flash)},
      {"Mamba layers exchange whole heads",
       [](Job& job) {
         job.model.pattern = "M-M*";
         job.layout.cp = 4;
         job.layout.context = ContextForm::usp;
       }},
      {"has a pattern; take 1d",
       [](Job& job) {
         job.model.pattern = "M-M*";
         make_mesh(job);
       }},
      {"2d gives a rank only a part of the width of",
       [](Job& job) {
         job.model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 2048};
         make_mesh(job);
       }},
      {"one half of a layer", [](Job& job) {
         job.model.pattern = "M-M*";
         job.layout.tp = 2;
         job.software.tp_overlap = TensorOverlap::domino;
       }}};
}

// Applies the change to a model with an encoder and a decoder.
std::function<void(Job& job)> on_stacks(const std::function<void(Job& job)>& change) {
  return [change](Job& job) {
    job.model.pattern = "BC";
    job.model.source_tokens = 8;
    change(job);
  };
}

// Applies the change to a model with projected keys and without a mask.
std::function<void(Job& job)> on_projected_keys(const std::function<void(Job& job)>& change) {
  return [change](Job& job) {
    job.model.projected_keys = 8;
    job.model.bidirectional = true;
    change(job);
  };
}

std::vector<RowCase> stack_cases() {
  return {{"ranks would divide images",
           [](Job& job) {
             job = job_with_tower(std::move(job));
             job.layout.cp = 2;
           }},
          {"how it updates those of model.tower",
           [](Job& job) {
             job = job_with_tower(std::move(job));
             job.software.optimizer = Optimizer::muon;
           }},
          {"layers before the decoder",
           [](Job& job) {
             job = job_with_tower(std::move(job));
             make_mesh(job);
           }},
          {"a model with a source sequence needs flash",
           on_stacks([](Job& job) { job.model.attention_gate = true; })},
          {"the encoder has no mask", on_stacks([](Job& job) { job.model.bidirectional = true; })},
          {"model.mtp_layers follow a single stack of",
           on_stacks([](Job& job) { job.model.mtp_layers = 1; })},
          {"a decoder masks single keys, and projection",
           on_stacks([](Job& job) { job.model.projected_keys = 8; })},
          {"dividing the sequences of both encoder and",
           on_stacks([](Job& job) { job.layout.cp = 2; })},
          {"a pipeline whose decoder stages pass on the",
           on_stacks([](Job& job) { job.layout.pp = 2; })},
          {"needs flash or unfused attention without",
           on_projected_keys([](Job& job) { job.model.attention_gate = true; })},
          {"each rank projects the keys of its own part", on_projected_keys([](Job& job) {
             job.layout.cp = 2;
             job.layout.context = ContextForm::ulysses;
           })},
          {"2d gives a rank only a part of the rows, but", on_projected_keys(make_mesh)},
          {"mixes the keys", [](Job& job) { job.model.projected_keys = 8; }}};
}

std::vector<RowCase> step_cases() {
  return {{"every GEMM waits for its blocks",
           [](Job& job) {
             make_mesh(job);
             job.software.tp_overlap = TensorOverlap::pipelined;
           }},
          {"and compress with axis: pp both state how",
           [](Job& job) {
             cross_in_ranks(job);
             job.communication.compressors.pp.name = "fp8";
           }},
          {"layout.pp is 1, so no activations are sent",
           [](Job& job) {
             cross_in_ranks(job);
             job.layout.pp = 1;
           }},
          {"no rank has whole rows",
           [](Job& job) {
             cross_in_ranks(job);
             make_mesh(job);
           }},
          {"set communication.overlap: bucketed",
           [](Job& job) {
             dispatch(job);
             job.communication.overlap = GradientOverlap::dear;
           }},
          {"set software.post_validation: false",
           [](Job& job) {
             dispatch(job);
             job.software.post_validation = true;
           }},
          {"set schedule: 1f1b",
           [](Job& job) {
             dispatch(job);
             job.schedule.name = "pipedream-2bw";
           }},
          {"replicas on cluster.pools do not start their", [](Job& job) {
             job.cluster.pools = {Pool{}};
             job.software.dispatch_gang = DispatchGang::all;
           }}};
}

// Each row is reached by a job that no earlier row refuses.
TEST(LayoutConflicts, EveryRowIsReached) {
  std::set<const Conflict*> reached;
  for (const auto& cases : {table_cases(), model_cases(), stack_cases(), step_cases()}) {
    for (const RowCase& each : cases) {
      Job job = small_job(1, 1, 4);
      each.change(job);
      const auto refusal = first_refusal(layout_conflicts(), job);
      ASSERT_TRUE(refusal) << each.part;
      EXPECT_THAT(refusal->what, HasSubstr(each.part));
      reached.insert(refusal->conflict);
    }
  }
  for (const Conflict& row : layout_conflicts()) {
    EXPECT_TRUE(reached.contains(&row)) << row.is.name << " with " << row.with.name;
  }
}

}  // namespace
}  // namespace windtunnel
