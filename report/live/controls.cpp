#include "report/live/controls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "models/base/units.hpp"
#include "models/cost/chunk/layer_table_cost.hpp"
#include "models/reliability/saving_interval.hpp"
#include "report/store/sweep_figures.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

// Round values for people: 1, 1.5, 2, 3, 5, 7 of each power of ten.
constexpr double kSteps[] = {1, 1.5, 2, 3, 5, 7};

const ResolvedValue* value_at(const Case& the_case, const std::string& key) {
  const auto found = std::ranges::find(the_case.values, key, &ResolvedValue::key);
  return found == the_case.values.end() ? nullptr : &*found;
}

bool is_power_of_two(int value) {
  return (value & (value - 1)) == 0;
}

// Returns powers of two and divisors of `whole` up to `most`, because both divide work evenly: 3
// pipeline ranks for 96 layers, micro-batches of 6 for 480.
std::vector<std::string> parts_of(int whole, int most) {
  std::vector<std::string> values;
  for (int value = 1; value <= most; ++value) {
    if (is_power_of_two(value) || whole % value == 0) values.push_back(std::to_string(value));
  }
  return values;
}

// Returns powers of two and 1.5 times each: 1, 2, 3, 4, 6, 8, 12.
std::vector<std::string> steps(int most) {
  std::vector<std::string> values;
  for (int value = 1; value <= most; value *= 2) {
    values.push_back(std::to_string(value));
    const int more = value + value / 2;
    if (value > 1 && more <= most) values.push_back(std::to_string(more));
  }
  return values;
}

std::vector<std::string> with_unit(std::initializer_list<const char*> numbers, const char* unit) {
  std::vector<std::string> values;
  for (const char* number : numbers) values.push_back(fmt::format("{} {}", number, unit));
  return values;
}

// Returns steps from a tenth of the number to ten times the number.
std::vector<std::string> around(double number, const char* unit) {
  std::vector<std::string> values;
  const double lowest = number / 10;
  for (double decade = std::pow(10, std::floor(std::log10(lowest))); decade <= number * 10;
       decade *= 10) {
    for (const double step : kSteps) {
      const double value = step * decade;
      if (value < lowest || value > number * 10) continue;
      values.push_back(fmt::format("{:g} {}", value, unit));
    }
  }
  return values;
}

// Inserts the case's own value into the numbers at its place.
void place_number(Control& control, const std::string& own) {
  control.values.push_back(own);
  const auto numbers = numbers_of({control.key, control.values});
  CHECK(numbers.has_value(), "{}: '{}' is not a number beside {}", control.key, own,
        control.values.front());
  const double own_number = numbers->values.back();
  std::vector<std::string> kept;
  for (std::size_t i = 0; i + 1 < numbers->values.size(); ++i) {
    const double number = numbers->values[i];
    if (number == own_number) continue;
    if (number > own_number && control.at == std::ssize(kept)) kept.push_back(own);
    if (number < own_number) control.at = static_cast<int>(kept.size()) + 1;
    kept.push_back(control.values[i]);
  }
  if (control.at == std::ssize(kept)) kept.push_back(own);
  control.values = std::move(kept);
}

class Collector {
 public:
  explicit Collector(const Case& the_case) : case_(the_case) {}

  void group(std::string title, bool limited) {
    group_ = std::move(title);
    limited_ = limited;
  }

  std::optional<double> number_at(const std::string& key) const {
    const ResolvedValue* value = value_at(case_, key);
    return value == nullptr ? std::nullopt : value->number;
  }

  void numbers(const std::string& key, const std::string& title, std::vector<std::string> values) {
    const ResolvedValue* own = value_at(case_, key);
    if (own == nullptr || values.empty()) return;
    Control control = control_of(key, title, std::move(values));
    place_number(control, own->value);
    controls_.push_back(std::move(control));
  }

  void names(const std::string& key, const std::string& title) {
    const Field* field = find_field(key);
    CHECK(field != nullptr, "no key {}", key);
    const ResolvedValue* resolved = value_at(case_, key);
    const std::string own = resolved != nullptr ? resolved->value : field->default_text;
    Control control = control_of(key, title, names_of(*field));
    control.names = true;
    const auto found = std::ranges::find(control.values, own);
    control.at = static_cast<int>(found - control.values.begin());
    if (found == control.values.end()) control.values.push_back(own);
    controls_.push_back(std::move(control));
  }

  void interval(std::size_t tier, bool in_iterations) {
    const ResolvedValue* place = value_at(case_, fmt::format("snapshots.{}.tier", tier));
    numbers(interval_key(tier),
            fmt::format("save to {} every", place == nullptr ? "a tier" : place->value),
            in_iterations
                ? with_unit({"1", "2", "3", "5", "10", "20", "30", "50", "100", "200", "500"},
                            "iterations")
                : std::vector<std::string>{
                      "30 s",   "1 min",  "2 min", "3 min", "5 min", "10 min", "15 min", "20 min",
                      "30 min", "45 min", "1 h",   "1.5 h", "2 h",   "3 h",    "4 h",    "5 h",
                      "6 h",    "8 h",    "10 h",  "12 h",  "16 h",  "24 h"});
  }

