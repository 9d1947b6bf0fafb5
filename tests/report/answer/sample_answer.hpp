// The sample answer has every kind of part; each printer shows the parts for its own medium.
#pragma once

#include "report/answer/charts.hpp"
#include "report/text/answer.hpp"

namespace windtunnel {

inline Answer sample_answer() {
  SummarySection figures{"the figures <first>", {{"beside", "a row"}}};
  figures.with_figures = true;
  return {
      .title = "title <b>",
      .subtitle = "subtitle & more",
      .figures = {{"step time", "1 s", "0.9 s .. 1.2 s"}, {"of the page", "2", {}, ShownOn::page}},
      .sections = {std::move(figures),
                   chart_section([]() -> Json {
                     return {{"kind", "memory"}, {"title", "drawn"}};
                   }),
                   {"a table", {}, {{{"name"}, {"number", Align::right}}, {{"a <cell>", "7"}}}},
                   {"on the console", {{"only", "here"}}, {}, ShownOn::console},
                   {"on the page", {{"only", "there"}}, {}, ShownOn::page},
                   {"rows of both",
                    {{"of the console", "c", {}, ShownOn::console},
                     {"of the page", "p", {}, ShownOn::page}}}},
      .warnings = {"Beware <of it>."},
      .plain = {"seconds"}};
}

}  // namespace windtunnel
