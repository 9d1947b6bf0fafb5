#include "sim/study/dearer_choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "policies/iteration.hpp"

namespace windtunnel {
namespace {

constexpr double kNoteworthy = 1.001;  // times the plainer choice's figure

double fullest_bytes(const PreparedIteration& prepared) {
  double most = 0;
  for (const GpuMemory& rank : prepared.memory) most = std::max(most, rank.total());
  return most;
}

struct Figures {
  double step_s = 0;
  double bytes = 0;
};

Figures figures_of(const Job& job, const PreparedIteration& prepared) {
  return {estimate_iteration(job, prepared).step_s, fullest_bytes(prepared)};
}

// None where the job cannot be so.
std::optional<Figures> figures_of(const Job& job) {
  try {
    return figures_of(job, prepare_iteration(job));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<Note> dearer_choices(const Job& job, const PreparedIteration& prepared) {
  std::vector<Note> notes;
  Job plainer = job;
  const auto compare = [&](const char* key, double Figures::*figure, const auto& text) {
    const std::optional<Figures> other = figures_of(plainer);
    plainer = job;
    if (!other) return;
    const double own = figures_of(job, prepared).*figure;
    if (own > kNoteworthy * ((*other).*figure)) notes.push_back({key, text(own, (*other).*figure)});
  };
  if (job.layout.sharding == Sharding::zero3) {
    plainer.layout.sharding = Sharding::zero2;
    compare("layout.sharding", &Figures::bytes, [](double own, double other) {
      return fmt::format(
          "zero3 needs {} on the fullest GPU, and zero2 {}: while it computes, a rank holds two "
          "layers and the vocabulary whole, which with few layers per rank is more than sharding "
          "the weights saves",
          format_memory(own), format_memory(other));
    });
  }
  if (job.communication.overlap == GradientOverlap::bucketed) {
    plainer.communication.overlap = GradientOverlap::none;
    compare("communication.overlap", &Figures::step_s, [&](double own, double other) {
      return fmt::format(
          "a step is estimated at {} with bucketed, and at {} with none: reductions beside the "
          "backward pass slow its kernels (overlap.slowdown {:.2g}) by more than they hide",
          format_seconds(own), format_seconds(other), job.calibration.overlap_slowdown.value);
    });
  }
  if (job.precision == Precision::mxfp8) {
    plainer.precision = Precision::fp8;
    compare("precision", &Figures::step_s, [](double own, double other) {
      return fmt::format(
          "a step is estimated at {} with mxfp8, and at {} with fp8: their products are as fast, "
          "but blocks of scales are found by kernels of their own, and fp8's one scale by the "
          "norms and activations before",
          format_seconds(own), format_seconds(other));
    });
  }
  return notes;
}

}  // namespace windtunnel
