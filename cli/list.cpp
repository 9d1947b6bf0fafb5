// windtunnel list: lists the names that a scenario can use.
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

}  // namespace

ExitCode print_listing(const std::string& what, bool json) {
  const auto listing = std::ranges::find(listings(), what, &Listing::name);
  if (listing == listings().end()) throw Error(unknown_name("list", what, listing_names()));
  if (json) {
    print_document("list", listing->document());
  } else {
    print_result(table_text(listing->table(), human_style(false).width));
  }
  return ExitCode::ok;
}

Handler define_list(const CommandLine& app) {
  auto options = std::make_shared<ListOptions>();
  app.add_option("WHAT", options->what, "what to list",
                 fmt::format("{{{}}}", fmt::join(listing_names(), ",")))
      .required();
  app.add_flag(
      "--json", options->json,
      "print one JSON document, in which every number has its interval, origin and source");
  add_example(app, "gpus");
  return [options] { return print_listing(options->what, options->json); };
}

}  // namespace windtunnel
