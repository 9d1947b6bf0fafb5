// These are rows of the field table about protection against failures: snapshots and recovery.
#include "models/cost/snapshot/snapshot_writer.hpp"
#include "models/reliability/detection.hpp"
#include "models/reliability/snapshot.hpp"
#include "scenarios/language/fields/field_rows.hpp"
#include "scenarios/language/resolve/schemes.hpp"

namespace windtunnel {
namespace {

Rows tier_rows() {
  return {
      name_row("snapshots", or_list, by_default("[]"), names(names_listed<snapshot_schemes>),
               Scope::campaign, example("gemini"),
               "where copies of the training state are kept, the nearest first: a list of tiers, "
               "or the name of a published scheme, see `windtunnel list snapshots`"),
      map_row("snapshots.*", example("{tier: storage, every: 1 h}"), "one tier"),
      name_row("snapshots.*.tier", sets<&SnapshotTier::place>, required, example("storage"),
               "where the bytes are written: memory of the same node, memory of a group of nodes, "
               "disks of the nodes, shared storage; or nowhere (replicas): after a failure the "
               "state is read from replicas that hold it"),
      interval_row("snapshots.*.every", or_map, above(0), Scope::campaign, example("10 iterations"),
                   "iterations or time between two snapshots; all tiers but replicas need it"),
      choice_row("snapshots.*.every.overhead", sets<&SnapshotTier::every_overhead>, above(0, 1),
                 required, Scope::campaign, example("0.035"),
                 "as often as possible at a cost of at most this share of the time (CheckFreq)"),
      name_row("snapshots.*.mode", sets<&SnapshotTier::mode>, example("lazy"),
               "training waits until the copy is complete (sync), until the bytes are in pinned "
               "host memory (async), or only before the optimizer changes what is still being "
               "copied there (lazy)"),
      name_row("snapshots.*.keeper", sets<&SnapshotTier::keeper_process>,
               names({"process", "none"}), true_name("process"), Scope::campaign,
               example("process"),
               "a separate process keeps the copies in host memory when the trainer crashes"),
  };
}

Rows code_rows() {
  return {
      map_row("snapshots.*.code", shorthand("name"), example("{name: xor, data: 4}"),
              "copies or parity blocks that replace lost members"),
      name_row("snapshots.*.code.name", sets<&ErasureCode::name>, required, example("rs"),
               "further copies; XOR; Reed-Solomon; a second copy of the weights, from which the "
               "optimizer's state is recomputed (scope: node)"),
      whole_row("snapshots.*.code.data", sets<&ErasureCode::data>, range(1, 255), optional,
                example("4"),
                "number of members whose data one stripe protects; for copies: 1; for xor with "
                "scope: node: one fewer than the GPUs of the node"),
      whole_row("snapshots.*.code.parity", sets<&ErasureCode::parity>, range(1, 255), optional,
                example("1"),
                "members that may be lost: number of further copies, or of parity blocks; for xor "
                "always 1"),
      name_row("snapshots.*.code.scope", names({"nodes", "node"}), example("nodes"),
               "members are nodes, or the keeper processes of one node; default: node for "
               "host-memory, else nodes"),
      name_row("snapshots.*.code.encode", sets<&ErasureCode::on_gpu>, names({"cpu", "gpu"}),
               true_name("gpu"), example("gpu"),
               "on CPU cores after the copy to the host, or on the GPU before it"),
      fact_row("snapshots.*.code.cores", sets<&ErasureCode::cpu_cores>, above(0, 1e4),
               "cores of each node that encode"),
      name_row("snapshots.*.code.placement", sets<&ErasureCode::spread>,
               names({"adjacent", "spread"}), true_name("spread"), example("spread"),
               "members of a code are neighbouring nodes (adjacent), or spread over the whole "
               "job (spread)"),
  };
}

Rows copy_rows() {
  return {
      bandwidth_row("snapshots.*.copy_limit", sets<&SnapshotTier::copy_limit_Bps>, optional,
                    example("20 GB/s"),
                    "upper limit of the rate of one GPU's copy to the host; default: none"),
      fact_row("snapshots.*.changed", sets<&SnapshotTier::changed_share>, above(0, 1),
               example("0.1"),
               "share of the state that a differential snapshot moves; see full_every"),
      fact_row("snapshots.*.quantised", sets<&SnapshotTier::quantised_share>, above(0, 1),
               example("0.25"), "size after quantisation, divided by the size before"),
      whole_row("snapshots.*.full_every", sets<&SnapshotTier::full_every>, range(1, 1e6),
                example("10"),
                "one snapshot in this many moves the whole state, the others only what changed"),
      name_row("snapshots.*.when_busy", sets<&SnapshotTier::when_busy>, Scope::campaign, optional,
               example("queue"),
               "what happens if a snapshot is due before the last is complete: it is skipped "
               "(skip), waits in host memory (queue), or training waits (block); default: as the "
               "writer does, else block"),
      whole_row(
          "snapshots.*.kept", sets<&SnapshotTier::kept>, range(1, kMostKeptCopies), Scope::campaign,
          "number of complete copies kept on storage and disks; memory keeps only the newest"),
      name_row("snapshots.*.layout", sets<&SnapshotTier::any_layout>, names({"own", "any"}),
               true_name("any"), example("any"),
               "which layouts can load a snapshot: the one that wrote it, or any (Universal "
               "Checkpointing)"),
      duration_row("snapshots.*.coordination", sets<&SnapshotTier::coordination_s>,
                   example("0.5 s"),
                   "additional time that training waits for each snapshot: planning, barriers"),
  };
}

Rows writer_rows() {
  return {
      map_row("snapshots.*.writer", shorthand("name"), example("{name: torch-save, write: 1 GB/s}"),
              "the software that writes the state to files, with its own speed per process, see "
              "`windtunnel list writers`; default: as fast as the storage accepts it"),
      name_row("snapshots.*.writer.name", required, names(names_listed<snapshot_writers>),
               example("torch-save"), "the software to start from"),
      bandwidth_row("snapshots.*.writer.write", sets<&SnapshotWriter::write_Bps>, optional,
                    example("1 GB/s"),
                    "rate of one process from host memory to files; default: that of the software"),
      bandwidth_row("snapshots.*.writer.read", sets<&SnapshotWriter::read_Bps>, optional,
                    example("2 GB/s"),
                    "rate of one process from files to host memory; default: that of the software"),
      bandwidth_row("snapshots.*.writer.copy", sets<&SnapshotWriter::copy_Bps>, optional,
                    example("6 GB/s"),
                    "rate of one process between GPU and unpinned host memory; default: that of "
                    "the software"),
      duration_row("snapshots.*.writer.start", sets<&SnapshotWriter::start_s>, optional,
                   example("0.5 s"),
                   "time before the first byte is written; default: that of the software"),
      name_row(
          "snapshots.*.writer.ranks", sets<&SnapshotWriter::ranks>, optional, example("one"),
          "which ranks write: each rank a part; one of the ranks that hold the same shard, which "
          "each of them reads whole; or one rank for all; default: as the software does"),
  };
}

Rows policy_rows() {
  return {
      map_row("recovery", shorthand("base"), example("{spares: 128, detect: 60 s, restart: 180 s}"),
              "what happens after a failure: the name of a scheme, or a base and the values that "
              "differ from it; see `windtunnel list recoveries`"),
      name_row("recovery.base", names(names_listed<recovery_schemes>), example("restart"),
               "the scheme of the library to start from"),
      whole_row("recovery.spares", sets<&RecoveryPolicy::spares>, range(0, 1e6), example("128"),
                "nodes that wait to replace lost ones"),
      whole_row("recovery.hot_spares", sets<&RecoveryPolicy::hot_spares>, range(0, 1e6),
                example("4"), "how many of the spares can join at once"),
      duration_row("recovery.provision", sets<&RecoveryPolicy::provision_s>, example("5 min"),
                   "time until a spare that is not hot can join"),
      name_row("recovery.when_no_spare", sets<&RecoveryPolicy::when_no_spare>, example("shrink"),
               "wait for a repair (wait), go on with fewer data-parallel replicas (shrink), give "
               "the micro-batches to the same stage of other replicas (reroute), or go on in "
               "another layout (relayout)"),
      name_row("recovery.relayout", or_list, by_default("any"), names({"any"}),
               "with when_no_spare: relayout: layouts of fewer nodes with the same batch, the "
               "fastest of which is used; any: all that differ by factors of two"),
      map_row("recovery.relayout.*", example("{tp: 2, pp: 1, dp: 2}"),
              "a layout; axes that are left out stay as they are"),
      whole_row("recovery.relayout.*.tp", sets<&RelayoutSize::tp>, range(1, 1e6), optional,
                example("2"), "as layout.tp"),
      whole_row("recovery.relayout.*.pp", sets<&RelayoutSize::pp>, range(1, 1e6), optional,
                example("1"), "as layout.pp"),
      whole_row("recovery.relayout.*.dp", sets<&RelayoutSize::dp>, range(1, 1e6), optional,
                example("2"), "as layout.dp"),
      name_row("recovery.stream", sets<&RecoveryPolicy::stream>, example("weights"),
               "what a restarting island (sync) reads from one that trains: the whole state, or "
               "only the weights, with a new optimizer state"),
      fact_row("recovery.success", sets<&RecoveryPolicy::success>, above(0, 1), example("0.95"),
               "share of restarts that succeed; the others are repeated"),
      whole_row("recovery.repair_slots", sets<&RecoveryPolicy::repair_slots>, range(0, 1e6),
                example("10"), "nodes that are repaired at a time, while others wait; 0: all"),
      whole_row("recovery.evict_after", sets<&RecoveryPolicy::evict_after>, range(0, 1e6),
                example("3"),
                "number of failures after which a node is removed for good; 0: never"),
      duration_row("recovery.evict_within", sets<&RecoveryPolicy::evict_within_s>, example("30 d"),
                   "time over which these failures are counted; 0: the whole campaign"),
      duration_row("recovery.manual", sets<&RecoveryPolicy::manual_s>, example("1 h"),
                   "time that a human needs to handle a failure that needs one"),
      fact_row("recovery.steady_overhead", sets<&RecoveryPolicy::steady_overhead>, range(0, 10),
               example("0.05"),
               "share by which protection against failures lengthens every iteration (Bamboo)"),
  };
}

Rows time_rows() {
  Rows rows =
      detection_rows({"recovery.detect", "recovery.detect.heartbeat", "recovery.detect.misses",
                      "recovery.detect.timeout", "recovery.detect.watchdog"});
  rows.front().help = "time from a failure to its discovery, or the mechanism that notices it";
  rows.front() = bound<&RecoveryPolicy::detect_s>(std::move(rows.front()));
  const Rows more = {
      duration_row("recovery.restart", sets<&RecoveryPolicy::restart_s>, or_map, example("180 s"),
                   "time to restart without loading a snapshot: scheduler, processes, "
                   "communicators; a time, or its parts, which are added"),
      duration_row("recovery.restart.scheduler", by_default("0 s"), example("30 s"),
                   "time until the scheduler has assigned the nodes"),
      duration_row("recovery.restart.process", by_default("0 s"), example("60 s"),
                   "time for containers, imports and the CUDA context"),
      duration_row("recovery.restart.communicators_per_gpu", by_default("0 s"), example("2 ms"),
                   "time to set up communicators, per GPU of the job"),
      duration_row("recovery.restart.warm_up", by_default("0 s"), example("30 s"),
                   "extra time of slow first iterations, in all"),
  };
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

Rows group_rows() {
  return {
      map_row("recovery.attended", example("{from: 8, to: 20}"),
              "hours of the day at which a human can act; default: always"),
      fact_row("recovery.attended.from", sets<&RecoveryPolicy::attended, &AttendedHours::from_h>,
               range(0, 24), required, example("8"), "hour of the day at which this begins"),
      fact_row("recovery.attended.to", sets<&RecoveryPolicy::attended, &AttendedHours::to_h>,
               range(0, 24), required, example("20"),
               "hour of the day at which this ends; before `from`: on the next day"),
      map_row("recovery.elastic", example("{groups: 12, stall: 3 min, rejoin: 7 min}"),
              "groups of replicas that continue while one of them restarts"),
      whole_row("recovery.elastic.groups", sets<&RecoveryPolicy::elastic, &ElasticGroups::groups>,
                range(2, 1e6), required, example("12"),
                "number of groups into which the data-parallel replicas are divided"),
      duration_row("recovery.elastic.stall",
                   sets<&RecoveryPolicy::elastic, &ElasticGroups::stall_s>, example("3 min"),
                   "time until the other groups continue: quorum, communicators"),
      duration_row("recovery.elastic.rejoin",
                   sets<&RecoveryPolicy::elastic, &ElasticGroups::rejoin_s>, example("7 min"),
                   "time until the lost group is back, once it has all its nodes"),
      duration_row("recovery.elastic.rejoin_stall",
                   sets<&RecoveryPolicy::elastic, &ElasticGroups::rejoin_stall_s>, example("10 s"),
                   "time for which all groups stop when the lost group rejoins"),
  };
}

}  // namespace

Rows detection_rows(const DetectionPaths& paths) {
  return {
      duration_row(paths.self, or_map, example("30 s")),
      duration_row(paths.heartbeat, sets<&Detection::heartbeat_s>, above(0), optional,
                   example("15 s"),
                   "time between two heartbeats of a process; default: none are sent"),
      whole_row(paths.misses, sets<&Detection::misses>, range(1, 1000), example("3"),
                "consecutive heartbeats that must be missed"),
      duration_row(paths.timeout, sets<&Detection::timeout_s>, above(0), example("10 min"),
                   "timeout of a collective that is stuck (torch.distributed: 10 min)"),
      duration_row(paths.watchdog, sets<&Detection::watchdog_s>, above(0), optional,
                   example("30 s"),
                   "time until a watchdog on the collectives notices that something is dead, stuck "
                   "or slow; default: there is no watchdog"),
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
