// Provides a job with failures that is simulated in milliseconds.
#pragma once

#include <string>
#include <windtunnel/windtunnel.hpp>

namespace windtunnel {

inline const std::string kSmall =
    "name: small\n"
    "model: llama3-8b\n"
    "cluster: {nodes: 2, node: dgx-h100, storage: {write: 10 GB/s, read: 10 GB/s}}\n"
    "layout: {tp: 2, pp: 2, sharding: zero1, sequence_parallel: true}\n"
    "batch: {global: 64}\n"
    "recompute: selective\n"
    "schedule: 1f1b\n"
    "snapshots:\n"
    "  - {tier: storage, every: 30 min}\n"
    "failures:\n"
    "  - {class: node, rate: 6.5 per 1000 node-days, repair: 24 h}\n"
    "campaign: {length: 30 d, replicas: 20}\n";

inline Case small_case() {
  return Case::from_text(kSmall, "small.yaml");
}

// Returns 1f1b with one chunk per rank, as a caller would write it.
inline Schedule one_forward_one_backward(const ScheduleRequest& request) {
  Schedule schedule;
  for (int rank = 0; rank < request.ranks; ++rank) {
    std::vector<Action>& actions = schedule.actions.emplace_back();
    int forwards = 0;
    const auto forward = [&] {
      if (forwards < request.microbatches) actions.push_back({Pass::forward, rank, forwards++});
    };
    for (int i = rank; i < request.ranks; ++i) forward();
    for (int i = 0; i < request.microbatches; ++i) {
      actions.push_back({Pass::backward, rank, i});
      forward();
    }
  }
  return schedule;
}

template <class Work>
Error error_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  return {"nothing was thrown", {}, Error::Cause::defect};
}

}  // namespace windtunnel
