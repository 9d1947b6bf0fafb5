#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "validate/commands/validate_commands.hpp"
#include "validate/commands/validations.hpp"
#include "validate/documents/form_document.hpp"
#include "validate/documents/validation_rows.hpp"
#include "validate/pages/validation_page.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

// Keys compare by address, which sorts them as judged_kinds(), because they are its elements.
template <class Value>
using ByKind = std::map<const JudgedKind*, Value>;

struct MeasuredFiles {
  ByKind<std::vector<std::string>> of_kind;
  std::vector<SkippedRow> not_read;  // in folders: files of no known kind
};

std::string unknown_header() {
  return fmt::format("these columns belong to no kind of rows; the kinds are: {}",
                     known_row_kinds());
}

// Unknown files in a folder are ignored; a file named by the user must be judged.
MeasuredFiles sorted_by_kind(const std::vector<std::string>& paths) {
  MeasuredFiles files;
  for (const std::string& path : paths) {
    std::error_code unknown;  // the file's reader will report the fault
    const bool folder = fs::is_directory(path, unknown);
    for (const std::string& table : folder ? tables_in(path) : std::vector{path}) {
      const JudgedKind* kind = nullptr;
      try {
        kind = kind_of_rows(table);
        if (kind == nullptr) throw Error(Location{table}, unknown_header());
      } catch (const Error& error) {
        if (!folder) throw;
        files.not_read.push_back(skipped_row(table, error));
        continue;
      }
      files.of_kind[kind].push_back(table);
    }
  }
  if (files.of_kind.empty()) {
    throw Error(
        Location{paths.front()},
        fmt::format("contains no file of measured rows; the kinds are: {}", known_row_kinds()));
  }
  return files;
}

Document all_document(const ByKind<Validation>& validations, const MeasuredFiles& files) {
  TextTable families;
  for (const auto& [kind, validation] : validations) {
    const auto judged = [](const auto& family) { return family.rows > 0; };
    const auto name = [kind = kind->name](const auto&) { return kind; };
    TextTable table = picked(families_table(validation.report, judged, {{{"kind"}, name}}),
                             "kind | family ~64 | metric | rows > | MAPE = mape > | median > | "
                             "MAPE of the best simpler rule = best rule | in 90 % = coverage >");
    families.columns = table.columns;
    std::ranges::move(table.rows, std::back_inserter(families.rows));
  }
  TextTable read = titled_table("file | kind");
  for (const auto& [kind, paths] : files.of_kind) {
    for (const std::string& path : paths) {
      read.rows.push_back({without_folder(path), kind->name});
    }
  }
  TextTable not_read = titled_table("file");
  for (const SkippedRow& file : files.not_read) not_read.rows.push_back({without_folder(file.id)});
  return {"all",
          {{"families", std::move(families)},
           {"read", std::move(read)},
           {"not_read", std::move(not_read)},
           {"known", known_row_kinds()}}};
}

Json all_json(const ByKind<Validation>& validations, const MeasuredFiles& files) {
  Json kinds = Json::object();
  for (const auto& [kind, validation] : validations) {
    Json& of_kind = kinds[kind->name] = validation.json;
    of_kind["files"] = files.of_kind.at(kind);
  }
  Json not_read = Json::array();
  for (const SkippedRow& file : files.not_read) {
    not_read.push_back({{"file", file.id}, {"reason", file.reason}});
  }
  return {{"kinds", std::move(kinds)}, {"not_read", std::move(not_read)}};
}

ExitCode judge_all(const MeasuredFiles& files, const ValidateOptions& options) {
  ByKind<Validation> validations;
  Validation all;
  std::vector<JudgedRows> judged;
  for (const auto& [kind, paths] : files.of_kind) {
    ValidateOptions own = options;
    own.files = paths;
    const Validation& validation = validations[kind] = kind->judge(own);
    all.verdict += validation.verdict;
    judged.push_back({kind->name, validation.report});
  }
  all.document = all_document(validations, files);
  all.json = all_json(validations, files);
  all.page = [&](const std::string& command) { return validation_page(judged, command); };
  return conclude("all", std::move(all), options, commands_of(options, "all"));
}

// Refuses an option that is only meaningful for files of one kind, or not for all.
void refuse(const CLI::App& app, const char* option, const std::string& why) {
  if (app.count(option) > 0) throw Error(Location{option}, why);
}

}  // namespace

ExitCode validate_files(const CLI::App& app, const ValidateOptions& options) {
  const MeasuredFiles files = sorted_by_kind(options.files);
  if (files.of_kind.size() > 1 || !files.not_read.empty()) {
    for (const char* option : {"--where", "--worst", "--markdown"}) {
      refuse(app, option, "these files contain rows of several kinds; give files of one kind");
    }
    return judge_all(files, options);
  }
  const JudgedKind& kind = *files.of_kind.begin()->first;
  const std::string& name = kind.name;
  const std::string none = fmt::format("'windtunnel validate {}' has no such option", name);
  if (kind.where.empty()) refuse(app, "--where", none);
  if (!kind.worst) refuse(app, "--worst", none);
  if (kind.markdown.empty()) refuse(app, "--markdown", none);
  if (kind.bound.empty() && app.count("--fail-above") > 0 && options.fail_above > 1) {
    throw Error(
        Location{"--fail-above"},
        fmt::format(
            "for {} this is the share of values outside of their range, at most 1, not {:g}", name,
            options.fail_above));
  }
  return conclude(name, kind.judge(options), options, commands_of(options, name));
}

ValidationCommand define_validate_all(CLI::App& app) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* all = app.add_subcommand(
      "all",
      "compare files of any kinds of rows at once, each recognised by its header, in one table");
  all->add_option("FILE", options->files,
                  "measured rows (CSV); from a folder all *.csv of known kinds")
      ->required();
  add_verdict(*all, *options, kBoundOfAnyKind);
  add_page_option(*all, options->page);
  add_threads(*all, *options);
  add_example(*all, "rows/ --fail-above 0.2");
  return {all, [options] { return judge_all(sorted_by_kind(options->files), *options); }};
}

}  // namespace windtunnel
