#include "models/plan/task_cost.hpp"

namespace windtunnel {

const char* to_string(Category category) {
  switch (category) {
    case Category::forward:
      return "forward";
    case Category::backward:
      return "backward";
    case Category::recompute:
      return "recompute";
    case Category::optimizer:
      return "optimizer";
    case Category::tp:
      return "tp";
    case Category::cp:
      return "cp";
    case Category::pp:
      return "pp";
    case Category::ep:
      return "ep";
    case Category::dp:
      return "dp";
    case Category::snapshot:
      return "snapshot";
    case Category::wait:
      return "wait";
    case Category::host:
      return "host";
    case Category::compression:
      return "compression";
    case Category::sync:
      return "sync";
    case Category::offload:
      return "offload";
    case Category::filling:
      return "filling";
    case Category::input:
      return "input";
  }
  return "unknown";
}

double total_seconds(std::span<const CostPart> parts) {
  double seconds = 0;
  for (const CostPart& part : parts) seconds += part.seconds;
  return seconds;
}

bool slowed_by_node(Category category) {
  switch (category) {
    case Category::tp:
    case Category::cp:
    case Category::pp:
    case Category::ep:
    case Category::wait:
    case Category::host:
    case Category::input:
      return false;
    default:
      return true;
  }
}

double slowed_seconds(std::span<const CostPart> parts, double slowdown) {
  double seconds = 0;
  for (const CostPart& part : parts) {
    seconds += part.seconds * (slowed_by_node(part.category) ? slowdown : 1);
  }
  return seconds;
}

}  // namespace windtunnel
