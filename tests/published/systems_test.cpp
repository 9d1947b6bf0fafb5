// Compares published figures of systems with predictions. Each row of systems.yaml (its head
// describes the form) is a figure, and docs/results/systems.md prints them. A figure outside its
// published bound needs a reason and the reason's source; a figure inside needs no reason.
// WINDTUNNEL_UPDATE_GOLDEN=1 writes the page's table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "report/figures/figures.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/text/document.hpp"
#include "sim/study/iterations/memory_excess.hpp"
#include "sim/study/simulate.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

constexpr const char* kRows = "tests/published/systems.yaml";
constexpr const char* kPage = "docs/results/systems.md";
constexpr std::string_view kBegin =
    "<!-- rows of tests/published/systems.yaml, by systems_test -->\n";
constexpr std::string_view kEnd = "<!-- end of rows -->\n";

std::string word(const DocumentNode& node, std::string_view key) {
  const DocumentNode* value = node.value_of(key);
  return value == nullptr ? "" : value->text;
}

// Reads the whole text as a number above zero.
template <class Number>
Number positive(const std::string& text) {
  Number number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  CHECK(fault == std::errc() && end == text.data() + text.size() && number > 0,
        "{}: '{}' is no positive number", kRows, text);
  return number;
}

// Refuses keys of a row that contradict each other, or that would not be read.
void check_row(const DocumentNode& row) {
  const auto has = [](const DocumentNode& node, std::string_view key) {
    return node.value_of(key) != nullptr;
  };
  const std::string& system = row.value_of("system")->text;
  CHECK(has(row, "largest") || !has(row, "step"), "{}: step without largest", system);
  CHECK(!has(row, "largest") || !has(row, "figure"), "{}: largest and figure", system);
  CHECK(!has(row, "scenario") || !has(row, "job"), "{}: scenario and job", system);
  for (const DocumentNode& entry : row.value_of("here")->items) {
    CHECK(!has(entry, "over") || !has(entry, "amount"), "{}: over and amount", system);
    CHECK(has(entry, "value") != has(entry, "ours"), "{}: expected ours or value", system);
    const bool read = has(entry, "ours");
    CHECK(read || !(has(entry, "against") || has(entry, "over") || has(entry, "amount")),
          "{}: a value is of a test, and not computed with", system);
  }
}

// Returns overrides that set each key to the node below it, in flow style.
Overrides overrides_of(const DocumentNode& node) {
  Overrides set;
  for (const DocumentEntry& entry : node.entries) {
    const bool scalar = entry.value.kind == DocumentNode::Kind::scalar;
    set.emplace_back(entry.key, scalar ? entry.value.text : flow_text(entry.value));
  }
  return set;
}

ScenarioText scenario_of(const DocumentNode& row) {
  if (const std::string file = word(row, "scenario"); !file.empty()) {
    return read_scenario(source_path("scenarios/" + file + ".yaml"));
  }
  std::string text = "name: system\n";
  for (const DocumentEntry& entry : row.value_of("job")->entries) {
    const bool scalar = entry.value.kind == DocumentNode::Kind::scalar;
    text += fmt::format("{}: {}\n", entry.key, scalar ? entry.value.text : flow_text(entry.value));
  }
  return {.file = kRows, .text = text};
}

double figure_of(const ScenarioText& scenario, const Overrides& set, const Figure& figure) {
  const Case the_case = resolve_case(scenario, set);
  const StudyDepth depth =
      figure.key.starts_with("iteration.") ? StudyDepth::step : StudyDepth::campaign;
  return number_of(
      figure.of(simulate(the_case, {.threads = 1, .allow_oom = true, .depth = depth})));
}

// Returns the largest value of these keys with which the job is accepted and fits in memory.
double largest_of(const ScenarioText& scenario, Overrides set, const DocumentNode& keys, int step) {
  const std::size_t own = set.size();
  for (const DocumentNode& key : keys.items) set.emplace_back(key.text, "");
  const auto fits = [&](int number) {
    for (std::size_t i = own; i < set.size(); ++i) set[i].second = std::to_string(number * step);
    const Case the_case = resolve_case(scenario, set);
    return memory_excess(the_case.job, *the_case.prepared).empty();
  };
  if (!fits(1)) return 0;
  int low = 1;
  int high = 2;
  for (; fits(high); high *= 2) low = high;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low * step;
}

