// Rows of the field table for what happens in months: snapshots, failures, recovery, campaign.
#include "scenarios/field_rows.hpp"
#include "scenarios/time_series.hpp"

namespace windtunnel {
namespace {

constexpr double kDay_s = 86400;
// Ten failures of every node a day leave no job that is worth a simulation; the last factor admits
// the limit itself in every unit.
constexpr double kMostFailures_per_node_s = 10 / kDay_s * (1 + 1e-12);
constexpr double kHighestPrice_usd_per_gpu_s = 1e6 / 3600 * (1 + 1e-12);

Rows snapshot_rows() {
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
            .high = kLongest_s,
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
  };
}

Rows failure_rows() {
  return {
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
                .high = kMostFailures_per_node_s,
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
               {.low = 0.1,
                .high = 100,
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
            .high = kLongest_s,
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
      duration_row("failures.*.detect",
                   {.example = "30 s",
                    .help = "from the failure to its discovery; default: recovery.detect"}),
  };
}

Rows recovery_rows() {
  return {
      map_row("recovery", {.example = "{spares: 128, detect: 60 s, restart: 180 s}",
                           .help = "what happens after a failure"}),
      whole_row("recovery.spares", {.low = 0,
                                    .high = 1e6,
                                    .default_text = "0",
                                    .example = "128",
                                    .help = "nodes that wait to replace lost ones"}),
      duration_row(
          "recovery.detect",
          {.default_text = "60 s", .example = "60 s", .help = "from a failure to its discovery"}),
      duration_row(
          "recovery.restart",
          {.default_text = "180 s",
           .example = "180 s",
           .help = "scheduler, processes, communicators; loading a snapshot comes on top"}),
      name_row("recovery.when_no_spare",
               {.default_text = "wait",
                .names = {"wait", "shrink"},
                .example = "shrink",
                .help = "wait for a repair, or go on with fewer data-parallel replicas"}),
  };
}

Rows job_rows() {
  return {
      map_row("job", {.example = "{tokens: 15.6 T, price: 2 USD per gpu-hour}",
                      .help = "for days to train and cost"}),
      choice_row(
          "job.tokens", Dimension::count,
          {.low = 0, .above_low = true, .high = 1e18, .example = "15.6 T", .help = "to train on"}),
      fact_row("job.price", Dimension::usd_per_gpu_s,
               {.low = 0,
                .high = kHighestPrice_usd_per_gpu_s,
                .example = "2 USD per gpu-hour",
                .help = "of one GPU"}),
      map_row("campaign", {.example = "{length: 54 d, replicas: 100, seed: 1}",
                           .help = "months with failures; without it only one iteration is "
                                   "simulated"}),
      choice_row("campaign.length", Dimension::seconds,
                 {.low = 0,
                  .above_low = true,
                  .high = kLongest_s,
                  .required = true,
                  .example = "54 d",
                  .help = "wall time to simulate"}),
      whole_row("campaign.replicas", {.low = 1,
                                      .high = 1e6,
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

Rows campaign_rows() {
  Rows all;
  for (const Rows& rows : {snapshot_rows(), failure_rows(), recovery_rows(), job_rows()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

}  // namespace windtunnel
