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
  Estimate peers = {};                 // time averages, as the next seven
  Estimate tokens_per_s = {};          // of steps, whose gradients are averaged beside the next
  Estimate passed_tokens_per_s = {};   // of the stages, whatever averaging takes
  Estimate optimum_tokens_per_s = {};  // likewise, of the same peers, dealt out anew all the time
  Estimate optimum_share = {};         // tokens that pass over those
  Estimate unmoved_share = {};         // likewise, where no peer goes over to another stage
  Estimate moves_per_h = {};
  Estimate stalled = {};  // share of the time in which a stage has no peer
  // Share of its time in which a peer computes, by kind, as a mean over the stages: with
  // micro-batches waiting for it, and with one in flight.
  std::map<std::string, Estimate> utilisation = {};
  std::map<std::string, Estimate> unhidden_utilisation = {};
  // Of a step's gradients among the peers at the start that serve a stage, by who averages them:
  // "adaptive", "all-reduce", "server". Nothing of what never ends, or where nobody shares a stage.
  std::map<std::string, Estimate> averaging_s = {};
  std::map<std::string, Estimate> step_s = {};  // whichever is longer, that or the compute
  std::map<std::string, Estimate> parts = {};   // that a peer of a kind averages: adaptive
  std::string computing = {};                   // kinds that compute: adaptive
  // Where there are calls: at the peers' own latency, and over latencies.
  std::optional<CallsPoint> calls = {};
  double saturating_trainers = 0;
  std::vector<CallsPoint> by_latency = {};
};

}  // namespace windtunnel
