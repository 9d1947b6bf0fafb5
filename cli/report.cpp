// windtunnel report: draws the page of an earlier run or compare again.
#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "report/comparison_page.hpp"
#include "report/page.hpp"
#include "traces/text.hpp"

namespace windtunnel {

Handler define_report(CLI::App& app) {
  auto folder = std::make_shared<std::string>();
  app.add_option("DIR", *folder, "folder that --out of run or compare wrote")->required();
  return [folder] {
    const std::string file = *folder + "/record.json";
    const Json document = parse_document(read_file(file), file);
    const bool comparison = is_comparison_document(document);
    if (comparison) {
      check_comparison_document(document, file);
    } else {
      check_page_document(document, file);
    }
    write_file(*folder + "/report.html",
               comparison ? comparison_page(document) : html_page(document));
    const std::string summary =
        comparison ? "" : summary_text(summary_of(document), human_style(false)) + "\n";
    print_result(fmt::format("{}wrote {}/report.html\n", summary, *folder));
    return ExitCode::ok;
  };
}

}  // namespace windtunnel
