// Forms of tensor parallelism that do not go with the rest of the job: refused where the key
// stands.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenarios/language/case.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

std::string small(const std::string& layout, const std::string& batch,
                  const std::string& software) {
  return fmt::format(
      "name: layouts\nmodel: llama3-8b\ncluster: {{nodes: 2, node: dgx-h100}}\n"
      "layout: {{{}}}\nbatch: {{{}}}\nsoftware: {{{}}}\n",
      layout, batch, software);
}

std::string refusal(const std::string& layout, const std::string& batch,
                    const std::string& software = "tp_overlap: none") {
  return error_of([&] { parse_case(small(layout, batch, software), "layouts.yaml"); });
}

Job accepted(const std::string& layout, const std::string& batch, const std::string& software) {
  return parse_case(small(layout, batch, software), "layouts.yaml").job;
}

TEST(BadLayouts, MeshesThatDoNotDivide) {
  EXPECT_EQ(refusal("tp: 8, tp_form: 2d", "global: 8, micro: 4"),
            "layouts.yaml:4:14: layout.tp 8 is not a square; with layout.tp_form 2d take 4 or 9, "
            "or tp_form 1d");
  EXPECT_EQ(refusal("tp: 4, tp_form: 2d, sequence_parallel: true", "global: 8, micro: 2"),
            "layouts.yaml:4:49: layout.sequence_parallel: with layout.tp_form 2d no activation is "
            "whole on a rank; leave it false");
  EXPECT_EQ(refusal("tp: 4, tp_form: 2d", "global: 12, micro: 3"),
            "layouts.yaml:5:28: batch.micro 3 does not divide by the 2 rows of the mesh "
            "(layout.tp_form 2d, layout.tp 4)");
  EXPECT_EQ(refusal("tp: 4, tp_form: 3d", "global: 8, micro: 2"),
            "layouts.yaml:4:26: unknown tp_form '3d'; did you mean '1d'?");
}

TEST(BadLayouts, OverlapsThatHaveNothingToOverlap) {
  EXPECT_EQ(refusal("tp: 8", "global: 8, micro: 2", "tp_overlap: {form: domino, rows: 4}"),
            "layouts.yaml:6:12: software.tp_overlap: 4 row slices are more than the 2 sequences of "
            "a micro-batch; raise batch.micro");
  EXPECT_EQ(
      refusal("tp: 8", "global: 12, micro: 3", "tp_overlap: sub-pipelined"),
      "layouts.yaml:6:12: software.tp_overlap: the 3 sequences of a micro-batch (batch.micro) "
      "do not divide into 2 row slices");
  EXPECT_EQ(refusal("tp: 8", "global: 8", "tp_overlap: {form: domino, rows: 1}"),
            "layouts.yaml:6:12: software.tp_overlap: domino with one row slice and one column "
            "piece overlaps nothing; set rows or columns to 2");
  EXPECT_EQ(refusal("tp: 4, tp_form: 2d", "global: 8, micro: 2", "tp_overlap: ladder"),
            "layouts.yaml:6:12: software.tp_overlap: with layout.tp_form 2d every GEMM waits for "
            "its blocks; take none");
  EXPECT_EQ(refusal("tp: 8", "global: 8", "tp_overlap: pipelined"),
            "layouts.yaml:6:12: software.tp_overlap: pipelined cuts up the gathers and scatters of "
            "sequence parallelism, which is off; set layout.sequence_parallel: true, or take "
            "another form");
  EXPECT_EQ(refusal("tp: 8", "global: 8, micro: 2", "tp_overlap: {form: ladder, rows: 2}"),
            "layouts.yaml:6:45: software.tp_overlap.rows: only form: domino cuts as told; set that "
            "form, or leave this out");
  EXPECT_EQ(refusal("tp: 8", "global: 8, micro: 2", "tp_overlap: {columns: 2}"),
            "layouts.yaml:6:34: software.tp_overlap.columns: only form: domino cuts as told; set "
            "that form, or leave this out");
}

TEST(BadLayouts, PackagesThatAreNone) {
  const auto refused = [](const std::string& node) {
    return error_of([&] {
      parse_case("name: a\nmodel: llama3-8b\ncluster:\n  nodes: 2\n  node: {" + node +
                     "}\nlayout: {tp: 1}\nbatch: {global: 32}\n",
                 "a.yaml");
    });
  };
  EXPECT_EQ(refused("base: dgx-h100, package: 900 GB/s"),
            "a.yaml:5:35: cluster.node.package: a package has one GPU here; add package_gpus");
  EXPECT_EQ(refused("base: dgx-h100, package_gpus: 2"),
            "a.yaml:5:40: cluster.node.package_gpus: how fast GPUs of a package reach each other "
            "is not stated; add package");
  EXPECT_EQ(refused("base: frontier-mi250x, gpus: 7, nics: 7"),
            "a.yaml:5:3: cluster.node: 7 GPUs are no whole packages of 2; set package_gpus: 1, or "
            "other gpus");
  EXPECT_EQ(refused("base: frontier-mi250x, gpu_path: pcie"),
            "a.yaml:5:3: cluster.node: GPUs of a package need no PCIe; set package_gpus: 1, or "
            "gpu_path: nvlink");
}

TEST(BadLayouts, FormsAreReadAndTheOldFlagStillWorks) {
  const Job domino =
      accepted("tp: 8", "global: 16, micro: 4", "tp_overlap: {form: domino, rows: 4, columns: 2}");
  EXPECT_EQ(domino.software.tp_overlap, TensorOverlap::domino);
  EXPECT_EQ(domino.software.domino_rows, 4);
  EXPECT_EQ(domino.software.domino_columns, 2);
  const std::string parallel = "tp: 8, sequence_parallel: true";
  EXPECT_EQ(accepted(parallel, "global: 8", "tp_overlap: true").software.tp_overlap,
            TensorOverlap::pipelined);
  EXPECT_EQ(accepted("tp: 8", "global: 8", "tp_overlap: false").software.tp_overlap,
            TensorOverlap::none);
  EXPECT_EQ(
      accepted("tp: 4, tp_form: 2d", "global: 8, micro: 2", "tp_overlap: none").layout.mesh_side(),
      2);
}

}  // namespace
}  // namespace windtunnel
