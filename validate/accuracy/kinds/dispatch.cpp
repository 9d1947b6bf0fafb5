// Compares a library's dispatch and combine of tokens with a step's all-to-alls
// (expert_parallel.hpp).
#include "models/cost/chunk/block_coster.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "validate/accuracy/collectives/collective_machine.hpp"
#include "validate/accuracy/kinds/kinds.hpp"

namespace windtunnel {
namespace {

struct ExchangeRow {
  std::string id, library, gpu, network, mode, operation, dtype, note;
  std::size_t table_row = 0;
  int gpus = 0, nodes = 0, tokens = 0, hidden = 0, per_token = 0, experts = 0;
  std::optional<double> seconds;
  std::optional<double> bottleneck_Bps;  // bytes over the slowest link, divided by the time
};

constexpr auto kWays = std::to_array<std::string_view>({"dispatch", "combine"});
constexpr auto kTypes = std::to_array<std::string_view>({"fp8", "bf16"});
constexpr auto kExchangeColumns = std::to_array<RowField<ExchangeRow>>({
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

// Finds the GPU in "H200 (EFA rows, p5en) / H100 (CX7 rows)", which names one per network.
const GpuName& gpu_of(const ExchangeRow& row) {
  const std::string second = row.gpu.substr(std::min(row.gpu.find(" / "), row.gpu.size()));
  const std::string network = row.network.substr(0, row.network.find(' '));
  return gpu_named(contains_text(second, network) ? second : row.gpu, false);
}

// docs/reference/rows.md explains what is sent how often, with sources.
std::string exchange_scenario(const ExchangeRow& row) {
  const bool merged = contains_text(row.mode, "training") && !contains_text(row.library, "pplx");
  const bool grouped = contains_text(row.note, "top-4 groups");
  // The text may name NVLink before a " + "; the network between nodes follows it.
  const NetworkText network = read_network(row.network.substr(row.network.find(" + ") + 1));
  // GPUs of one NVLink domain are one node, whatever number of hosts they are in.
  const bool rack = network.nic_Bps == 0 && row.gpus <= find_node(gpu_of(row).node).gpus;
  const int nodes = rack ? 1 : row.nodes;
  const int gpus = divide_gpus(row.gpus, nodes);
  if (network.nic_Bps == 0 && nodes > 1) throw Error("the speed of the network is not stated");
  // The scenario has at most one NIC per GPU, so several become one with their combined speed.
  const int nics = network.nics > 0 ? std::min(network.nics, gpus) : gpus;
  const double nic_Bps = network.nic_Bps * std::max(1, network.nics / nics);
  std::string of_nics = fmt::format(", nics: {}", nics);
  if (network.nic_Bps > 0) of_nics += fmt::format(", nic: {} B/s", nic_Bps);
  return fmt::format(
      "name: experts\nmodel: {{base: deepseek-v3, hidden: {}, moe: {{experts: {}, per_token: "
      "{}, groups: {}, groups_per_token: {}}}}}\n"
      "cluster: {{nodes: {}, node: {{base: {}, gpus: {}{}}}, fabric: {{base: full-bisection, "
      "transport: {}}}}}\nlayout: {{ep: {}}}\nbatch: {{global: {}, micro: 1, sequence: {}}}\n"
      "precision: bf16\nsoftware: {{ep_merged: {}, ep_one_sided: true}}\n{}calibration: {}\n",
      row.hidden, row.experts, row.per_token, grouped ? 8 : 1, grouped ? 4 : 1, nodes,
      gpu_of(row).node, gpus, of_nics, contains_text(row.network, "EFA") ? "efa" : "infiniband",
      row.gpus, row.gpus, row.tokens, merged,
      row.dtype == "fp8" ? "compress: [{axis: ep, name: fp8, passes: dispatch}]\n" : "",
      gpu_of(row).calibration);
}

// Rows that were used to fit numbers of one-sided all-to-alls.
std::vector<FittedOn> rows_of_one_sided() {
  std::vector<FittedOn> rows;
  for (const Transport transport : {Transport::infiniband, Transport::efa}) {
    const InterconnectLaw law = specified_interconnect_law(find_node("dgx-h100"), transport);
    for (const Parameter* number : {&law.one_sided_launch_s, &law.one_sided_step_s,
                                    &law.one_sided_node, &law.one_sided_net}) {
      rows.insert(rows.end(), number->fitted_on.begin(), number->fitted_on.end());
    }
  }
  return rows;
}

std::vector<PredictedRow> predict_exchange(const ExchangeRow& row) {
  if (!row.seconds && !row.bottleneck_Bps) throw Error("neither time nor bandwidth is stated");
  const Job job = case_of_row(exchange_scenario(row)).job;
  const PassRounds rounds = BlockCoster(job).layer(job.model.block_of(job.model.layers - 1)).rounds;
  const auto round = std::ranges::find(rounds.forward, Category::ep, &InnerRound::category);
  if (round == rounds.forward.end()) throw Error("nothing is sent, because a rank has all experts");
  const InnerCollective& sent =
      row.operation == "dispatch" ? round->collectives.front() : round->collectives.back();
  const NodeSpec& node = job.cluster.node;
  const double link_Bps =
      job.cluster.nodes == 1 ? node.nvlink_Bps.value : node.nic_Bps.value * node.nics / node.gpus;
  const char* suspect = contains_text(row.note, "SUSPECT") ? "suspect_" : "";
  PredictedRow figure =
      figure_of(row, fmt::format("{}, {}", row.library, row.mode),
                fmt::format("{}{}_s", suspect, row.operation),
                row.seconds ? *row.seconds : sent.bytes / *row.bottleneck_Bps, sent.seconds,
                fmt::format("{} tokens of {} GPUs, {}", row.tokens, row.gpus, row.dtype));
  figure.row.origin = sent.origin;
  figure.row.baselines = {{"bytes / specified bandwidth", sent.bytes / link_Bps}};
  if (!row.seconds) {
    figure.family_note =
        "bandwidths are stated; a time is the bytes of the model divided by the bandwidth";
  }
  return {figure};
}

}  // namespace

MeasuredKind dispatch_kind() {
  return {"dispatch",
          "dispatch and combine of experts",
          "compare times of sending tokens to experts and back, by library and network",
          {"operation", "tokens", "topk", "experts", "time_us"},
          "library~\"DeepEP\"",
          [](const KindOptions& options) {
            return judge_files<ExchangeRow>(options, kExchangeColumns, predict_exchange,
                                            rows_of_one_sided());
          }};
}

}  // namespace windtunnel
