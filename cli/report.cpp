// windtunnel report: draws the page of an earlier run again.
#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "report/page.hpp"
#include "traces/text.hpp"

namespace windtunnel {

Handler define_report(CLI::App& app) {
  auto folder = std::make_shared<std::string>();
  app.add_option("DIR", *folder, "folder that `run --out` wrote")->required();
  return [folder] {
    const std::string file = *folder + "/record.json";
    const Json document = parse_page_document(read_file(file), file);
    write_file(*folder + "/report.html", html_page(document));
    print_result(summary_text(summary_of(document), human_style(false)) +
                 fmt::format("\nwrote {}/report.html\n", *folder));
    return ExitCode::ok;
  };
}

}  // namespace windtunnel
