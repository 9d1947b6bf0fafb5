#include "report/live/controls.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/store/sweep_figures.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

Case small(const Overrides& set = {}) {
  return load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/small.yaml", set);
}

const Control& control(const std::vector<Control>& controls, const std::string& key) {
  const auto found = std::ranges::find(controls, key, &Control::key);
  EXPECT_NE(found, controls.end()) << key;
  return *found;
}

// The scenario's own value must be in order: between the round values, equal to one, or beyond all.
TEST(Controls, HaveTheScenariosOwnValueInItsPlace) {
  for (const auto& [every, at] : std::vector<std::pair<std::string, int>>{
           {"30 min", 8}, {"31 min", 9}, {"1 s", 0}, {"3 d", 22}}) {
    const std::vector<Control> controls = controls_of(small({{"snapshots.0.every", every}}));
    const Control& interval = control(controls, "snapshots.0.every");
    EXPECT_EQ(interval.at, at) << every;
    const auto numbers = numbers_of({interval.key, interval.values}).value();
    EXPECT_TRUE(std::ranges::is_sorted(numbers.values)) << every;
    EXPECT_EQ(std::ranges::adjacent_find(numbers.values), numbers.values.end()) << every;
  }
}

TEST(Controls, AreThoseThatTheCaseHasAUseFor) {
  const std::vector<Control> controls = controls_of(small());
  const auto has = [](const std::vector<Control>& all, std::string_view key) {
    return std::ranges::count(all, key, &Control::key) > 0;
  };
  EXPECT_FALSE(has(controls, "layout.ep"));
  EXPECT_FALSE(has(controls, "cluster.fabric.pod_oversubscription"));
  EXPECT_TRUE(has(controls, "recovery.spares"));
  const Case step = load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/gpt3-175b-schedules.yaml");
  EXPECT_FALSE(has(controls_of(step), "recovery.spares"));
  EXPECT_TRUE(has(controls_of(load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/llama3-405b.yaml")),
                  "cluster.fabric.pod_oversubscription"));
}

// The values include divisors of GPUs, layers and the batch, not only powers of two.
TEST(Controls, HaveThePartsOfTheMachineAndTheBatch) {
  const std::vector<Control> controls =
      controls_of(small({{"cluster.nodes", "6"}, {"batch.global", "48"}}));
  const auto has = [&](const std::string& key, const std::string& value) {
    return std::ranges::count(control(controls, key).values, value) == 1;
  };
  EXPECT_TRUE(has("layout.pp", "3") && has("layout.pp", "12"));
  EXPECT_TRUE(has("layout.pp", "4")) << "and powers of two";
  EXPECT_FALSE(has("layout.pp", "5"));
  EXPECT_TRUE(has("batch.micro", "3") && has("batch.micro", "6"));
  EXPECT_FALSE(has("batch.micro", "5"));
  EXPECT_TRUE(has("cluster.nodes", "12"));
  EXPECT_TRUE(has("cluster.fabric.base", "llama3-24k")) << "networks of the library";
  EXPECT_EQ(control(controls, "cluster.fabric.base").at,
            std::ranges::find(control(controls, "cluster.fabric.base").values, "full-bisection") -
                control(controls, "cluster.fabric.base").values.begin());
}

TEST(Controls, EveryValueIsOneThatTheKeyTakes) {
  const std::vector<Control> controls = controls_of(small());
  for (const Control& each : controls) {
    for (const std::string& value : each.values) {
      try {
        small({{each.key, value}});
      } catch (const Error& error) {  // the job may be impossible, with a reason
        EXPECT_EQ(std::string(error.what()).find("unknown"), std::string::npos) << error.what();
      }
    }
  }
}

TEST(Controls, SettingsAreTheirKeysAndValues) {
  const std::vector<Control> controls = controls_of(small());
  EXPECT_EQ(checked_settings(controls, {{"layout.tp", "4"}}), (Overrides{{"layout.tp", "4"}}));
  for (const Json& wrong :
       std::vector<Json>{Json::array(), Json{{"model", "/etc/passwd"}}, Json{{"layout.tp", "3"}},
                         Json{{"layout.tp", 4}}, Json{{"layout.tp", nullptr}}}) {
    EXPECT_NE(error_of([&] { checked_settings(controls, wrong); }), "") << wrong;
  }
}

}  // namespace
}  // namespace windtunnel
