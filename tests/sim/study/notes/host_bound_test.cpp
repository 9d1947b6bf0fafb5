#include <gtest/gtest.h>

#include <cmath>

#include "sim/study/notes/note_makers.hpp"

namespace windtunnel {
namespace {

IterationReport step(double host_s, double longer) {
  IterationReport report;
  report.time_s = 2;
  report.critical_path_s[static_cast<int>(Category::host)] = host_s;
  report.host_spread = {.shorter = std::log(1.25), .longer = longer};
  return report;
}

TEST(HostBound, SaysHowMuchOfTheStepWaits) {
  const std::vector<Note> notes = host_bound_notes({}, step(0.5, std::log(1.5)));
  ASSERT_EQ(notes.size(), 1);
  EXPECT_EQ(notes[0].key, "software.cuda_graphs");
  EXPECT_EQ(notes[0].text.find("would"), std::string::npos);
  EXPECT_EQ(
      notes[0].figures,
      "25 % of the step; 1.60 s to 3.00 s per step over the ranges of host.launch and host.kernel");
}

TEST(HostBound, SaysThatItMightWait) {
  const std::vector<Note> notes = host_bound_notes({}, step(0, std::log(1.5)));
  ASSERT_EQ(notes.size(), 1);
  EXPECT_NE(notes[0].text.find("would"), std::string::npos);
}

TEST(HostBound, IsSilentWhereTheHostDoesNotDecide) {
  EXPECT_TRUE(host_bound_notes({}, step(0.1, std::log(1.05))).empty());
  Job graphed;
  graphed.software.cuda_graphs = true;
  EXPECT_TRUE(host_bound_notes(graphed, step(1, std::log(1.5))).empty());
}

TEST(HostBound, WhatTheScenarioStatesOfTheLoopLaunchesNothing) {
  Job job;
  job.software.host_step_s = 0.5;
  EXPECT_TRUE(host_bound_notes(job, step(0.5, 0)).empty());
}

}  // namespace
}  // namespace windtunnel
