#include "report/page/company_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "models/base/error.hpp"
#include "report/figures/figure_text.hpp"
#include "report/json/json.hpp"
#include "report/page/html.hpp"
#include "report/page/page.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {
namespace {

constexpr const char* kCompanyFormat = "windtunnel-company-1";

constexpr int kWidth = 760;
constexpr int kLabels = 150;   // left of the bars
constexpr int kFigures = 110;  // right of them
constexpr int kBar = 18;
constexpr int kJob = 60;  // height of two bars and the gap to the next job's

struct StepBar {
  std::string_view kind;
  std::string_view colour;
  double seconds = 0;
};

std::string bar_svg(const StepBar& bar, int top, double longest_s) {
  const double width = (kWidth - kLabels - kFigures) * bar.seconds / longest_s;
  return fmt::format(
      "<rect x=\"{0}\" y=\"{1}\" width=\"{2:.1f}\" height=\"{3}\" fill=\"{4}\"><title>{5}: "
      "{6}</title></rect><text x=\"{7:.1f}\" y=\"{8}\" fill=\"currentColor\">{6} {5}</text>",
      kLabels, top, width, kBar - 2, bar.colour, bar.kind, value_text(Unit::seconds, bar.seconds),
      kLabels + width + 6, top + kBar - 5);
}

// Draws the range of a job's step over the simulated starts.
std::string whisker_svg(double low_s, double high_s, int top, double longest_s) {
  const double scale = (kWidth - kLabels - kFigures) / longest_s;
  return fmt::format(
      "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2}\" y2=\"{2}\" "
      "stroke=\"currentColor\" stroke-width=\"2\"/>",
      kLabels + low_s * scale, kLabels + high_s * scale, top + kBar / 2 - 1);
}

std::string chart_svg(const Json& jobs) {
  double longest_s = 0;
  for (const Json& job : jobs) {
    const Json& step_s = job.at("step_s");
    longest_s = std::max({longest_s, step_s.at("alone").get<double>(),
                          step_s.at("together").get<double>(), step_s.at("high").get<double>()});
  }
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Step time of each job\" "
      "font-size=\"12\" style=\"width: 100%; max-width: {}px\">",
      kWidth, static_cast<int>(jobs.size()) * kJob, kWidth);
  int top = 6;
  for (const Json& job : jobs) {
    const Json& step_s = job.at("step_s");
    svg += fmt::format("<text x=\"0\" y=\"{}\" fill=\"currentColor\">{}</text>", top + kBar,
                       escape_html(job.at("scenario").get<std::string>()));
    svg += bar_svg({"alone", "#5b8db8", step_s.at("alone")}, top, longest_s);
    svg += bar_svg({"together", "#d0743c", step_s.at("together")}, top + kBar, longest_s);
    svg += whisker_svg(step_s.at("low"), step_s.at("high"), top + kBar, longest_s);
    top += kJob;
  }
  return svg + "</svg>";
}

}  // namespace

Json company_page_document(const CompanyReport& report) {
  return {{"format", kCompanyFormat},
          {"summary", summary_json(summarise(report))},
          {"result", company_document(report, false)}};
}

bool is_company_document(const Json& document) {
  return format_of(document).starts_with("windtunnel-company-");
}

void check_company_document(const Json& document, const std::string& file) {
  if (format_of(document) != kCompanyFormat) {
    throw Error(Location{file}, fmt::format("not a record of this version (format is not '{}'); "
                                            "run the scenario again with --out",
                                            kCompanyFormat));
  }
  check_drawable(file, [&] { company_page(document); });
}

std::string company_page(const Json& document) {
  const Answer summary = summary_of(document);
  const std::string chart = fmt::format(
      "<section><h2>Step time alone and together</h2>{}<p class=\"note\">The black line spans the "
      "step times over all simulated starts.</p></section>\n",
      chart_svg(document.at("result").at("jobs")));
  return filled_page(summary.title, summary_html(summary) + chart, document);
}

}  // namespace windtunnel
