#include "report/live/live_page.hpp"

#include "report/page/html.hpp"

namespace windtunnel {

std::string live_page(const LiveStudy& study) {
  const std::string& name = study.scenario().scenario;
  const Json data = {{"format", "windtunnel-live-1"},
                     {"name", name},
                     {"campaign", study.scenario().job.campaign.length_s > 0},
                     {"controls", controls_json(study.controls())}};
  return filled_page(name, "<div id=\"live\"></div>\n", data, PageReach::its_server);
}

}  // namespace windtunnel
