// Rows of the field table for what happens in months: failures, the job as a whole, the campaign.
#include "models/base/units.hpp"
#include "models/reliability/snapshot.hpp"
#include "scenarios/language/fields/field_rows.hpp"
#include "scenarios/language/library/time_series.hpp"

namespace windtunnel {
namespace {

// Ten failures of every node a day leave no job that is worth a simulation; the last factor admits
// the limit itself in every unit.
constexpr double kMostFailures_per_node_s = 10 / kDay_s * (1 + 1e-12);
constexpr double kMostFailures_per_s = 1000 / kDay_s * (1 + 1e-12);

Rows failure_rows() {
  return {
      list_row("failures", {.default_text = "[]",
                            .example = "[{class: node, rate: 3.24 per 1000 node-days}]",
                            .help = "what interrupts the job, and how often"}),
      map_row("failures.*", {.example = "{class: node, rate: 3.24 per 1000 node-days}",
                             .help = "one class of failures"}),
      text_row<&FailureClass::name>(
          "failures.*.class", {.required = true,
                               .example = "node",
                               .help = "a name of your own; if it is one of the kinds it also "
                                       "says the kind"}),
      name_row<&FailureClass::kind>(
          "failures.*.kind",
          {.optional = true,
           .example = "node",
           .help = "the trainer dies and the node is healthy; the node is lost until it is "
                   "repaired; the job is stopped after a last snapshot; the network breaks "
                   "and nodes are healthy; nothing goes on until it is noticed; a node runs "
                   "slower until it is noticed; the newest copy of a tier is bad; training "
                   "diverges and goes back to an older copy"}),
      fact_row<&FailureClass::rate_per_node_s>(
          "failures.*.rate", Dimension::per_node_s,
          {.low = 0,
           .high = kMostFailures_per_node_s,
           .optional = true,
           .example = "3.24 per 1000 node-days",
           .help = "of each node, long-run mean per wall time; left out for a trace"}),
      fact_row("failures.*.mtbf", Dimension::seconds,
               {.low = 0,
                .above_low = true,
                .optional = true,
                .example = "120 d",
                .help = "instead of the rate: mean wall time between failures of one of what 'of' "
                        "says"}),
      name_row("failures.*.of",
               {.optional = true,
                .names = {"node", "gpu", "rack"},
                .example = "node",
                .help = "whose mtbf it is; that of a GPU counts for each GPU of a node, that of a "
                        "rack where nodes are racks (NVL72)"}),
      fact_row<&FailureClass::rate_per_job_s>(
          "failures.*.job_rate", Dimension::per_s,
          {.low = 0,
           .high = kMostFailures_per_s,
           .optional = true,
           .example = "0.5 per day",
           .help = "beside it or alone: what fails however small the job is"}),
      map_row("failures.*.growth", {.example = "{exponent: 0.5, nodes: 4096}",
                                    .help = "the rate of each node grows with the job: times "
                                            "(nodes of the job / nodes) ^ exponent"}),
      fact_row<&FailureClass::growth>("failures.*.growth.exponent", Dimension::number,
                                      {.low = 0,
                                       .high = 3,
                                       .required = true,
                                       .example = "0.5",
                                       .help = "0: failures grow as the nodes do"}),
      fact_row<&FailureClass::growth_nodes>(
          "failures.*.growth.nodes", Dimension::number,
          {.low = 1,
           .high = 1e6,
           .required = true,
           .example = "4096",
           .help = "of a job for which the rate holds as it stands"}),
      fact_row<&FailureClass::frailty_variance>(
          "failures.*.frailty", Dimension::number,
          {.low = 0,
           .high = 100,
           .example = "1.2",
           .help = "variance of the nodes' hazards around their mean (gamma distribution): "
                   "lemons; 0: all nodes alike"}),
      map_row("failures.*.batch", {.example = "{shares: [0.9, 0.06, 0.04]}",
                                   .help = "several nodes fail together (kind: node)"}),
      list_row("failures.*.batch.shares",
               {.required = true,
                .example = "[0.9, 0.06, 0.04]",
                .help = "of the failures that hit one node, two, three, ...; they sum to 1"}),
      fact_row("failures.*.batch.shares.*", Dimension::number,
               {.low = 0, .high = 1, .example = "0.9", .help = "one share"}),
      name_row<&FailureClass::batch_adjacent>(
          "failures.*.batch.placement",
          {.names = {"adjacent", "any"},
           .true_name = "adjacent",
           .example = "adjacent",
           .help = "neighbours (a rack, a switch, a power feed), or any nodes"}),
  };
}

Rows arrival_rows() {
  return {
      Field{.path = "failures.*.arrivals",
            .scalar = ScalarType::name,
            .map = true,
            .default_text = "exponential",
            .names = {"exponential"},
            .example = "{weibull: 0.7}",
            .help = "gaps between the failures of the job"},
      fact_row<&FailureClass::weibull_shape>(
          "failures.*.arrivals.weibull", Dimension::number,
          {.low = 0.1,
           .high = 100,
           .optional = true,
           .example = "0.7",
           .help = "shape of the gaps; below 1 they come in bursts"}),
      name_row(
          "failures.*.arrivals.trace",
          {.library = arrival_trace_names,
           .file_suffix = ".csv",
           .example = "infinitehbd",
           .help = "times of recorded failures: a name of the library, a .csv file of hours, or a "
                   "log of node faults (.csv)"}),
      name_row("failures.*.arrivals.empirical",
               {.library = arrival_trace_names,
                .file_suffix = ".csv",
                .example = "infinitehbd",
                .help = "gaps drawn from those of recorded failures, scaled to the rate"}),
      text_row("failures.*.arrivals.capacity",
               {.optional = true,
                .file_suffix = ".csv",
                .example = "spot.csv",
                .help = "how many of the job's nodes a provider gives from when on, of which it "
                        "takes those that it gives no more: a file beside this one with the "
                        "columns time_s and nodes (kind: node)"}),
      fact_row<&FailureClass::day_amplitude>(
          "failures.*.arrivals.day_amplitude", Dimension::number,
          {.low = 0,
           .high = 0.99,
           .optional = true,
           .example = "0.2",
           .help = "the rate follows 1 + amplitude x sine over the day"}),
  };
}

// What a failure brings with it.
Rows outcome_rows() {
  Rows rows = {
      Field{.path = "failures.*.repair",
            .scalar = ScalarType::quantity,
            .dimension = Dimension::seconds,
            .map = true,
            .low = 0,
            .optional = true,
            .fact = true,
            .example = "24 h",
            .help = "time until a lost or slow node is back, a day where nothing is said; kind: "
                    "network: until the job can go on, at once"},
      name_row(
          "failures.*.repair.empirical",
          {.library = repair_names,
           .file_suffix = ".csv",
           .example = "infinitehbd",
           .help = "drawn from recorded repairs: a name of the library, a .csv file of hours, or a "
                   "log of node faults (.csv)"}),
      map_row("failures.*.repair.lognormal",
              {.example = "{median: 1.1 h, sigma: 1.2}", .help = "drawn from a log-normal law"}),
      duration_row<&FailureClass::repair, &RepairTime::lognormal_median_s>(
          "failures.*.repair.lognormal.median",
          {.above_low = true, .required = true, .example = "1.1 h", .help = "of repairs"}),
      fact_row<&FailureClass::repair, &RepairTime::lognormal_sigma>(
          "failures.*.repair.lognormal.sigma", Dimension::number,
          {.low = 0,
           .high = 10,
           .required = true,
           .example = "1.2",
           .help = "standard deviation of the logarithm"}),
      duration_row<&FailureClass::notice_s>(
          "failures.*.notice",
          {.above_low = true,
           .optional = true,
           .example = "2 min",
           .help = "so long before it leaves, the job knows of the node, and may save before; "
                   "repair is the time until the provider gives another (kind: node)"}),
      name_row<&FailureClass::takes_keeper>(
          "failures.*.keeper",
          {.names = {"kept", "lost"},
           .true_name = "lost",
           .example = "lost",
           .help = "the keeper process of the failed rank dies as well (kind: process)"}),
      fact_row<&FailureClass::slowdown>(
          "failures.*.slowdown", Dimension::number,
          {.low = 1,
           .high = 1e4,
           .optional = true,
           .example = "1.1",
           .help = "computations on the node take so many times as long (kind: slow-node)"}),
      duration_row<&FailureClass::rollback_s>(
          "failures.*.rollback",
          {.optional = true,
           .example = "30 min",
           .help = "copies younger than this when it shows are spoilt (kind: "
                   "loss-spike)"}),
      whole_row<&FailureClass::corrupt_tier>(
          "failures.*.tier", {.low = 0,
                              .high = kMaxSnapshotTiers - 1,
                              .optional = true,
                              .example = "0",
                              .help = "number of the tier whose copy is bad, from 0 (kind: "
                                      "corrupt-snapshot); default: 0"}),
      fact_row<&FailureClass::manual_share>(
          "failures.*.manual", Dimension::number,
          {.low = 0,
           .high = 1,
           .example = "0.01",
           .help = "share of these failures that need a human: recovery.manual"}),
  };
  Rows detection = detection_rows({"failures.*.detect", "failures.*.detect.heartbeat",
                                   "failures.*.detect.misses", "failures.*.detect.timeout",
                                   "failures.*.detect.watchdog"});
  detection.front().help =
      "from the failure to its discovery: a time, or what notices it; default: recovery.detect";
  return joined({rows, detection});
}

Rows job_rows() {
  return {
      map_row("job", {.example = "{tokens: 15.6 T, price: 2 USD per gpu-hour}",
                      .help = "for days to train and cost"}),
      choice_row<&Job::tokens>("job.tokens", Dimension::count,
                               {.low = 0,
                                .above_low = true,
                                .high = 1e18,
                                .optional = true,
                                .example = "15.6 T",
                                .help = "to train on"}),
      fact_row<&Job::steps>(
          "job.steps", Dimension::count,
          {.low = 0,
           .above_low = true,
           .high = 1e12,
           .optional = true,
           .example = "90000",
           .help = "iterations to the target quality, with this batch and compressor"}),
      text_row("job.quality",
               {.example = "steps.csv",
                .help = "in place of job.steps: a CSV file beside this one with the column steps "
                        "and any of compressor, rank, density, bits, global_batch"}),
      fact_row<&Job::price_usd_per_gpu_s>(
          "job.price", Dimension::usd_per_gpu_s,
          {.low = 0, .optional = true, .example = "2 USD per gpu-hour", .help = "of one GPU"}),
      map_row("campaign", {.example = "{length: 54 d, replicas: 100, seed: 1}",
                           .help = "months with failures; without it only one iteration is "
                                   "simulated"}),
      choice_row<&Campaign::length_s>("campaign.length", Dimension::seconds,
                                      {.low = 0,
                                       .above_low = true,
                                       .required = true,
                                       .example = "54 d",
                                       .help = "wall time to simulate"}),
      whole_row<&Campaign::trials>("campaign.replicas",
                                   {.low = 1,
                                    .high = 1e6,
                                    .example = "100",
                                    .help = "independent repetitions, for the interval"}),
      whole_row<&Campaign::seed>(
          "campaign.seed",
          {.low = 0, .high = 9007199254740992.0, .example = "1", .help = "of all random choices"}),
  };
}

}  // namespace

Rows campaign_rows() {
  // Of failures an iteration knows how slow a slow node is.
  const Rows failures = of_campaign(joined({failure_rows(), arrival_rows(), outcome_rows()}),
                                    {"failures.*.class", "failures.*.kind", "failures.*.slowdown"});
  return joined({snapshot_rows(), failures, recovery_rows(), of_campaign(job_rows())});
}

}  // namespace windtunnel
