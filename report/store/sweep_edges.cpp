#include "report/store/sweep_edges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/results/paired_gain.hpp"
#include "report/store/sweep_figures.hpp"
#include "report/store/sweep_ranking.hpp"
#include "report/summary/campaign_summary.hpp"
#include "scenarios/language/text/fields.hpp"
#include "sim/study/interval_search.hpp"

namespace windtunnel {
namespace {

constexpr size_t kFewest = 3;  // with two values, each is an edge

// Returns the index of the smallest (`least`) or largest number.
size_t outermost(const std::vector<double>& numbers, bool least) {
  const auto at = least ? std::ranges::min_element(numbers) : std::ranges::max_element(numbers);
  return static_cast<size_t>(at - numbers.begin());
}

// Returns the index of the second smallest (`least`) or second largest number.
size_t next_to(const std::vector<double>& numbers, bool least) {
  const size_t edge = outermost(numbers, least);
  std::optional<size_t> next;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == numbers[edge]) continue;
    const bool nearer =
        !next || (least ? numbers[i] < numbers[*next] : numbers[i] > numbers[*next]);
    if (nearer) next = i;
  }
  return next.value_or(edge);
}

const Json* point_at(const Json& document, const Json& set) {
  const Json& points = document.at("points");
  const auto found =
      std::ranges::find_if(points, [&](const Json& point) { return point.at("set") == set; });
  return found == points.end() ? nullptr : &*found;
}

// Whether the result at the neighbour differs from the best: a key without influence has no edge.
bool differs(const Json& document, const Json& best, const Json& neighbour) {
  const Json* here = point_at(document, best);
  const Json* there = point_at(document, neighbour);
  if (here == nullptr || there == nullptr || !has_result(*there)) return true;
  return std::ranges::any_of(sweep_keys(), [&](std::string_view key) {
    return number_at(*here, key) != number_at(*there, key);
  });
}

bool takes_beyond(std::string_view key, double number, bool least) {
  const Field* field = find_field(key);
  if (field == nullptr) return true;
  return least ? number > (field->or_zero ? 0 : field->low) : number < field->high;
}

// Returns the circumstances of the point in words: "failures.0.rate=3 per 1000 node-days".
std::string circumstances_of(const Json& set) {
  Json met = Json::object();
  for (const auto& [key, value] : set.items()) {
    if (is_circumstance(key)) met[key] = value;
  }
  return met.empty() ? "" : set_text(met);
}

// Returns the best point under each of the circumstances, or the one best point if none vary.
Json bests_of(const Json& document) {
  Json bests = document.value("best_by", Json::array());
  const auto best = document.find("best");
  if (bests.empty() && best != document.end() && best->is_object()) bests.push_back(*best);
  return bests;
}

}  // namespace

std::vector<SweepEdge> edges_of_point(const Json& vary, const Json& set,
                                      const std::function<bool(const Json& neighbour)>& differs) {
  std::vector<SweepEdge> edges;
  for (const Json& varied : vary) {
    const std::string key = varied.at("key");
    const auto given = varied.find("numbers");
    if (given == varied.end() || given->is_null() || is_circumstance(key)) continue;
    const auto numbers = given->get<std::vector<double>>();
    const auto values = varied.at("values").get<std::vector<std::string>>();
    if (numbers.size() < kFewest || values.size() != numbers.size()) continue;
    for (const bool least : {true, false}) {
      const size_t edge = outermost(numbers, least);
      if (set.at(key) != values[edge] || !takes_beyond(key, numbers[edge], least)) continue;
      Json neighbour = set;
      neighbour[key] = values[next_to(numbers, least)];
      if (!differs(neighbour)) continue;
      edges.push_back({key, values[edge], least, circumstances_of(set)});
    }
  }
  return edges;
}

std::vector<SweepEdge> edges_of_best(const Json& document) {
  std::vector<SweepEdge> edges;
  for (const Json& each : bests_of(document)) {
    for (const Json& point : document.at("points")) {
      if (point.at("index") != each.at("index")) continue;
      const Json& set = point.at("set");
      const auto worse = [&](const Json& other) { return differs(document, set, other); };
      for (SweepEdge& edge : edges_of_point(document.at("vary"), set, worse)) {
        const bool known = std::ranges::any_of(edges, [&](const SweepEdge& one) {
          return one.key == edge.key && one.least == edge.least;
        });
        const bool matters = as_good_of(each, edge.key) == nullptr;
        if (!known && matters) edges.push_back(std::move(edge));
      }
    }
  }
  return edges;
}

std::vector<std::string> as_good_texts(const Json& document) {
  std::vector<std::string> texts;
  for (const Json& best : bests_of(document)) {
    const std::string under = circumstances_of(best.value("set", Json::object()));
    for (const Json& range : best.value("as_good", Json::array())) {
      const auto key = range.at("key").get<std::string>();
      const auto from = range.at("from").get<std::string>();
      const auto to = range.at("to").get<std::string>();
      const bool is_interval = is_interval_key(key);
      texts.push_back(fmt::format(
          "{}{} does not matter {}", key, under.empty() ? "" : " under " + under,
          is_interval ? as_good_text(from, to)
                      : fmt::format("between {} and {}: {}", from, to, as_good_loss_text())));
    }
  }
  return texts;
}

std::string edge_text(const SweepEdge& edge, const std::string& option) {
  return fmt::format(
      "the best {0}{1}, {2}, is the {3} that was tried, so there may be a better one beyond it: "
      "widen {5} {0} to {4} than {2}",
      edge.key, edge.under.empty() ? "" : " under " + edge.under, edge.value,
      edge.least ? "smallest" : "largest", edge.least ? "less" : "more", option);
}

}  // namespace windtunnel
