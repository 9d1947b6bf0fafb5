#include "report/answer/answer_page.hpp"

#include <fmt/format.h>

#include "report/page/html.hpp"

namespace windtunnel {
namespace {

constexpr const char* kAnswerFormat = "windtunnel-answer-1";

// Neighbours that share the page's width stand in one element.
class Body {
 public:
  void add(const SummarySection& section) {
    keep_in(section.table.columns.empty() ? "sections" : "");
    html_ += section_html(section);
  }
  void add(const AnswerChart& chart) {
    keep_in(chart.half ? "pair" : "");
    html_ += fmt::format("<div data-chart=\"{}\"></div>\n", charts_.size());
    charts_.push_back(chart.drawing);
  }
  std::string html() {
    keep_in("");
    return html_;
  }
  const Json& charts() const { return charts_; }

 private:
  void keep_in(const std::string& kind) {
    if (kind == open_) return;
    if (!open_.empty()) html_ += "</div>\n";
    if (!kind.empty()) html_ += fmt::format("<div class=\"{}\">", kind);
    open_ = kind;
  }

  std::string html_, open_;
  Json charts_ = Json::array();
};

}  // namespace

std::string answer_page(const AnswerPage& page) {
  std::string html = header_html(page.title, page.subtitle) + figures_html(page.figures);
  for (const std::string& warning : page.warnings) {
    html += fmt::format("<p class=\"warning\">{}</p>\n", escape_html(warning));
  }
  Body body;
  for (const auto& part : page.parts) {
    std::visit([&](const auto& each) { body.add(each); }, part);
  }
  html += body.html();
  return filled_page(page.title, html,
                     {{"format", kAnswerFormat}, {"charts", body.charts()}, {"plain", page.plain}});
}

}  // namespace windtunnel
