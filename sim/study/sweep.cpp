#include "sim/study/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

#include "models/base/error.hpp"
#include "policies/iteration.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "scenarios/language/overrides.hpp"
#include "sim/study/simulate.hpp"
#include "sim/study/studies.hpp"
#include "sim/study/tier_reports.hpp"

namespace windtunnel {
namespace {

// Points that share a table are prepared once.
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
  throw Error::about(
      {"campaign"},
      "a sweep simulates campaigns, and the scenario has none: add campaign.length and failures, "
      "or use `windtunnel compare`");
}

std::shared_ptr<const Case> case_at(const Sweep& sweep, const Overrides& point,
                                    SharedPreparation& shared) {
  Case read = resolve_case(sweep.scenario, point, std::ref(shared));
  read.values = {};  // that --explain shows, and a record keeps
  read.files = {};
  return std::make_shared<const Case>(std::move(read));
}

SweepCase sweep_case(const Sweep& sweep, int index, const Overrides& point,
                     SharedPreparation& shared) {
  SweepCase result{index, point, "", "", ""};
  try {
    const std::shared_ptr<const Case> read = case_at(sweep, point, shared);
    read->places.placing([&] { check_campaign(read->job); });
    result.key = read->key;
    result.table = read->table;
    if (static_cast<size_t>(index) < kMostKept) result.read = read;
  } catch (const Error& error) {
    result.fault = as_varied(error, point);
    result.reason = result.fault->what();
  }
  return result;
}

// The points that share a table, and what the engine says about them once it has.
struct Group {
  std::vector<const SweepCase*> cases;
  std::shared_ptr<const Case> first;
  MeasuredIteration measured;
  std::optional<Error> fault;  // of all of them
};

std::vector<Group> grouped(const std::vector<SweepCase>& cases) {
  std::vector<Group> groups;
  std::map<std::string, size_t> at;
  for (const SweepCase& each : cases) {
    if (!each.reason.empty()) continue;
    const auto [found, is_new] = at.emplace(each.table, groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].cases.push_back(&each);
  }
  return groups;
}

void measure(Group& group) {
  try {
    group.measured = measure_iteration(*group.first, {.threads = 1});
    // Thousands of tasks per rank that no point shows.
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
    for (const SweepCase& each : cases_) {
      if (!each.reason.empty())
        finish({.index = each.index, .reason = each.reason, .fault = each.fault});
    }
    std::vector<Group> groups = grouped(cases_);
    // Measures as many tables at a time as there are threads: a sweep in which each point has its
    // own does not measure them all before its first result.
    const auto block = static_cast<size_t>(threads_);
    for (size_t first = 0; first < groups.size() && !stopped(); first += block) {
      run_block(groups, first, std::min(block, groups.size() - first));
    }
  }

 private:
  bool stopped() const { return failed_ || (options_.stop != nullptr && *options_.stop); }

  void finish(const SweepPoint& point) {
    const std::scoped_lock lock(mutex_);
    if (!options_.finished) return;
    options_.finished(point);
  }

  // What is no fault of a point (a full disk, a caller's function that throws) ends all of them.
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
        each.read != nullptr ? each.read : case_at(sweep_, each.set, shared_);
    if (again->key == each.key && again->table == each.table) return again;
    throw Error(fmt::format(
        "{}: point {} is no longer what it was when the sweep was begun: a file that the scenario "
        "names has changed; begin a new sweep in another folder",
        sweep_.scenario.file, each.index));
  }

  void run_block(std::vector<Group>& groups, size_t first, size_t count) {
    if (options_.progress) {
      options_.progress(
          fmt::format("simulating iterations, {} of {} kinds", first + 1, groups.size()));
    }
    for_each_index(count, threads_, [&](size_t i) {
      if (stopped()) return;
      Group& group = groups[first + i];
      or_fail([&] {
        group.first = read(*group.cases.front());
        measure(group);
      });
    });
    if (stopped()) return;
    std::vector<std::pair<const Group*, const SweepCase*>> points;
    for (size_t i = first; i < first + count; ++i) {
      for (const SweepCase* each : groups[i].cases) points.emplace_back(&groups[i], each);
    }
    const int threads_per_point = std::max(1, threads_ / static_cast<int>(points.size()));
    for_each_index(points.size(), threads_, [&](size_t i) {
      if (stopped()) return;
      or_fail([&] { run_point(*points[i].first, *points[i].second, threads_per_point); });
    });
    for (size_t i = first; i < first + count; ++i) groups[i] = {};
  }

  void run_point(const Group& group, const SweepCase& each, int threads) {
    SweepPoint point{.index = each.index, .key = each.key};
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
      point.fault = as_varied(error, each.set);
      point.reason = point.fault->what();
    }
    finish(point);
  }

  const Sweep& sweep_;
  const std::vector<SweepCase>& cases_;
  const SweepOptions& options_;
  int threads_;
  SharedPreparation shared_;
  std::mutex mutex_;
  std::atomic<bool> failed_ = false;
};

// Equal neighbours in the grid end up far apart (Knuth's multiplicative hash).
std::uint32_t dealt(int index) {
  return static_cast<std::uint32_t>(index) * 2654435769U;
}

}  // namespace

std::vector<Overrides> cross_product(const std::vector<VariedKey>& keys) {
  std::vector<Overrides> points = {{}};
  for (const VariedKey& key : keys) {
    std::vector<Overrides> longer;
    for (const Overrides& point : points) {
      for (const std::string& value : key.values) {
        longer.push_back(point);
        longer.back().emplace_back(key.key, value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

std::vector<SweepCase> sweep_cases(const Sweep& sweep, int threads) {
  for (const VariedKey& key : sweep.vary) {
    if (key.values.empty()) throw Error::of_key(key.key, "has no values to vary; give one or more");
  }
  const std::vector<Overrides> points = cross_product(sweep.vary);
  std::vector<SweepCase> cases(points.size());
  SharedPreparation shared;
  for_each_index(points.size(), threads, [&](size_t i) {
    cases[i] = sweep_case(sweep, static_cast<int>(i), points[i], shared);
  });
  const bool none_is_left =
      std::ranges::all_of(cases, [](const SweepCase& each) { return each.fault.has_value(); });
  if (none_is_left) throw *cases.front().fault;
  return cases;
}

std::vector<SweepCase> shard_of(const std::vector<SweepCase>& cases, int shard, int shards) {
  CHECK(shards > 0 && shard >= 0 && shard < shards, "part {} of {}", shard, shards);
  std::map<std::string, int> first_of_table;
  for (const SweepCase& each : cases) first_of_table.emplace(each.table, each.index);
  std::vector<const SweepCase*> order;
  for (const SweepCase& each : cases) order.push_back(&each);
  std::ranges::sort(order, {}, [&](const SweepCase* each) {
    return std::tuple(first_of_table.at(each->table), dealt(each->index), each->index);
  });
  const auto bound = [&](int at) { return order.size() * at / shards; };
  std::vector<SweepCase> part;
  for (size_t i = bound(shard); i < bound(shard + 1); ++i) part.push_back(*order[i]);
  std::ranges::sort(part, {}, &SweepCase::index);
  return part;
}

void run_sweep(const Sweep& sweep, const std::vector<SweepCase>& cases,
               const SweepOptions& options) {
  SweepRun(sweep, cases, options).run();
}

}  // namespace windtunnel
