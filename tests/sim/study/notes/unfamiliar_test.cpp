#include <gtest/gtest.h>

#include "sim/study/notes/note_makers.hpp"

namespace windtunnel {
namespace {

TEST(Unfamiliar, SaysWhatWasNotMeasuredAndWhatComesNearest) {
  EXPECT_TRUE(unfamiliar_notes(Familiarity()).empty());
  const std::vector<Note> notes =
      unfamiliar_notes({.alike = "dense models in 8 bits",
                        .rows = 12,
                        .families = 4,
                        .deviation = 0.11,
                        .unfamiliar = {"no run on 4096 GPUs or more was measured on x",
                                       "no model with experts was"}});
  ASSERT_EQ(notes.size(), 1);
  EXPECT_EQ(notes[0].key, "calibration");
  EXPECT_NE(notes[0].text.find("measured on x, no model with experts"), std::string::npos);
  EXPECT_EQ(notes[0].figures,
            "the most similar are 12 runs of 4 families, dense models in 8 bits; all runs, "
            "weighted by similarity, were predicted within 11 % (one standard deviation)");
}

}  // namespace
}  // namespace windtunnel
