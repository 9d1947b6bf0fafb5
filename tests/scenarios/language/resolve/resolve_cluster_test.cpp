#include <fmt/format.h>

#include "models/workload/layer_table.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

Job job_of(const std::string& keys) {
  return parse_case(fmt::format("name: network\ncluster: {{nodes: 8, node: pcie-rtx2080ti}}\n"
                                "precision: fp32\nbatch: {{global: 2048, micro: 64}}\n{}\n",
                                keys),
                    "s.yaml", {})
      .job;
}

std::string fault_of(const std::string& keys) {
  return error_of([&] { job_of(keys); });
}

TEST(ResolveModel, ATableOfLayersIsAModel) {
  const Job job = job_of("model: resnet-50");
  ASSERT_NE(job.network, nullptr);
  EXPECT_EQ(job.network->name, "resnet-50");
  EXPECT_EQ(job.model.name, "resnet-50");
  EXPECT_EQ(job.batch.sequence, 1);
  EXPECT_EQ(job.layout.dp, 32);
  EXPECT_EQ(job_of("model: bert-large").network, nullptr);
}

TEST(ResolveModel, ATableOfLayersStaysAsItIs) {
  EXPECT_EQ(fault_of("model: {base: resnet-50, layers: 3}"),
            "s.yaml:5:34: model.layers: 'resnet-50' is a table of layers, which has no such "
            "dimension");
  EXPECT_EQ(fault_of("model: resnet-5"),
            "s.yaml:5:8: unknown model 'resnet-5'; did you mean "
            "'resnet-50'?");
}

TEST(ResolveModel, WhatATableOfLayersCannotDoIsNamedWithItsPlace) {
  EXPECT_EQ(fault_of("model: resnet-50\nlayout: {pp: 2}"),
            "s.yaml:6:14: layout.pp is 2, but model 'resnet-50' is a table of layers, which runs "
            "data parallel only; set it to 1");
  EXPECT_EQ(fault_of("model: resnet-50\nrecompute: full"),
            "s.yaml:6:12: recompute: model 'resnet-50' keeps its activations; set recompute: none");
}

}  // namespace
}  // namespace windtunnel