struct Measured {
  std::string of;
  double value = 0;
};

double better_than_others(const DocumentNode& row, const DocumentNode& entry) {
  const ScenarioText scenario = scenario_of(row);
  const DocumentNode* largest = row.value_of("largest");
  const std::string stated_step = word(row, "step");
  const int step = stated_step.empty() ? 1 : positive<int>(stated_step);
  const std::string key = word(row, "figure");
  const Figure& shown = figure(key.empty() ? "iteration.time_s" : key);
  const bool less_is_better = largest == nullptr && shown.better == Better::lower;
  const auto value = [&](const Overrides& set) {
    return largest ? largest_of(scenario, set, *largest, step) : figure_of(scenario, set, shown);
  };
  const DocumentNode* ours = entry.value_of("ours");
  const double own = value(ours ? overrides_of(*ours) : Overrides{});
  const DocumentNode* against = entry.value_of("against");
  if (against == nullptr) return own;
  double best = std::numeric_limits<double>::quiet_NaN();
  for (const DocumentNode& other : against->items) {
    const double each = value(overrides_of(other));
    if (!(less_is_better ? each > best : each < best)) best = each;
  }
  return less_is_better ? best / own : own / best;
}

double measured(const DocumentNode& row, const DocumentNode& entry) {
  if (const std::string value = word(entry, "value"); !value.empty()) {
    return positive<double>(value);
  }
  const double number = better_than_others(row, entry);
  if (const std::string over = word(entry, "over"); !over.empty()) {
    return number / positive<double>(over);
  }
  const std::string amount = word(entry, "amount");
  return amount.empty() ? number : positive<double>(amount) / number;
}

std::string number_text(double value) {
  const double size = std::abs(value);
  return size < 10 ? fmt::format("{:.2f}", value)
                   : fmt::format("{:.{}f}", value, size < 100 ? 1 : 0);
}

std::vector<DocumentNode> system_rows() {
  return parse_document(read_text_file(source_path(kRows)), kRows).items;
}

// Holds a row's predicted numbers, whether one of them is missed, and the line of the page.
struct JudgedRow {
  std::vector<Measured> measured;
  bool missed = false;
  std::string line;
};

JudgedRow judged(const DocumentNode& row) {
  check_row(row);
  JudgedRow result;
  std::string here;
  for (const DocumentNode& entry : row.value_of("here")->items) {
    result.measured.push_back({word(entry, "case"), measured(row, entry)});
  }
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  const DocumentNode* bound = row.value_of("bound");
  if (bound != nullptr) {
    low = std::stod(bound->items.at(0).text);
    high = std::stod(bound->items.at(1).text);
  }
  for (const Measured& each : result.measured) {
    const bool inside = low <= each.value && each.value <= high;
    result.missed = result.missed || !inside;
    const std::string number = number_text(each.value);
    here += fmt::format("{}{}{}", here.empty() ? "" : "; ", inside ? number : "**" + number + "**",
                        each.of.empty() ? "" : " " + each.of);
  }
  result.missed = result.missed || bound == nullptr;
  const std::string held = word(row, "held_by");
  if (!held.empty()) here += fmt::format(" (`{}`)", held);
  std::string reason = word(row, "reason");
  if (const std::string source = word(row, "source"); !source.empty()) {
    reason += fmt::format(" ({})", source);
  }
  result.line = fmt::format("| {}, {} | `{}` | {} | {} | {} | {} |\n", word(row, "system"),
                            word(row, "address"), word(row, "key"), word(row, "what"),
                            word(row, "published"), here, reason);
  return result;
}

// Returns whether the file contains the number, and not only as a part of a longer number.
bool states(const std::string& file, const std::string& number) {
  const std::string text = read_text_file(source_path(file));
  const auto continues = [&](std::size_t at) {
    return at < text.size() && (std::isdigit(text[at]) != 0 || text[at] == '.');
  };
  for (std::size_t at = text.find(number); at != std::string::npos;
       at = text.find(number, at + 1)) {
    if (!continues(at - 1) && !continues(at + number.size())) return true;
  }
  return false;
}

