// Plans for other machines and models contain nothing that the named software would refuse. Its
// conditions are repeated here from the sources that software.yaml names, so that a missing or
// wrong rule there fails here.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/language/case.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "scenarios/language/library/library.hpp"
#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {
namespace {

struct Asked {
  int nodes;
  const char* node;
  const char* model;
  double tokens;
  const char* framework;  // empty: the plan chooses
};

constexpr Asked kAsked[] = {
    {96, "dgx-h200", "llama3.1-70b", 6e12, ""},
    {16, "dgx-a100", "llama3-8b", 1e12, ""},
    {12, "dgx-a100", "mistral-nemo-12b", 5e11, ""},
    {24, "dgx-a100-40", "llama2-13b", 3e11, "deepspeed"},
    {64, "dgx-h100", "llama3-70b", 2e12, ""},
    {20, "dgx-h100", "qwen2.5-32b", 4e12, ""},
    {11, "dgx-h100", "qwen2.5-14b", 1e12, "torchtitan"},
    {48, "dgx-h100", "mistral-large-123b", 3e12, "torchtitan"},
    {40, "dgx-h200", "qwen2.5-72b", 5e12, ""},
    {24, "dgx-h200", "llama2-34b", 8e11, "torchtitan"},
    {18, "dgx-b200", "llama3.1-70b", 3e12, ""},
    {32, "dgx-b200", "mixtral-8x7b", 2e12, ""},
    {4, "gb200-nvl72", "llama3-70b", 2e12, ""},
    {6, "gb200-nvl72", "mixtral-8x22b", 2e12, ""},
    {32, "mi300x", "llama3-70b", 1e12, ""},
    {10, "mi300x", "mixtral-8x7b", 5e11, ""},
    {64, "gh200", "llama3-8b", 5e11, ""},
    {24, "alps-gh200", "qwen2.5-14b", 1e12, "deepspeed"},
    {8, "pcie-rtx4090", "llama3.2-1b", 2e11, ""},
    {8, "tpu-v5p", "llama3-8b", 5e11, ""},
    {16, "aws-trn2", "llama3-8b", 5e11, ""},
    {16, "hl-325", "llama2-13b", 5e11, ""},
    {8, "hgx-b300", "qwen3-30b-a3b", 1e12, "torchtitan"},
    {8, "mi355x", "qwen2.5-32b", 5e11, "deepspeed"},
    {32, "dgx-v100", "gpt-7.5b", 3e11, ""},
};

// Interleaving in Megatron has groups of N = pp of the M micro-batches; it refuses 0 < M mod N < pp
// and M < N.
bool megatron_interleaves(int micro_batches, int pp) {
  return micro_batches >= pp && micro_batches % pp == 0;
}

bool torch_interleaves(int micro_batches, int pp) {
  return micro_batches % std::max(1, micro_batches / pp) == 0;
}

bool is_among(const std::string& word, const std::vector<std::string>& words) {
  return std::ranges::find(words, word) != words.end();
}

void expect_legal(const std::string& software, const Job& job) {
  const Layout& layout = job.layout;
  const int m = job.batch.global / job.batch.micro / layout.dp;
  const std::string& schedule = job.schedule.name;
  const std::string sharding(name_of(layout.sharding));
  const bool interleaved = layout.pp > 1 && schedule == "interleaved-1f1b";
  EXPECT_EQ(m * job.batch.micro * layout.dp, job.batch.global);
  EXPECT_EQ(job.model.heads % layout.tp, 0);
  EXPECT_TRUE(job.model.kv_heads % layout.tp == 0 || layout.tp % job.model.kv_heads == 0);
  EXPECT_EQ((job.model.layers - layout.first_stage_layers - layout.last_stage_layers) %
                (layout.pp * layout.vpp),
            0);
  if (layout.ep > 1) {
    EXPECT_EQ(job.model.moe.experts % layout.ep, 0);
    EXPECT_EQ(layout.tp * layout.cp * layout.dp % layout.ep, 0);
    EXPECT_TRUE(layout.tp == 1 || layout.sequence_parallel);
  }
  if (software == "megatron") {
    EXPECT_TRUE(is_among(schedule, {"1f1b", "interleaved-1f1b"})) << schedule;
    EXPECT_TRUE(is_among(sharding, {"none", "zero1"})) << sharding;
    if (interleaved) {
      EXPECT_TRUE(megatron_interleaves(m, layout.pp)) << m << " on " << layout.pp;
    }
    EXPECT_EQ(job.software.gradient_bytes, job.software.reduce_bytes);
    EXPECT_EQ(job.model.ffn_hidden % layout.tp, 0);
  } else if (software == "deepspeed") {
    EXPECT_EQ(schedule, "1f1b");
    if (layout.pp > 1) {
      EXPECT_TRUE(is_among(sharding, {"none", "zero1"})) << sharding;
    }
  } else if (software == "torchtitan") {
    if (interleaved) {
      EXPECT_TRUE(torch_interleaves(m, layout.pp)) << m << " on " << layout.pp;
    }
    if (layout.pp > 1 && is_among(schedule, {"zb-v", "dualpipev"})) {
      EXPECT_NE(job.software.fusion, Fusion::compiled);
      EXPECT_EQ(layout.vpp, 2);
    }
    if (layout.pp > 1 && schedule == "dualpipev") {
      EXPECT_GE(m, 2 * layout.pp);
    }
    if (layout.pp > 1) {
      EXPECT_TRUE(is_among(sharding, {"none", "zero1"})) << sharding;
      EXPECT_TRUE(schedule != "1f1b" || m >= layout.pp) << m << " on " << layout.pp;
    }
    EXPECT_EQ(job.model.kv_heads % layout.tp, 0);
  } else if (software == "neuron") {
    EXPECT_TRUE(is_among(schedule, {"1f1b", "interleaved-1f1b"})) << schedule;
    EXPECT_TRUE(is_among(sharding, {"none", "zero1"})) << sharding;
    if (interleaved) {
      EXPECT_TRUE(megatron_interleaves(m, layout.pp)) << m << " on " << layout.pp;
    }
    EXPECT_EQ(job.model.ffn_hidden % layout.tp, 0);
  } else if (software == "gaudi-deepspeed") {
    EXPECT_EQ(schedule, "1f1b");
    EXPECT_TRUE(is_among(sharding, {"none", "zero1"})) << sharding;
    EXPECT_EQ(job.model.kv_heads % layout.tp, 0);
  } else {
    EXPECT_EQ(software, "maxtext");
    EXPECT_EQ(layout.pp, 1);
  }
}

TEST(LegalPlans, NoSoftwareWouldRefuseItsPlan) {
  for (const Asked& asked : kAsked) {
    SCOPED_TRACE(std::string(asked.node) + ", " + asked.model);
    PlanRequest request = {
        .model = asked.model, .nodes = asked.nodes, .node = asked.node, .tokens = asked.tokens};
    if (*asked.framework != 0) request.framework = asked.framework;
    const PlanReport plan = *best_of_plan(request, [](const auto&, const auto&) { return false; });
    std::vector<PlanOption> options = {plan.best};
    for (const auto* list : {&plan.layouts, &plan.spares, &plan.snapshots}) {
      options.insert(options.end(), list->begin(), list->end());
    }
    for (const PlanOption& option : options) {
      const Case the_case = parse_case(scenario_text(plan.basis, option.point), "plan");
      expect_legal(plan.basis.framework.name, the_case.job);
      for (const Note& note : the_case.notes) EXPECT_NE(note.key, "software") << note.text;
    }
  }
}

// `init` uses the layout that is fastest in closed form, without the choices of a plan.
TEST(LegalPlans, NorTheFirstScenarioOfInit) {
  for (const Asked& asked : kAsked) {
    SCOPED_TRACE(std::string(asked.node) + ", " + asked.model);
    PlanRequest request = {
        .model = asked.model, .nodes = asked.nodes, .node = asked.node, .tokens = asked.tokens};
    if (*asked.framework != 0) request.framework = asked.framework;
    const std::string software = *asked.framework != 0
                                     ? asked.framework
                                     : usual_framework(find_node(asked.node).gpu.name).name;
    expect_legal(software, parse_case(first_scenario(request).text, "init").job);
  }
}

}  // namespace
}  // namespace windtunnel
