// Imported configurations whose step time is published must be as accurate as their families: the
// tables of sources in docs/results give the error that nine of ten blind rows stay within.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <regex>
#include <string>

#include "models/base/error.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/text/document.hpp"
#include "sim/study/diagnose/measured_place.hpp"
#include "sim/study/simulate.hpp"
#include "tests/scenarios/imports/expected_rows.hpp"

namespace windtunnel {
namespace {

struct FamilyErrors {
  double median = 0, nine_of_ten = 0;
};

// Reads the rows "| source of rows | GPUs | blind rows | median error | nine of ten within | ...".
std::map<std::string, FamilyErrors> errors_by_family() {
  const std::regex row(
      R"(\n\| ([^|]+) \| [^|]+ \| \d+ \| ([\d.]+)% \| ([\d.]+)% \| \d+% \|(?=\n))");
  std::map<std::string, FamilyErrors> errors;
  for (const char* page : {"validation.md", "validation-elsewhere.md"}) {
    const std::string text =
        read_text_file(fmt::format("{}/docs/results/{}", WINDTUNNEL_SOURCE_DIR, page));
    for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) {
      errors[(*at)[1]] = {std::stod((*at)[2]) / 100, std::stod((*at)[3]) / 100};
    }
  }
  return errors;
}

IterationReport step_of(const ImportRow& row) {
  const ImportedScenario imported = import_scenario(request_of(row));
  const SimulateOptions options{.allow_oom = true, .depth = StudyDepth::step};
  return simulate(parse_case(imported.text, row.name), options).iteration;
}

// Nine of ten steps must be within the error that nine of ten rows of their family stay within, and
// each in the 90 % interval that a user of the file gets.
TEST(ImportedSteps, AreWithinTheErrorsOfTheirFamilies) {
  const std::map<std::string, FamilyErrors> errors = errors_by_family();
  int held = 0;
  int within = 0;
  int within_median = 0;
  for (const ImportRow& row : import_rows()) {
    if (!row.step) continue;
    ASSERT_TRUE(errors.contains(row.step->family)) << row.name << ": " << row.step->family;
    const FamilyErrors& family = errors.at(row.step->family);
    const IterationReport report = step_of(row);
    const double error = report.time_s / row.step->seconds - 1;
    const double below =
        MeasuredPlace(report.error, report.familiarity.not_contained(report.host_spread))
            .below(row.step->seconds / report.time_s);
    fmt::print(
        "{}: {:.4g} s predicted, {:.4g} s published, {:+.1f} %; {}: nine of ten within {:.0f} %\n",
        row.name, report.time_s, row.step->seconds, 100 * error, row.step->family,
        100 * family.nine_of_ten);
    EXPECT_GT(below, 0.05) << row.name;
    EXPECT_LT(below, 0.95) << row.name;
    ++held;
    within += std::abs(error) <= family.nine_of_ten ? 1 : 0;
    within_median += std::abs(error) <= family.median ? 1 : 0;
  }
  fmt::print("{} of {} within what nine of ten are, {} within the median\n", within, held,
             within_median);
  EXPECT_GE(held, 8);
  EXPECT_GE(within, held - (held + 9) / 10);
}

}  // namespace
}  // namespace windtunnel
