// Rows of the field table below "redundancy".
#include "models/reliability/stragglers/redundancy.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {

Rows redundancy_rows() {
  return {
      map_row("redundancy",
              {.shorthand = "scheme",
               .example = "{scheme: gradient-coding, stragglers: 4}",
               .help = "what a step does about replicas that straggle (cluster.jitter, "
                       "cluster.slow_nodes): more work than theirs for all, or some left out"}),
      name_row<&Redundancy::scheme>(
          "redundancy.scheme",
          {.required = true,
           .example = "gradient-coding",
           .help = "codes over workers (gradient-coding), and over steps too (sr-sgc, m-sgc); the "
                   "same work several times (replicated); the last left out: the gradient lacks "
                   "theirs (drop-slowest), the others have the whole batch (backup-workers), or as "
                   "many as pay (dynamic-backup, DBW)"}),
      whole_row<&Redundancy::stragglers>(
          "redundancy.stragglers",
          {.low = 0,
           .high = 1e6,
           .optional = true,
           .example = "4",
           .help = "gradient-coding, drop-slowest, backup-workers: replicas that a step does not "
                   "wait for; default: 1"}),
      whole_row<&Redundancy::copies>(
          "redundancy.copies", {.low = 1,
                                .high = 1e6,
                                .optional = true,
                                .example = "2",
                                .help = "replicated: replicas that compute the same; default: 2"}),
      whole_row<&Redundancy::burst>(
          "redundancy.burst",
          {.low = 1,
           .high = 1e4,
           .optional = true,
           .example = "1",
           .help =
               "sr-sgc, m-sgc: steps from the first to the last that a replica straggles in, in "
               "any window (B); default: 1"}),
      whole_row<&Redundancy::window>("redundancy.window",
                                     {.low = 2,
                                      .high = 1e4,
                                      .optional = true,
                                      .example = "2",
                                      .help = "sr-sgc, m-sgc: steps of a window (W); default: 2"}),
      whole_row<&Redundancy::distinct>(
          "redundancy.lambda",
          {.low = 1,
           .high = 1e6,
           .optional = true,
           .example = "27",
           .help = "sr-sgc, m-sgc: different replicas that straggle in a window; default: 1"}),
      fact_row<&Redundancy::tolerance>(
          "redundancy.tolerance", Dimension::number,
          {.low = 0,
           .high = 1e4,
           .optional = true,
           .example = "1",
           .help = "how much longer than the fastest replica the others may take before they are "
                   "stragglers, over what it takes (mu); 0: a step ends with the last that it "
                   "needs, the default"}),
      fact_row<&Redundancy::noise>(
          "redundancy.noise", Dimension::number,
          {.low = 0,
           .high = 1e9,
           .optional = true,
           .example = "32",
           .help = "dynamic-backup: gradients of k replicas make k / (1 + k / noise) progress; "
                   "default: k"}),
  };
}

}  // namespace windtunnel
