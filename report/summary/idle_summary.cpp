#include <fmt/format.h>

#include "models/results/filling_report.hpp"
#include "models/results/input_report.hpp"
#include "report/figures/figures.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {
namespace {

std::string by_rank(const FillingReport& report) {
  std::string text;
  for (const FilledRank& rank : report.ranks) {
    const double share = rank.idle_s > 0 ? rank.filled_s / rank.idle_s : 0;
    text += fmt::format("{}{:.0f}", text.empty() ? "" : " ", 100 * share);
  }
  return text + " %";
}

std::string why_not_more(const FilledWork& work) {
  if (work.needed && work.exposed == 0) return "a step needs no more";
  return work.left_out;
}

SummarySection filling_section(const Record& record) {
  const FillingReport& report = *record.iteration.filling;
  const auto text = [&](const char* key) { return figure(key).text(record); };
  SummarySection section{"Work in idle time", {}};
  section.table = titled_table(
      "work | a unit takes > | a piece > | units a step > | units/s > | exposed > | "
      "limited by");
  for (const FilledWork& work : report.work) {
    section.table.rows.push_back(
        {work.name, value_text(Unit::seconds, work.unit_s), value_text(Unit::seconds, work.piece_s),
         value_text(Unit::count, work.done), value_text(Unit::count, work.done / report.step_s),
         work.exposed > 0 ? fmt::format("{} units, {}", value_text(Unit::count, work.exposed),
                                        value_text(Unit::seconds, work.exposed_s))
                          : "-",
         why_not_more(work)});
  }
  section.rows = {
      {"idle", fmt::format("{} without filling, {} with it; a step takes {} without, {} with it",
                           text("iteration.filling.plain_idle"), text("iteration.bubble.idle"),
                           value_text(Unit::seconds, report.plain_s),
                           value_text(Unit::seconds, report.step_s))},
      {"filled",
       fmt::format("{} of {} that a GPU idles in a step", text("iteration.filling.filled_s"),
                   text("iteration.filling.idle_s"))}};
  if (report.ranks.size() > 1) section.rows.push_back({"by pipeline rank", by_rank(report)});
  const double speedup = number_of(figure("iteration.filling.speedup").of(record));
  if (speedup > 0) {
    section.add(figure("iteration.filling.speedup").title,
                "{:.2f} relative to doing the needed work after training", speedup);
  }
  for (const char* key : {"iteration.filling.tflops_per_gpu", "iteration.filling.memory_bytes"}) {
    if (!text(key).empty()) section.rows.push_back({figure(key).title, text(key)});
  }
  return section;
}

SummarySection input_section(const Record& record) {
  const auto text = [&](const char* key) { return figure(key).text(record); };
  SummarySection section{"Input", {}};
  const std::string bound = text("iteration.input.bound");
  section.rows.push_back({figure("iteration.input.load_s").title,
                          bound.empty() ? "samples are there"
                                        : fmt::format("{} for the samples of a step, limited by {}",
                                                      text("iteration.input.load_s"), bound)});
  for (const char* key :
       {"iteration.input.stall_s", "iteration.input.read_Bps", "iteration.input.cores"}) {
    section.rows.push_back({figure(key).title, text(key)});
  }
  return section;
}

}  // namespace

std::vector<SummarySection> idle_sections(const Record& record) {
  std::vector<SummarySection> sections;
  if (record.iteration.filling) sections.push_back(filling_section(record));
  if (record.iteration.input) sections.push_back(input_section(record));
  return sections;
}

}  // namespace windtunnel
