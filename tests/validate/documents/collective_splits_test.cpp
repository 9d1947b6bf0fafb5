#include "validate/documents/collective_splits.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

CollectivesSummary summary() {
  CollectivesSummary summary;
  JudgedMachine fitted;
  fitted.name = "Alps";
  fitted.fitted = true;
  fitted.rows = 60;
  fitted.all = fitted.below = {30, 0.1, 0.4};
  fitted.covered = 0.9;
  fitted.gpus = 512;
  fitted.fitted_gpus = 64;
  JudgedMachine unfitted;
  unfitted.name = "Spark";
  unfitted.rows = 8;
  unfitted.all = unfitted.from = {4, 0.5, 0.3};
  unfitted.covered = 1;
  unfitted.gpus = 2;
  JudgedMachine in_view = unfitted;
  in_view.name = "Sophia";
  in_view.in_view = true;
  summary.machines = {fitted, unfitted, in_view};
  summary.beyond_below = fitted.below;
  summary.unseen = summary.unseen_from = summary.in_view_from = unfitted.from;
  return summary;
}

TEST(CollectiveSplits, MachinesAndSums) {
  const std::string text = console_text(splits_document(summary()));
  for (const char* part :
       {"Alps         30  10% (40%)   10% (40%)          -     90%          512         64",
        "Spark         4  50% (30%)           -  50% (30%)    100%            2    nothing",
        "more ranks than were fitted on: 10% (40%) below 1 MB, - from 1 MB (30 and 0 points)",
        "Sophia        4  50% (30%)           -  50% (30%)    100%            2    in view",
        "machines of which nothing was fitted, here or in the library: - below 1 MB, 50% (30%) "
        "from 1 MB",
        "machines in view: nothing fitted here, but numbers of the library's laws: - below 1 MB, "
        "50% (30%) from 1 MB",
        "worse than the ring: 1 of 1: Spark", "below 1 MB worse than the ring: 0 of 0",
        "hold 85 to 95 % of the points on 1 of 1 machines with 30 rows or more"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  const std::string page = markdown_page(splits_document(summary()));
  EXPECT_NE(page.find("| Alps | 30 | 10% (40%) | 10% (40%) | - | 90% | 512 | 64 |"),
            std::string::npos)
      << page;
}

TEST(CollectiveSplits, NothingJudgedNothingSaid) {
  Document nothing = splits_document({});
  EXPECT_TRUE(std::get<TextTable>(nothing["machines"]).rows.empty());
  EXPECT_TRUE(std::get<TextTable>(nothing["sums"]).rows.empty());
}

}  // namespace
}  // namespace windtunnel
