#include "sim/study/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <span>
#include <thread>
#include <tuple>
#include <utility>

#include "models/base/error.hpp"
#include "policies/iteration.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "scenarios/language/identity.hpp"
#include "scenarios/language/overrides.hpp"
#include "sim/study/simulate.hpp"
#include "sim/study/studies.hpp"
#include "sim/study/tier_reports.hpp"

namespace windtunnel {
namespace {

// Points with the same table are prepared once.
class SharedPreparation {
 public:
  std::shared_ptr<const PreparedIteration> operator()(const Job& job, const std::string& table) {
    {
      const std::scoped_lock lock(mutex_);
      const auto known = prepared_.find(table);
      if (known != prepared_.end()) return known->second;
    }
    auto made = std::make_shared<const PreparedIteration>(prepare_checked(job));
    const std::scoped_lock lock(mutex_);
    if (prepared_.size() >= kMostKept) prepared_.clear();
    return prepared_.emplace(table, std::move(made)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const PreparedIteration>> prepared_;
};

void check_campaign(const Job& job) {
  if (job.campaign.length_s > 0) return;
  throw Error::about({"campaign"},
                     "a sweep simulates campaigns, but the scenario has none: add campaign.length "
                     "and failures, or use `windtunnel compare`");
}

std::shared_ptr<const Case> case_at(const Sweep& sweep, const Overrides& point,
                                    SharedPreparation& shared) {
  Case read = resolve_case(sweep.scenario, point, std::ref(shared));
  read.values = {};  // only --explain and records need these
  read.files = {};
  return std::make_shared<const Case>(std::move(read));
}

SweepCase sweep_case(const Sweep& sweep, size_t index, SharedPreparation& shared) {
  SweepCase result{.index = static_cast<int>(index)};
  const Overrides point = values_at(sweep.vary, index);
  try {
    const std::shared_ptr<const Case> read = case_at(sweep, point, shared);
    read->places.placing([&] { check_campaign(read->job); });
    result.key = key_number(read->key).value();
    result.table = key_number(read->table).value();
    if (index < kMostKept) result.read = read;
  } catch (const Error& error) {
    result.fault = std::make_shared<const Error>(as_varied(error, point));
  }
  return result;
}

// Points with the same table, and what the engine has simulated for it.
struct Group {
  std::vector<const SweepCase*> cases;
  std::shared_ptr<const Case> first;
  MeasuredIteration measured;
  std::optional<Error> fault;  // set if none of the points can be simulated
};

using Positions = std::vector<std::uint32_t>;  // indices into `cases`

// Returns for each of `cases` the least index of a case with the same table.
std::vector<int> first_of_table(const std::vector<SweepCase>& cases) {
  Positions order(cases.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {},
                    [&](std::uint32_t at) { return std::pair(cases[at].table, cases[at].index); });
  std::vector<int> first(cases.size());
  const SweepCase* earlier = nullptr;
  for (const std::uint32_t at : order) {
    if (earlier == nullptr || earlier->table != cases[at].table) earlier = &cases[at];
    first[at] = earlier->index;
  }
  return first;
}

void measure(Group& group) {
  try {
    group.measured = measure_iteration(*group.first, {.threads = 1});
    // A Plan has thousands of tasks per rank, and no point shows them.
    group.measured.plain = {};
    group.measured.critical_path = {};
  } catch (const Error& error) {
    group.fault = error;
  }
}

class SweepRun {
 public:
  SweepRun(const Sweep& sweep, const std::vector<SweepCase>& cases, const SweepOptions& options)
      : sweep_(sweep), cases_(cases), options_(options), threads_(options.threads) {
    if (threads_ <= 0) threads_ = static_cast<int>(std::thread::hardware_concurrency());
    threads_ = std::max(1, threads_);
  }

  void run() {
    Positions order;
    for (std::uint32_t at = 0; at < cases_.size(); ++at) {
      const SweepCase& each = cases_[at];
      if (each.fault == nullptr) {
        order.push_back(at);
      } else {
        finish({.index = each.index, .reason = each.reason(), .fault = *each.fault});
      }
    }
    const std::vector<int> table = first_of_table(cases_);
    std::ranges::sort(order, {},
                      [&](std::uint32_t at) { return std::pair(table[at], cases_[at].index); });
    const auto is_other = [&](std::uint32_t a, std::uint32_t b) { return table[a] != table[b]; };
    size_t kinds = order.empty() ? 0 : 1;
    for (size_t i = 1; i < order.size(); ++i) kinds += is_other(order[i - 1], order[i]) ? 1 : 0;
    // Simulates as many tables at a time as there are threads. Otherwise a sweep in which each
    // point has a different table would simulate all of them before its first result.
    size_t begun = 0;
    for (size_t at = 0; at < order.size() && !stopped();) {
      std::vector<Group> groups;
      while (at < order.size() && std::ssize(groups) < threads_) {
        Group& group = groups.emplace_back();
        do {
          group.cases.push_back(&cases_[order[at++]]);
        } while (at < order.size() && !is_other(order[at - 1], order[at]));
      }
      if (options_.progress) {
        options_.progress(fmt::format("simulating iterations, {} of {} kinds", begun + 1, kinds));
      }
      begun += groups.size();
      run_groups(groups);
    }
  }

 private:
  bool stopped() const { return failed_ || (options_.stop != nullptr && *options_.stop); }

  void finish(const SweepPoint& point) {
    const std::scoped_lock lock(mutex_);
    if (!options_.finished) return;
    options_.finished(point);
  }

  // Errors that are not the fault of a point (a full disk, a caller's function that throws) end all
  // points.
  void or_fail(const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

  std::shared_ptr<const Case> read(const SweepCase& each) {
    const std::shared_ptr<const Case> again =
        each.read != nullptr ? each.read : case_at(sweep_, set_of(each), shared_);
    if (again->key == key_text(each.key) && again->table == key_text(each.table)) return again;
    throw Error(
        fmt::format("{}: point {} has changed since the sweep was begun, because a file that the "
                    "scenario names has changed; begin a new sweep in another folder",
                    sweep_.scenario.file, each.index));
  }

  void run_groups(std::vector<Group>& groups) {
    for_each_index(groups.size(), threads_, [&](size_t i) {
      if (stopped()) return;
      Group& group = groups[i];
      or_fail([&] {
        group.first = read(*group.cases.front());
        measure(group);
      });
    });
    if (stopped()) return;
    std::vector<std::pair<const Group*, const SweepCase*>> points;
    for (const Group& group : groups) {
      for (const SweepCase* each : group.cases) points.emplace_back(&group, each);
    }
    const int threads_per_point = std::max(1, threads_ / static_cast<int>(points.size()));
    for_each_index(points.size(), threads_, [&](size_t i) {
      if (stopped()) return;
      or_fail([&] { run_point(*points[i].first, *points[i].second, threads_per_point); });
    });
  }

  void run_point(const Group& group, const SweepCase& each, int threads) {
    SweepPoint point{.index = each.index, .key = key_text(each.key)};
    const auto the_case = &each == group.cases.front() ? group.first : read(each);
    const Job& job = the_case->job;
    point.scenario = the_case->scenario;
    point.job = job;
    try {
      if (group.fault) throw *group.fault;
      the_case->places.placing([&] {
        point.iteration = group.measured.report;
        const CampaignInputs inputs = campaign_inputs(job, group.measured.table);
        point.campaign = run_campaign(inputs, threads);
        point.campaign->tiers =
            tier_reports(job, *group.measured.prepared, inputs, *point.campaign);
        const StudyInput input{
            *the_case, *group.measured.prepared, point.iteration, &*point.campaign, nullptr,
            threads,   [](const std::string&) {}};
        for (const Study& study : studies()) {
          if (study.in_sweeps) study.run(input, point.studies);
        }
      });
    } catch (const Error& error) {
      point.fault = as_varied(error, set_of(each));
      point.reason = point.fault->what();
    }
    finish(point);
  }

  Overrides set_of(const SweepCase& each) const { return values_at(sweep_.vary, each.index); }

  const Sweep& sweep_;
  const std::vector<SweepCase>& cases_;
  const SweepOptions& options_;
  int threads_;
  SharedPreparation shared_;
  std::mutex mutex_;
  std::atomic<bool> failed_ = false;
};

size_t product_of_counts(const std::vector<VariedKey>& keys) {
  size_t points = 1;
  for (const VariedKey& key : keys) points *= key.values.size();
  return points;
}

void check_size(const Sweep& sweep) {
  double points = 1;  // a double does not overflow here
  for (const VariedKey& key : sweep.vary) points *= static_cast<double>(key.values.size());
  if (points <= std::numeric_limits<int>::max()) return;
  throw Error(fmt::format(
      "the grid has {:.3g} points, but a sweep can have at most {:.3g}; vary fewer keys or values",
      points, static_cast<double>(std::numeric_limits<int>::max())));
}

// Sends neighbours in the grid to distant places (Knuth's multiplicative hash).
std::uint32_t dealt(int index) {
  return static_cast<std::uint32_t>(index) * 2654435769U;
}

}  // namespace

std::vector<Overrides> cross_product(const std::vector<VariedKey>& keys) {
  std::vector<Overrides> points(product_of_counts(keys));
  for (size_t i = 0; i < points.size(); ++i) points[i] = values_at(keys, i);
  return points;
}

Overrides values_at(const std::vector<VariedKey>& keys, size_t index) {
  Overrides values(keys.size());
  for (size_t i = keys.size(); i-- > 0;) {
    const VariedKey& key = keys[i];
    values[i] = {key.key, key.values[index % key.values.size()]};
    index /= key.values.size();
  }
  return values;
}

size_t grid_size(const Sweep& sweep) {
  return product_of_counts(sweep.vary);
}

std::vector<SweepCase> sweep_cases(const Sweep& sweep, int threads) {
  for (const VariedKey& key : sweep.vary) {
    if (key.values.empty()) throw Error::of_key(key.key, "has no values; give at least one");
  }
  check_size(sweep);
  std::vector<SweepCase> cases(grid_size(sweep));
  SharedPreparation shared;
  for_each_index(cases.size(), threads, [&](size_t i) { cases[i] = sweep_case(sweep, i, shared); });
  const bool none_is_left =
      std::ranges::all_of(cases, [](const SweepCase& each) { return each.fault != nullptr; });
  if (none_is_left) throw *cases.front().fault;
  return cases;
}

std::vector<SweepCase> shard_of(const std::vector<SweepCase>& cases, int shard, int shards) {
  CHECK(shards > 0 && shard >= 0 && shard < shards, "part {} of {}", shard, shards);
  const std::vector<int> table = first_of_table(cases);
  Positions order(cases.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t at) {
    return std::tuple(table[at], dealt(cases[at].index), cases[at].index);
  });
  const auto bound = [&](int at) { return order.size() * at / shards; };
  const std::span own = std::span(order).subspan(bound(shard), bound(shard + 1) - bound(shard));
  std::ranges::sort(own, {}, [&](std::uint32_t at) { return cases[at].index; });
  std::vector<SweepCase> part;
  part.reserve(own.size());
  for (const std::uint32_t at : own) part.push_back(cases[at]);
  return part;
}

void run_sweep(const Sweep& sweep, const std::vector<SweepCase>& cases,
               const SweepOptions& options) {
  SweepRun(sweep, cases, options).run();
}

}  // namespace windtunnel
