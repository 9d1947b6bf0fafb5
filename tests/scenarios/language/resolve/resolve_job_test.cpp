// Forms of tensor parallelism, lengths and stacks of layers that conflict with the rest of the job
// are refused at their key.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/language/case.hpp"
#include "scenarios/language/library/spec_fields.hpp"
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

TEST(BadBatches, TextThatLeavesNoRoomForAnImage) {
  const std::string text =
      "name: x\nmodel: flux.1-dev\ncluster: {nodes: 2, node: dgx-h100}\n"
      "layout: {sharding: zero3}\nbatch: {global: 16, sequence: 256}\n";
  EXPECT_EQ(error_of([&] { parse_case(text, "image.yaml"); }),
            "image.yaml:5:31: batch.sequence: 256 tokens leave none for an image after the 512 of "
            "the text (model.text_tokens)");
}

TEST(BadBatches, ASourceThatLeavesNoRoomForTheDecoder) {
  const std::string text =
      "name: x\nmodel: t5-large\ncluster: {nodes: 2, node: dgx-h100}\n"
      "layout: {sharding: zero3}\nbatch: {global: 16, sequence: 512}\n";
  EXPECT_EQ(error_of([&] { parse_case(text, "text.yaml"); }),
            "text.yaml:5:31: batch.sequence: 512 tokens leave none for the decoder after the 512 "
            "that the encoder reads (model.source_tokens)");
}

TEST(BadModels, StacksAreAnEncoderAndThenItsDecoder) {
  const auto fault = [](const std::string& pattern, int source) {
    TransformerSpec model;
    model.pattern = pattern;
    model.layers = static_cast<int>(pattern.size());
    model.source_tokens = source;
    return error_of([&] { check_model(model); });
  };
  EXPECT_EQ(fault("BBCC", 8), "no error");
  EXPECT_EQ(fault("BBCC", 0),
            "model.source_tokens: encoder and decoder layers (B, C) divide a sequence; state how "
            "many of its tokens the encoder reads");
  const std::string alone =
      "model.source_tokens: needs a model with only encoder and decoder layers; list only these in "
      "model.hybrid_override_pattern (B and C)";
  EXPECT_EQ(fault("BB", 8), alone);
  EXPECT_EQ(fault("CC", 8), alone);
  EXPECT_EQ(fault("", 8), alone);
  for (const char* pattern : {"CB", "BCB"}) {
    EXPECT_THAT(fault(pattern, 8),
                testing::HasSubstr("is a decoder layer (C) but encoder layers (B) follow it"));
  }
}

TEST(BadModels, ProjectedKeysNeedALength) {
  TransformerSpec model;
  model.layers = 2;
  model.projected_keys = 8;
  model.sequence = 0;
  EXPECT_EQ(error_of([&] { check_model(model); }),
            "model.projected_keys: the size of the matrices depends on model.sequence; state it");
  model.sequence = 64;
  EXPECT_EQ(error_of([&] { check_model(model); }), "no error");
}

TEST(BadLayouts, MeshesThatDoNotDivide) {
  EXPECT_EQ(refusal("tp: 8, tp_form: 2d", "global: 8, micro: 4"),
            "layouts.yaml:4:14: layout.tp 8 is not a square; with layout.tp_form 2d take 4 or 9, "
            "or tp_form 1d");
  EXPECT_EQ(refusal("tp: 4, tp_form: 2d, sequence_parallel: true", "global: 8, micro: 2"),
            "layouts.yaml:4:49: layout.sequence_parallel: with layout.tp_form 2d every activation "
            "is already divided; set it to false");
  EXPECT_EQ(refusal("tp: 4, tp_form: 2d", "global: 12, micro: 3"),
            "layouts.yaml:5:28: batch.micro 3 is not a multiple of the 2 rows of the mesh "
            "(layout.tp_form 2d, layout.tp 4)");
  EXPECT_EQ(refusal("tp: 4, tp_form: 3d", "global: 8, micro: 2"),
            "layouts.yaml:4:26: unknown tp_form '3d'; did you mean '1d'?");
}

TEST(BadLayouts, OverlapsThatHaveNothingToOverlap) {
  EXPECT_EQ(refusal("tp: 8", "global: 8, micro: 2", "tp_overlap: {form: domino, rows: 4}"),
            "layouts.yaml:6:12: software.tp_overlap: 4 row slices are more than the 2 sequences of "
            "a micro-batch; set batch.micro: 4 or more");
  EXPECT_EQ(
      refusal("tp: 8", "global: 12, micro: 3", "tp_overlap: sub-pipelined"),
      "layouts.yaml:6:12: software.tp_overlap: the 3 sequences of a micro-batch (batch.micro) "
      "do not divide into 2 row slices");
  EXPECT_EQ(refusal("tp: 8", "global: 8", "tp_overlap: {form: domino, rows: 1}"),
            "layouts.yaml:6:12: software.tp_overlap: domino with one row slice and one column "
            "piece overlaps nothing; set software.tp_overlap.rows: 2 or "
            "software.tp_overlap.columns: 2");
  EXPECT_EQ(refusal("tp: 4, tp_form: 2d", "global: 8, micro: 2", "tp_overlap: ladder"),
            "layouts.yaml:6:12: software.tp_overlap: with layout.tp_form 2d every GEMM waits for "
            "its blocks; take none");
  EXPECT_EQ(refusal("tp: 8", "global: 8", "tp_overlap: pipelined"),
            "layouts.yaml:6:12: software.tp_overlap: pipelined splits the gathers and scatters of "
            "sequence parallelism, which is off; set layout.sequence_parallel: true, or take "
            "another form");
  EXPECT_EQ(refusal("tp: 8", "global: 8, micro: 2", "tp_overlap: {form: ladder, rows: 2}"),
            "layouts.yaml:6:45: software.tp_overlap.rows: only form: domino uses this key; set "
            "form: domino, or leave it out");
  EXPECT_EQ(refusal("tp: 8", "global: 8, micro: 2", "tp_overlap: {columns: 2}"),
            "layouts.yaml:6:34: software.tp_overlap.columns: only form: domino uses this key; set "
            "form: domino, or leave it out");
}

