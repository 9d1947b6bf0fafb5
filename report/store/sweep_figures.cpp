#include "report/store/sweep_figures.hpp"

#include <algorithm>
#include <string>

#include "models/base/error.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

// Null: the point has no value at the key.
const Json* found_at(const Json& point, std::string_view key) {
  const size_t dot = key.find('.');
  const std::string_view root = key.substr(0, dot);
  const Json* at = &point;
  const auto step = [&](std::string_view name) {
    const auto next = at->find(name);
    at = at->is_object() && next != at->end() ? &*next : nullptr;
  };
  step(root == "campaign" ? "result" : root);
  for (size_t from = dot; at != nullptr && from < key.size();) {
    const size_t end = std::min(key.find('.', from + 1), key.size());
    step(key.substr(from + 1, end - from - 1));
    from = end;
  }
  return at;
}

std::string loss_name(int loss) {
  return to_string(static_cast<Loss>(loss));
}

}  // namespace

std::optional<double> number_at(const Json& point, std::string_view key, std::string_view part) {
  const Json* at = found_at(point, key);
  if (at != nullptr && at->is_object()) at = found_at(*at, part);
  if (at != nullptr && at->is_object()) at = found_at(*at, "mean");  // a figure with several parts
  if (at == nullptr || !at->is_number()) return {};
  return at->get<double>();
}

std::string text_at(const Json& point, std::string_view key) {
  const std::optional<double> number = number_at(point, key);
  return number ? value_text(figure(key).unit, *number) : "";
}

std::string range_at(const Json& point, std::string_view key) {
  const Json* at = found_at(point, key);
  return at != nullptr && at->is_object() ? range_of(figure(key).unit, *at) : "";
}

std::string range_of(Unit unit, const Json& estimate) {
  return range_text(unit, estimate.at("low").get<double>(), estimate.at("high").get<double>());
}

const std::vector<std::string>& sweep_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all = {"campaign.goodput", "campaign.ettr"};
    for (const Figure* lost : figures_below("campaign.lost")) all.push_back(lost->key);
    for (const char* key : {"iteration.time_s", "campaign.job.days", "campaign.job.cost_usd"}) {
      all.emplace_back(key);
    }
    for (const ShownStudy& study : shown_studies()) {
      for (const std::string_view key : study.sweep_columns) all.emplace_back(key);
    }
    return all;
  }();
  return keys;
}

std::vector<SweepColumn> sweep_columns(const std::vector<const Json*>& points) {
  std::vector<SweepColumn> columns;
  for (const std::string& key : sweep_keys()) {
    const bool says_nothing = std::ranges::all_of(
        points, [&](const Json* point) { return number_at(*point, key).value_or(0) == 0; });
    if (says_nothing) continue;
    columns.push_back({figure(key).title, key});
    if (key == sweep_keys().front()) columns.push_back({std::string(kIntervalTitle), key, true});
  }
  return columns;
}

const std::vector<StoredColumn>& stored_columns() {
  static const std::vector<StoredColumn> columns = [] {
    std::vector<StoredColumn> all = {{"iteration_s", "iteration.time_s"},
                                     {"tokens_per_s", "iteration.tokens_per_s"},
                                     {"goodput", "campaign.goodput"},
                                     {"goodput_low", "campaign.goodput", "low"},
                                     {"goodput_high", "campaign.goodput", "high"},
                                     {"goodput_p05", "campaign.goodput", "p05"},
                                     {"goodput_p95", "campaign.goodput", "p95"},
                                     {"ettr", "campaign.ettr"}};
    for (int i = 0; i < kLosses; ++i) {
      all.push_back({"lost_" + loss_name(i), "campaign.lost." + loss_name(i)});
    }
    const std::vector<StoredColumn> rest = {{"failures", "campaign.failures", "unexpected"},
                                            {"planned", "campaign.failures", "planned"},
                                            {"job_days", "campaign.job.days"},
                                            {"cost_usd", "campaign.job.cost_usd"},
                                            {"tflops_per_gpu", "iteration.tflops_per_gpu"},
                                            {"mfu", "iteration.mfu"}};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }();
  return columns;
}

namespace {

std::vector<Dimension> dimensions_of(const std::string& key) {
  const Field* field = find_field(key);
  if (field == nullptr) return {};
  if (field->scalar == ScalarType::integer) return {Dimension::number, field->dimension};
  if (field->scalar == ScalarType::quantity) return {field->dimension};
  if (field->scalar == ScalarType::interval) return {Dimension::seconds, Dimension::iterations};
  return {};
}

}  // namespace

std::optional<KeyNumbers> numbers_of(const VariedKey& key) {
  for (const Dimension dimension : dimensions_of(key.key)) {
    KeyNumbers numbers{dimension, {}};
    try {
      for (const std::string& value : key.values) {
        numbers.values.push_back(parse_quantity(value, dimension));
      }
      return numbers;
    } catch (const Error&) {
      continue;  // another dimension, or not a number
    }
  }
  return {};
}

Json varied_keys_json(const std::vector<VariedKey>& keys) {
  return list_json(keys, [](const VariedKey& varied) {
    const std::optional<KeyNumbers> numbers = numbers_of(varied);
    Json json = MEMBERS_JSON(varied, key, values);
    json["numbers"] = numbers ? Json(numbers->values) : Json(nullptr);
    return json;
  });
}

}  // namespace windtunnel
