#include "scenarios/language/explained_parts.hpp"

#include <fmt/format.h>

#include <utility>

#include "models/compression/robust.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/reliability/stragglers/redundancy.hpp"
#include "models/workload/filling.hpp"
#include "models/workload/input_pipeline.hpp"
#include "models/workload/training.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/text/fields.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {
namespace {

using Takes = std::function<bool(std::string_view)>;

bool takes_all(std::string_view /*key*/) {
  return true;
}

class Parts {
 public:
  template <class Struct>
  void add(std::string path, const Struct& from, Takes takes = takes_all) {
    parts_.push_back({std::move(path), &kTypeTag<Struct>, &from, std::move(takes)});
  }
  // Adds each item of a list.
  template <class Items>
  void add_each(std::string_view list, const Items& items) {
    for (std::size_t i = 0; i < items.size(); ++i) add(fmt::format("{}.{}", list, i), items[i]);
  }
  std::vector<ExplainedPart> all() const { return parts_; }

 private:
  std::vector<ExplainedPart> parts_;
};

void add_filling(const Filling& filling, Parts& parts) {
  parts.add("filling", filling);
  for (std::size_t i = 0; i < filling.work.size(); ++i) {
    const FillingWork& work = filling.work[i];
    parts.add(fmt::format("filling.work.{}", i), work, [&work](std::string_view key) {
      if (key == "samples") return work.model != nullptr;
      return key != "units" || work.need != FillingNeed::nothing;
    });
  }
}

void add_failures(const std::vector<FailureClass>& failures, Parts& parts) {
  for (std::size_t i = 0; i < failures.size(); ++i) {
    const FailureClass& failure = failures[i];
    parts.add(fmt::format("failures.{}", i), failure, [&failure](std::string_view key) {
      const bool traced = failure.arrivals == Arrivals::trace;
      if (key == "rate" || key == "job_rate" || key == "arrivals.day_amplitude") return !traced;
      return key != "arrivals.weibull" && takes_key(failure.kind, key);
    });
  }
}

// Returns the struct that holds what a search found for the key. Null: no search found it.
const void* found_in(const Job& job, std::string_view key) {
  const Offload::Parts& searched = offload_of(job).searched;
  if (key == "recompute") return searched.recompute ? &job : nullptr;
  const bool state = key == "offload.optimizer" || key == "offload.gradients" ||
                     key == "offload.weights" || key == "offload.optimizer_share";
  const bool activations = key == "offload.activations" || key == "offload.activation_share";
  const bool found = (state && (searched.state || searched.chunks)) ||
                     (activations && searched.activations) ||
                     (key == "offload.activation_share" && searched.hidden);
  return found ? job.offload.get() : nullptr;
}

}  // namespace

std::vector<ExplainedPart> explained_parts(const Job& job) {
  Parts parts;
  parts.add("", job);
  parts.add("schedule", job.schedule);
  parts.add("layout", job.layout);
  parts.add("batch", job.batch);
  parts.add("software", job.software);
  parts.add("communication", job.communication);
  parts.add("recovery", job.recovery);
  if (job.lengths) {
    parts.add("", *job.lengths);
    const LengthDistribution& law = job.lengths->distribution;
    if (law.buckets.empty()) parts.add("batch.lengths", law);
  }
  parts.add_each("cluster.pools", job.cluster.pools);
  parts.add("cluster.fabric.variation", job.cluster.fabric.variation);
  parts.add_each("cluster.fabric.sites", job.cluster.fabric.sites);
  parts.add_each("snapshots", job.snapshots);
  add_failures(job.failures, parts);
  if (const auto& redundancy = job.redundancy) {
    parts.add("redundancy", *redundancy,
              [&](std::string_view key) { return takes_key(redundancy->scheme, key); });
  }
  if (const auto& robust = job.communication.robust) {
    parts.add("communication.robust", *robust,
              [&](std::string_view key) { return takes_key(robust->rule, key); });
  }
  if (const auto& training = job.training) {
    parts.add("train", *training, [&](std::string_view key) { return takes_key(*training, key); });
  }
  if (job.offload) parts.add("offload", *job.offload);
  if (job.input) parts.add("input", *job.input);
  if (job.filling) add_filling(*job.filling, parts);
  return parts.all();
}

void take_found(const Job& job, ResolvedValue& value) {
  const void* from = found_in(job, value.key);
  if (from == nullptr) return;
  const Field* field = find_field(value.key);
  Value found{.key = value.key, .field = field, .dimension = field->dimension};
  if (!field->binding.read(from, found)) return;
  value.value = text_of(found);
  value.number = found.text.empty() ? std::optional(found.number) : std::nullopt;
  value.is_default = false;
  value.is_found = true;
  value.source = "found by search";
}

}  // namespace windtunnel
