// These are rows of the field table below "sync" except the compressor's.
#include "models/plan/job.hpp"
#include "models/reliability/stragglers/redundancy.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {

Rows sync_rows() {
  return {
      list_row(
          "sync", example("[{over: node, every: 1 step}, {over: site, every: 100 steps}]"),
          "levels at which replicas synchronise, from inside to outside: the parts that `over` "
          "names exchange every few steps; replicas inside of a part synchronise in every step"),
      map_row("sync.*", example("{over: site, every: 100 steps, delay: 5 steps}"),
              "a level of synchronisation"),
      name_row(
          "sync.*.over", sets<&SyncLevel::over>, optional, names({"replica", "node", "site"}),
          example("site"),
          "the parts that exchange; each is an island, whose replicas synchronise in every step"),
      whole_row("sync.*.islands", range(2, 1e6), example("64"),
                "instead of over: number of islands of consecutive replicas"),
      choice_row(
          "sync.*.every", sets<&SyncLevel::every_steps>, Dimension::iterations, range(1, 1e9),
          optional, example("100 steps"),
          "steps between two exchanges of the same parameter (H); with rates the shortest period"),
      text_row("sync.*.rates", example("rates.csv"),
               "learning rates that determine the periods (Quadratic Synchronization Rule): a CSV "
               "file in the same folder with the columns step, rate"),
      choice_row("sync.*.growth", range(1e-12, 1e6), example("0.0175"),
                 "with rates: a period is (growth / rate)^2 steps, but at least `every`"),
      whole_row("sync.*.fragments", sets<&SyncLevel::fragments>, range(1, 1e4), example("8"),
                "number of parts of the model that are exchanged in turn (Streaming DiLoCo), one "
                "each `every` / `fragments` steps"),
      choice_row("sync.*.delay", sets<&SyncLevel::delay_steps>, Dimension::iterations,
                 range(0, 1e9), example("5 steps"),
                 "steps that run during an exchange before its result is applied; 0: all islands "
                 "wait for it"),
      name_row("sync.*.start", sets<&SyncLevel::start>, example("layers"),
               "when an exchange begins: after the step, or layer by layer during its backward "
               "pass, as communication.overlap says (islands of one replica)"),
      name_row("sync.*.pattern", sets<&SyncLevel::pattern>, example("leader"),
               "deltas of all islands are summed (all-reduce), one island sends its weights to all "
               "others (leader), each sends its weights to some others (gossip), or islands never "
               "exchange (none)"),
      name_row("sync.*.graph", sets<&SyncLevel::graph>, example("exponential"),
               "gossip: the neighbours of an island: the next two of a ring, those at distance 1, "
               "2, 4, ..., or random ones each time"),
      whole_row("sync.*.peers", sets<&SyncLevel::peers>, range(0, 1e6), example("1"),
                "gossip: number of neighbours that get an island's weights in one exchange, all "
                "of them in turn; 0: all at once; in a random graph one"),
      name_row("sync.*.events", sets<&SyncLevel::events>, example("poisson"),
               "gossip: all islands exchange in the same step, or each at random times in the "
               "background, so that no island waits; `every` is then the mean"),
      list_row("sync.*.paths", example("[16, 16]"),
               "number of alternative modules for each half of the layers; an island trains one "
               "module per half and exchanges it with islands that train the same (DiPaCo)"),
      whole_row("sync.*.paths.*", range(2, 1e6), example("16"),
                "number of modules of one half of the layers"),
      name_row(
          "sync.*.parameters", sets<&SyncLevel::parameters>, example("dense"),
          "what is exchanged; dense: all parameters except the experts, which differ by island"),
      whole_row(
          "sync.*.optimizer_states", sets<&SyncLevel::optimizer_states>, range(0, 4), example("2"),
          "number of vectors of the optimizer's state that are averaged along with the weights"),
      name_row("sync.*.optimizer", sets<&SyncLevel::optimizer>, example("average"),
               "what is done with the sum: it is the gradient of an outer optimizer with momentum "
               "(nesterov, as in DiLoCo), or gives the mean of the weights (average, local SGD)"),
      text_row("sync.*.wait_for", by_default("all"), example("all-but-2"),
               "the islands for which an exchange waits: all, all-but-K, or the number with the "
               "most progress per second under cluster.jitter (dynamic); failed or later islands "
               "stop where they are and take the result"),
      name_row("sync.*.precision", sets<&SyncLevel::element_bytes>,
               names({"fp32", "bf16", "fp8", "fp4"}), example("bf16"),
               "precision of a delta on the network, before compression"),
  };
}

Rows redundancy_rows() {
  return {
      map_row("redundancy", shorthand("scheme"),
              example("{scheme: gradient-coding, stragglers: 4}"),
              "how a step tolerates stragglers (cluster.jitter, cluster.slow_nodes): by redundant "
              "work on all replicas, or by leaving some out"),
      name_row(
          "redundancy.scheme", sets<&Redundancy::scheme>, required, example("gradient-coding"),
          "codes over workers (gradient-coding), or also over steps (sr-sgc, m-sgc); the same "
          "work several times (replicated); or the slowest are left out: their gradients "
          "are dropped (drop-slowest), the others compute the whole batch (backup-workers), or "
          "as many are left out as is best (dynamic-backup, DBW)"),
      whole_row("redundancy.stragglers", sets<&Redundancy::stragglers>, range(0, 1e6), optional,
                example("4"),
                "gradient-coding, drop-slowest, backup-workers: number of replicas for which a "
                "step does not wait; default: 1"),
      whole_row("redundancy.copies", sets<&Redundancy::copies>, range(1, 1e6), optional,
                example("2"), "replicated: number of replicas that compute the same; default: 2"),
      whole_row("redundancy.burst", sets<&Redundancy::burst>, range(1, 1e4), optional, example("1"),
                "sr-sgc, m-sgc: number of steps in any window from the first to the last in which "
                "a replica straggles (B); default: 1"),
      whole_row("redundancy.window", sets<&Redundancy::window>, range(2, 1e4), optional,
                example("2"), "sr-sgc, m-sgc: number of steps in a window (W); default: 2"),
      whole_row(
          "redundancy.lambda", sets<&Redundancy::distinct>, range(1, 1e6), optional, example("27"),
          "sr-sgc, m-sgc: number of different replicas that straggle in a window; default: 1"),
      fact_row("redundancy.tolerance", sets<&Redundancy::tolerance>, range(0, 1e4), optional,
               example("1"),
               "how much longer than the fastest replica the others may take before they are "
               "stragglers, relative to its time (mu); default: 0, a step ends with the last "
               "replica that it needs"),
      fact_row(
          "redundancy.noise", sets<&Redundancy::noise>, range(0, 1e9), optional, example("32"),
          "dynamic-backup: gradients of k replicas make k / (1 + k / noise) progress; default: k"),
  };
}

}  // namespace windtunnel
