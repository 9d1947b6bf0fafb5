// The page of a command that answers in tables: the figures that matter, what to beware of, then
// charts and sections in the order of their weight. One self-contained file; without scripts its
// tables say all.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "report/json/json.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {

struct AnswerChart {
  Json drawing;       // of report/answer/charts.hpp
  bool half = false;  // beside the next or the previous one, where the screen is wide enough
};

using AnswerPart = std::variant<SummarySection, AnswerChart>;

struct AnswerPage {
  std::string title, subtitle;
  std::vector<SummaryRow> figures;
  std::vector<std::string> warnings;  // sentences
  std::vector<AnswerPart> parts;
  std::vector<std::string> plain = {};  // units that charts write as plain numbers
};

std::string answer_page(const AnswerPage& page);

}  // namespace windtunnel
