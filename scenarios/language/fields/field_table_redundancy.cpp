// Rows of the field table below "redundancy".
#include "models/reliability/stragglers/redundancy.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {

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
