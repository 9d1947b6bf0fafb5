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
           .required = true,
           .example = "100 steps",
           .help = "steps between two exchanges of the same parameter (H)"}),
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
           .help = "all islands' deltas are summed, or one island's weights go to all others"}),
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
                   "most progress a second under cluster.jitter (dynamic); those that come "
                   "later stop where they are and take its result"}),
      name_row<&SyncLevel::element_bytes>(
          "sync.*.precision", {.names = {"fp32", "bf16", "fp8", "fp4"},
                               .example = "bf16",
                               .help = "of a delta on the network, before it is compressed"}),
  };
}

}  // namespace windtunnel