class Systems : public testing::TestWithParam<int> {};

std::string printed_lines(std::string_view page) {
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos) return "";
  return std::string(page.substr(begin + kBegin.size(), end - begin - kBegin.size()));
}

TEST_P(Systems, ArePredictedWithinWhatIsPublishedOrWithAReason) {
  const std::vector<DocumentNode> rows = system_rows();
  ASSERT_LT(GetParam(), std::ssize(rows));
  const DocumentNode& row = rows[GetParam()];
  SCOPED_TRACE(word(row, "system") + ", " + word(row, "what"));
  const JudgedRow own = judged(row);
  for (const Measured& each : own.measured) EXPECT_TRUE(std::isfinite(each.value)) << each.of;
  if (own.missed) {
    EXPECT_FALSE(word(row, "reason").empty()) << "a miss needs a reason";
    EXPECT_FALSE(word(row, "source").empty()) << "a reason has a source";
  }
  const std::string held = word(row, "held_by");
  for (const DocumentNode& entry : row.value_of("here")->items) {
    const std::string value = word(entry, "value");
    EXPECT_EQ(value.empty(), held.empty()) << "a value is that of the test which holds it";
    if (value.empty()) continue;
    EXPECT_TRUE(states(held, value)) << held << " does not state " << value;
  }
  fmt::print("{}", own.line);
  if (std::getenv("WINDTUNNEL_UPDATE_GOLDEN") != nullptr) return;  // the whole page is rewritten
  EXPECT_NE(printed_lines(read_text_file(source_path(kPage))).find(own.line), std::string::npos)
      << "not in " << kPage << ":\n"
      << own.line;
}

constexpr int kSystems = 42;
INSTANTIATE_TEST_SUITE_P(Rows, Systems, testing::Range(0, kSystems));

DocumentNode made_row(const std::string& keys, const std::string& here) {
  return parse_document(fmt::format("{{system: s, {}here: [{{{}}}]}}", keys, here), "rows.yaml");
}

TEST(SystemsRows, ThatContradictThemselvesAreRefused) {
  EXPECT_NO_THROW(check_row(made_row("largest: [a], step: 128, ", "ours: {}, over: 2e9")));
  EXPECT_NO_THROW(check_row(made_row("", "case: c, value: 1.5")));
  EXPECT_ANY_THROW(check_row(made_row("step: 128, ", "ours: {}")));
  EXPECT_ANY_THROW(check_row(made_row("largest: [a], figure: f, ", "ours: {}")));
  EXPECT_ANY_THROW(check_row(made_row("scenario: a, job: {}, ", "ours: {}")));
  EXPECT_ANY_THROW(check_row(made_row("", "ours: {}, over: 2, amount: 3")));
  EXPECT_ANY_THROW(check_row(made_row("", "value: 2, over: 3")));
  EXPECT_ANY_THROW(check_row(made_row("", "case: c")));
  EXPECT_EQ(positive<int>("128"), 128);
  EXPECT_EQ(positive<double>("42.9e9"), 42.9e9);
  for (const char* text : {"0", "8x", "-1", "", "many"}) EXPECT_ANY_THROW(positive<int>(text));
}

TEST(SystemsPage, PrintsAllRows) {
  const std::vector<DocumentNode> rows = system_rows();
  ASSERT_EQ(rows.size(), kSystems) << "a test for each row: change kSystems";
  const std::string page = read_text_file(source_path(kPage));
  if (std::getenv("WINDTUNNEL_UPDATE_GOLDEN") == nullptr) {
    const std::string lines = printed_lines(page);
    EXPECT_EQ(std::ranges::count(lines, '\n'), std::ssize(rows) + 4);
    return;
  }
  std::string table =
      "\n| system | key | set-up | published | here | reason |\n|---|---|---|---|---|---|\n";
  for (const DocumentNode& row : rows) table += judged(row).line;
  const std::size_t first = page.find(kBegin) + kBegin.size();
  expect_file(kPage, page.substr(0, first) + table + "\n" + page.substr(page.find(kEnd)));
}

}  // namespace
}  // namespace windtunnel
