// These rows of the field table are about failures, the job as a whole and the campaign.
#include "models/base/units.hpp"
#include "models/reliability/snapshot.hpp"
#include "scenarios/language/fields/field_rows.hpp"
#include "scenarios/language/library/time_series.hpp"

namespace windtunnel {
namespace {

// A job with more than ten failures per node and day is not worth a simulation. The last factor
// admits the limit itself, whatever the unit in which a scenario states it.
constexpr double kMostFailures_per_node_s = 10 / kDay_s * (1 + 1e-12);
constexpr double kMostFailures_per_s = 1000 / kDay_s * (1 + 1e-12);

Rows failure_rows() {
  return {
      list_row("failures", by_default("[]"),
               example("[{class: node, rate: 3.24 per 1000 node-days}]"),
               "what interrupts the job, and how often"),
      map_row("failures.*", example("{class: node, rate: 3.24 per 1000 node-days}"),
              "one class of failures"),
      text_row("failures.*.class", sets<&FailureClass::name>, required, example("node"),
               "any name; the name of a kind also sets the kind"),
      name_row("failures.*.kind", sets<&FailureClass::kind>, optional, example("node"),
               "process: the trainer dies, its node is healthy; node: the node is lost until it is "
               "repaired; planned: the job stops after a last snapshot; network: the network "
               "breaks, nodes are healthy; hang: nothing runs until it is noticed; slow-node: a "
               "node is slower until it is noticed; corrupt-snapshot: the newest copy of a tier "
               "is bad; loss-spike: training diverges and goes back to an older copy"),
      fact_row("failures.*.rate", sets<&FailureClass::rate_per_node_s>, Dimension::per_node_s,
               range(0, kMostFailures_per_node_s), optional, example("3.24 per 1000 node-days"),
               "failures per node and wall time, as a long-run mean; leave it out for a trace"),
      fact_row(
          "failures.*.mtbf", Dimension::seconds, above(0), optional, example("120 d"),
          "instead of the rate: mean wall time between failures of one unit, which 'of' names"),
      name_row("failures.*.of", optional, names({"node", "gpu", "rack"}), example("node"),
               "what mtbf refers to: each GPU of a node, the node, or the rack if nodes are racks "
               "(NVL72)"),
      fact_row("failures.*.job_rate", sets<&FailureClass::rate_per_job_s>, Dimension::per_s,
               range(0, kMostFailures_per_s), optional, example("0.5 per day"),
               "failures that do not depend on the size of the job, in addition to other rates or "
               "alone"),
      map_row("failures.*.growth", example("{exponent: 0.5, nodes: 4096}"),
              "makes the rate of each node grow with the job: it is multiplied by (nodes of the "
              "job / nodes) ^ exponent"),
      fact_row("failures.*.growth.exponent", sets<&FailureClass::growth>, range(0, 3), required,
               example("0.5"),
               "exponent; 0: the number of failures grows in proportion to the nodes"),
      fact_row("failures.*.growth.nodes", sets<&FailureClass::growth_nodes>, range(1, 1e6),
               required, example("4096"), "number of nodes of a job to which the rate applies"),
      fact_row("failures.*.frailty", sets<&FailureClass::frailty_variance>, range(0, 100),
               example("1.2"),
               "variance of the nodes' failure rates around their mean (gamma distribution), as "
               "bad nodes (lemons) cause it; 0: all nodes alike"),
      map_row("failures.*.batch", example("{shares: [0.9, 0.06, 0.04]}"),
              "several nodes fail together (kind: node)"),
      list_row("failures.*.batch.shares", required, example("[0.9, 0.06, 0.04]"),
               "shares of the failures that hit one node, two, three, ...; they must sum to 1"),
      fact_row("failures.*.batch.shares.*", range(0, 1), example("0.9"), "one share"),
      name_row("failures.*.batch.placement", sets<&FailureClass::batch_adjacent>,
               names({"adjacent", "any"}), true_name("adjacent"),
               "which nodes fail together: neighbours (a rack, a switch, a power feed), or any"),
  };
}

Rows arrival_rows() {
  return {
      name_row("failures.*.arrivals", or_map, by_default("exponential"), names({"exponential"}),
               example("{weibull: 0.7}"), "gaps between the failures of the job"),
      fact_row("failures.*.arrivals.weibull", sets<&FailureClass::weibull_shape>, range(0.1, 100),
               optional, example("0.7"), "shape of the gaps; below 1 they come in bursts"),
      name_row("failures.*.arrivals.trace", names(arrival_trace_names), files(".csv"),
               example("infinitehbd"),
               "times of recorded failures: a name of the library, a .csv file of hours, or a log "
               "of node faults (.csv)"),
      name_row("failures.*.arrivals.empirical", names(arrival_trace_names), files(".csv"),
               example("infinitehbd"), "gaps drawn from recorded failures, scaled to the rate"),
      text_row(
          "failures.*.arrivals.capacity", optional, files(".csv"), example("spot.csv"),
          "how many of the job's nodes a provider supplies over time: a CSV file in the same "
          "folder with the columns time_s and nodes; a decrease takes nodes away (kind: node)"),
      fact_row("failures.*.arrivals.day_amplitude", sets<&FailureClass::day_amplitude>,
               range(0, 0.99), optional, example("0.2"),
               "amplitude of a daily cycle: the rate is multiplied by 1 + amplitude x sine over "
               "the day"),
  };
}

// These are rows about the consequences of a failure.
Rows outcome_rows() {
  Rows rows = {
      duration_row("failures.*.repair", or_map, optional, example("24 h"),
                   "time until a lost or slow node is back, by default a day; kind: network: time "
                   "until the job can go on, by default none"),
      name_row("failures.*.repair.empirical", names(repair_names), files(".csv"),
               example("infinitehbd"),
               "repair times drawn from recorded ones: a name of the library, a .csv file of "
               "hours, or a log of node faults (.csv)"),
      map_row("failures.*.repair.lognormal", example("{median: 1.1 h, sigma: 1.2}"),
              "repair times drawn from a log-normal law"),
      duration_row("failures.*.repair.lognormal.median",
                   sets<&FailureClass::repair, &RepairTime::lognormal_median_s>, above(0), required,
                   example("1.1 h"), "median time of a repair"),
      fact_row("failures.*.repair.lognormal.sigma",
               sets<&FailureClass::repair, &RepairTime::lognormal_sigma>, range(0, 10), required,
               example("1.2"), "standard deviation of the logarithm"),
      duration_row("failures.*.notice", sets<&FailureClass::notice_s>, above(0), optional,
                   example("2 min"),
                   "warning time before a node leaves, in which the job can save; repair is then "
                   "the time until the provider supplies another node (kind: node)"),
      name_row("failures.*.keeper", sets<&FailureClass::takes_keeper>, names({"kept", "lost"}),
               true_name("lost"), example("lost"),
               "the keeper process of the failed rank dies as well (kind: process)"),
      fact_row("failures.*.slowdown", sets<&FailureClass::slowdown>, range(1, 1e4), optional,
               example("1.1"),
               "factor by which computations on the node take longer (kind: slow-node)"),
      duration_row(
          "failures.*.rollback", sets<&FailureClass::rollback_s>, optional, example("30 min"),
          "copies younger than this are unusable when the spike is found (kind: loss-spike)"),
      whole_row("failures.*.tier", sets<&FailureClass::corrupt_tier>,
                range(0, kMaxSnapshotTiers - 1), optional, example("0"),
                "index of the tier in snapshots whose copy is bad, from 0 (kind: "
                "corrupt-snapshot); default: 0"),
      fact_row("failures.*.manual", sets<&FailureClass::manual_share>, range(0, 1), example("0.01"),
               "share of these failures that need a human for a time of recovery.manual"),
  };
  Rows detection = detection_rows({"failures.*.detect", "failures.*.detect.heartbeat",
                                   "failures.*.detect.misses", "failures.*.detect.timeout",
                                   "failures.*.detect.watchdog"});
  detection.front().help =
      "time from the failure to its discovery, or the mechanism that notices it; default: "
      "recovery.detect";
  return joined({rows, detection});
}

Rows job_rows() {
  return {
      map_row("job", example("{tokens: 15.6 T, price: 2 USD per gpu-hour}"),
              "size and price of the training, for its days and cost"),
      choice_row("job.tokens", sets<&Job::tokens>, Dimension::count, above(0, 1e18), optional,
                 example("15.6 T"), "tokens to train on"),
      fact_row("job.steps", sets<&Job::steps>, Dimension::count, above(0, 1e12), optional,
               example("90000"),
               "iterations until the target quality, with this batch and compressor"),
      text_row("job.quality", example("steps.csv"),
               "instead of job.steps: a CSV file in the same folder with the column steps and any "
               "of compressor, rank, density, bits, global_batch"),
      fact_row("job.price", sets<&Job::price_usd_per_gpu_s>, Dimension::usd_per_gpu_s, at_least(0),
               optional, example("2 USD per gpu-hour"), "price of one GPU"),
      map_row("campaign", example("{length: 54 d, replicas: 100, seed: 1}"),
              "months with failures; without it only one iteration is simulated"),
      choice_row("campaign.length", sets<&Campaign::length_s>, Dimension::seconds, above(0),
                 required, example("54 d"), "wall time to simulate"),
      whole_row("campaign.replicas", sets<&Campaign::trials>, range(1, 1e6),
                "independent repetitions, from which intervals are computed"),
      whole_row("campaign.seed", sets<&Campaign::seed>, range(0, 9007199254740992.0),
                "seed of all random choices"),
  };
}

}  // namespace

Rows campaign_rows() {
  // Iterations depend on failures only through the slowdown of a slow node.
  const Rows failures = of_campaign(joined({failure_rows(), arrival_rows(), outcome_rows()}),
                                    {"failures.*.class", "failures.*.kind", "failures.*.slowdown"});
  return joined({snapshot_rows(), failures, recovery_rows(), of_campaign(job_rows())});
}

}  // namespace windtunnel
