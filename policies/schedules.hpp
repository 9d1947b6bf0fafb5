// Pipeline schedules by name: one table, one generator each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/schedule.hpp"

namespace windtunnel {

struct ScheduleKind {
  std::string_view name;  // "interleaved-1f1b"
  std::string_view help;
  std::string_view source;  // paper
  // Throws Error that says why when the theory forbids (p, m, v).
  Schedule (*generate)(int ranks, int microbatches, int chunks);
};

const std::vector<ScheduleKind>& schedule_kinds();  // gpipe, 1f1b, interleaved-1f1b

// Throws Error with the nearest name for an unknown schedule, and for numbers below 1 or absurdly
// large (more than 1e8 forwards).
Schedule generate_schedule(std::string_view name, int ranks, int microbatches, int chunks);

// Every stage and micro-batch has one forward, then either one full backward or one input-gradient
// and after it one weight-gradient action, all on the stage's rank. Throws Error that names rank
// and action. Says nothing about deadlock: evaluate_schedule does.
void validate_schedule(const Schedule& schedule);

// Stage, kind and micro-batch, as torch.distributed.pipelining writes it: "3F1".
std::string to_string(const Action& action);

}  // namespace windtunnel