  std::vector<Control> controls() && { return std::move(controls_); }

 private:
  Control control_of(const std::string& key, const std::string& title,
                     std::vector<std::string> values) const {
    const Field* field = find_field(key);
    CHECK(field != nullptr, "no key {}", key);
    return {.key = key,
            .title = title,
            .group = group_,
            .help = std::string(field->help),
            .values = std::move(values),
            .limited = limited_};
  }

  const Case& case_;
  std::string group_;
  bool limited_ = false;
  std::vector<Control> controls_;
};

void add_layout(Collector& add, const Job& job) {
  const int ranks = job.layout.ranks();
  add.group("Layout", true);
  // Most pipeline stages that the control offers.
  constexpr int kMostStages = 64;
  const int stages = std::min({ranks, most_stages(job), kMostStages});
  add.numbers("layout.tp", "tensor parallel",
              parts_of(job.cluster.node.gpus, job.cluster.node.gpus));
  add.numbers("layout.pp", "pipeline parallel", parts_of(ranks, stages));
  add.numbers("layout.vpp", "stages per rank (vpp)", parts_of(most_stages(job), 16));
  add.numbers("layout.cp", "context parallel", parts_of(ranks, std::min(ranks, 16)));
  if (job.model.moe.experts > 0) {
    add.numbers("layout.ep", "expert parallel", parts_of(ranks, std::min(ranks, 64)));
  }
  add.names("layout.sharding", "sharded state");
  add.group("Step", true);
  add.names("schedule.name", "schedule");
  add.numbers("batch.micro", "micro-batch", parts_of(job.batch.global, 16));
  add.names("recompute", "recomputation");
  add.names("communication.compressor.name", "gradient compressor");
  add.names("communication.overlap", "gradients overlap");
}

void add_machine(Collector& add, const Job& job) {
  add.group("Machine", true);
  add.numbers("cluster.nodes", "nodes", steps(4 * job.cluster.nodes));
  // The range is from 10 Gb/s Ethernet to two generations beyond what is sold.
  add.numbers(
      "cluster.node.nic", "rate of a NIC",
      with_unit({"1.25", "3.125", "6.25", "12.5", "25", "37.5", "50", "75", "100", "200"}, "GB/s"));
  add.names("cluster.fabric.base", "network between nodes");
  if (job.cluster.fabric.nodes_per_pod > 0) {
    add.numbers("cluster.fabric.pod_oversubscription", "oversubscription between pods",
                {"1", "1.5", "2", "3", "4", "5", "6", "7", "8", "12", "16"});
  }
}

void add_campaign(Collector& add, const Job& job) {
  if (job.campaign.length_s <= 0) return;
  add.group("Failures and snapshots", false);
  for (std::size_t i = 0; i < job.failures.size(); ++i) {
    const FailureClass& failure = job.failures[i];
    const double per_1000_days = failure.rate_per_node_s * kDay_s * 1000;
    if (per_1000_days <= 0) continue;
    const std::string title = fmt::format("failures: {}", failure.name);
    const std::string mtbf = fmt::format("failures.{}.mtbf", i);
    // The scenario states mtbf, which excludes a rate.
    if (const std::optional<double> seconds = add.number_at(mtbf)) {
      add.numbers(mtbf, title, around(*seconds / kDay_s, "d"));
      continue;
    }
    add.numbers(fmt::format("failures.{}.rate", i), title,
                around(per_1000_days, "per 1000 node-days"));
  }
  for (std::size_t i = 0; i < job.snapshots.size(); ++i) {
    add.interval(i, counts_iterations(job.snapshots[i]));
  }
  add.numbers("recovery.spares", "spare nodes",
              {"0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",  "10",
               "12", "16", "20", "24", "32", "40", "48", "64", "96", "128"});
}

}  // namespace

std::vector<Control> controls_of(const Case& the_case) {
  Collector add(the_case);
  add_layout(add, the_case.job);
  add_machine(add, the_case.job);
  add_campaign(add, the_case.job);
  return std::move(add).controls();
}

Json controls_json(const std::vector<Control>& controls) {
  return list_json(controls, [](const Control& control) {
    return MEMBERS_JSON(control, key, title, group, help, values, at, names);
  });
}

Overrides checked_settings(const std::vector<Control>& controls, const Json& set) {
  if (!set.is_object()) throw Error("settings must be an object of keys and values");
  Overrides settings;
  for (const auto& [key, value] : set.items()) {
    const auto control = std::ranges::find(controls, key, &Control::key);
    if (control == controls.end())
      throw Error(fmt::format("'{}' cannot be changed on this page", key));
    const bool known =
        value.is_string() && std::ranges::count(control->values, value.get<std::string>()) > 0;
    if (!known) throw Error(fmt::format("{}: {} is not one of its values", key, value.dump()));
    settings.emplace_back(key, value.get<std::string>());
  }
  return settings;
}

}  // namespace windtunnel
