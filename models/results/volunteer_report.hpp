// Training on machines that come and go, each behind its own internet link
// (docs/physics/volunteers.md). sim/study/volunteers/volunteer_study.hpp fills it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/results/campaign_report.hpp"

namespace windtunnel {

// Throughput of trainers that call experts on the peers, at a mean latency.
struct CallsPoint {
  double latency_s = 0;  // of a message, one way
  double tokens_per_s = 0;
  double single_tokens_per_s = 0;  // with one batch in flight
};

struct VolunteerReport {
  int trials = 0;
  int stages = 0;
  Estimate peers = {};  // these and the next seven members are averages over time
  // at the pace of whole steps; averaging of gradients overlaps the next step
  Estimate tokens_per_s = {};
  Estimate passed_tokens_per_s = {};  // at the pace of the stages, without averaging
  // passed_tokens_per_s if peers were reassigned to stages optimally at every moment
  Estimate optimum_tokens_per_s = {};
  Estimate optimum_share = {};  // passed tokens divided by that optimum
  Estimate unmoved_share = {};  // the same share if no peer changed its stage
  Estimate moves_per_h = {};
  Estimate stalled = {};  // share of the time in which a stage has no peer
  // Share of its time in which a peer computes, by kind, as a mean over the stages: when
  // micro-batches queue for it, and with one in flight.
  std::map<std::string, Estimate> utilisation = {};
  std::map<std::string, Estimate> unhidden_utilisation = {};
  // Time to average a step's gradients among the peers that serve a stage at the start, by method:
  // "adaptive", "all-reduce", "server". No entry if it never ends or a stage has one peer.
  std::map<std::string, Estimate> averaging_s = {};
  std::map<std::string, Estimate> step_s = {};  // the longer of averaging and compute
  // adaptive: share of the average that a peer of a kind computes
  std::map<std::string, Estimate> parts = {};
  std::string computing = {};  // adaptive: the kinds of peers that keep computing
  // If there are calls: at the peers' configured latency, and over a range of latencies.
  std::optional<CallsPoint> calls = {};
  double saturating_trainers = 0;
  std::vector<CallsPoint> by_latency = {};
};

}  // namespace windtunnel
