#include "policies/schedules.hpp"
#include "scenarios/field_rows.hpp"
#include "scenarios/fields.hpp"
#include "scenarios/library.hpp"
#include "scenarios/time_series.hpp"

namespace windtunnel {
namespace {

template <class Items>
std::vector<std::string> names_in(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) names.emplace_back(item.name);
  return names;
}

std::vector<std::string> model_names() {
  return names_in(library_models());
}
std::vector<std::string> node_names() {
  return names_in(library_nodes());
}
std::vector<std::string> gpu_names() {
  return names_in(library_gpus());
}
std::vector<std::string> fabric_names() {
  return names_in(library_fabrics());
}
std::vector<std::string> schedule_names() {
  return names_in(schedule_kinds());
}
std::vector<std::string> calibration_names() {
  std::vector<std::string> names = names_in(library_calibrations());
  names.insert(names.begin(), "auto");
  return names;
}

using Rows = std::vector<Field>;

Rows general_rows() {
  return {
      map_row("",
              {.help = "One training job on one cluster: what it runs, where, and what breaks"}),
      text_row("name", {.required = true,
                        .example = "llama3-405b-16k",
                        .help = "how reports call this scenario"}),
      name_row("precision", {.default_text = "bf16",
                             .names = {"fp32", "tf32", "fp16", "bf16", "fp8"},
                             .example = "bf16",
                             .help = "of the matrix multiplications"}),
      name_row("recompute", {.default_text = "none",
                             .names = {"none", "selective", "full"},
                             .example = "selective",
                             .help = "activations computed again in the backward pass instead of "
                                     "kept: the cheap ones (selective) or all of a layer (full)"}),
      map_row("schedule", {.shorthand = "name",
                           .example = "interleaved-1f1b",
                           .help = "order of forward and backward passes on a pipeline"}),
      name_row("schedule.name", {.default_text = "1f1b",
                                 .library = schedule_names,
                                 .example = "1f1b",
                                 .help = "see `windtunnel list schedules`"}),
      name_row("calibration",
               {.default_text = "auto",
                .library = calibration_names,
                .file_suffix = ".yaml",
                .example = "h100-published",
                .help = "fitted constants of the cost models: a name of the library, a .yaml file, "
                        "or auto, which takes the one fitted on this kind of GPU"}),
      name_row("fold", {.default_text = "auto",
                        .names = {"auto", "none"},
                        .example = "auto",
                        .help = "simulate ranks that cannot differ once (auto) or each (none)"}),
      map_row("origins", {.free_keys = true,
                          .example = "{failures.*.rate: 'published: arXiv 2407.21783 table 5'}",
                          .help = "evidence of the numbers that this file states: a path, or the "
                                  "start of one, to 'measured: ...', 'published: ...', 'spec: ...' "
                                  "or 'assumed: ...'; what is not named counts as assumed"}),
  };
}

Rows model_rows() {
  return {
      map_row("model", {.shorthand = "base",
                        .required = true,
                        .example = "llama3-405b",
                        .help = "a dense decoder-only transformer: a name of the library, or its "
                                "dimensions, or a base and what differs from it"}),
      name_row("model.base", {.library = model_names,
                              .example = "llama3-405b",
                              .help = "the model of the library to start from"}),
      whole_row("model.layers", {.low = 1, .example = "126", .help = "transformer layers"}),
      whole_row("model.hidden",
                {.low = 1, .example = "16384", .help = "width of the hidden state"}),
      whole_row("model.heads", {.low = 1, .example = "128", .help = "attention heads"}),
      whole_row("model.kv_heads",
                {.low = 1,
                 .example = "8",
                 .help = "key and value heads; fewer than heads is grouped-query attention; "
                         "without a base: heads"}),
      whole_row("model.ffn",
                {.low = 1,
                 .example = "53248",
                 .help = "width of one matrix of the MLP; without a base: 4 x hidden"}),
      whole_row("model.vocabulary", {.low = 1, .example = "128256", .help = "tokens"}),
      whole_row("model.sequence",
                {.low = 1, .example = "8192", .help = "tokens of one training sequence"}),
      name_row("model.activation",
               {.names = {"gelu", "swiglu"}, .example = "swiglu", .help = "of the MLP"}),
      name_row("model.normalisation",
               {.names = {"layer-norm", "rms-norm"}, .example = "rms-norm", .help = "of a layer"}),
      name_row("model.position",
               {.names = {"learned", "rotary"}, .example = "rotary", .help = "position encoding"}),
      flag_row("model.biases", {.example = "false", .help = "matrices have bias vectors"}),
      flag_row("model.tied_embeddings",
               {.example = "false", .help = "the loss head shares the embedding's weights"}),
      flag_row("model.dropout",
               {.example = "false",
                .help = "after both halves of a layer and on the attention scores; without a "
                        "base: false"}),
      name_row("model.attention",
               {.names = {"flash", "unfused"},
                .example = "flash",
                .help = "one fused kernel that keeps the scores on the chip (flash), or batched "
                        "GEMMs with a softmax between them (unfused); without a base: flash"}),
  };
}

Rows node_rows() {
  return {
      map_row("cluster.node", {.shorthand = "base",
                               .required = true,
                               .example = "dgx-h100",
                               .help = "kind of every node: a name of the library, or a base and "
                                       "what differs from it"}),
      name_row("cluster.node.base", {.required = true,
                                     .library = node_names,
                                     .example = "dgx-h100",
                                     .help = "the node of the library to start from"}),
      name_row("cluster.node.gpu",
               {.library = gpu_names, .example = "h100", .help = "kind of its GPUs"}),
      whole_row("cluster.node.gpus",
                {.low = 1, .example = "8", .help = "GPUs, all in one NVLink domain"}),
      fact_row(
          "cluster.node.nvlink", Dimension::bytes_per_s,
          {.low = 0, .above_low = true, .example = "450 GB/s", .help = "per GPU and direction"}),
      whole_row("cluster.node.nics",
                {.low = 1, .example = "8", .help = "NICs of the compute fabric"}),
      fact_row(
          "cluster.node.nic", Dimension::bytes_per_s,
          {.low = 0, .above_low = true, .example = "400 Gb/s", .help = "per NIC and direction"}),
      fact_row("cluster.node.pcie", Dimension::bytes_per_s,
               {.low = 0,
                .above_low = true,
                .example = "64 GB/s",
                .help = "GPU to host, per GPU and direction"}),
      fact_row("cluster.node.host_memory", Dimension::bytes,
               {.low = 0, .above_low = true, .example = "2 TB", .help = "per node"}),
      fact_row("cluster.node.host_memory_bandwidth", Dimension::bytes_per_s,
               {.low = 0, .above_low = true, .example = "614 GB/s", .help = "per node"}),
      fact_row("cluster.node.cpu_cores", Dimension::number,
               {.low = 1, .example = "112", .help = "per node"}),
      fact_row("cluster.node.storage_nic", Dimension::bytes_per_s,
               {.low = 0,
                .above_low = true,
                .example = "50 GB/s",
                .help = "towards storage, per node and direction"}),
  };
}

Rows fabric_rows() {
  return {
      map_row("cluster.fabric", {.shorthand = "base",
                                 .example = "{topology: rail-fat-tree, nodes_per_pod: 384}",
                                 .help = "the network between nodes: a name of the library, or its "
                                         "form"}),
      name_row("cluster.fabric.base", {.default_text = "full-bisection",
                                       .library = fabric_names,
                                       .example = "full-bisection",
                                       .help = "the fabric of the library to start from"}),
      name_row("cluster.fabric.topology",
               {.names = {"rail-fat-tree", "fat-tree"},
                .example = "rail-fat-tree",
                .help = "NIC i of each node of a pod on a rail of its own, or all NICs of a pod on "
                        "one level of leaves"}),
      whole_row("cluster.fabric.nodes_per_pod",
                {.low = 0, .example = "384", .help = "nodes of a pod; 0: one pod holds all"}),
      fact_row(
          "cluster.fabric.pod_oversubscription", Dimension::number,
          {.low = 1, .example = "7", .help = "NIC bandwidth of a pod / bandwidth of its uplinks"}),
      fact_row("cluster.fabric.hop_latency", Dimension::seconds,
               {.low = 0, .example = "300 ns", .help = "of one switch with its cables"}),
  };
}

Rows cluster_rows() {
  return {
      map_row(
          "cluster",
          {.required = true, .example = "{nodes: 2048, node: dgx-h100}", .help = "the machine"}),
      whole_row("cluster.nodes",
                {.low = 1, .required = true, .example = "2048", .help = "nodes of the job"}),
      map_row("cluster.storage", {.example = "{write: 2 TB/s, read: 2 TB/s}",
                                  .help = "shared storage, of the whole cluster"}),
      fact_row("cluster.storage.write", Dimension::bytes_per_s,
               {.low = 0,
                .above_low = true,
                .required = true,
                .example = "2 TB/s",
                .help = "sustained"}),
      fact_row("cluster.storage.read", Dimension::bytes_per_s,
               {.low = 0,
                .above_low = true,
                .required = true,
                .example = "2 TB/s",
                .help = "sustained"}),
      fact_row("cluster.storage.latency", Dimension::seconds,
               {.low = 0,
                .default_text = "50 ms",
                .example = "50 ms",
                .help = "to open and commit a file"}),
      list_row(
          "cluster.slow_nodes",
          {.default_text = "[]", .example = "[{node: 3, slowdown: 1.2}]", .help = "stragglers"}),
      map_row("cluster.slow_nodes.*", {.example = "{node: 3, slowdown: 1.2}", .help = "one node"}),
      whole_row("cluster.slow_nodes.*.node",
                {.low = 0, .required = true, .example = "3", .help = "its number, from 0"}),
      fact_row("cluster.slow_nodes.*.slowdown", Dimension::number,
               {.low = 0,
                .above_low = true,
                .required = true,
                .example = "1.2",
                .help = "its computations take this many times as long"}),
      list_row("cluster.degraded_nics", {.default_text = "[]",
                                         .example = "[{node: 3, nic: 0, factor: 0.5}]",
                                         .help = "NICs below their bandwidth"}),
      map_row("cluster.degraded_nics.*",
              {.example = "{node: 3, nic: 0, factor: 0.5}", .help = "one NIC"}),
      whole_row("cluster.degraded_nics.*.node",
                {.low = 0, .required = true, .example = "3", .help = "its node, from 0"}),
      whole_row("cluster.degraded_nics.*.nic",
                {.low = 0, .required = true, .example = "0", .help = "its number, from 0"}),
      fact_row("cluster.degraded_nics.*.factor", Dimension::number,
               {.low = 0,
                .above_low = true,
                .high = 1,
                .required = true,
                .example = "0.5",
                .help = "share of the bandwidth that is left"}),
  };
}

Rows layout_rows() {
  return {
      map_row("layout", {.example = "{tp: 8, pp: 16, vpp: 8}",
                         .help = "how the model and the batch are spread over the GPUs"}),
      whole_row("layout.tp",
                {.low = 1, .default_text = "1", .example = "8", .help = "tensor parallel"}),
      whole_row("layout.cp",
                {.low = 1, .default_text = "1", .example = "1", .help = "context parallel"}),
      whole_row("layout.pp",
                {.low = 1, .default_text = "1", .example = "16", .help = "pipeline parallel"}),
      whole_row("layout.vpp", {.low = 1,
                               .default_text = "1",
                               .example = "8",
                               .help = "model chunks per pipeline rank (interleaving)"}),
      whole_row(
          "layout.dp",
          {.low = 1, .example = "128", .help = "data parallel; default: GPUs / (tp x cp x pp)"}),
      name_row("layout.sharding", {.default_text = "none",
                                   .names = {"none", "zero1"},
                                   .example = "zero1",
                                   .help = "of the optimizer state over the data-parallel ranks"}),
      flag_row(
          "layout.sequence_parallel",
          {.default_text = "false",
           .example = "true",
           .help = "norms and dropout split along the sequence over the tensor-parallel ranks"}),
      Field{.path = "layout.stages",
            .map = true,
            .list = true,
            .example = "{first: -1, last: -1}",
            .help = "layers of the stages where they are not even: what the first and last have "
                    "more than the others, or a list of all pp x vpp"},
      whole_row(
          "layout.stages.first",
          {.default_text = "0", .example = "-1", .help = "-1 takes a layer off the first stage"}),
      whole_row("layout.stages.last",
                {.default_text = "0", .example = "-1", .help = "the same for the last stage"}),
      whole_row("layout.stages.*", {.low = 0, .example = "2", .help = "layers of one stage"}),
      map_row("batch", {.required = true,
                        .example = "{global: 2048, micro: 1}",
                        .help = "sequences per iteration"}),
      whole_row("batch.global", {.low = 1,
                                 .required = true,
                                 .example = "2048",
                                 .help = "sequences per iteration, all ranks"}),
      whole_row("batch.micro", {.low = 1,
                                .default_text = "1",
                                .example = "1",
                                .help = "sequences that pass the pipeline together"}),
      whole_row("batch.sequence",
                {.low = 1, .example = "8192", .help = "tokens of one; default: the model's"}),
  };
}

Rows communication_rows() {
  return {
      map_row("communication",
              {.example = "{overlap: bucketed, bucket: 25 MB}", .help = "how gradients travel"}),
      name_row("communication.overlap",
               {.default_text = "none",
                .names = {"none", "bucketed"},
                .example = "bucketed",
                .help = "reduce gradients after the backward pass, or bucket by bucket during it"}),
      choice_row("communication.bucket", Dimension::bytes,
                 {.low = 0,
                  .above_low = true,
                  .default_text = "25 MB",
                  .example = "25 MB",
                  .help = "gradient bytes that are reduced together"}),
      name_row("communication.fidelity",
               {.default_text = "auto",
                .names = {"auto", "closed", "flows"},
                .example = "auto",
                .help = "collectives by formula (closed), as flows that share links, or flows only "
                        "where links are shared (auto)"}),
      map_row("communication.compressor",
              {.shorthand = "name", .example = "none", .help = "of the gradients"}),
      name_row("communication.compressor.name",
               {.default_text = "none", .names = {"none"}, .example = "none", .help = "none yet"}),
  };
}

Rows protection_rows() {
  return {
      list_row("snapshots", {.default_text = "[]",
                             .example = "[{tier: storage, every: 1 h}]",
                             .help = "where copies of the training state go, the nearest first"}),
      map_row("snapshots.*", {.example = "{tier: storage, every: 1 h}", .help = "one tier"}),
      name_row("snapshots.*.tier", {.required = true,
                                    .names = {"host-memory", "storage"},
                                    .example = "storage",
                                    .help = "where the bytes go"}),
      Field{.path = "snapshots.*.every",
            .scalar = ScalarType::interval,
            .low = 0,
            .above_low = true,
            .required = true,
            .example = "10 iterations",
            .help = "iterations or time between two snapshots"},
      name_row("snapshots.*.mode",
               {.default_text = "sync",
                .names = {"sync", "async"},
                .example = "async",
                .help = "training waits (sync) or goes on while the bytes travel (async)"}),
      name_row("snapshots.*.keeper",
               {.default_text = "none",
                .names = {"process", "none"},
                .example = "process",
                .help = "a process beside the trainer keeps host memory when the trainer crashes"}),
      list_row("failures", {.default_text = "[]",
                            .example = "[{class: node, rate: 3.24 per 1000 node-days}]",
                            .help = "what interrupts the job, and how often"}),
      map_row("failures.*", {.example = "{class: node, rate: 3.24 per 1000 node-days}",
                             .help = "one class of failures"}),
      text_row("failures.*.class", {.required = true,
                                    .example = "node",
                                    .help = "a name of your own; if it is process, node or planned "
                                            "it also says the kind"}),
      name_row("failures.*.kind",
               {.names = {"process", "node", "planned"},
                .example = "node",
                .help = "the trainer dies and the node is healthy; the node is lost until it is "
                        "repaired; the job is stopped after a last snapshot"}),
      fact_row("failures.*.rate", Dimension::per_node_s,
               {.low = 0,
                .example = "3.24 per 1000 node-days",
                .help = "long-run mean per wall time; left out for a trace"}),
      Field{.path = "failures.*.arrivals",
            .scalar = ScalarType::name,
            .map = true,
            .default_text = "exponential",
            .names = {"exponential"},
            .example = "{weibull: 0.7}",
            .help = "gaps between the failures of the job"},
      fact_row("failures.*.arrivals.weibull", Dimension::number,
               {.low = 0,
                .above_low = true,
                .example = "0.7",
                .help = "shape of the gaps; below 1 they come in bursts"}),
      name_row(
          "failures.*.arrivals.trace",
          {.library = arrival_trace_names,
           .file_suffix = ".csv",
           .example = "infinitehbd",
           .help = "times of recorded failures: a name of the library or a .csv file of hours"}),
      Field{.path = "failures.*.repair",
            .scalar = ScalarType::quantity,
            .dimension = Dimension::seconds,
            .map = true,
            .low = 0,
            .default_text = "24 h",
            .fact = true,
            .example = "24 h",
            .help = "time until a lost node is back"},
      name_row(
          "failures.*.repair.empirical",
          {.library = repair_names,
           .file_suffix = ".csv",
           .example = "infinitehbd",
           .help = "drawn from recorded repairs: a name of the library or a .csv file of hours"}),
      fact_row("failures.*.detect", Dimension::seconds,
               {.low = 0,
                .example = "30 s",
                .help = "from the failure to its discovery; default: recovery.detect"}),
  };
}

Rows recovery_rows() {
  return {
      map_row("recovery", {.example = "{spares: 128, detect: 60 s, restart: 180 s}",
                           .help = "what happens after a failure"}),
      whole_row("recovery.spares", {.low = 0,
                                    .default_text = "0",
                                    .example = "128",
                                    .help = "nodes that wait to replace lost ones"}),
      fact_row("recovery.detect", Dimension::seconds,
               {.low = 0,
                .default_text = "60 s",
                .example = "60 s",
                .help = "from a failure to its discovery"}),
      fact_row("recovery.restart", Dimension::seconds,
               {.low = 0,
                .default_text = "180 s",
                .example = "180 s",
                .help = "scheduler, processes, communicators; loading a snapshot comes on top"}),
      name_row("recovery.when_no_spare",
               {.default_text = "wait",
                .names = {"wait", "shrink"},
                .example = "shrink",
                .help = "wait for a repair, or go on with fewer data-parallel replicas"}),
      map_row("job", {.example = "{tokens: 15.6 T, price: 2 USD per gpu-hour}",
                      .help = "for days to train and cost"}),
      choice_row("job.tokens", Dimension::count,
                 {.low = 0, .above_low = true, .example = "15.6 T", .help = "to train on"}),
      fact_row("job.price", Dimension::usd_per_gpu_s,
               {.low = 0, .example = "2 USD per gpu-hour", .help = "of one GPU"}),
      map_row("campaign", {.example = "{length: 54 d, replicas: 100, seed: 1}",
                           .help = "months with failures; without it only one iteration is "
                                   "simulated"}),
      choice_row("campaign.length", Dimension::seconds,
                 {.low = 0,
                  .above_low = true,
                  .required = true,
                  .example = "54 d",
                  .help = "wall time to simulate"}),
      whole_row("campaign.replicas", {.low = 1,
                                      .default_text = "100",
                                      .example = "100",
                                      .help = "independent repetitions, for the interval"}),
      whole_row("campaign.seed", {.low = 0,
                                  .high = 9007199254740992.0,
                                  .default_text = "1",
                                  .example = "1",
                                  .help = "of all random choices"}),
  };
}

}  // namespace

const std::vector<Field>& field_table() {
  static const std::vector<Field> table = [] {
    Rows all;
    for (const Rows& rows :
         {general_rows(), model_rows(), cluster_rows(), node_rows(), fabric_rows(), layout_rows(),
          communication_rows(), protection_rows(), recovery_rows()}) {
      all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
  }();
  return table;
}

}  // namespace windtunnel
