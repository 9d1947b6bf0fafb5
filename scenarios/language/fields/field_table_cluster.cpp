// Rows of the field table below "cluster".
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string>

#include "models/base/error.hpp"
#include "scenarios/language/fields/field_rows.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/spec_fields.hpp"

namespace windtunnel {
namespace {

std::vector<std::string> node_names() {
  return names_in(library_nodes());
}
std::vector<std::string> gpu_names() {
  return names_in(library_gpus());
}

Field storage_share_row() {
  Field row = choice_row<&StorageSpec::share>(
      "cluster.storage.share", Dimension::number,
      {.low = 0,
       .above_low = true,
       .high = 1,
       .example = "0.1",
       .help = "of its bandwidth that the job's snapshots may take; no shorter interval is "
               "advised"});
  row.scope = Scope::campaign;
  return row;
}

Rows machine_rows() {
  return {
      map_row(
          "cluster",
          {.required = true, .example = "{nodes: 2048, node: dgx-h100}", .help = "the machine"}),
      whole_row<&Cluster::nodes>(
          "cluster.nodes",
          {.low = 1,
           .high = 1e6,
           .optional = true,
           .example = "2048",
           .help = "nodes of the job; with pools: all of theirs unless it says fewer"}),
      map_row("cluster.storage", {.example = "{write: 2 TB/s, read: 2 TB/s}",
                                  .help = "shared storage, of the whole cluster"}),
      bandwidth_row("cluster.storage.write",
                    {.required = true, .example = "2 TB/s", .help = "sustained"}),
      bandwidth_row("cluster.storage.read",
                    {.required = true, .example = "2 TB/s", .help = "sustained"}),
      duration_row(
          "cluster.storage.latency",
          {.default_text = format_quantity(StorageSpec{}.latency_s.value, Dimension::seconds),
           .example = "50 ms",
           .help = "to open and commit a file"}),
      storage_share_row(),
      fact_row<&StorageSpec::background>(
          "cluster.storage.background", Dimension::number,
          {.low = 0,
           .high = 0.999,
           .example = "0.2",
           .help = "share of its bandwidth that other jobs take on average"}),
      fact_row<&StorageSpec::startup_bytes>(
          "cluster.storage.startup", Dimension::bytes,
          {.low = 0,
           .high = 1e18,
           .optional = true,
           .example = "20 GB",
           .help = "what every node reads at a restart beside a copy: container image, packages, "
                   "index of the data",
           .scope = Scope::campaign}),
      map_row("cluster.storage.storm",
              {.example = "{nodes: 512, read: 100 GB}",
               .help = "other jobs that restart when this one does and read from the same storage",
               .scope = Scope::campaign}),
      whole_row<&StorageStorm::nodes>("cluster.storage.storm.nodes", {.low = 1,
                                                                      .high = 1e6,
                                                                      .required = true,
                                                                      .example = "512",
                                                                      .help = "of those jobs",
                                                                      .scope = Scope::campaign}),
      fact_row<&StorageStorm::read_bytes>("cluster.storage.storm.read", Dimension::bytes,
                                          {.low = 0,
                                           .high = 1e18,
                                           .required = true,
                                           .example = "100 GB",
                                           .help = "by each of those nodes",
                                           .scope = Scope::campaign}),
      fact_row<&StorageStorm::chance>(
          "cluster.storage.storm.chance", Dimension::number,
          {.low = 0,
           .high = 1,
           .example = "0.1",
           .help = "share of this job's restarts that those jobs restart with",
           .scope = Scope::campaign}),
      list_row(
          "cluster.slow_nodes",
          {.default_text = "[]", .example = "[{node: 3, slowdown: 1.2}]", .help = "stragglers"}),
      map_row("cluster.slow_nodes.*", {.example = "{node: 3, slowdown: 1.2}", .help = "one node"}),
      whole_row<&SlowNode::node>(
          "cluster.slow_nodes.*.node",
          {.low = 0, .high = 1e6, .required = true, .example = "3", .help = "its number, from 0"}),
      fact_row<&SlowNode::slowdown>("cluster.slow_nodes.*.slowdown", Dimension::number,
                                    {.low = 1,
                                     .high = 1e4,
                                     .required = true,
                                     .example = "1.2",
                                     .help = "its computations take this many times as long"}),
      list_row("cluster.degraded_nics", {.default_text = "[]",
                                         .example = "[{node: 3, nic: 0, factor: 0.5}]",
                                         .help = "NICs below their bandwidth"}),
      map_row("cluster.degraded_nics.*",
              {.example = "{node: 3, nic: 0, factor: 0.5}", .help = "one NIC"}),
      whole_row<&DegradedNic::node>(
          "cluster.degraded_nics.*.node",
          {.low = 0, .high = 1e6, .required = true, .example = "3", .help = "its node, from 0"}),
      whole_row<&DegradedNic::nic>(
          "cluster.degraded_nics.*.nic",
          {.low = 0, .high = 1000, .required = true, .example = "0", .help = "its number, from 0"}),
      fact_row<&DegradedNic::factor>("cluster.degraded_nics.*.factor", Dimension::number,
                                     {.low = 1e-6,
                                      .high = 1,
                                      .required = true,
                                      .example = "0.5",
                                      .help = "share of the bandwidth that is left"}),
  };
}

Rows jitter_rows() {
  return {
      map_row("cluster.jitter",
              {.example = "{sigma: 0.03}",
               .help = "stragglers in time: kernels take now longer, now shorter; by one law of "
                       "sigma, exponential, pareto, gilbert_elliott, or share with slowdown"}),
      fact_row<&Jitter::sigma>("cluster.jitter.sigma", Dimension::number,
                               {.low = 0,
                                .high = 2,
                                .optional = true,
                                .example = "0.03",
                                .help = "of the logarithm of a log-normal factor of mean 1"}),
      fact_row<&Jitter::exponential>(
          "cluster.jitter.exponential", Dimension::number,
          {.low = 0,
           .high = 1e4,
           .optional = true,
           .example = "0.1",
           .help = "mean of an exponential variable that comes on top of the factor 1"}),
      fact_row<&Jitter::pareto>(
          "cluster.jitter.pareto", Dimension::number,
          {.low = 1.05,
           .high = 1e6,
           .optional = true,
           .example = "4",
           .help = "exponent of a Pareto factor: it is above x with probability x^-exponent"}),
      fact_row<&Jitter::memory>(
          "cluster.jitter.memory", Dimension::number,
          {.low = 0,
           .high = 0.9999,
           .optional = true,
           .example = "0.9",
           .help = "sigma, exponential, pareto: correlation of one step with the next, of the "
                   "normal variable that becomes the factor"}),
      map_row("cluster.jitter.gilbert_elliott",
              {.example = "{good: 500, bad: 20, slowdown: 1.3}",
               .help = "bursts: a good state, and a bad one in which kernels are slower"}),
      fact_row<&Jitter::bursts, &Bursts::good>(
          "cluster.jitter.gilbert_elliott.good", Dimension::number,
          {.low = 1,
           .high = 1e9,
           .required = true,
           .example = "500",
           .help = "steps (or tasks) that the good state lasts on average; 1 / the probability of "
                   "leaving it"}),
      fact_row<&Jitter::bursts, &Bursts::bad>("cluster.jitter.gilbert_elliott.bad",
                                              Dimension::number,
                                              {.low = 1,
                                               .high = 1e9,
                                               .required = true,
                                               .example = "20",
                                               .help = "likewise of the bad state"}),
      fact_row<&Jitter::bursts, &Bursts::slowdown>(
          "cluster.jitter.gilbert_elliott.slowdown", Dimension::number,
          {.low = 1,
           .high = 1e4,
           .required = true,
           .example = "1.3",
           .help = "kernels take this many times as long in the bad state"}),
      fact_row<&Jitter::bursts, &Bursts::tail>(
          "cluster.jitter.gilbert_elliott.tail", Dimension::number,
          {.low = 1.05,
           .high = 1e6,
           .optional = true,
           .example = "3",
           .help = "exponent of a Pareto variable that multiplies the slowdown in each step of the "
                   "bad state"}),
      fact_row<&Jitter::share>("cluster.jitter.share", Dimension::number,
                               {.low = 0,
                                .high = 1,
                                .optional = true,
                                .example = "0.005",
                                .help = "of the steps (or tasks) that are slow, each by itself"}),
      fact_row<&Jitter::slowdown>("cluster.jitter.slowdown", Dimension::number,
                                  {.low = 1,
                                   .high = 1e4,
                                   .optional = true,
                                   .example = "1.1",
                                   .help = "kernels of the slow share take this many times as "
                                           "long"}),
      name_row<&Jitter::per>("cluster.jitter.per",
                             {.example = "task", .help = "how long a factor holds"}),
      name_row<&Jitter::of>("cluster.jitter.of",
                            {.example = "node", .help = "whose kernels have one factor together"}),
      whole_row<&Jitter::draws>(
          "cluster.jitter.draws",
          {.low = 2,
           .high = 1000,
           .example = "32",
           .help = "iterations that are drawn and simulated; the step time is their mean"}),
      whole_row<&Jitter::seed>("cluster.jitter.seed",
                               {.low = 0, .high = 1e8, .example = "1", .help = "of the drawing"}),
  };
}

// At path(""), or at that of a pool.
Rows node_rows(std::string_view at, bool required) {
  static std::deque<std::string> paths;  // the rows refer to them
  const auto path = [&](const char* end) -> std::string_view {
    return paths.emplace_back(fmt::format("{}{}", at, end));
  };
  return {
      map_row(path(""), {.shorthand = "base",
                         .required = required,
                         .example = "dgx-h100",
                         .help = "kind of every node: a name of the library, or a base and what "
                                 "differs from it"}),
      name_row(path(".base"), {.required = true,
                               .library = node_names,
                               .example = "dgx-h100",
                               .help = "the node of the library to start from"}),
      whole_row<&NodeSpec::gpus>(path(".gpus"), {.low = 1,
                                                 .high = 1000,
                                                 .optional = true,
                                                 .example = "8",
                                                 .help = "GPUs, all in one NVLink domain"}),
      bandwidth_row(path(".nvlink"), {.example = "450 GB/s", .help = "per GPU and direction"}),
      whole_row<&NodeSpec::package_gpus>(
          path(".package_gpus"),
          {.low = 1,
           .high = 1000,
           .optional = true,
           .example = "2",
           .help = "neighbours that are joined faster than the others of their node, as the "
                   "two dies of an MI250X"}),
      bandwidth_row(path(".package"),
                    {.example = "200 GB/s", .help = "inside a package, per GPU and direction"}),
      whole_row<&NodeSpec::nics>(path(".nics"), {.low = 1,
                                                 .high = 1000,
                                                 .optional = true,
                                                 .example = "8",
                                                 .help = "NICs of the compute fabric"}),
      bandwidth_row(path(".nic"), {.example = "400 Gb/s", .help = "per NIC and direction"}),
      bandwidth_row(path(".pcie"),
                    {.example = "64 GB/s", .help = "GPU to host, per GPU and direction"}),
      fact_row(path(".host_memory"), Dimension::bytes,
               {.low = 1e6, .high = 1e15, .example = "2 TB", .help = "per node"}),
      bandwidth_row(path(".host_memory_bandwidth"), {.example = "614 GB/s", .help = "per node"}),
      fact_row(path(".cpu_cores"), Dimension::number,
               {.low = 1, .high = 1e6, .example = "112", .help = "per node"}),
      bandwidth_row(path(".storage_nic"),
                    {.example = "50 GB/s", .help = "towards storage, per node and direction"}),
      bandwidth_row(path(".local_disk"),
                    {.example = "14 GB/s", .help = "drives of the node, per direction"}),
      fact_row(path(".local_disk_capacity"), Dimension::bytes,
               {.low = 0,
                .above_low = true,
                .high = 1e18,
                .example = "30 TB",
                .help = "of all drives of the node: what is offloaded to them, and snapshots of "
                        "the tier local-disk"}),
      name_row<&NodeSpec::gpu_path>(
          path(".gpu_path"),
          {.optional = true,
           .example = "pcie",
           .help = "how GPUs of a node reach each other: over NVLink, or through PCIe and the "
                   "host bridge"}),
      bandwidth_row(path(".host_bridge"),
                    {.example = "37 GB/s",
                     .help = "of a node without NVLink: all bytes between its GPUs together"}),
  };
}

// The GPUs of a node at `at`, and what of them can be other than in the library.
Rows gpu_rows(std::string_view at) {
  static std::deque<std::string> paths;  // the rows refer to them
  const auto path = [&](std::string_view end) -> std::string_view {
    return paths.emplace_back(fmt::format("{}.gpu{}", at, end));
  };
  struct GpuRow {
    std::string_view key;
    std::string_view example;
    std::string_view help;
  };
  static constexpr std::array kRows = std::to_array<GpuRow>({
      {"fp32", "66.9 TFLOP/s", "dense peak of the vector units"},
      {"tf32", "494.7 TFLOP/s", "dense peak of the matrix units; 0: they have none"},
      {"fp16", "989.4 TFLOP/s", "likewise in fp16"},
      {"bf16", "989.4 TFLOP/s", "likewise in bf16"},
      {"fp8", "1978.9 TFLOP/s", "likewise in fp8"},
      {"fp4", "0 TFLOP/s", "likewise in fp4"},
      {"memory", "80 GB", "as sold"},
      {"memory_bandwidth", "3.35 TB/s", "peak"},
      {"sms", "132", "streaming multiprocessors, or what the chip has in their place"},
      {"l2", "50 MB", "cache"},
  });
  Rows rows = {
      map_row(path(""), {.shorthand = "base",
                         .example = "h100",
                         .help = "kind of its GPUs: a name of the library, or a base and what "
                                 "differs from it"}),
      name_row(path(".base"),
               {.library = gpu_names,
                .example = "h100",
                .help = "the GPU of the library to start from; default: the node's"}),
  };
  for (const ParameterField<GpuSpec>& field : gpu_fields()) {
    const auto* row = std::ranges::find(kRows, field.key, &GpuRow::key);
    CHECK(row != kRows.end(), "no row for the GPU's '{}'", field.key);
    rows.push_back(fact_row(path(fmt::format(".{}", field.key)), field.dimension,
                            {.low = field.range().smallest,
                             .or_zero = field.may_lack,
                             .high = field.range().largest,
                             .example = row->example,
                             .help = row->help}));
  }
  return rows;
}

Rows pool_rows() {
  return {
      list_row("cluster.pools",
               {.default_text = "[]",
                .example = "[{name: new, nodes: 64, node: dgx-h100}, {name: old, nodes: 32, node: "
                           "dgx-a100}]",
                .help = "unlike nodes, in place of nodes and node: the machine's nodes are "
                        "numbered pool by pool"}),
      map_row("cluster.pools.*",
              {.example = "{name: new, nodes: 64, node: dgx-h100}", .help = "nodes of one kind"}),
      text_row<&Pool::name>(
          "cluster.pools.*.name",
          {.required = true, .example = "new", .help = "what layout.place calls them"}),
      whole_row<&Pool::nodes>(
          "cluster.pools.*.nodes",
          {.low = 1, .high = 1e6, .required = true, .example = "64", .help = "of this kind"}),
      fact_row<&Pool::price_usd_per_gpu_s>("cluster.pools.*.price", Dimension::usd_per_gpu_s,
                                           {.low = 0,
                                            .optional = true,
                                            .example = "1 USD per gpu-hour",
                                            .help = "of one GPU; default: job.price"}),
      text_row<&Pool::network>(
          "cluster.pools.*.network",
          {.optional = true,
           .example = "roce",
           .help = "a name of your choice; pools whose names differ cannot reach each other by "
                   "their NICs and talk over cluster.common"}),
      name_row("cluster.pools.*.calibration",
               {.default_text = "auto",
                .library = calibration_names,
                .file_suffix = ".yaml",
                .example = "a100-published",
                .help = "fitted constants of these nodes; auto: those fitted on their GPU"}),
      map_row("cluster.common", {.example = "{bandwidth: 25 Gb/s}",
                                 .help = "the network that pools of unlike networks have in "
                                         "common, say Ethernet; nothing but the nodes' access "
                                         "to it is narrow"}),
      bandwidth_row("cluster.common.bandwidth",
                    {.required = true, .example = "25 Gb/s", .help = "per node and direction"}),
      duration_row("cluster.common.latency", {.default_text = "30 us",
                                              .example = "30 us",
                                              .help = "of a message, beside its switches"}),
  };
}

}  // namespace

Rows cluster_rows() {
  return joined({machine_rows(), jitter_rows(), node_rows("cluster.node", false),
                 gpu_rows("cluster.node"), pool_rows(), node_rows("cluster.pools.*.node", true),
                 gpu_rows("cluster.pools.*.node"), fabric_rows()});
}

}  // namespace windtunnel
