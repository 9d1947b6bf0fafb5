// windtunnel report: draws the page of an earlier run, compare or sweep again.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/program/command.hpp"
#include "cli/program/output.hpp"
#include "cli/program/shell_line.hpp"
#include "models/base/error.hpp"
#include "report/console/console.hpp"
#include "report/page/company_page.hpp"
#include "report/page/comparison_page.hpp"
#include "report/page/page.hpp"
#include "report/page/sweep_page.hpp"
#include "report/store/sweep_store.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {

namespace {

// Draws the page of a run or a compare.
ExitCode draw_record(const std::string& folder) {
  const std::string file = folder + "/" + kRecordFile;
  const Json document = parse_json(read_file(file), file);
  if (is_company_document(document)) {
    check_company_document(document, file);
    write_file(folder + "/report.html", company_page(document));
    print_result(fmt::format("{}\nwrote {}/report.html\n",
                             answer_text(summary_of(document), human_style(false)), folder));
    return ExitCode::ok;
  }
  const bool comparison = is_comparison_document(document);
  if (comparison) {
    check_comparison_document(document, file);
  } else {
    check_page_document(document, file);
  }
  write_file(folder + "/report.html", comparison ? comparison_page(document) : html_page(document));
  const std::string summary =
      comparison ? "" : answer_text(summary_of(document), human_style(false)) + "\n";
  print_result(fmt::format("{}wrote {}/report.html\n", summary, folder));
  return ExitCode::ok;
}

ExitCode draw_sweep(const std::string& folder) {
  const std::string file = folder + "/sweep.json";
  const Json document = parse_json(read_file(file), file);
  check_sweep_document(document, file);
  write_file(folder + "/report.html", sweep_page(document));
  print_result(fmt::format("wrote {}/report.html\n", folder));
  return ExitCode::ok;
}

}  // namespace

Handler define_report(const CommandLine& app) {
  auto folder = std::make_shared<std::string>();
  app.add_option("DIR", *folder, "folder that was written by --out of run, compare or sweep")
      .required();
  add_example(app, "out");
  return [folder] {
    std::error_code ignored;
    const bool sweep = std::filesystem::exists(*folder + "/sweep.json", ignored);
    if (sweep && std::filesystem::exists(*folder + "/" + kRecordFile, ignored)) {
      throw Error(Location{*folder},
                  "contains both a sweep (sweep.json) and a run (record.json), but a page shows "
                  "only one; move one of the two into another folder");
    }
    if (!sweep && std::filesystem::exists(cases_path(*folder), ignored)) {
      throw Error(fmt::format(
          "{}: the points of this sweep are not merged yet; run windtunnel sweep merge {}", *folder,
          shell_word(*folder)));
    }
    return sweep ? draw_sweep(*folder) : draw_record(*folder);
  };
}

}  // namespace windtunnel
