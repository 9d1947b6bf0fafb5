// windtunnel list: what can be named in a scenario.
#include <algorithm>
#include <memory>

#include "cli/program/command.hpp"
#include "cli/program/output.hpp"
#include "report/listing/listing.hpp"

namespace windtunnel {
namespace {

struct ListOptions {
  std::string what;
  bool json = false;
};

std::vector<std::string> listing_names() {
  std::vector<std::string> names;
  for (const Listing& listing : listings()) names.emplace_back(listing.name);
  return names;
}

ExitCode list(const ListOptions& options) {
  const auto listing =
      std::find_if(listings().begin(), listings().end(),
                   [&](const Listing& candidate) { return candidate.name == options.what; });
  if (listing == listings().end()) {
    throw Error(unknown_name("list", options.what, listing_names()));
  }
  if (options.json) {
    print_document("list", listing->document());
  } else {
    print_result(table_text(listing->table(), human_style(false).width));
  }
  return ExitCode::ok;
}

}  // namespace

Handler define_list(const CommandLine& app) {
  auto options = std::make_shared<ListOptions>();
  app.add_option("WHAT", options->what, "which list",
                 fmt::format("{{{}}}", fmt::join(listing_names(), ",")))
      .required();
  app.add_flag("--json", options->json, "every number with its interval, origin and source");
  add_example(app, "gpus");
  return [options] { return list(*options); };
}

}  // namespace windtunnel
