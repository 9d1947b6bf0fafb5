// Rows of the field table for what is done against failures: snapshots and recovery.
#include "models/cost/snapshot/snapshot_writer.hpp"
#include "models/reliability/detection.hpp"
#include "models/reliability/snapshot.hpp"
#include "scenarios/language/fields/field_rows.hpp"
#include "scenarios/language/resolve/schemes.hpp"

namespace windtunnel {
namespace {

std::vector<std::string> snapshot_scheme_names() {
  return names_in(snapshot_schemes());
}
std::vector<std::string> writer_names() {
  return names_in(snapshot_writers());
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
                    "the name of a published scheme, see `windtunnel list snapshots`",
            .scope = Scope::campaign},
      map_row("snapshots.*", {.example = "{tier: storage, every: 1 h}", .help = "one tier"}),
      name_row<&SnapshotTier::place>(
          "snapshots.*.tier",
          {.required = true,
           .example = "storage",
           .help = "where the bytes go: memory of the own node, of a group of nodes, disks of "
                   "the nodes, shared storage; or nowhere: the replicas that hold the same "
                   "state are read after a failure"}),
      Field{.path = "snapshots.*.every",
            .scalar = ScalarType::interval,
            .map = true,
            .low = 0,
            .above_low = true,
            .example = "10 iterations",
            .help = "iterations or time between two snapshots; all tiers but replicas need it",
            .scope = Scope::campaign},
      choice_row<&SnapshotTier::every_overhead>(
          "snapshots.*.every.overhead", Dimension::number,
          {.low = 0,
           .above_low = true,
           .high = 1,
           .required = true,
           .example = "0.035",
           .help = "as often as costs at most this share of the time (CheckFreq)",
           .scope = Scope::campaign}),
      name_row<&SnapshotTier::mode>(
          "snapshots.*.mode",
          {.example = "lazy",
           .help = "training waits until the copy is complete (sync), until the bytes are in "
                   "pinned host memory (async), or only before the optimizer changes what is "
                   "still being copied there (lazy)"}),
      name_row<&SnapshotTier::keeper_process>(
          "snapshots.*.keeper",
          {.names = {"process", "none"},
           .true_name = "process",
           .example = "process",
           .help = "a process beside the trainer keeps host memory when the trainer crashes",
           .scope = Scope::campaign}),
  };
}

Rows code_rows() {
  return {
      map_row("snapshots.*.code", {.shorthand = "name",
                                   .example = "{name: xor, data: 4}",
                                   .help = "copies or parity that make up for lost members"}),
      name_row<&ErasureCode::name>(
          "snapshots.*.code.name",
          {.required = true,
           .example = "rs",
           .help = "further copies; XOR; Reed-Solomon; weights twice, from which the "
                   "optimizer's state is computed again (scope: node)"}),
      whole_row<&ErasureCode::data>(
          "snapshots.*.code.data",
          {.low = 1,
           .high = 255,
           .optional = true,
           .example = "4",
           .help = "members whose bytes one stripe protects; copies: 1; xor with scope: "
                   "node: the node's GPUs less one"}),
      whole_row<&ErasureCode::parity>(
          "snapshots.*.code.parity",
          {.low = 1,
           .high = 255,
           .optional = true,
           .example = "1",
           .help = "members that may be lost: further copies, or parity; default and only "
                   "choice for xor: 1"}),
      name_row("snapshots.*.code.scope",
               {.names = {"nodes", "node"},
                .example = "nodes",
                .help = "members are nodes, or the keeper processes of one node; default: node for "
                        "host-memory, else nodes"}),
      name_row<&ErasureCode::on_gpu>("snapshots.*.code.encode",
                                     {.names = {"cpu", "gpu"},
                                      .true_name = "gpu",
                                      .example = "gpu",
                                      .help = "on CPU cores after the copy to the host, or on "
                                              "the GPU before it"}),
      fact_row<&ErasureCode::cpu_cores>("snapshots.*.code.cores", Dimension::number,
                                        {.low = 0,
                                         .above_low = true,
                                         .high = 1e4,
                                         .example = "4",
                                         .help = "of each node that encode"}),
      name_row<&ErasureCode::spread>(
          "snapshots.*.code.placement",
          {.names = {"adjacent", "spread"},
           .true_name = "spread",
           .example = "spread",
           .help = "members are neighbours, or as far apart as the job is wide"}),
  };
}

