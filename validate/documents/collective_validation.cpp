#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "models/base/units.hpp"
#include "validate/accuracy/collectives/collective_machine.hpp"
#include "validate/documents/form_document.hpp"
#include "validate/documents/kind_documents.hpp"
#include "validate/documents/validation_rows.hpp"

namespace windtunnel {
namespace {

constexpr size_t kListed = 200;  // misses; a larger number is summarised
constexpr size_t kWorstOfFamily = 5;
constexpr size_t kNameWidth = 34;

// Returns the machine's name, shortened, with a star if it was predicted from specification.
std::string console_name(const std::string& name) {
  constexpr std::string_view kSpecification = ", from specification";
  const size_t size_class = std::min(name.rfind(", below 1 MB"), name.rfind(", from 1 MB"));
  if (size_class == std::string::npos) return shortened(name, kNameWidth);
  const bool specification = name.ends_with(kSpecification);
  const size_t end = name.size() - (specification ? kSpecification.size() : 0);
  return shortened(name.substr(0, size_class), kNameWidth) +
         name.substr(size_class, end - size_class) + (specification ? " *" : "");
}

// Leaves out families that were entirely fitted on.
TextTable judged_families(const ValidationReport& report) {
  TextTable table = families_table(report, [](const auto& family) { return family.rows > 0; });
  for (std::vector<std::string>& cells : table.rows) cells.front() = console_name(cells.front());
  return table;
}

std::string point_time(const ValidationRow&, double seconds) {
  return format_seconds(seconds);
}

TextTable points_table(const Rows& rows) {
  return rows_table(rows, point_time, {{{"machine"}, [](const ValidationRow& row) {
                                          return row.family.substr(0, row.family.find(','));
                                        }}});
}

// Lists families whose points all deviate to one side, because the network differs, with the ratio.
TextTable paces_table(const ValidationReport& report) {
  TextTable paces = titled_table("family | pace");
  for (const ValidationFamily& family : report.families) {
    std::vector<double> ratios;
    for (const ValidationRow& row : report.rows) {
      if (row.family == family.name && row.metric == family.metric && row.measured > 0) {
        ratios.push_back(row.predicted / row.measured);
      }
    }
    if (const auto text = pace_text(pace_of(ratios), "what is predicted")) {
      paces.rows.push_back({family.name, *text});
    }
  }
  return paces;
}

// Counts the misses of each family and lists the worst. Pages do not escape parts, so the name,
// which comes from a file, is escaped here.
std::vector<Document> misses_by_family(const Rows& misses) {
  std::vector<std::string> families;
  std::map<std::string, Rows> of_family;
  for (const ValidationRow* row : misses) {
    if (of_family[row->family].empty()) families.push_back(row->family);
    of_family[row->family].push_back(row);
  }
  std::vector<Document> documents;
  for (const std::string& family : families) {
    auto& rows = of_family[family];
    const size_t missed = rows.size();
    rows.resize(std::min(kWorstOfFamily, missed));
    documents.push_back({{},
                         {{"family", markdown_text(family)},
                          {"missed", std::to_string(missed)},
                          {"misses", points_table(rows)}}});
  }
  return documents;
}

const std::vector<Shown<FittedNetwork>>& network_columns() {
  static const auto law = [](const FittedNetwork& of) { return of.calibration.network; };
  static const std::vector<Shown<FittedNetwork>> columns = {
      {{"machine", Align::left, "fitted", kNameWidth}, &FittedNetwork::machine},
      {{.title = "environment", .most = 32}, &FittedNetwork::environment},
      {{"points", Align::right}, [](const auto& of) { return std::to_string(of.rows); }},
      {{"noise from 1 MB", Align::right, "noise"},
       [](const auto& of) { return fmt::format("{:.3f}", law(of).noise_log.value); }},
      {{"noise below", Align::right, "below 1 MB"},
       [](const auto& of) { return fmt::format("{:.3f}", law(of).small_noise_log.value); }},
      {{"slow nodes", Align::right},
       [](const auto& of) { return percent(law(of).slow_share.value); }},
      {{"slowdown", Align::right},
       [](const auto& of) { return fmt::format("{:.2f}", std::exp(law(of).slow_log.value)); }}};
  return columns;
}

constexpr int kEnoughRows = 30;  // needed to judge an interval

std::string ours_and_ring(const MedianErrors& errors) {
  if (errors.points == 0) return "-";
  return fmt::format("{} ({})", percent(errors.median), percent(errors.ring));
}

const std::vector<Shown<JudgedMachine>>& machine_columns() {
  static const std::vector<Shown<JudgedMachine>> columns = {
      {{.title = "machine", .most = kNameWidth}, &JudgedMachine::name},
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

// Names the machines that no fit and no law of the library has used, and for which the ring is the
// better rule.
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
  TextTable sums = titled_table("of | below | from | points_below | points_from");
  const auto add = [&](const char* of, const MedianErrors& below, const MedianErrors& from) {
    if (below.points + from.points == 0) return;
    sums.rows.push_back({of, ours_and_ring(below), ours_and_ring(from),
                         std::to_string(below.points), std::to_string(from.points)});
  };
  add("more ranks than in the fit", summary.beyond_below, summary.beyond_from);
  add("known machines: fitted in the library, but not here", summary.in_view_below,
      summary.in_view_from);
  if (summary.unseen.points > 0) {
    add("machines on which nothing was fitted, neither here nor in the library",
        summary.unseen_below, summary.unseen_from);
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

Document collectives_document(const CollectivesReport& report, int worst, double miss_above) {
  Document document = judged_document("collectives", report.report);
  document.parts.merge(splits_document(report.summary).parts);
  document["measured_rows"] = std::to_string(report.measured_rows);
  document["judged_families"] = judged_families(report.report);
  document["paces"] = paces_table(report.report);
  document["worst"] = points_table(worst_first(report.report, -1, static_cast<size_t>(worst)));
  document["networks"] = table_of(report.networks, network_columns());
  document["rows_are"] = "points";
  const Rows misses = worst_first(report.report, miss_above);
  const bool listed = misses.size() <= kListed;
  add_misses(document, points_table(misses), miss_above);
  document["misses_by_family"] = listed ? std::vector<Document>() : misses_by_family(misses);
  document["largest"] = std::to_string(kWorstOfFamily);
  auto& not_used = std::get<TextTable>(document["not_used"]).rows;
  document["left_out"] = std::to_string(not_used.size() - std::min(not_used.size(), kListed));
  not_used.resize(std::min(not_used.size(), kListed));
  if (!listed) std::get<TextTable>(document["misses"]).rows.clear();
  return document;
}

}  // namespace windtunnel
