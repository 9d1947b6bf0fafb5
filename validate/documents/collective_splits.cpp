#include "validate/documents/collective_splits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "validate/documents/validation_rows.hpp"

namespace windtunnel {
namespace {

constexpr size_t kMachineWidth = 34;
constexpr int kEnoughRows = 30;  // to judge an interval by

std::string ours_and_ring(const MedianErrors& errors) {
  if (errors.points == 0) return "-";
  return fmt::format("{} ({})", percent(errors.median), percent(errors.ring));
}

const std::vector<Shown<JudgedMachine>>& machine_columns() {
  static const std::vector<Shown<JudgedMachine>> columns = {
      {{.title = "machine", .most = kMachineWidth}, &JudgedMachine::name},
      {{"points", Align::right}, [](const auto& of) { return std::to_string(of.all.points); }},
      {{"all", Align::right}, [](const auto& of) { return ours_and_ring(of.all); }},
      {{"below 1 MB", Align::right}, [](const auto& of) { return ours_and_ring(of.below); }},
      {{"from 1 MB", Align::right}, [](const auto& of) { return ours_and_ring(of.from); }},
      {{"in 90%", Align::right}, [](const auto& of) { return percent(of.covered); }},
      {{"GPUs judged", Align::right}, [](const auto& of) { return std::to_string(of.gpus); }},
      {{"fitted to", Align::right}, [](const auto& of) -> std::string {
         if (of.fitted) return std::to_string(of.fitted_gpus);
         return of.in_view ? "in view" : "nothing";
       }}};
  return columns;
}

// Where the ring is the better rule, of machines of which nothing is known.
std::string worse_than_the_ring(const CollectivesSummary& summary,
                                MedianErrors JudgedMachine::*which) {
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

TextTable sums_table(const CollectivesSummary& summary) {
  TextTable sums = lines_table({"of", "below", "from", "points_below", "points_from"});
  const auto add = [&](const char* of, const MedianErrors& below, const MedianErrors& from) {
    if (below.points + from.points == 0) return;
    sums.rows.push_back({of, ours_and_ring(below), ours_and_ring(from),
                         std::to_string(below.points), std::to_string(from.points)});
  };
  add("more ranks than were fitted on", summary.beyond_below, summary.beyond_from);
  add("machines in view: nothing fitted here, but numbers of the library's laws",
      summary.in_view_below, summary.in_view_from);
  if (summary.unseen.points > 0) {
    add("machines of which nothing was fitted, here or in the library", summary.unseen_below,
        summary.unseen_from);
  }
  return sums;
}

}  // namespace

Document splits_document(const CollectivesSummary& summary) {
  int enough = 0;
  int held = 0;
  for (const JudgedMachine& machine : summary.machines) {
    if (machine.rows < kEnoughRows) continue;
    ++enough;
    held += machine.covered >= 0.85 && machine.covered <= 0.95 ? 1 : 0;
  }
  return {"splits",
          {{"machines", table_of(summary.machines, machine_columns())},
           {"sums", sums_table(summary)},
           {"unseen", summary.unseen.points > 0 ? ours_and_ring(summary.unseen) : ""},
           {"worse", worse_than_the_ring(summary, &JudgedMachine::all)},
           {"worse_below", worse_than_the_ring(summary, &JudgedMachine::below)},
           {"enough", std::to_string(enough)},
           {"enough_rows", std::to_string(kEnoughRows)},
           {"held", std::to_string(held)}}};
}

}  // namespace windtunnel
