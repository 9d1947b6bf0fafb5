// What a second of simulated time is charged to (Category), and on which evidence it rests
// (Origin): the parts of a task's time, from which reports add up where a step goes.
#pragma once

#include <cstdint>
#include <span>

#include "models/base/origin.hpp"

namespace windtunnel {

// The order is the order of columns in reports.
enum class Category : std::uint8_t {
  forward,
  backward,
  recompute,
  optimizer,
  tp,
  cp,
  pp,
  ep,
  dp,
  snapshot,
  wait,         // nothing ran: not_before, a straggler
  host,         // the GPU waits for the CPU to launch its kernels
  compression,  // kernels that encode and decode gradients
  sync,         // what islands of replicas exchange between their steps (Job::sync)
  offload,      // copies between GPU and host, and what the host computes (Job::offload)
  filling,      // other work where the rank would idle (Job::filling)
  input,        // samples are read and prepared (Job::input)
};
inline constexpr int kCategories = 17;
const char* to_string(Category category);

struct CostPart {
  Category category = Category::forward;
  Origin origin = Origin::assumed;
  double seconds = 0;
  bool operator==(const CostPart&) const = default;
};

double total_seconds(std::span<const CostPart> parts);

// Whether a slow node lengthens this category: it lengthens kernels, but not transfers between GPUs
// or waits for the host.
bool slowed_by_node(Category category);
// Time of a computation on a node whose kernels take `slowdown` times as long.
double slowed_seconds(std::span<const CostPart> parts, double slowdown);

}  // namespace windtunnel
