// The configurations that `optimise` considers.
#pragma once

#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "policies/schedules/schedules.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

// A job and the overrides that produce it.
struct Configuration {
  Job job;
  Overrides set;
};

// What a framework supports, and limits of layouts. An empty list or 0 is no limit.
struct Allowed {
  std::vector<std::string> schedules = {};
  std::vector<Sharding> sharding = {};               // without a pipeline
  std::vector<Sharding> sharding_in_pipelines = {};  // with one
  int experts_a_rank = 0;                            // most experts on a rank
  int micro_tokens = 0;  // most tokens of a micro-batch on a context-parallel rank
};

// Returns all layouts of the job on its GPUs with one model chunk per rank: divisors that the model
// allows, tp within a node, context parallelism for long sequences, divided experts, sharded
// states, and sequence parallelism as in Megatron-LM. Throws Error if the scenario lists the layers
// of stages.
std::vector<Configuration> layouts_of(const Configuration& base, const Allowed& allowed = {});

// Returns micro-batches of 1, 2, 4, ... sequences that divide a replica's share of the batch.
std::vector<Configuration> micro_batches_of(const Configuration& base, const Allowed& allowed = {});

// Returns none, selective and full. `modules`: also lists of modules that the model has.
std::vector<Configuration> recomputes_of(const Configuration& base, bool modules);

// Returns offloads from nothing to all of the training state (state_offloads()), each with
// activations of none, a quarter, half, three quarters or all of the layers. In a table of layers
// only the state is offloaded.
std::vector<Configuration> offloads_of(const Configuration& base);

// A schedule with its number of model chunks per rank, and the overrides that select it. It holds
// no job, because a job is large and has dozens of schedules.
struct ChosenSchedule {
  ScheduleChoice schedule;
  int chunks = 1;
  Overrides set;
};

// Returns the job's own schedule, or every synchronous one, with the numbers of chunks and slices
// that make a difference. `chunks`: also with other numbers of model chunks per rank.
std::vector<ChosenSchedule> schedules_of(const Configuration& base, bool all, bool chunks,
                                         const Allowed& allowed = {});

void take_schedule(const ChosenSchedule& from, Job& to);
// Sets one chunk per rank. The schedule that is chosen later sets its own number.
void leave_chunks_open(Job& job);

}  // namespace windtunnel
