// What machines that come and go, behind links of their own, make of a job's model
// (docs/physics/volunteers.md); sim/study/volunteers/volunteer_study.hpp fills it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/results/campaign_report.hpp"

namespace windtunnel {

// Trainers that ask experts on the peers, where a response takes so long on average.
struct CallsPoint {
  double latency_s = 0;  // of a message, one way
  double tokens_per_s = 0;
  double single_tokens_per_s = 0;  // with one batch in flight
};

struct VolunteerReport {
  int trials = 0;
  int stages = 0;
  Estimate peers = {};  // time averages, as the next seven
  // at the pace of whole steps, whose gradients are averaged beside the next step
  Estimate tokens_per_s = {};
  Estimate passed_tokens_per_s = {};  // at the pace of the stages, without averaging
  // the same if the same peers were dealt out anew at every moment
  Estimate optimum_tokens_per_s = {};
  Estimate optimum_share = {};  // tokens that pass over those
  Estimate unmoved_share = {};  // the same if no peer changed its stage
  Estimate moves_per_h = {};
  Estimate stalled = {};  // share of the time in which a stage has no peer
  // Share of its time in which a peer computes, by kind, as a mean over the stages: with
  // micro-batches waiting for it, and with one in flight.
  std::map<std::string, Estimate> utilisation = {};
  std::map<std::string, Estimate> unhidden_utilisation = {};
  // Time to average a step's gradients among the peers that serve a stage at the start, by who
  // averages: "adaptive", "all-reduce", "server". No entry where it never ends or a stage has one
  // peer.
  std::map<std::string, Estimate> averaging_s = {};
  std::map<std::string, Estimate> step_s = {};  // whichever is longer, that or the compute
  std::map<std::string, Estimate> parts = {};  // adaptive: the share that a peer of a kind averages
  std::string computing = {};                  // kinds that compute: adaptive
  // Where there are calls: at the peers' own latency, and over latencies.
  std::optional<CallsPoint> calls = {};
  double saturating_trainers = 0;
  std::vector<CallsPoint> by_latency = {};
};

}  // namespace windtunnel
