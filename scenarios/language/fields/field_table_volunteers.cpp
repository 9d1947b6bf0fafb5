// Rows of the field table below "volunteers", and "fuse".
#include "models/base/units.hpp"
#include "models/volunteers/volunteers.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {
namespace {

constexpr double kMostPeers = 1e5;
// A join is an event of its own; the last factor admits the limit itself in every unit.
constexpr double kMostJoins_per_s = 360 / kHour_s * (1 + 1e-12);

Rows peer_rows() {
  return {
      list_row("volunteers.peers",
               {.required = true,
                .example = "[{name: t4, count: 400, up: 500 Mb/s, down: 500 Mb/s}]",
                .help = "kinds of machines: how many there are at the start, and of what speed"}),
      map_row("volunteers.peers.*",
              {.example = "{name: t4, count: 400, up: 500 Mb/s, down: 500 Mb/s}",
               .help = "machines that are alike; each is one node of the job but for its speed"}),
      text_row<&PeerKind::name>(
          "volunteers.peers.*.name",
          {.required = true, .example = "t4", .help = "what reports call them"}),
      whole_row<&PeerKind::count>("volunteers.peers.*.count", {.low = 0,
                                                               .high = kMostPeers,
                                                               .required = true,
                                                               .example = "400",
                                                               .help = "at the start"}),
      fact_row<&PeerKind::speed>("volunteers.peers.*.speed", Dimension::number,
                                 {.low = 0,
                                  .high = 1e6,
                                  .example = "0.5",
                                  .help = "of its kernels, over that of the job's node; 0: it only "
                                          "averages gradients for others"}),
      bandwidth_row<&PeerKind::up_Bps>(
          "volunteers.peers.*.up",
          {.required = true, .example = "200 Mb/s", .help = "of its link, to the network"}),
      bandwidth_row<&PeerKind::down_Bps>(
          "volunteers.peers.*.down",
          {.required = true, .example = "500 Mb/s", .help = "of its link, from the network"}),
      duration_row<&PeerKind::latency_s>("volunteers.peers.*.latency",
                                         {.example = "50 ms", .help = "of a message, one way"}),
      fact_row<&PeerKind::leave_per_s>(
          "volunteers.peers.*.leave", Dimension::per_s,
          {.low = 0,
           .high = 1,
           .example = "0.1 per hour",
           .help = "how often each of them leaves, at exponential gaps"}),
      fact_row<&PeerKind::join_per_s>("volunteers.peers.*.join", Dimension::per_s,
                                      {.low = 0,
                                       .high = kMostJoins_per_s,
                                       .example = "40 per hour",
                                       .help = "how often one joins, likewise"}),
  };
}

Rows call_rows() {
  return {
      map_row("volunteers.calls",
              {.example = "{trainers: 64, experts: 4, loss: 0.1}",
               .help = "trainers that ask experts on peers layer by layer, many at once, in the "
                       "place of a pipeline (Learning@home)"}),
      whole_row<&ExpertCalls::trainers>(
          "volunteers.calls.trainers",
          {.low = 1, .high = 1e6, .required = true, .example = "64", .help = "batches in flight"}),
      whole_row<&ExpertCalls::experts>(
          "volunteers.calls.experts",
          {.low = 1, .high = 1e3, .example = "4", .help = "that each layer's input is sent to"}),
      whole_row<&ExpertCalls::answers>(
          "volunteers.calls.answers",
          {.low = 1,
           .high = 1e3,
           .example = "2",
           .help = "that a trainer waits for; it goes on without the others"}),
      fact_row<&ExpertCalls::loss>("volunteers.calls.loss", Dimension::number,
                                   {.low = 0,
                                    .high = 0.999,
                                    .example = "0.1",
                                    .help = "probability that a call is not answered"}),
      duration_row<&ExpertCalls::timeout_s>(
          "volunteers.calls.timeout",
          {.example = "10 s", .help = "until a trainer goes on with fewer answers"}),
  };
}

Rows swarm_rows() {
  return {
      whole_row("fuse",
                {.low = 1,
                 .high = 4096,
                 .optional = true,
                 .example = "16",
                 .help = "up to so many jobs like this one, of one GPU, in one program whose "
                         "kernels each do the work of all (HFTA), beside one after the other"}),
      map_row("volunteers",
              {.example = "{peers: [{name: t4, count: 400, up: 500 Mb/s, down: 500 Mb/s}]}",
               .help = "the stages of the model (layout.pp) served by machines that come and go, "
                       "many to a stage (SWARM), beside the job on its cluster"}),
      text_row("volunteers.trace",
               {.optional = true,
                .file_suffix = ".csv",
                .example = "peers.csv",
                .help = "how many peers there are from when on, in place of leave and join: a file "
                        "beside this one with the columns time_s and peers"}),
      duration_row<&Volunteers::length_s>(
          "volunteers.length", {.high = 366 * kDay_s, .example = "32 h", .help = "of a trial"}),
      whole_row<&Volunteers::trials>(
          "volunteers.trials",
          {.low = 1, .high = 1e5, .example = "100", .help = "how often it is simulated"}),
      whole_row<&Volunteers::seed>(
          "volunteers.seed",
          {.low = 0, .high = 1e8, .example = "1", .help = "of who comes and goes"}),
      duration_row<&Volunteers::rebalance_s>(
          "volunteers.rebalance",
          {.low = 1,
           .or_zero = true,
           .example = "300 s",
           .help = "so often a peer of the stage with the most to spare goes over to the slowest "
                   "one; 0 s: never"}),
      name_row<&Volunteers::joiners>(
          "volunteers.joiners",
          {.example = "busiest",
           .help = "which stage a peer takes that joins: the slowest, or any"}),
      duration_row<&Volunteers::move_s>(
          "volunteers.takeover",
          {.optional = true,
           .example = "60 s",
           .help = "until a peer serves the stage that it takes over; default: weights and "
                   "optimizer state of the stage over its link"}),
  };
}

}  // namespace

Rows volunteer_rows() {
  return of_campaign(joined({swarm_rows(), peer_rows(), call_rows()}));
}

}  // namespace windtunnel
