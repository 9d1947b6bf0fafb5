#include <fmt/format.h>

#include <optional>
#include <string>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/cost/memory/memory.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "sim/study/notes/note_makers.hpp"

namespace windtunnel {
namespace {

constexpr double kNoteworthy = 1.001;  // factor on the figure of the plainer choice

struct Figures {
  double step_s = 0;
  double bytes = 0;
};

Figures figures_of(const Job& job, const PreparedIteration& prepared) {
  return {estimate_iteration(job, prepared).step_s, fullest_bytes(prepared.memory)};
}

// Returns nothing if the job cannot have this choice.
std::optional<Figures> figures_of(const Job& job) {
  try {
    return figures_of(job, prepare_iteration(job));
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Says why bucketed reductions cost time, if the cause is that they slow the kernels beside them.
std::string why_buckets_cost(Job job) {
  const double slowdown = job.calibration.overlap_slowdown.value;
  job.calibration.overlap_slowdown.value = 0;
  const std::optional<Figures> bucketed = figures_of(job);
  job.communication.overlap = GradientOverlap::none;
  const std::optional<Figures> none = figures_of(job);
  const bool slowed = bucketed && none && bucketed->step_s <= kNoteworthy * none->step_s;
  return slowed ? fmt::format(
                      ", because reductions during the backward pass slow its kernels "
                      "(overlap.slowdown {:.2g}) by more than they hide",
                      slowdown)
                : "";
}

}  // namespace

std::vector<Note> dearer_choices(const Job& job, const PreparedIteration& prepared,
                                 const Framework* software) {
  std::vector<Note> notes;
  const Figures own = figures_of(job, prepared);
  const auto costs_more = [&](const Job& plainer, double Figures::*figure) {
    std::optional<Figures> other;
    if (takes_as_well(software, plainer, job)) other = figures_of(plainer);
    if (other && own.*figure <= kNoteworthy * ((*other).*figure)) other.reset();
    return other;
  };
  Job plainer = job;
  if (job.layout.sharding == Sharding::zero3) {
    plainer.layout.sharding = Sharding::zero2;
    if (const auto other = costs_more(plainer, &Figures::bytes)) {
      notes.push_back({"layout.sharding",
                       "zero3 needs more memory than zero2, because the weights that a GPU gathers "
                       "to compute with take more than it saves by keeping only a share",
                       fmt::format("{} instead of {} on the fullest GPU", format_memory(own.bytes),
                                   format_memory(other->bytes))});
    }
  }
  const auto steps = [&](const Figures& other) {
    return fmt::format("{} instead of {} per step, as estimated", format_seconds(own.step_s),
                       format_seconds(other.step_s));
  };
  if (job.communication.overlap == GradientOverlap::bucketed) {
    plainer = job;
    plainer.communication.overlap = GradientOverlap::none;
    if (const auto other = costs_more(plainer, &Figures::step_s)) {
      notes.push_back({"communication.overlap",
                       "a step takes longer with bucketed than with none" + why_buckets_cost(job),
                       steps(*other)});
    }
  }
  if (job.precision == Precision::mxfp8) {
    plainer = job;
    plainer.precision = Precision::fp8;
    if (const auto other = costs_more(plainer, &Figures::step_s)) {
      notes.push_back({"precision",
                       "a step takes longer with mxfp8 than with fp8, because mxfp8 passes over "
                       "each tensor once more to find its many scales, while fp8 finds its single "
                       "scale in kernels that run anyway",
                       steps(*other)});
    }
  }
  return notes;
}

}  // namespace windtunnel
