// Compares the GPU time of a step by kind of kernel, measured in plain PyTorch on one H200
// (tests/data/pytorch_kernels_h200.csv), with the kernels of the step's model. The traffic of
// element-wise kernels was counted with these times known, so that the test shows a description and
// no prediction.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "models/cost/op/op.hpp"
#include "models/cost/op/op_cost.hpp"
#include "scenarios/language/case.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {
namespace {

struct Shape {
  int layers, hidden, heads, kv_heads, ffn, vocabulary;
};
const std::map<std::string, Shape> kShapes = {
    {"Llama 3.2 1B", {16, 2048, 32, 8, 8192, 128256}},
    {"Llama 2 7B", {32, 4096, 32, 32, 11008, 32000}},
    {"Llama-like 350M", {24, 1024, 16, 16, 2816, 32000}},
    {"TinyLlama 1.1B", {22, 2048, 32, 4, 5632, 32000}},
    {"Llama-like wide 2 layers", {2, 8192, 64, 8, 28672, 32000}}};

struct Seconds {
  double products = 0, attention = 0, between = 0;
};

Seconds predicted(const std::string& model, int sequence, int micro, bool compiled) {
  const Shape& shape = kShapes.at(model);
  const Job job =
      parse_case(
          fmt::format(
              "name: kernels\nmodel: {{layers: {}, hidden: {}, heads: {}, kv_heads: {}, "
              "ffn: {}, vocabulary: {}, sequence: {}, activation: swiglu, "
              "normalisation: rms-norm, position: rotary, biases: false, tied_embeddings: false, "
              "separate_projections: true}}\n"
              "cluster: {{nodes: 1, node: {{base: dgx-h200, gpus: 1}}}}\n"
              "calibration: h200-measured\nlayout: {{tp: 1, dp: 1}}\n"
              "batch: {{global: {}, micro: {}}}\nprecision: bf16\n"
              "software: {{fusion: {}, rotary_traffic: 75 B, repeated_keys: true, "
              "gradients: bf16, reductions: bf16}}\n",
              shape.layers, shape.hidden, shape.heads, shape.kv_heads, shape.ffn, shape.vocabulary,
              sequence, micro, micro, compiled ? "compiled" : "none"),
          "kernels.yaml")
          .job;
  Seconds sum;
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    for (const auto& [block, times] : {std::pair{Block::layer, shape.layers}, {Block::head, 1}}) {
      for (const Op& op : block_ops(job, block, pass)) {
        const double seconds =
            times * op_cost(op, job.cluster.node.gpu, job.precision, job.calibration).seconds;
        const bool fused =
            op.kind == OpKind::attention_forward || op.kind == OpKind::attention_backward;
        (op.kind == OpKind::gemm ? sum.products : fused ? sum.attention : sum.between) += seconds;
      }
    }
  }
  return sum;
}

TEST(MeasuredKernels, KindsOfKernelsTakeWhatWasMeasured) {
  const CsvTable table =
      CsvTable::read(WINDTUNNEL_SOURCE_DIR "/tests/data/pytorch_kernels_h200.csv");
  std::map<std::string, Seconds> measured, expected;
  for (size_t row = 0; row < table.rows(); ++row) {
    const auto text = [&](const char* column) { return table.text(row, table.column(column)); };
    const auto number = [&](const char* column) {
      return table.integer(row, table.column(column));
    };
    const std::string kind = text("kind");
    // Heads of 100 are padded to 128, which the model leaves out.
    if (kind == "optimizer" || text("model") == "OpenLLaMA 3B") continue;
    const std::string id = text("model") + " " + text("seq") + " " + text("compiled");
    Seconds& seconds = measured[id];
    (kind == "product"     ? seconds.products
     : kind == "attention" ? seconds.attention
                           : seconds.between) += table.number(row, table.column("seconds"));
    expected[id] =
        predicted(text("model"), number("seq"), number("micro_batch"), number("compiled") == 1);
  }
  EXPECT_EQ(measured.size(), 12U);
  for (const auto& [id, seconds] : measured) {
    const Seconds& model = expected.at(id);
    const auto error = [](double of, double to) { return std::abs(of / to - 1); };
    SCOPED_TRACE(
        fmt::format("{}: products {:.1f} for {:.1f} ms, attention {:.1f} for {:.1f}, "
                    "between {:.1f} for {:.1f}",
                    id, 1e3 * model.products, 1e3 * seconds.products, 1e3 * model.attention,
                    1e3 * seconds.attention, 1e3 * model.between, 1e3 * seconds.between));
    EXPECT_LT(error(model.products, seconds.products), 0.2);
    EXPECT_LT(error(model.attention, seconds.attention), 0.4);
    EXPECT_LT(error(model.between, seconds.between), 0.3);
  }
}

}  // namespace
}  // namespace windtunnel
