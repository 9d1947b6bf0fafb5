#include "cli/compare_company.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>

#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "report/console/console.hpp"
#include "report/figures/figure_text.hpp"
#include "report/json/company_json.hpp"
#include "report/json/json.hpp"
#include "scenarios/language/overrides.hpp"
#include "sim/study/simulate_company.hpp"

namespace windtunnel {
namespace {

void add_rows(const std::string& set, const CompanyReport& report, TextTable& table) {
  for (const CompanyJob& job : report.jobs) {
    table.rows.push_back({set, job.alone.scenario, value_text(Unit::seconds, job.alone_s()),
                          value_text(Unit::seconds, job.together_s()),
                          fmt::format("{:.4f}", job.slowdown),
                          fmt::format("{:.4f} .. {:.4f}", job.least_slowdown, job.most_slowdown)});
  }
}

}  // namespace

ExitCode compare_company(const CompanyComparison& wanted, const SimulateOptions& options) {
  TextTable table{{{"set"},
                   {"job"},
                   {"step alone", Align::right},
                   {"together", Align::right},
                   {"slowdown", Align::right},
                   {"over starts", Align::right}},
                  {}};
  Json points = Json::array();
  SummarySection infeasible{"Infeasible", {}};
  std::optional<Error> first;
  Progress progress;
  for (const Overrides& point : wanted.points) {
    progress.show(fmt::format("[{}/{}] {}", points.size(), wanted.points.size(), set_text(point)));
    Json& document = points.emplace_back(Json::object());
    for (const auto& [key, value] : point) document["set"][key] = value;
    ScenarioText scenario = wanted.scenario;
    scenario.set.insert(scenario.set.end(), point.begin(), point.end());
    try {
      Company company = resolve_company(scenario);
      for (Case& each : company.jobs) each.file = std::filesystem::absolute(each.file);
      const CompanyReport report = simulate_company(company, options);
      document["result"] = company_document(report, wanted.timing);
      add_rows(set_text(point), report, table);
    } catch (const Error& error) {
      if (!first) first = as_varied(error, point);
      document["reason"] = error.what();
      infeasible.rows.push_back({set_text(point), error.what()});
    }
  }
  progress.wipe();
  if (table.rows.empty()) throw Error(*first);
  Answer answer{.title = {},
                .subtitle = {},
                .figures = {},
                .sections = {{"", {}, std::move(table)}},
                .kind = "company-compare",
                .document = [&]() -> Json {
                  return {{"points", points}};
                }};
  if (!infeasible.rows.empty()) answer.sections.push_back(std::move(infeasible));
  hand_out(answer, wanted.output);
  return ExitCode::ok;
}

}  // namespace windtunnel
