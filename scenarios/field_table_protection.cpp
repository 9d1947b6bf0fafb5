// Rows of the field table for what is done against failures: snapshots and recovery.
#include "models/snapshot.hpp"
#include "scenarios/field_rows.hpp"
#include "scenarios/schemes.hpp"

namespace windtunnel {
namespace {

std::vector<std::string> snapshot_scheme_names() {
  return names_in(snapshot_schemes());
}
std::vector<std::string> recovery_scheme_names() {
  return names_in(recovery_schemes());
}

Rows tier_rows() {
  return {
      Field{.path = "snapshots",
            .scalar = ScalarType::name,
            .list = true,
            .default_text = "[]",
            .library = snapshot_scheme_names,
            .example = "gemini",
            .help = "where copies of the training state go, the nearest first: a list of tiers, or "
                    "the name of a published scheme, see `windtunnel list snapshots`"},
      map_row("snapshots.*", {.example = "{tier: storage, every: 1 h}", .help = "one tier"}),
      name_row("snapshots.*.tier",
               {.required = true,
                .names = {"host-memory", "peers", "local-disk", "storage", "replicas"},
                .example = "storage",
                .help = "where the bytes go: memory of the own node, of a group of nodes, disks of "
                        "the nodes, shared storage; or nowhere: the replicas that hold the same "
                        "state are read after a failure"}),
      Field{.path = "snapshots.*.every",
            .scalar = ScalarType::interval,
            .map = true,
            .low = 0,
            .above_low = true,
            .high = kLongest_s,
            .example = "10 iterations",
            .help = "iterations or time between two snapshots; all tiers but replicas need it"},
      choice_row("snapshots.*.every.overhead", Dimension::number,
                 {.low = 0,
                  .above_low = true,
                  .high = 1,
                  .required = true,
                  .example = "0.035",
                  .help = "as often as costs at most this share of the time (CheckFreq)"}),
      name_row("snapshots.*.mode",
               {.default_text = "sync",
                .names = {"sync", "async", "lazy"},
                .example = "lazy",
                .help = "training waits until the copy is complete (sync), until the bytes are in "
                        "pinned host memory (async), or only before the optimizer changes what is "
                        "still being copied there (lazy)"}),
      name_row("snapshots.*.keeper",
               {.default_text = "none",
                .names = {"process", "none"},
                .example = "process",
                .help = "a process beside the trainer keeps host memory when the trainer crashes"}),
  };
}

Rows code_rows() {
  return {
      map_row("snapshots.*.code", {.shorthand = "name",
                                   .example = "{name: xor, data: 4}",
                                   .help = "copies or parity that make up for lost members"}),
      name_row("snapshots.*.code.name",
               {.required = true,
                .names = {"copies", "xor", "rs", "recompute"},
                .example = "rs",
                .help = "further copies; XOR; Reed-Solomon; weights twice, from which the "
                        "optimizer's state is computed again (scope: node)"}),
      whole_row("snapshots.*.code.data",
                {.low = 1,
                 .high = 255,
                 .example = "4",
                 .help = "members whose bytes one stripe protects; copies: 1; xor with scope: "
                         "node: the node's GPUs less one"}),
      whole_row("snapshots.*.code.parity",
                {.low = 1,
                 .high = 255,
                 .example = "1",
                 .help = "members that may be lost: further copies, or parity; default and only "
                         "choice for xor: 1"}),
      name_row("snapshots.*.code.scope",
               {.names = {"nodes", "node"},
                .example = "nodes",
                .help = "members are nodes, or the keeper processes of one node; default: node for "
                        "host-memory, else nodes"}),
      name_row("snapshots.*.code.encode", {.default_text = "cpu",
                                           .names = {"cpu", "gpu"},
                                           .example = "gpu",
                                           .help = "on CPU cores after the copy to the host, or on "
                                                   "the GPU before it"}),
      fact_row("snapshots.*.code.cores", Dimension::number,
               {.low = 0,
                .above_low = true,
                .high = 1e4,
                .default_text = "4",
                .example = "4",
                .help = "of each node that encode"}),
      name_row("snapshots.*.code.placement",
               {.default_text = "adjacent",
                .names = {"adjacent", "spread"},
                .example = "spread",
                .help = "members are neighbours, or as far apart as the job is wide"}),
  };
}

Rows copy_rows() {
  return {
      bandwidth_row("snapshots.*.copy_limit",
                    {.example = "20 GB/s",
                     .help = "of one GPU's copy to the host; default: as fast as it goes"}),
      fact_row("snapshots.*.changed", Dimension::number,
               {.low = 0,
                .above_low = true,
                .high = 1,
                .default_text = "1",
                .example = "0.1",
                .help = "share of the state that a differential snapshot moves; see full_every"}),
      fact_row("snapshots.*.quantised", Dimension::number,
               {.low = 0,
                .above_low = true,
                .high = 1,
                .default_text = "1",
                .example = "0.25",
                .help = "size after quantisation / size before it"}),
      whole_row("snapshots.*.full_every", {.low = 1,
                                           .high = 1e6,
                                           .default_text = "1",
                                           .example = "10",
                                           .help = "every so many-th snapshot moves the whole "
                                                   "state, the others what changed"}),
      whole_row("snapshots.*.kept", {.low = 1,
                                     .high = kMostKeptCopies,
                                     .default_text = "2",
                                     .example = "2",
                                     .help = "complete copies on storage and disks; memory keeps "
                                             "the newest"}),
      name_row("snapshots.*.layout",
               {.default_text = "own",
                .names = {"own", "any"},
                .example = "any",
                .help = "which layout can load it: the one that wrote it, or any (Universal "
                        "Checkpointing)"}),
      duration_row("snapshots.*.coordination",
                   {.default_text = "0 s",
                    .example = "0.5 s",
                    .help = "training waits for so long in each snapshot besides: planning, "
                            "barriers"}),
  };
}

Rows policy_rows() {
  return {
      map_row("recovery", {.shorthand = "base",
                           .example = "{spares: 128, detect: 60 s, restart: 180 s}",
                           .help = "what happens after a failure: the name of a scheme, or a base "
                                   "and what differs from it; see `windtunnel list recoveries`"}),
      name_row("recovery.base", {.library = recovery_scheme_names,
                                 .example = "restart",
                                 .help = "the scheme of the library to start from"}),
      whole_row("recovery.spares", {.low = 0,
                                    .high = 1e6,
                                    .default_text = "0",
                                    .example = "128",
                                    .help = "nodes that wait to replace lost ones"}),
      whole_row("recovery.hot_spares", {.low = 0,
                                        .high = 1e6,
                                        .default_text = "0",
                                        .example = "4",
                                        .help = "of the spares, those that can join at once"}),
      duration_row("recovery.provision", {.default_text = "0 s",
                                          .example = "5 min",
                                          .help = "until a spare that is not hot can join"}),
      name_row("recovery.when_no_spare",
               {.default_text = "wait",
                .names = {"wait", "shrink", "reroute"},
                .example = "shrink",
                .help = "wait for a repair, go on with fewer data-parallel replicas, or let the "
                        "same stage of other replicas take the micro-batches"}),
      fact_row("recovery.success", Dimension::number,
               {.low = 0,
                .above_low = true,
                .high = 1,
                .default_text = "1",
                .example = "0.95",
                .help = "share of restarts that work; the others are tried again"}),
      whole_row("recovery.repair_slots",
                {.low = 0,
                 .high = 1e6,
                 .default_text = "0",
                 .example = "10",
                 .help = "nodes in repair at a time, the others queue; 0: all"}),
      whole_row("recovery.evict_after", {.low = 0,
                                         .high = 1e6,
                                         .default_text = "0",
                                         .example = "3",
                                         .help = "failures after which a node is not taken back; "
                                                 "0: never"}),
      duration_row("recovery.evict_within",
                   {.default_text = "0 s",
                    .example = "30 d",
                    .help = "failures are counted over this time; 0: the whole campaign"}),
      duration_row("recovery.manual", {.default_text = "0 s",
                                       .example = "1 h",
                                       .help = "what a human needs for a failure that needs one"}),
      fact_row("recovery.steady_overhead", Dimension::number,
               {.low = 0,
                .high = 10,
                .default_text = "0",
                .example = "0.05",
                .help = "share by which readiness lengthens every iteration (Bamboo)"}),
  };
}

Rows time_rows() {
  Rows rows =
      detection_rows({"recovery.detect", "recovery.detect.heartbeat", "recovery.detect.misses",
                      "recovery.detect.timeout", "recovery.detect.watchdog"});
  rows.front().default_text = "60 s";
  rows.front().help = "from a failure to its discovery: a time, or what notices it";
  const Rows more = {
      Field{.path = "recovery.restart",
            .scalar = ScalarType::quantity,
            .dimension = Dimension::seconds,
            .map = true,
            .low = 0,
            .high = kLongest_s,
            .default_text = "180 s",
            .fact = true,
            .example = "180 s",
            .help = "scheduler, processes, communicators; loading a snapshot comes on top: a time, "
                    "or the sum of its parts"},
      duration_row(
          "recovery.restart.scheduler",
          {.default_text = "0 s", .example = "30 s", .help = "until the nodes are assigned"}),
      duration_row("recovery.restart.process", {.default_text = "0 s",
                                                .example = "60 s",
                                                .help = "containers, imports, the CUDA context"}),
      duration_row("recovery.restart.communicators_per_gpu",
                   {.default_text = "0 s",
                    .example = "2 ms",
                    .help = "of the communicators' set-up, for each GPU of the job"}),
      duration_row(
          "recovery.restart.warm_up",
          {.default_text = "0 s", .example = "30 s", .help = "slow first iterations, in all"}),
  };
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

Rows group_rows() {
  return {
      map_row("recovery.attended", {.example = "{from: 8, to: 20}",
                                    .help = "when somebody is there to act; default: always"}),
      fact_row("recovery.attended.from", Dimension::number,
               {.low = 0, .high = 24, .required = true, .example = "8", .help = "hour of the day"}),
      fact_row("recovery.attended.to", Dimension::number,
               {.low = 0,
                .high = 24,
                .required = true,
                .example = "20",
                .help = "hour of the day; before `from`: of the next day"}),
      map_row("recovery.elastic",
              {.example = "{groups: 12, stall: 3 min, rejoin: 7 min}",
               .help = "groups of replicas that go on while one of them restarts"}),
      whole_row("recovery.elastic.groups", {.low = 2,
                                            .high = 1e6,
                                            .required = true,
                                            .example = "12",
                                            .help = "they share the data-parallel replicas"}),
      duration_row("recovery.elastic.stall",
                   {.default_text = "0 s",
                    .example = "3 min",
                    .help = "until the others go on: quorum, communicators"}),
      duration_row("recovery.elastic.rejoin",
                   {.default_text = "0 s",
                    .example = "7 min",
                    .help = "after it until the lost group is back, once it has all its nodes"}),
      duration_row("recovery.elastic.rejoin_stall",
                   {.default_text = "0 s",
                    .example = "10 s",
                    .help = "of all groups, to take the lost one in"}),
  };
}

}  // namespace

Rows detection_rows(const DetectionPaths& paths) {
  return {
      Field{.path = paths.self,
            .scalar = ScalarType::quantity,
            .dimension = Dimension::seconds,
            .map = true,
            .low = 0,
            .high = kLongest_s,
            .fact = true,
            .example = "30 s"},
      duration_row(paths.heartbeat,
                   {.above_low = true,
                    .example = "15 s",
                    .help = "time between two heartbeats of a process; default: none are sent"}),
      whole_row(paths.misses, {.low = 1,
                               .high = 1000,
                               .default_text = "3",
                               .example = "3",
                               .help = "heartbeats in a row that must be missed"}),
      duration_row(paths.timeout, {.above_low = true,
                                   .default_text = "10 min",
                                   .example = "10 min",
                                   .help = "of a collective that is stuck (torch.distributed: 10 "
                                           "min)"}),
      duration_row(paths.watchdog,
                   {.above_low = true,
                    .example = "30 s",
                    .help = "until a watchdog on the collectives sees what is dead, stuck or slow; "
                            "default: there is none"}),
  };
}

Rows snapshot_rows() {
  return joined({tier_rows(), code_rows(), copy_rows()});
}

Rows recovery_rows() {
  return joined({policy_rows(), time_rows(), group_rows()});
}

}  // namespace windtunnel
