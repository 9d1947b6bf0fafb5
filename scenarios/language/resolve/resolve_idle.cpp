// Idle time, from checked values: what fills it, how samples are loaded, when a campaign pauses,
// and the checks of these.
#include <fmt/format.h>

#include <algorithm>

#include "models/cost/chunk/layer_table_cost.hpp"
#include "models/reliability/pauses.hpp"
#include "models/workload/filling.hpp"
#include "models/workload/input_pipeline.hpp"
#include "policies/filling/filling_cost.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/resolve/resolve.hpp"

namespace windtunnel {
namespace {

std::shared_ptr<const FillingModel> forward_model(const std::string& name) {
  auto model = std::make_shared<FillingModel>();
  const auto& networks = library_networks();
  const auto found = std::ranges::find(networks, name, &LayerTable::name);
  if (found == networks.end()) {
    model->transformer = find_model(name);
  } else {
    model->network = std::make_shared<const LayerTable>(*found);
    model->transformer = network_model(*model->network);
  }
  return model;
}

FillingWork resolve_work(const Values& values, const std::string& path, const Job& job) {
  FillingWork work;
  values.fill(path, work);
  const std::string model = path + ".model";
  if (values.has(model)) {
    work.model = forward_model(values.text(model));
    refuse_unused(values, path,
                  {{true, {"piece"}, "follows from the model; leave this key or the model out"}});
    values.about(model, [&] { return filling_cost(job, work); });
  } else {
    if (!values.has(path + ".piece")) {
      values.fail(path, "states neither a model nor the time of a piece; add e.g. 'piece: 3 ms'");
    }
  }
  refuse_unused(values, path,
                {{!work.model,
                  {"samples"},
                  "applies to a forward pass of a model; add model, or leave this key out"},
                 {work.need == FillingNeed::nothing,
                  {"units"},
                  "applies to work that a step needs; add needed_by, or leave this key out"}});
  return work;
}

}  // namespace

void resolve_filling(const Values& values, Job& job) {
  if (!values.stated("filling")) return;
  Filling filling;
  values.fill("filling", filling);
  for (const std::string& path : values.items("filling.work")) {
    filling.work.push_back(resolve_work(values, path, job));
  }
  if (filling.work.empty()) values.fail("filling.work", "names no work; add some, or leave it out");
  for (std::size_t i = 1; i < filling.work.size(); ++i) {
    const auto before = filling.work.begin() + static_cast<std::ptrdiff_t>(i);
    const std::string& name = filling.work[i].name;
    if (std::ranges::none_of(filling.work.begin(), before,
                             [&](const FillingWork& other) { return other.name == name; })) {
      continue;
    }
    values.fail(fmt::format("filling.work.{}.name", i),
                "is already the name of other work; take another");
  }
  job.filling = std::make_shared<const Filling>(std::move(filling));
}

void resolve_input(const Values& values, Job& job) {
  if (!values.stated("input")) return;
  InputPipeline input;
  values.fill("input", input);
  if (input.source == InputSource::memory && input.sample_bytes > 0) {
    values.fail("input.sample",
                "has no effect, because samples are in memory (read_from); leave it out");
  }
  if (input.source == InputSource::storage && input.sample_bytes > 0 &&
      job.cluster.storage.read_Bps.value <= 0) {
    values.fail("input",
                "samples are read from the storage, which has no bandwidth; state "
                "cluster.storage.read, or input.read_from: local-disk or memory");
  }
  job.input = std::make_shared<const InputPipeline>(input);
}

TrainingPauses resolve_pauses(const Values& values) {
  const auto pause_of = [&](const std::string& path) {
    TrainingPause pause;
    if (!values.stated(path)) return pause;
    const Value& every = values.at(path + ".every");
    if (every.dimension == Dimension::iterations) {
      pause.every_iterations = static_cast<std::int64_t>(every.number);
    } else {
      pause.every_s = every.number;
    }
    pause.takes_s = values.number(path + ".takes");
    return pause;
  };
  return {pause_of("campaign.evaluation"), pause_of("campaign.logging")};
}

}  // namespace windtunnel
