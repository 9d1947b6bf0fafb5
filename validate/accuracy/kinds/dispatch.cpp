// What a library takes to dispatch tokens to experts and to combine what comes back, against the
// all-to-alls of a step with that layer (models/cost/parallel/expert_parallel.hpp).
#include <fmt/format.h>

#include <array>
#include <cstdio>

#include "models/cost/chunk/block_coster.hpp"
#include "scenarios/language/library/facts/gpu_names.hpp"
#include "scenarios/language/library/library.hpp"
#include "validate/accuracy/collectives/collective_machine.hpp"
#include "validate/accuracy/kinds/kinds.hpp"

namespace windtunnel {
namespace {

struct ExchangeRow {
  std::string id, source, library, gpu, network, mode, operation, dtype, note;
  std::size_t table_row = 0;
  int gpus = 0, nodes = 0, tokens = 0, hidden = 0, per_token = 0, experts = 0;
  std::optional<double> seconds;
  std::optional<double> bottleneck_Bps;  // bytes that cross the slowest link over the time
};

constexpr auto kWays = std::to_array<std::string_view>({"dispatch", "combine"});
constexpr auto kTypes = std::to_array<std::string_view>({"fp8", "bf16"});

constexpr auto kExchangeColumns = std::to_array<RowField<ExchangeRow>>({
    {"source", &ExchangeRow::source, Needs::cell},
    {"library", &ExchangeRow::library, Needs::cell},
    {"gpu", &ExchangeRow::gpu, Needs::cell},
    {"gpus", &ExchangeRow::gpus, Needs::cell, "", 1e6},
    {"nodes", &ExchangeRow::nodes, Needs::cell, "", 1e6},
    {"network", &ExchangeRow::network, Needs::cell},
    {"mode", &ExchangeRow::mode, Needs::cell},
    {"operation", &ExchangeRow::operation, Needs::cell, "", 0, {}, 1, kWays},
    {"tokens", &ExchangeRow::tokens, Needs::cell, "of a rank", 1e8},
    {"hidden", &ExchangeRow::hidden, Needs::cell, "", 1e6},
    {"topk", &ExchangeRow::per_token, Needs::cell, "", 1e4},
    {"experts", &ExchangeRow::experts, Needs::cell, "", 1e5},
    {"dtype", &ExchangeRow::dtype, Needs::cell, "", 0, {}, 1, kTypes},
    {"time_us", &ExchangeRow::seconds, Needs::column, "microseconds", 1e9, {}, 1e-6},
    {"bandwidth_GBps", &ExchangeRow::bottleneck_Bps, Needs::column, "GB/s", 1e6, {}, 1e9},
    {"note", &ExchangeRow::note},
});

// The part of "H200 (EFA rows, p5en) / H100 (CX7 rows)" that names the row's network.
std::string gpu_of(const ExchangeRow& row) {
  const std::size_t slash = row.gpu.find(" / ");
  if (slash == std::string::npos) return row.gpu;
  const std::string word = row.network.substr(0, row.network.find(' '));
  const std::string second = row.gpu.substr(slash + 3);
  return contains_text(second, word) ? second : row.gpu.substr(0, slash);
}

// The layer as a job's: a rank of the group has a micro-batch of the row's tokens. DeepEP's normal
// kernels send a token once to each node that it visits (github.com/deepseek-ai/DeepEP, dd758caf,
// csrc/kernels/internode.cu), its low-latency ones and pplx-garden once to each expert
// (internode_ll.cu; github.com/perplexityai/pplx-garden, p2p-all-to-all/a2a-kernels). Where
// kernels go through NICs alone, GPUs are nodes.
std::string scenario_of(const ExchangeRow& row, const GpuName& gpu) {
  if (row.gpus % row.nodes != 0) throw Error("the GPUs do not divide among the nodes");
  const bool nics_alone = contains_text(row.note, "pure RDMA");
  const bool merged = contains_text(row.library, "DeepEP") && contains_text(row.mode, "training");
  const int gpus = nics_alone ? 1 : row.gpus / row.nodes;
  double nvlink = 0;
  std::sscanf(row.network.c_str(), "NVLink %lf GB/s", &nvlink);
  const std::size_t plus = row.network.find(" + ");
  const NetworkText network =
      read_network(plus == std::string::npos ? row.network : row.network.substr(plus + 3));
  if (network.nic_Bps == 0) throw Error("the speed of the network is not stated");
  const int nics = network.nics > 0 ? network.nics * gpus * row.nodes / row.gpus : gpus;
  return fmt::format(
      "name: experts\nmodel: {{base: deepseek-v3, hidden: {}, moe: {{experts: {}, per_token: "
      "{}}}}}\n"
      "cluster: {{nodes: {}, node: {{base: {}, gpus: {}, nics: {}, nic: {} B/s{}}}, fabric: "
      "{{base: "
      "full-bisection, transport: {}}}}}\nlayout: {{ep: {}}}\nbatch: {{global: {}, micro: 1, "
      "sequence: {}}}\nprecision: bf16\nsoftware: {{ep_merged: {}}}\n{}calibration: {}\n",
      row.hidden, row.experts, row.per_token, row.gpus / gpus, gpu.node, gpus, nics,
      network.nic_Bps, nvlink > 0 ? fmt::format(", nvlink: {} GB/s", nvlink) : "",
      contains_text(row.network, "EFA") ? "efa" : "infiniband", row.gpus, row.gpus, row.tokens,
      merged, row.dtype == "fp8" ? "compress: [{axis: ep, name: fp8, passes: dispatch}]\n" : "",
      gpu.calibration);
}

InnerCollective exchange_of(const Job& job, const std::string& way) {
  const int last = job.model.layers - 1;
  for (const InnerRound& round : BlockCoster(job).layer(job.model.block_of(last)).rounds.forward) {
    if (round.category != Category::ep) continue;
    return way == "dispatch" ? round.collectives.front() : round.collectives.back();
  }
  throw Error("nothing is sent: all experts lie on one rank");
}

std::vector<PredictedRow> predict_exchange(const ExchangeRow& row) {
  if (!row.seconds && !row.bottleneck_Bps) throw Error("neither time nor bandwidth is stated");
  const Job job = case_of_row(scenario_of(row, gpu_named(gpu_of(row), false))).job;
  const InnerCollective sent = exchange_of(job, row.operation);
  const NodeSpec& node = job.cluster.node;
  const double link_Bps =
      job.cluster.nodes > 1 ? node.nic_Bps.value * node.nics / node.gpus : node.nvlink_Bps.value;
  const bool suspect = contains_text(row.note, "SUSPECT");
  PredictedRow result;
  result.row.family = fmt::format("{}, {}", row.library, row.mode);
  result.row.metric = fmt::format("{}{}_s", suspect ? "suspect_" : "", row.operation);
  result.row.measured = row.seconds.value_or(sent.bytes / row.bottleneck_Bps.value_or(1));
  result.row.predicted = sent.seconds;
  result.row.origin = sent.origin;
  result.row.baselines = {{"bytes / specified bandwidth", sent.bytes / link_Bps}};
  result.row.label = fmt::format("{} tokens of {} GPUs, {}", row.tokens, row.gpus, row.dtype);
  result.row.note = row.note;
  if (!row.seconds) {
    result.family_note =
        "the source states bandwidths; a time is the bytes that the model sends, over them";
  }
  return {result};
}

}  // namespace

MeasuredKind dispatch_kind() {
  return {.name = "dispatch",
          .title = "dispatch and combine of experts",
          .help = "times of sending tokens to experts and back, by library and network",
          .columns = {"operation", "tokens", "topk", "experts", "time_us"},
          .where = "gpus>8 && library~\"DeepEP\"",
          .judge = [](const KindOptions& options) {
            return judge_files<ExchangeRow>(options, kExchangeColumns, predict_exchange);
          }};
}

}  // namespace windtunnel
