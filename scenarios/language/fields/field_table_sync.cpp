// Rows of the field table below "sync", but for the compressor's.
#include "models/plan/job.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {

Rows sync_rows() {
  return {
      list_row("sync",
               {.example = "[{over: node, every: 1 step}, {over: site, every: 100 steps}]",
                .help = "how often replicas synchronise, from inside to outside: every so many "
                        "steps those that a word names; those inside them in every step"}),
      map_row("sync.*", {.example = "{over: site, every: 100 steps, delay: 5 steps}",
                         .help = "a level of synchronisation"}),
      name_row<&SyncLevel::over>(
          "sync.*.over",
          {.optional = true,
           .names = {"replica", "node", "site"},
           .example = "site",
           .help = "between whom: each an island, which synchronises inside in every step"}),
      whole_row("sync.*.islands",
                {.low = 2,
                 .high = 1e6,
                 .example = "64",
                 .help = "in place of over: so many islands of consecutive replicas"}),
      choice_row<&SyncLevel::every_steps>(
          "sync.*.every", Dimension::iterations,
          {.low = 1,
           .high = 1e9,
           .optional = true,
           .example = "100 steps",
           .help = "steps between two exchanges of the same parameter (H); with rates the shortest "
                   "period"}),
      text_row("sync.*.rates",
               {.example = "rates.csv",
                .help = "learning rates by which periods grow (Quadratic Synchronization Rule): a "
                        "CSV file beside this one with the columns step, rate"}),
      choice_row("sync.*.growth", Dimension::number,
                 {.low = 1e-12,
                  .high = 1e6,
                  .example = "0.0175",
                  .help = "with rates: a period is (growth / rate)^2 steps, every at least"}),
      whole_row<&SyncLevel::fragments>(
          "sync.*.fragments",
          {.low = 1,
           .high = 1e4,
           .example = "8",
           .help = "parts of the model that are exchanged in turn (Streaming DiLoCo), one every "
                   "every / fragments steps"}),
      choice_row<&SyncLevel::delay_steps>(
          "sync.*.delay", Dimension::iterations,
          {.low = 0,
           .high = 1e9,
           .example = "5 steps",
           .help = "steps that go on beside an exchange, whose result is taken in behind them; "
                   "0: all wait for it"}),
      name_row<&SyncLevel::start>(
          "sync.*.start",
          {.example = "layers",
           .help = "when an exchange begins: after the step, or layer by layer during its backward "
                   "pass, as communication.overlap says (islands of one replica)"}),
      name_row<&SyncLevel::pattern>(
          "sync.*.pattern",
          {.example = "leader",
           .help = "all islands' deltas are summed, one island's weights go to all others, each "
                   "island's go to some others (gossip), or they never exchange (none)"}),
      name_row<&SyncLevel::graph>(
          "sync.*.graph",
          {.example = "exponential",
           .help = "gossip: neighbours of an island: the next two of a ring, those at distance 1, "
                   "2, 4, ..., or others drawn anew each time"}),
      whole_row<&SyncLevel::peers>(
          "sync.*.peers", {.low = 0,
                           .high = 1e6,
                           .example = "1",
                           .help = "gossip: of its neighbours so many get an island's weights in "
                                   "one exchange, all in turn; 0: all; of a random graph one"}),
      name_row<&SyncLevel::events>(
          "sync.*.events",
          {.example = "poisson",
           .help = "gossip: all exchange in the same step, or each at random times of its own in "
                   "the background, every so often on average, so that nobody waits"}),
      list_row("sync.*.paths",
               {.example = "[16, 16]",
                .help = "modules that each half of the layers has; an island trains one of each, "
                        "and those with the same one exchange it (DiPaCo)"}),
      whole_row(
          "sync.*.paths.*",
          {.low = 2, .high = 1e6, .example = "16", .help = "modules of one half of the layers"}),
      name_row<&SyncLevel::parameters>(
          "sync.*.parameters",
          {.example = "dense",
           .help = "what is exchanged; dense: all but the experts, which are each island's own"}),
      whole_row<&SyncLevel::optimizer_states>(
          "sync.*.optimizer_states",
          {.low = 0,
           .high = 4,
           .example = "2",
           .help = "vectors of the optimizer's state that are averaged along with the weights"}),
      name_row<&SyncLevel::optimizer>(
          "sync.*.optimizer",
          {.example = "average",
           .help = "what the sum becomes: the gradient of an outer optimizer with a momentum "
                   "(nesterov, as DiLoCo), or the mean of the weights (average, local SGD)"}),
      text_row(
          "sync.*.wait_for",
          {.default_text = "all",
           .example = "all-but-2",
           .help = "the islands that an exchange waits for: all, all-but-K, or as many as make "
                   "most progress a second under cluster.jitter (dynamic); those that failed or "
                   "come later stop where they are and take its result"}),
      name_row<&SyncLevel::element_bytes>(
          "sync.*.precision", {.names = {"fp32", "bf16", "fp8", "fp4"},
                               .example = "bf16",
                               .help = "of a delta on the network, before it is compressed"}),
  };
}

}  // namespace windtunnel
