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

template <class Struct>
ExplainedPart part(std::string path, const Struct& from, Takes takes) {
  return {std::move(path), &kTypeTag<Struct>, &from, std::move(takes)};
}

bool takes_all(std::string_view /*key*/) {
  return true;
}

void add_filling(const Filling& filling, std::vector<ExplainedPart>& parts) {
  parts.push_back(part("filling", filling, takes_all));
  for (std::size_t i = 0; i < filling.work.size(); ++i) {
    const FillingWork& work = filling.work[i];
    parts.push_back(part(fmt::format("filling.work.{}", i), work, [&work](std::string_view key) {
      if (key == "samples") return work.model != nullptr;
      return key != "units" || work.need != FillingNeed::nothing;
    }));
  }
}

// Nullptr: no search has found it.
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
  std::vector<ExplainedPart> parts;
  if (const auto& redundancy = job.redundancy) {
    parts.push_back(part("redundancy", *redundancy,
                         [&](std::string_view key) { return takes_key(redundancy->scheme, key); }));
  }
  if (const auto& robust = job.communication.robust) {
    parts.push_back(part("communication.robust", *robust,
                         [&](std::string_view key) { return takes_key(robust->rule, key); }));
  }
  if (const auto& training = job.training) {
    parts.push_back(
        part("train", *training, [&](std::string_view key) { return takes_key(*training, key); }));
  }
  if (job.offload) parts.push_back(part("offload", *job.offload, takes_all));
  if (job.input) parts.push_back(part("input", *job.input, takes_all));
  if (job.filling) add_filling(*job.filling, parts);
  return parts;
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