TEST(BadLayouts, SignaturesThatDivideNothing) {
  const auto signatures = [](const std::string& keys, const std::string& software = "") {
    return refusal("tp: 8, signatures: {" + keys + "}", "global: 8, micro: 2", software);
  };
  EXPECT_EQ(signatures("up: B"), "layouts.yaml:4:34: unknown up 'B'; known: S(0), S(1)");
  EXPECT_EQ(signatures("down: S(2)"),
            "layouts.yaml:4:36: unknown down 'S(2)'; did you mean 'S(0)'?");
  EXPECT_EQ(signatures("downn: S(0)"),
            "layouts.yaml:4:30: unknown layout.signatures key 'downn'; did you mean 'down'?");
  EXPECT_EQ(signatures("activations: B}, sequence_parallel: true, place: {"),
            "layouts.yaml:4:43: layout.signatures.activations: is B, but layout.sequence_parallel "
            "is true; leave one of them out");
  EXPECT_EQ(signatures("up: S(0)", "tp_overlap: ladder"),
            "layouts.yaml:6:12: software.tp_overlap: only the collectives of Megatron-LM's layout "
            "can be hidden; leave layout.signatures out, or take none");
  EXPECT_EQ(refusal("tp: 4, tp_form: 2d, signatures: {up: S(0)}", "global: 8, micro: 2"),
            "layouts.yaml:4:30: layout.signatures: with layout.tp_form 2d every matrix is divided "
            "into blocks; take tp_form 1d");
  EXPECT_TRUE(accepted("tp: 8, signatures: {activations: S(0)}", "global: 8, micro: 2", "")
                  .layout.sequence_parallel);
}

TEST(BadSoftware, DispatchesThatAreNone) {
  const auto dispatch = [](const std::string& keys, const std::string& more = "") {
    return refusal("tp: 8, pp: 2", "global: 8, micro: 2", "dispatch: {" + keys + "}" + more);
  };
  EXPECT_EQ(dispatch("mode: synchronous"),
            "layouts.yaml:6:29: software.dispatch.mode: has no effect: without "
            "software.dispatch.latency every host starts its own programs");
  EXPECT_EQ(dispatch("latency: 1 ms, gang: all"),
            "layouts.yaml:6:44: software.dispatch.gang: with program: step all ranks begin a step "
            "together, after the gradient norm; set program: pass, or leave it out");
  EXPECT_EQ(dispatch("latency: 1 ms", ", post_validation: true"),
            "layouts.yaml:6:12: software.dispatch: programs are dispatched step by step, one step "
            "after the other, but here consecutive steps overlap; set "
            "software.post_validation: false");
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
            "a.yaml:5:35: cluster.node.package: a package has only one GPU; add package_gpus");
  EXPECT_EQ(refused("base: dgx-h100, package_gpus: 2"),
            "a.yaml:5:40: cluster.node.package_gpus: the bandwidth between GPUs of a package is "
            "missing; add package");
  EXPECT_EQ(refused("base: frontier-mi250x, gpus: 7, nics: 7"),
            "a.yaml:5:3: cluster.node: 7 GPUs are no multiple of a package of 2; set package_gpus: "
            "1, or another number of gpus");
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

Recompute stated_recompute(const std::string& text) {
  return parse_case(
             "name: a\nmodel: llama3-8b\ncluster: {nodes: 1, node: dgx-h100}\n"
             "layout: {tp: 8}\nbatch: {global: 8}\nrecompute: " +
                 text + "\n",
             "a.yaml")
      .job.recompute;
}

TEST(ResolveRecompute, SetsListsAndMethods) {
  using enum RecomputeModule;
  EXPECT_EQ(stated_recompute("selective"), Recompute::selective);
  EXPECT_EQ(stated_recompute("mlp"), Recompute::of(mlp));
  EXPECT_EQ(stated_recompute("op"), Recompute::of(matmuls));
  EXPECT_EQ(stated_recompute("[layernorm, core_attn]"), Recompute::of(layernorm, core_attn));
  Recompute block = Recompute::full;
  block.method = RecomputeMethod::block;
  block.layers = 4;
  EXPECT_EQ(stated_recompute("{modules: full, method: block, layers: 4}"), block);
  EXPECT_EQ(stated_recompute("{method: block, layers: 4}"), block);  // whole layers
  EXPECT_EQ(stated_recompute(to_string(block)), block);
  EXPECT_EQ(stated_recompute(to_string(Recompute::of(mlp, layernorm))),
            Recompute::of(layernorm, mlp));
}

TEST(ResolveRecompute, FaultsNameTheirPlace) {
  const auto fault = [](const std::string& text) {
    return error_of([&] { stated_recompute(text); });
  };
  EXPECT_THAT(fault("[mla_up_prj]"), testing::HasSubstr("mla_up_proj"));
  EXPECT_THAT(fault("[]"), testing::HasSubstr("names no module"));
  EXPECT_THAT(fault("{modules: full, method: block}"), testing::HasSubstr("layers: 4"));
  EXPECT_THAT(fault("{modules: [mlp], method: uniform, layers: 2}"),
              testing::HasSubstr("so it needs modules: full"));
  EXPECT_THAT(fault("{modules: full, layers: 2}"), testing::HasSubstr("recompute.method"));
}

}  // namespace
}  // namespace windtunnel
