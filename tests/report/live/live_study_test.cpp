#include "report/live/live_study.hpp"

#include <gtest/gtest.h>

#include "report/json/json.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

constexpr const char* kSmall = WINDTUNNEL_SOURCE_DIR "/scenarios/small.yaml";

// The answers are those of `run` even if iterations are cached from other settings.
TEST(LiveStudy, AnswersWithTheNumbersOfRun) {
  LiveStudy study(read_scenario(kSmall), 2);
  for (const Overrides& set : std::vector<Overrides>{{},
                                                     {{"layout.tp", "4"}},
                                                     {{"recovery.spares", "0"}},
                                                     {{"layout.tp", "4"}, {"recovery.spares", "0"}},
                                                     {{"snapshots.0.every", "2 h"}}}) {
    const Json answer = study.answer(set);
    Json expected = run_document(simulate(load_case(kSmall, set)), false);
    EXPECT_EQ(answer["record"]["result"], expected);
    EXPECT_NE(answer["summary"].get<std::string>().find("step time"), std::string::npos);
  }
}

TEST(LiveStudy, RefusesAsRunDoes) {
  LiveStudy study(read_scenario(kSmall), 1);
  const Overrides impossible = {{"layout.pp", "16"}};
  EXPECT_EQ(error_of([&] { study.answer(impossible); }),
            error_of([&] { load_case(kSmall, impossible); }));
  EXPECT_TRUE(fails(
      [&] {
        study.answer({{"batch.micro", "16"}});
      },
      "more than the usable", ExitCode::failed));
}

// A value is disabled with a reason exactly if the answer for it would be an error.
TEST(LiveStudy, SaysWhereTheLimitsAre) {
  LiveStudy study(read_scenario(kSmall), 1);
  const Json limits = study.limits({});
  for (const Control& control : study.controls()) {
    if (!control.limited) {
      EXPECT_FALSE(limits.contains(control.key));
      continue;
    }
    ASSERT_EQ(limits.at(control.key).size(), control.values.size());
    EXPECT_TRUE(limits.at(control.key)[control.at].is_null()) << control.key;
  }
  int refused = 0;
  for (const Control& control : study.controls()) {
    if (control.key != "layout.pp" && control.key != "batch.micro") continue;
    for (std::size_t i = 0; i < control.values.size(); ++i) {
      const Json& reason = limits.at(control.key)[i];
      try {
        study.answer({{control.key, control.values[i]}});
        EXPECT_TRUE(reason.is_null()) << control.key << " " << control.values[i] << reason;
      } catch (const Error& error) {
        EXPECT_EQ(reason, Json(std::string(error.text())));
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 1);
}

TEST(LiveStudy, ASavedScenarioSaysTheSame) {
  const ScenarioText scenario = read_scenario(kSmall, {{"name", "moved"}});
  LiveStudy study(scenario, 1);
  const Overrides set = {{"layout.tp", "4"},
                         {"snapshots.0.every", "2 h"},
                         {"schedule.name", "zb-h1"},
                         {"communication.compressor.name", "none"}};
  const Case saved = parse_case(study.scenario_text(set), kSmall);
  EXPECT_EQ(saved.key, resolve_case(scenario, set).key);
  EXPECT_EQ(saved.scenario, "moved");
}

TEST(LiveStudy, IsOfOneJob) {
  const std::string file = WINDTUNNEL_SOURCE_DIR "/scenarios/company/company.yaml";
  EXPECT_NE(error_of([&] { LiveStudy(read_scenario(file), 1); }).find("several jobs"),
            std::string::npos);
}

}  // namespace
}  // namespace windtunnel
