#include "sim/study/notes/unfamiliar.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(Unfamiliar, SaysWhatWasNotMeasured) {
  EXPECT_TRUE(unfamiliar_notes({.rows = 3, .families = 1}).empty());
  const std::vector<Note> notes = unfamiliar_notes(
      {.unfamiliar = {"no runs on x1 were measured", "products of 4 bits were not measured"},
       .deviation = 0.1});
  ASSERT_EQ(notes.size(), 1);
  EXPECT_EQ(notes[0].key, "calibration");
  EXPECT_NE(notes[0].text.find("no runs on x1 were measured and products of 4 bits"),
            std::string::npos);
  EXPECT_EQ(notes[0].figures, "11 % more, one standard deviation");
}

}  // namespace
}  // namespace windtunnel
