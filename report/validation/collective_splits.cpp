#include "report/validation/collective_splits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "report/text/markdown.hpp"
#include "report/text/table.hpp"
#include "report/validation/validation_rows.hpp"

namespace windtunnel {
namespace {

constexpr size_t kMachineWidth = 34;
constexpr int kEnoughRows = 30;  // to judge an interval by

std::string ours_and_ring(const MedianErrors& errors) {
  if (errors.points == 0) return "-";
  return fmt::format("{} ({})", percent(errors.median), percent(errors.ring));
}

const std::vector<std::string>& split_titles() {
  static const std::vector<std::string> titles = {
      "machine", "points", "all", "below 1 MB", "from 1 MB", "in 90%", "GPUs judged", "fitted to"};
  return titles;
}

std::vector<std::string> machine_cells(const JudgedMachine& machine) {
  return {machine.name,
          std::to_string(machine.all.points),
          ours_and_ring(machine.all),
          ours_and_ring(machine.below),
          ours_and_ring(machine.from),
          percent(machine.covered),
          std::to_string(machine.gpus),
          machine.fitted    ? std::to_string(machine.fitted_gpus)
          : machine.in_view ? "in view"
                            : "nothing"};
}

std::string names_of(const CollectivesSummary& summary, MedianErrors JudgedMachine::*which) {
  std::vector<std::string> names;
  int judged = 0;
  for (const JudgedMachine& machine : summary.machines) {
    if (machine.fitted || machine.in_view || (machine.*which).points == 0) continue;
    ++judged;
    if ((machine.*which).worse()) names.push_back(machine.name);
  }
  return fmt::format("{} of {}{}{}", names.size(), judged, names.empty() ? "" : ": ",
                     fmt::join(names, ", "));
}

std::string line_of(const char* what, const MedianErrors& below, const MedianErrors& from) {
  if (below.points + from.points == 0) return "";
  return fmt::format("{}: {} below 1 MB, {} from 1 MB ({} and {} points)\n", what,
                     ours_and_ring(below), ours_and_ring(from), below.points, from.points);
}

std::string sums(const CollectivesSummary& summary) {
  std::string text =
      line_of("more ranks than were fitted on", summary.beyond_below, summary.beyond_from);
  text += line_of("machines in view: nothing fitted here, but numbers of the library's laws",
                  summary.in_view_below, summary.in_view_from);
  if (summary.unseen.points > 0) {
    text += line_of("machines of which nothing was fitted, here or in the library",
                    summary.unseen_below, summary.unseen_from);
    text += fmt::format("  all sizes {}; worse than the ring: {}\n", ours_and_ring(summary.unseen),
                        names_of(summary, &JudgedMachine::all));
    text += fmt::format("  below 1 MB worse than the ring: {}\n",
                        names_of(summary, &JudgedMachine::below));
  }
  int enough = 0;
  int held = 0;
  for (const JudgedMachine& machine : summary.machines) {
    if (machine.rows < kEnoughRows) continue;
    ++enough;
    held += machine.covered >= 0.85 && machine.covered <= 0.95 ? 1 : 0;
  }
  return text + fmt::format(
                    "90 % intervals hold 85 to 95 % of the points on {} of {} machines with "
                    "{} rows or more\n",
                    held, enough, kEnoughRows);
}

}  // namespace

std::string splits_text(const CollectivesSummary& summary, std::size_t width) {
  if (summary.machines.empty()) return "";
  TextTable table;
  for (const std::string& title : split_titles()) {
    table.columns.push_back({title, table.columns.empty() ? Align::left : Align::right});
  }
  for (const JudgedMachine& machine : summary.machines) {
    table.rows.push_back(machine_cells(machine));
    table.rows.back().front() = shortened(machine.name, kMachineWidth);
  }
  return table_text(table, width) + "medians; in brackets those of a ring from specification.\n" +
         sums(summary);
}

std::string page_splits(const CollectivesSummary& summary) {
  if (summary.machines.empty()) return "";
  std::string text =
      "\n## By machine\n\nMedian error, in brackets that of a ring from specification on the same "
      "points. In view: nothing of the\nmachine was fitted here, but its timings told numbers of "
      "the library's laws (`interconnect_laws.yaml`).\n\n" +
      markdown_header(split_titles(), 1);
  for (const JudgedMachine& machine : summary.machines)
    text += markdown_row(machine_cells(machine));
  return text + "\n```\n" + sums(summary) + "```\n";
}

}  // namespace windtunnel
