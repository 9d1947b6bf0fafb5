#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/validate/validate_commands.hpp"
#include "cli/validate/validations.hpp"
#include "models/base/error.hpp"
#include "report/answer/validation_page.hpp"
#include "report/text/table.hpp"
#include "report/validation/validation_rows.hpp"
#include "traces/rows/row_kinds.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

struct MeasuredFiles {
  std::map<RowKind, std::vector<std::string>> of_kind;
  std::vector<SkippedRow> not_read;  // of folders: files of no kind that is known
};

std::string unknown_header() {
  return fmt::format(
      "its header is that of no measured rows that are known; known are, by their columns: {}",
      known_row_kinds());
}

// A folder holds what it holds; who names a file wants it judged.
MeasuredFiles sorted_by_kind(const std::vector<std::string>& paths) {
  MeasuredFiles files;
  for (const std::string& path : paths) {
    std::error_code unknown;  // whoever reads the file says what is wrong with it
    const bool folder = fs::is_directory(path, unknown);
    for (const std::string& table : folder ? tables_in(path) : std::vector{path}) {
      std::optional<RowKind> kind;
      try {
        kind = kind_of_rows(table);
        if (!kind) throw Error(Location{table}, unknown_header());
      } catch (const Error& error) {
        if (!folder) throw;
        files.not_read.push_back(skipped_row(table, error));
        continue;
      }
      files.of_kind[*kind].push_back(table);
    }
  }
  if (files.of_kind.empty()) {
    throw Error(Location{paths.front()}, fmt::format("holds no file whose rows are known; known "
                                                     "are, by their columns: {}",
                                                     known_row_kinds()));
  }
  return files;
}

Validation validated(RowKind kind, const ValidateOptions& options) {
  switch (kind) {
    case RowKind::runs:
      return against_runs(options);
    case RowKind::collectives:
      return against_collectives(options);
    case RowKind::compression:
      return against_compression(options);
    case RowKind::schedules:
      return against_schedules(options);
    case RowKind::faults:
      return against_faults(options);
    case RowKind::checkpoints:
      return against_checkpoints(options);
  }
  return {};
}

std::string rule_text(const ValidationFamily& family) {
  const auto rule = best_rule(family);
  return rule ? fmt::format("{} ({})", percent(rule->second), rule->first) : "-";
}

void add_families(RowKind kind, const Validation& validation, TextTable& table) {
  for (const ValidationFamily& family : validation.report.families) {
    if (family.rows == 0) continue;
    table.rows.push_back({std::string(name_of(kind)), shortened(family.name, 64), family.metric,
                          std::to_string(family.rows), percent(family.mape),
                          percent(family.median_ape), rule_text(family),
                          family.coverage90 ? percent(*family.coverage90) : "-"});
  }
}

Validation against_all(const ValidateOptions& options) {
  const MeasuredFiles files = sorted_by_kind(options.files);
  Validation all;
  TextTable table{{{"kind"},
                   {"family"},
                   {"metric"},
                   {"rows", Align::right},
                   {"MAPE", Align::right},
                   {"median", Align::right},
                   {"MAPE of the best simpler rule"},
                   {"in 90 %", Align::right}},
                  {}};
  all.document = Json::object();
  Json& kinds = all.document["kinds"] = Json::object();
  std::string read;
  std::vector<JudgedRows> judged;
  for (const auto& [kind, paths] : files.of_kind) {
    ValidateOptions own = options;
    own.files = paths;
    own.page.clear();  // one of all
    Validation validation = validated(kind, own);
    add_families(kind, validation, table);
    const std::string name(name_of(kind));
    kinds[name] = validation.document;
    kinds[name]["files"] = paths;
    all.verdict += validation.verdict;
    for (const std::string& path : paths) {
      read += fmt::format("  {}: {}\n", without_folder(path), name);
    }
    judged.push_back({name, std::move(validation.report)});
  }
  Json not_read = Json::array();
  for (const SkippedRow& file : files.not_read) {
    not_read.push_back({{"file", file.id}, {"reason", file.reason}});
  }
  all.document["not_read"] = std::move(not_read);
  all.text = table_text(table, options.width()) + "\nfiles\n" + read;
  for (const SkippedRow& file : files.not_read) {
    all.text += fmt::format("  {}: not read\n", without_folder(file.id));
  }
  if (!files.not_read.empty()) all.text += "known are " + known_row_kinds() + "\n";
  if (!options.page.empty())
    all.html = validation_page(judged, command_of(options, "all", FileNames::as_given));
  return all;
}

}  // namespace

ValidationCommand define_validate_all(CLI::App& app) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* all = app.add_subcommand(
      "all", "files of any kinds of rows at once, each recognised by its header: one table");
  all->add_option("FILE", options->files,
                  "measured rows (CSV); of a folder all *.csv that are known")
      ->required();
  add_verdict(*all, *options, "a family");
  add_page_option(*all, options->page);
  all->add_option("-j", options->threads, "threads (default: all cores)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  add_example(*all, "rows/ --fail-above 0.2");
  return {all, [options] { return conclude("all", against_all(*options), *options); }};
}

}  // namespace windtunnel
