#include <gtest/gtest.h>

#include "report/live/live_study.hpp"

namespace windtunnel {
namespace {

// This page may send requests to its own server, which pages in files must not.
TEST(LivePage, HasItsControlsAndAsksItsServerAlone) {
  const LiveStudy study(read_scenario(WINDTUNNEL_SOURCE_DIR "/scenarios/small.yaml"), 1);
  const std::string page = live_page(study);
  EXPECT_NE(page.find("connect-src 'self'"), std::string::npos);
  for (const Control& control : study.controls()) {
    EXPECT_NE(page.find(control.title), std::string::npos) << control.title;
  }
}

}  // namespace
}  // namespace windtunnel
