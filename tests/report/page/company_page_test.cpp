#include "report/page/company_page.hpp"

#include "tests/report/browser.hpp"

namespace windtunnel {
namespace {

Json job(const char* name, double alone_s) {
  return {{"scenario", name},
          {"step_s",
           {{"alone", alone_s},
            {"together", 1.2 * alone_s},
            {"low", 1.1 * alone_s},
            {"high", 1.3 * alone_s}}}};
}

class CompanyPage : public Browser {};

TEST_F(CompanyPage, FitsEveryScreen) {
  const Json figure = {{"label", "wide"}, {"value", "1.20 s"}, {"detail", "alone 1.00 s"}};
  const Json document = {{"format", "windtunnel-company-1"},
                         {"summary",
                          {{"title", "company"},
                           {"subtitle", "2 jobs on 16 nodes, spread"},
                           {"figures", Json::array({figure})},
                           {"sections", Json::array()}}},
                         {"result", {{"jobs", {job("wide", 1), job("neighbour", 0.25)}}}}};
  check_company_document(document, "record.json");
  expect_fits(company_page(document));
}

}  // namespace
}  // namespace windtunnel
