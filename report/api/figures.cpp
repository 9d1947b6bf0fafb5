#include <algorithm>
#include <windtunnel/figures.hpp>

#include "report/api/translation.hpp"
#include "report/json/json.hpp"

namespace windtunnel_api {
namespace {

using core::Json;

// By the names of the document's keys, the last one that says it.
std::string unit_of(std::string_view key) {
  constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
      {"_per_s", "1/s"}, {"_s", "s"},    {"bytes", "bytes"},
      {"days", "d"},     {"usd", "USD"}, {"_per_gpu", "TFLOP/s"}};
  while (!key.empty()) {
    for (const auto& [ending, unit] : kEndings) {
      if (key.ends_with(ending)) return std::string(unit);
    }
    const std::size_t dot = key.rfind('.');
    key = key.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
  return "";
}

// All numbers below `node`.
void add_figures(const Json& node, const std::string& key, std::vector<Figure>& figures) {
  const auto add = [&](double value, std::optional<Interval> interval) {
    Figure figure;
    figure.key = key;
    figure.unit = unit_of(key);
    figure.value = value;
    figure.interval = interval;
    figures.push_back(std::move(figure));
  };
  if (node.is_number()) return add(node.get<double>(), {});
  if (node.is_object() && node.contains("mean")) {
    return add(node.at("mean"), Interval{node.at("low"), node.at("high")});
  }
  if (!node.is_structured()) return;
  std::size_t index = 0;
  for (const auto& [name, value] : node.items()) {
    add_figures(value, fmt::format("{}.{}", key, node.is_array() ? fmt::to_string(index++) : name),
                figures);
  }
}

}  // namespace

Figures::Figures(std::vector<Figure> figures) : figures_(std::move(figures)) {}

const Figure* Figures::find(std::string_view key) const {
  const auto found = std::ranges::find(figures_, key, &Figure::key);
  return found == figures_.end() ? nullptr : &*found;
}

const Figure& Figures::at(std::string_view key) const {
  if (const Figure* figure = find(key)) return *figure;
  std::vector<std::string> known;
  for (const Figure& figure : figures_) known.push_back(figure.key);
  throw Error(core::unknown_name("figure", key, known), {}, Error::Cause::input);
}

Figures figures_of(const core::Record& record) {
  std::vector<Figure> figures;
  const Json document = core::run_document(record, false);
  for (const char* part : {"iteration", "job", "campaign", "origin"}) {
    if (document.contains(part)) add_figures(document.at(part), part, figures);
  }
  return Figures(std::move(figures));
}

}  // namespace windtunnel_api