Rows copy_rows() {
  return {
      bandwidth_row<&SnapshotTier::copy_limit_Bps>(
          "snapshots.*.copy_limit",
          {.optional = true,
           .example = "20 GB/s",
           .help = "of one GPU's copy to the host; default: as fast as it goes"}),
      fact_row<&SnapshotTier::changed_share>(
          "snapshots.*.changed", Dimension::number,
          {.low = 0,
           .above_low = true,
           .high = 1,
           .example = "0.1",
           .help = "share of the state that a differential snapshot moves; see full_every"}),
      fact_row<&SnapshotTier::quantised_share>(
          "snapshots.*.quantised", Dimension::number,
          {.low = 0,
           .above_low = true,
           .high = 1,
           .example = "0.25",
           .help = "size after quantisation / size before it"}),
      whole_row<&SnapshotTier::full_every>("snapshots.*.full_every",
                                           {.low = 1,
                                            .high = 1e6,
                                            .example = "10",
                                            .help = "every so many-th snapshot moves the whole "
                                                    "state, the others what changed"}),
      whole_row<&SnapshotTier::kept>("snapshots.*.kept",
                                     {.low = 1,
                                      .high = kMostKeptCopies,
                                      .example = "2",
                                      .help = "complete copies on storage and disks; memory keeps "
                                              "the newest",
                                      .scope = Scope::campaign}),
      name_row<&SnapshotTier::any_layout>(
          "snapshots.*.layout",
          {.names = {"own", "any"},
           .true_name = "any",
           .example = "any",
           .help = "which layout can load it: the one that wrote it, or any (Universal "
                   "Checkpointing)"}),
      duration_row<&SnapshotTier::coordination_s>(
          "snapshots.*.coordination",
          {.example = "0.5 s",
           .help = "training waits for so long in each snapshot besides: planning, "
                   "barriers"}),
  };
}

Rows writer_rows() {
  return {
      map_row(
          "snapshots.*.writer",
          {.shorthand = "name",
           .example = "{name: torch-save, write: 1 GB/s}",
           .help =
               "the software that makes files of the state: a process of it has a pace of "
               "its own, see `windtunnel list writers`; default: as fast as the place takes it"}),
      name_row("snapshots.*.writer.name", {.required = true,
                                           .library = writer_names,
                                           .example = "torch-save",
                                           .help = "the software to start from"}),
      bandwidth_row<&SnapshotWriter::write_Bps>(
          "snapshots.*.writer.write",
          {.optional = true,
           .example = "1 GB/s",
           .help = "of one process, from host memory to files; default: the software's"}),
      bandwidth_row<&SnapshotWriter::read_Bps>(
          "snapshots.*.writer.read",
          {.optional = true,
           .example = "2 GB/s",
           .help = "of one process, from files to host memory; default: the software's"}),
      bandwidth_row<&SnapshotWriter::copy_Bps>(
          "snapshots.*.writer.copy",
          {.optional = true,
           .example = "6 GB/s",
           .help = "of one process, between GPU and host memory that is not pinned; default: the "
                   "software's"}),
      duration_row<&SnapshotWriter::start_s>(
          "snapshots.*.writer.start",
          {.optional = true,
           .example = "0.5 s",
           .help = "before the first byte is written; default: the software's"}),
      name_row<&SnapshotWriter::ranks>(
          "snapshots.*.writer.ranks",
          {.optional = true,
           .example = "one",
           .help = "all ranks write a part; of those that hold the same shard one, and each reads "
                   "it whole; or one for all; default: the software's"}),
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
      whole_row<&RecoveryPolicy::spares>("recovery.spares",
                                         {.low = 0,
                                          .high = 1e6,
                                          .example = "128",
                                          .help = "nodes that wait to replace lost ones"}),
      whole_row<&RecoveryPolicy::hot_spares>(
          "recovery.hot_spares", {.low = 0,
                                  .high = 1e6,
                                  .example = "4",
                                  .help = "of the spares, those that can join at once"}),
      duration_row<&RecoveryPolicy::provision_s>(
          "recovery.provision",
          {.example = "5 min", .help = "until a spare that is not hot can join"}),
      name_row<&RecoveryPolicy::when_no_spare>(
          "recovery.when_no_spare",
          {.example = "shrink",
           .help = "wait for a repair, go on with fewer data-parallel replicas, let the same "
                   "stage of other replicas take the micro-batches, or go on in another layout"}),
      Field{.path = "recovery.relayout",
            .scalar = ScalarType::name,
            .list = true,
            .default_text = "any",
            .names = {"any"},
            .example = "any",
            .help = "(when_no_spare: relayout) layouts of fewer nodes, with the same batch, of "
                    "which the fastest goes on; any: of those by factors of two"},
      map_row("recovery.relayout.*", {.example = "{tp: 2, pp: 1, dp: 2}",
                                      .help = "a layout; what is left out stays as it is"}),
      whole_row<&RelayoutSize::tp>(
          "recovery.relayout.*.tp",
          {.low = 1, .high = 1e6, .optional = true, .example = "2", .help = "as in layout"}),
      whole_row<&RelayoutSize::pp>(
          "recovery.relayout.*.pp",
          {.low = 1, .high = 1e6, .optional = true, .example = "1", .help = "as in layout"}),
      whole_row<&RelayoutSize::dp>(
          "recovery.relayout.*.dp",
          {.low = 1, .high = 1e6, .optional = true, .example = "2", .help = "as in layout"}),
      name_row<&RecoveryPolicy::stream>(
          "recovery.stream",
          {.example = "weights",
           .help = "what an island (sync) that begins again reads from one that trains: the whole "
                   "state, or the weights alone, and its optimizer begins anew"}),
      fact_row<&RecoveryPolicy::success>(
          "recovery.success", Dimension::number,
          {.low = 0,
           .above_low = true,
           .high = 1,
           .example = "0.95",
           .help = "share of restarts that work; the others are tried again"}),
      whole_row<&RecoveryPolicy::repair_slots>(
          "recovery.repair_slots", {.low = 0,
                                    .high = 1e6,
                                    .example = "10",
                                    .help = "nodes in repair at a time, the others queue; 0: all"}),
      whole_row<&RecoveryPolicy::evict_after>(
          "recovery.evict_after", {.low = 0,
                                   .high = 1e6,
                                   .example = "3",
                                   .help = "failures after which a node is not taken back; "
                                           "0: never"}),
      duration_row<&RecoveryPolicy::evict_within_s>(
          "recovery.evict_within",
          {.example = "30 d",
           .help = "failures are counted over this time; 0: the whole campaign"}),
      duration_row<&RecoveryPolicy::manual_s>(
          "recovery.manual",
          {.example = "1 h", .help = "what a human needs for a failure that needs one"}),
      fact_row<&RecoveryPolicy::steady_overhead>(
          "recovery.steady_overhead", Dimension::number,
          {.low = 0,
           .high = 10,
           .example = "0.05",
           .help = "share by which readiness lengthens every iteration (Bamboo)"}),
  };
}

