#include <fmt/format.h>

#include "report/answer/command_answers.hpp"
#include "report/page/html.hpp"

namespace windtunnel {
namespace {

constexpr const char* kAnswerFormat = "windtunnel-answer-1";

// Puts neighbours that share the width of the page into one element.
class Body {
 public:
  void add(SummarySection section) {
    std::erase_if(section.rows,
                  [](const SummaryRow& row) { return row.where == ShownOn::console; });
    const bool empty = section.rows.empty() && section.table.columns.empty();
    if (section.chart) {
      draw(section);
    } else if (section.where != ShownOn::console && !empty) {
      keep_in(section.table.columns.empty() ? "sections" : "");
      html_ += section_html(section);
    }
  }
  std::string html() {
    keep_in("");
    return html_;
  }
  const Json& charts() const { return charts_; }

 private:
  void draw(const SummarySection& section) {
    keep_in(section.half ? "pair" : "");
    html_ += fmt::format("<div data-chart=\"{}\"></div>\n", charts_.size());
    charts_.push_back(section.chart());
  }
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

std::string answer_page(const Answer& answer) {
  std::string html = header_html(answer.title, answer.subtitle) + figures_html(answer.figures);
  for (const std::string& warning : answer.warnings) {
    html += fmt::format("<p class=\"warning\">{}</p>\n", escape_html(warning));
  }
  Body body;
  for (const SummarySection& section : answer.sections) body.add(section);
  html += body.html();
  return filled_page(
      answer.title, html,
      {{"format", kAnswerFormat}, {"charts", body.charts()}, {"plain", answer.plain}});
}

}  // namespace windtunnel
