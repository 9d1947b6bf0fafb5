// Rows of the field table for "fuse" and below "volunteers".
#include "models/base/units.hpp"
#include "models/volunteers/volunteers.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {
namespace {

constexpr double kMostPeers = 1e5;
// Each join is simulated as an event. The last factor admits the limit itself in every unit.
constexpr double kMostJoins_per_s = 360 / kHour_s * (1 + 1e-12);

Rows peer_rows() {
  return {
      list_row("volunteers.peers", required,
               example("[{name: t4, count: 400, up: 500 Mb/s, down: 500 Mb/s}]"),
               "kinds of machines: how many there are at the start, and of what speed"),
      map_row("volunteers.peers.*", example("{name: t4, count: 400, up: 500 Mb/s, down: 500 Mb/s}"),
              "machines that are alike; each is one node of the job but for its speed"),
      text_row("volunteers.peers.*.name", sets<&PeerKind::name>, required, example("t4"),
               "what reports call them"),
      whole_row("volunteers.peers.*.count", sets<&PeerKind::count>, range(0, kMostPeers), required,
                example("400"), "at the start"),
      fact_row(
          "volunteers.peers.*.speed", sets<&PeerKind::speed>, range(0, 1e6), example("0.5"),
          "of its kernels, over that of the job's node; 0: it only averages gradients for others"),
      bandwidth_row("volunteers.peers.*.up", sets<&PeerKind::up_Bps>, required, example("200 Mb/s"),
                    "of its link, to the network"),
      bandwidth_row("volunteers.peers.*.down", sets<&PeerKind::down_Bps>, required,
                    example("500 Mb/s"), "of its link, from the network"),
      duration_row("volunteers.peers.*.latency", sets<&PeerKind::latency_s>, example("50 ms"),
                   "of a message, one way"),
      fact_row("volunteers.peers.*.leave", sets<&PeerKind::leave_per_s>, Dimension::per_s,
               range(0, 1), example("0.1 per hour"),
               "how often each of them leaves, at exponential gaps"),
      fact_row("volunteers.peers.*.join", sets<&PeerKind::join_per_s>, Dimension::per_s,
               range(0, kMostJoins_per_s), example("40 per hour"),
               "how often a peer joins, at exponential gaps"),
  };
}

Rows call_rows() {
  return {
      map_row("volunteers.calls", example("{trainers: 64, experts: 4, loss: 0.1}"),
              "trainers that call experts on peers layer by layer, many in parallel, instead of a "
              "pipeline (Learning@home)"),
      whole_row("volunteers.calls.trainers", sets<&ExpertCalls::trainers>, range(1, 1e6), required,
                example("64"), "batches in flight"),
      whole_row("volunteers.calls.experts", sets<&ExpertCalls::experts>, range(1, 1e3),
                example("4"), "that each layer's input is sent to"),
      whole_row("volunteers.calls.answers", sets<&ExpertCalls::answers>, range(1, 1e3),
                example("2"), "answers that a trainer waits for; it continues without the others"),
      fact_row("volunteers.calls.loss", sets<&ExpertCalls::loss>, range(0, 0.999), example("0.1"),
               "probability that a call is not answered"),
      duration_row("volunteers.calls.timeout", sets<&ExpertCalls::timeout_s>,
                   "time after which a trainer continues with fewer answers"),
  };
}

Rows swarm_rows() {
  return {
      whole_row("fuse", range(1, 4096), optional, example("16"),
                "largest number of jobs like this one, each on one GPU, for a comparison: all in "
                "one program with shared kernels (HFTA), or one after the other"),
      map_row("volunteers",
              example("{peers: [{name: t4, count: 400, up: 500 Mb/s, down: 500 Mb/s}]}"),
              "a training on machines that come and go, with many machines for each stage of the "
              "model (layout.pp) (SWARM), to compare with the job on its cluster"),
      text_row("volunteers.trace", optional, files(".csv"), example("peers.csv"),
               "number of peers over time, instead of leave and join: a CSV file in the same "
               "folder with the columns time_s and peers"),
      duration_row("volunteers.length", sets<&Volunteers::length_s>, at_most(366 * kDay_s),
                   example("32 h"), "of a trial"),
      whole_row("volunteers.trials", sets<&Volunteers::trials>, range(1, 1e5),
                "how often it is simulated"),
      whole_row("volunteers.seed", sets<&Volunteers::seed>, range(0, 1e8),
                "seed of the times at which peers join and leave"),
      duration_row("volunteers.rebalance", sets<&Volunteers::rebalance_s>, at_least(1), or_zero,
                   example("300 s"),
                   "so often a peer of the stage with the most to spare goes over to the slowest "
                   "one; 0 s: never"),
      name_row("volunteers.joiners", sets<&Volunteers::joiners>,
               "which stage a peer takes that joins: the slowest, or any"),
      duration_row("volunteers.takeover", sets<&Volunteers::move_s>, optional, example("60 s"),
                   "until a peer serves the stage that it takes over; default: weights and "
                   "optimizer state of the stage over its link"),
  };
}

}  // namespace

Rows volunteer_rows() {
  return of_campaign(joined({swarm_rows(), peer_rows(), call_rows()}));
}

}  // namespace windtunnel
