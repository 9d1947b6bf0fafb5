#include <gmock/gmock.h>

#include "sim/study/notes/note_makers.hpp"

namespace windtunnel {
namespace {

// 10 nodes run for 36.5 days and fail once in two node-years each, so that every second trial has a
// failure.
CampaignInputs inputs_of(int trials, FailureKind kind = FailureKind::node) {
  CampaignInputs inputs;
  inputs.nodes = 10;
  inputs.failures = {{.name = "node", .kind = kind, .rate_per_node_s = 1 / (730 * 86400.0)}};
  inputs.campaign = {.length_s = 36.5 * 86400, .trials = trials};
  return inputs;
}

TEST(FewFailures, AreSaidWithTheTrialsThatMeetEnough) {
  const std::vector<Note> notes = few_failures_notes(inputs_of(50));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].key, "campaign.replicas");
  EXPECT_EQ(notes[0].figures,
            "about 25 are expected in 50 trials; set campaign.replicas=200 to expect a hundred");
}

TEST(FewFailures, NothingIsSaidOfEnoughOrOfNone) {
  EXPECT_THAT(few_failures_notes(inputs_of(60)), testing::IsEmpty());
  EXPECT_THAT(few_failures_notes(inputs_of(10, FailureKind::planned)), testing::IsEmpty());
  CampaignInputs none = inputs_of(10);
  none.failures.clear();
  EXPECT_THAT(few_failures_notes(none), testing::IsEmpty());
}

}  // namespace
}  // namespace windtunnel