Rows time_rows() {
  Rows rows =
      detection_rows({"recovery.detect", "recovery.detect.heartbeat", "recovery.detect.misses",
                      "recovery.detect.timeout", "recovery.detect.watchdog"});
  rows.front().help = "from a failure to its discovery: a time, or what notices it";
  rows.front() = bound<&RecoveryPolicy::detect_s>(std::move(rows.front()));
  const Rows more = {
      duration_row<&RecoveryPolicy::restart_s>(
          "recovery.restart",
          {.map = true,
           .example = "180 s",
           .help = "scheduler, processes, communicators; loading a snapshot comes on top: a time, "
                   "or the sum of its parts"}),
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
      fact_row<&RecoveryPolicy::attended, &AttendedHours::from_h>(
          "recovery.attended.from", Dimension::number,
          {.low = 0, .high = 24, .required = true, .example = "8", .help = "hour of the day"}),
      fact_row<&RecoveryPolicy::attended, &AttendedHours::to_h>(
          "recovery.attended.to", Dimension::number,
          {.low = 0,
           .high = 24,
           .required = true,
           .example = "20",
           .help = "hour of the day; before `from`: of the next day"}),
      map_row("recovery.elastic",
              {.example = "{groups: 12, stall: 3 min, rejoin: 7 min}",
               .help = "groups of replicas that go on while one of them restarts"}),
      whole_row<&RecoveryPolicy::elastic, &ElasticGroups::groups>(
          "recovery.elastic.groups", {.low = 2,
                                      .high = 1e6,
                                      .required = true,
                                      .example = "12",
                                      .help = "they share the data-parallel replicas"}),
      duration_row<&RecoveryPolicy::elastic, &ElasticGroups::stall_s>(
          "recovery.elastic.stall",
          {.example = "3 min", .help = "until the others go on: quorum, communicators"}),
      duration_row<&RecoveryPolicy::elastic, &ElasticGroups::rejoin_s>(
          "recovery.elastic.rejoin",
          {.example = "7 min",
           .help = "after it until the lost group is back, once it has all its nodes"}),
      duration_row<&RecoveryPolicy::elastic, &ElasticGroups::rejoin_stall_s>(
          "recovery.elastic.rejoin_stall",
          {.example = "10 s", .help = "of all groups, to take the lost one in"}),
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
            .fact = true,
            .example = "30 s"},
      duration_row<&Detection::heartbeat_s>(
          paths.heartbeat,
          {.above_low = true,
           .optional = true,
           .example = "15 s",
           .help = "time between two heartbeats of a process; default: none are sent"}),
      whole_row<&Detection::misses>(paths.misses,
                                    {.low = 1,
                                     .high = 1000,
                                     .example = "3",
                                     .help = "heartbeats in a row that must be missed"}),
      duration_row<&Detection::timeout_s>(
          paths.timeout, {.above_low = true,
                          .example = "10 min",
                          .help = "of a collective that is stuck (torch.distributed: 10 "
                                  "min)"}),
      duration_row<&Detection::watchdog_s>(
          paths.watchdog,
          {.above_low = true,
           .optional = true,
           .example = "30 s",
           .help = "until a watchdog on the collectives sees what is dead, stuck or slow; "
                   "default: there is none"}),
  };
}

Rows snapshot_rows() {
  return joined({tier_rows(), code_rows(), copy_rows(), writer_rows()});
}

Rows recovery_rows() {
  return of_campaign(joined({policy_rows(), time_rows(), group_rows()}),
                     {"recovery.when_no_spare", "recovery.elastic.groups", "recovery.stream",
                      "recovery.relayout", "recovery.relayout.*", "recovery.relayout.*.tp",
                      "recovery.relayout.*.pp", "recovery.relayout.*.dp"});
}

}  // namespace windtunnel
