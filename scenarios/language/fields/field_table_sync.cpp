// These are rows of the field table below "sync" except the compressor's.
#include "models/plan/job.hpp"
#include "models/reliability/stragglers/redundancy.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {

Rows sync_rows() {
  return {
      list_row(
          "sync", example("[{over: node, every: 1 step}, {over: site, every: 100 steps}]"),
          "levels at which replicas synchronise, from inside to outside: the parts that a word "
          "names exchange every few steps; replicas inside of a part synchronise in every step"),
      map_row("sync.*", example("{over: site, every: 100 steps, delay: 5 steps}"),
              "a level of synchronisation"),
      name_row(
          "sync.*.over", sets<&SyncLevel::over>, optional, names({"replica", "node", "site"}),
          example("site"),
          "the parts that exchange; each is an island, whose replicas synchronise in every step"),
      whole_row("sync.*.islands", range(2, 1e6), example("64"),
                "in place of over: the number of islands of consecutive replicas"),
      choice_row(
          "sync.*.every", sets<&SyncLevel::every_steps>, Dimension::iterations, range(1, 1e9),
          optional, example("100 steps"),
          "steps between two exchanges of the same parameter (H); with rates the shortest period"),
      text_row("sync.*.rates", example("rates.csv"),
               "learning rates from which periods follow (Quadratic Synchronization Rule): a CSV "
               "file in the same folder with the columns step, rate"),
      choice_row("sync.*.growth", range(1e-12, 1e6), example("0.0175"),
                 "with rates: a period is (growth / rate)^2 steps, every at least"),
      whole_row("sync.*.fragments", sets<&SyncLevel::fragments>, range(1, 1e4), example("8"),
                "parts of the model that are exchanged in turn (Streaming DiLoCo), one every every "
                "/ fragments steps"),
      choice_row("sync.*.delay", sets<&SyncLevel::delay_steps>, Dimension::iterations,
                 range(0, 1e9), example("5 steps"),
                 "steps that run during an exchange, whose result is applied after them; 0: all "
                 "wait for it"),
      name_row("sync.*.start", sets<&SyncLevel::start>, example("layers"),
               "when an exchange begins: after the step, or layer by layer during its backward "
               "pass, as communication.overlap says (islands of one replica)"),
      name_row("sync.*.pattern", sets<&SyncLevel::pattern>, example("leader"),
               "all islands' deltas are summed, one island's weights go to all others, each "
               "island's go to some others (gossip), or they never exchange (none)"),
      name_row("sync.*.graph", sets<&SyncLevel::graph>, example("exponential"),
               "gossip: neighbours of an island: the next two of a ring, those at distance 1, 2, "
               "4, ..., or others drawn anew each time"),
      whole_row("sync.*.peers", sets<&SyncLevel::peers>, range(0, 1e6), example("1"),
                "gossip: the number of neighbours that get an island's weights in one exchange, "
                "all in turn; 0: all; in a random graph one"),
      name_row("sync.*.events", sets<&SyncLevel::events>, example("poisson"),
               "gossip: all exchange in the same step, or each at random times of its own in the "
               "background, so that no island waits; `every` is then the mean"),
      list_row("sync.*.paths", example("[16, 16]"),
               "modules that each half of the layers has; an island trains one of each, and those "
               "with the same one exchange it (DiPaCo)"),
      whole_row("sync.*.paths.*", range(2, 1e6), example("16"),
                "modules of one half of the layers"),
      name_row("sync.*.parameters", sets<&SyncLevel::parameters>, example("dense"),
               "what is exchanged; dense: all but the experts, which are each island's own"),
      whole_row("sync.*.optimizer_states", sets<&SyncLevel::optimizer_states>, range(0, 4),
                example("2"),
                "vectors of the optimizer's state that are averaged along with the weights"),
      name_row("sync.*.optimizer", sets<&SyncLevel::optimizer>, example("average"),
               "what the sum becomes: the gradient of an outer optimizer with a momentum "
               "(nesterov, as DiLoCo), or the mean of the weights (average, local SGD)"),
      text_row("sync.*.wait_for", by_default("all"), example("all-but-2"),
               "the islands that an exchange waits for: all, all-but-K, or as many as make most "
               "progress a second under cluster.jitter (dynamic); those that failed or come later "
               "stop where they are and take its result"),
      name_row("sync.*.precision", sets<&SyncLevel::element_bytes>,
               names({"fp32", "bf16", "fp8", "fp4"}), example("bf16"),
               "of a delta on the network, before it is compressed"),
  };
}

Rows redundancy_rows() {
  return {
      map_row("redundancy", shorthand("scheme"),
              example("{scheme: gradient-coding, stragglers: 4}"),
              "what a step does about replicas that straggle (cluster.jitter, cluster.slow_nodes): "
              "more work than theirs for all, or some left out"),
      name_row("redundancy.scheme", sets<&Redundancy::scheme>, required, example("gradient-coding"),
               "codes over workers (gradient-coding), and over steps too (sr-sgc, m-sgc); the same "
               "work several times (replicated); the last left out: the gradient lacks theirs "
               "(drop-slowest), the others have the whole batch (backup-workers), or as many as "
               "pay (dynamic-backup, DBW)"),
      whole_row("redundancy.stragglers", sets<&Redundancy::stragglers>, range(0, 1e6), optional,
                example("4"),
                "gradient-coding, drop-slowest, backup-workers: replicas that a step does not wait "
                "for; default: 1"),
      whole_row("redundancy.copies", sets<&Redundancy::copies>, range(1, 1e6), optional,
                example("2"), "replicated: replicas that compute the same; default: 2"),
      whole_row("redundancy.burst", sets<&Redundancy::burst>, range(1, 1e4), optional, example("1"),
                "sr-sgc, m-sgc: steps from the first to the last that a replica straggles in, in "
                "any window (B); default: 1"),
      whole_row("redundancy.window", sets<&Redundancy::window>, range(2, 1e4), optional,
                example("2"), "sr-sgc, m-sgc: steps of a window (W); default: 2"),
      whole_row("redundancy.lambda", sets<&Redundancy::distinct>, range(1, 1e6), optional,
                example("27"),
                "sr-sgc, m-sgc: different replicas that straggle in a window; default: 1"),
      fact_row("redundancy.tolerance", sets<&Redundancy::tolerance>, range(0, 1e4), optional,
               example("1"),
               "how much longer than the fastest replica the others may take before they are "
               "stragglers, over what it takes (mu); 0: a step ends with the last that it needs, "
               "the default"),
      fact_row(
          "redundancy.noise", sets<&Redundancy::noise>, range(0, 1e9), optional, example("32"),
          "dynamic-backup: gradients of k replicas make k / (1 + k / noise) progress; default: k"),
  };
}

}  // namespace windtunnel
