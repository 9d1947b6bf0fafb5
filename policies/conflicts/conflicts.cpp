#include <fmt/args.h>
#include <fmt/format.h>

#include "models/workload/axes.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/conflicts/features.hpp"
#include "policies/schedules/schedules.hpp"

namespace windtunnel {
namespace {

// A name that texts may contain in braces.
struct NamedValue {
  std::string_view name;
  std::string (*value)(const Asked& asked);
};
constexpr NamedValue kValues[] = {
    {"bears", [](const Asked& of) { return features::why_few_replicas(of.job); }},
    {"compressor", [](const Asked& of) { return of.job.communication.compressors.dp.name; }},
    {"context", [](const Asked& of) { return std::string(name_of(of.job.layout.context)); }},
    {"cp", [](const Asked& of) { return std::to_string(of.job.layout.cp); }},
    {"ep", [](const Asked& of) { return std::to_string(of.job.layout.ep); }},
    {"frames", [](const Asked& of) { return std::to_string(of.job.model.frames); }},
    {"model", [](const Asked& of) { return of.job.model.name; }},
    {"overlap", [](const Asked& of) { return std::string(name_of(of.job.communication.overlap)); }},
    {"pack_schedules",
     [](const Asked& /*of*/) {
       std::string names;
       for (const ScheduleKind& kind : schedule_kinds()) {
         if ((kind.knobs & kUnlikeUnits) == 0) continue;
         names += (names.empty() ? "" : ", ") + kind.name;
       }
       return names;
     }},
    {"pp", [](const Asked& of) { return std::to_string(of.job.layout.pp); }},
    {"ranks", [](const Asked& of) { return std::to_string(of.job.layout.ranks()); }},
    {"schedule",
     [](const Asked& of) {
       return of.schedule != nullptr ? of.schedule->name : of.job.schedule.name;
     }},
    {"sharding", [](const Asked& of) { return std::string(name_of(of.job.layout.sharding)); }},
    {"slices", [](const Asked& of) { return std::to_string(of.schedule->slices); }},
    {"stage",
     [](const Asked& of) { return std::to_string(stage_beside_its_neighbour(*of.schedule)); }},
    {"stage_before",
     [](const Asked& of) { return std::to_string(stage_beside_its_neighbour(*of.schedule) - 1); }},
    {"tp", [](const Asked& of) { return std::to_string(of.job.layout.tp); }},
};

// Only values that the text names are formatted, since some are more expensive than the predicates.
// {size} becomes the number of ranks on the axis `key`.
std::string with_values(std::string_view text, std::string_view key, const Asked& asked) {
  fmt::dynamic_format_arg_store<fmt::format_context> values;
  for (const NamedValue& each : kValues) {
    const std::string name(each.name);
    if (text.find("{" + name + "}") == std::string_view::npos) continue;
    values.push_back(fmt::arg(name.c_str(), each.value(asked)));
  }
  for (const Axis& axis : kAxes) {
    if (axis.key == key) values.push_back(fmt::arg("size", asked.job.layout.*axis.size));
  }
  return fmt::vformat(text, values);
}

}  // namespace

int stage_beside_its_neighbour(const Schedule& schedule) {
  for (int stage = 1; stage < schedule.model_stages(); ++stage) {
    if (schedule.rank_of_stage[stage - 1] == schedule.rank_of_stage[stage]) return stage;
  }
  return 0;
}

std::span<const ConflictSubject> conflict_table() {
  static constexpr ConflictSubject kSubjects[] = {
      {"Models and layouts", layout_conflicts},
      {"Islands of replicas", island_conflicts},
      {"Redundancy against stragglers", redundancy_conflicts},
      {"Offload", offload_conflicts},
      {"What is trained", training_conflicts},
      {"Steps without a backward pass", zeroth_order_conflicts},
      {"Nodes and stages of different kinds", pool_conflicts},
      {"Sequences of unequal length", length_conflicts},
      {"Exchange of gradients", exchange_conflicts},
      {"Features outside the training step", study_conflicts},
      {"Months of failures", campaign_conflicts},
      {"Replicas with different numbers of micro-batches", share_conflicts},
      {"Schedules", schedule_conflicts},
  };
  return kSubjects;
}

std::string text_of(const Conflict& row, const Asked& asked) {
  return with_values(fmt::format("{}{}{}", row.why, row.way.empty() ? "" : "; ", row.way),
                     row.is.key, asked);
}

std::optional<Refusal> first_refusal(std::span<const Conflict> rows, const Asked& asked) {
  for (const Conflict& row : rows) {
    if (!row.is.in(asked) || !row.with.in(asked)) continue;
    return Refusal{&row, text_of(row, asked)};
  }
  return {};
}

void check_conflicts(std::span<const Conflict> rows, const Asked& asked) {
  const auto refusal = first_refusal(rows, asked);
  if (!refusal) return;
  const Feature& is = refusal->conflict->is;
  if (is.other_key.empty()) throw Error::of_key(is.key, "{}", refusal->what);
  throw Error::about({is.key, is.other_key}, "{}{}{}", is.key,
                     refusal->what.starts_with(':') ? "" : " ", refusal->what);
}

void check_conflicts(const Asked& asked) {
  for (const ConflictSubject& subject : conflict_table()) {
    if (subject.rows == schedule_conflicts && asked.schedule == nullptr) continue;
    if (subject.rows == share_conflicts) continue;
    check_conflicts(subject.rows(), asked);
  }
}

bool leaves_open(const Offload& offload) {
  return offload.optimizer == MemoryTier::automatic ||
         offload.activations == MemoryTier::automatic ||
         (offload.in_chunks() && offload.chunks.count == 0) ||
         (offload.hidden && !offload.searched.hidden);
}

std::string why_not(const Offload& offload, const Job& job) {
  if (!offload.any()) return {};
  const auto refusal = first_refusal(offload_conflicts(), {job, offload});
  return refusal ? std::string(refusal->reason()) : "";
}

}  // namespace windtunnel
