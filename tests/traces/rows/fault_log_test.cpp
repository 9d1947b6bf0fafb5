#include "traces/rows/fault_log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "models/base/random.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

std::string log_error(std::string_view text) {
  return error_of([&] { parse_fault_logs(text, "f.csv"); });
}

TEST(FaultLog, ReadsThePlainForm) {
  const std::vector<FaultLog> logs = parse_fault_logs(
      "# name: two racks\n# nodes: 16\n# days: 2.5\n# whatever else\n\n"
      "cause,start_h,node,repair_min\n"
      "\"fan, left\",2,15,90\n"
      "gpu,0.5,,\n",
      "f.csv");
  ASSERT_EQ(logs.size(), 1U);
  EXPECT_EQ(logs[0].name, "two racks");
  EXPECT_EQ(logs[0].nodes, 16);
  EXPECT_EQ(logs[0].span_s, 2.5 * 86400);
  ASSERT_EQ(logs[0].faults.size(), 2U);
  EXPECT_EQ(logs[0].faults[0], (NodeFault{1800, 0, -1, "gpu"}));  // sorted by start
  EXPECT_EQ(logs[0].faults[1], (NodeFault{7200, 5400, 15, "fan, left"}));
}

TEST(FaultLog, ReadsEveryUnitAndStartsAlone) {
  for (const auto& [unit, seconds] :
       {std::pair{"s", 1}, {"min", 60}, {"h", 3600}, {"day", 86400}}) {
    const std::string text = std::string("start_") + unit + "\n3\n";
    const FaultLog log = parse_fault_logs(text, "dir/mine.csv").at(0);
    EXPECT_EQ(log.faults.at(0), (NodeFault{3.0 * seconds, 0, -1, ""}));
    EXPECT_EQ(log.name, "mine");
    EXPECT_EQ(log.nodes, 0);
    EXPECT_EQ(log.span_s, 0);
  }
}

// A file of recorded times may have this header.
TEST(FaultLog, ReadsHours) {
  const FaultLog log = parse_fault_logs("# origin: measured\nhours\n0.5\n2\n", "f.csv").at(0);
  ASSERT_EQ(log.faults.size(), 2U);
  EXPECT_EQ(log.faults[1], (NodeFault{7200, 0, -1, ""}));
}

TEST(FaultLog, ReadsIntervals) {
  const FaultLog log = parse_fault_logs(
                           "node,start_day,end_day,level,class,desc\n"
                           "7,1.5,2.5,Hardware Failure,GPU,\"GPU DBE, twice\"\n"
                           "3,1.25,1.25,Hardware Failure,NIC,down\n",
                           "f.csv")
                           .at(0);
  ASSERT_EQ(log.faults.size(), 2U);
  EXPECT_EQ(log.faults[0], (NodeFault{1.25 * 86400, 0, 3, "NIC"}));
  EXPECT_EQ(log.faults[1], (NodeFault{1.5 * 86400, 86400, 7, "GPU"}));
}

TEST(FaultLog, ReadsLanlAsOneLogPerSystem) {
  const std::vector<FaultLog> logs = parse_fault_logs(
      "system,start_min_since_2001,node,downtime_min,category,detail\n"
      "20,1000,3,60,Hardware,Memory\n"
      "18,500,1023,5,Software,\"Disk IO, storage\"\n"
      "20,940,4,1,Network,x\n"
      "77,9,4,1,Network,x\n",
      "f.csv");
  ASSERT_EQ(logs.size(), 3U);
  EXPECT_EQ(logs[0].name, "LANL system 18");
  EXPECT_EQ(logs[0].nodes, 1024);
  EXPECT_EQ(logs[0].faults.at(0), (NodeFault{0, 300, 1023, "Software"}));
  EXPECT_EQ(logs[1].nodes, 512);
  EXPECT_EQ(logs[1].faults.at(0), (NodeFault{0, 60, 4, "Network"}));
  EXPECT_EQ(logs[1].faults.at(1), (NodeFault{3600, 3600, 3, "Hardware"}));
  EXPECT_EQ(logs[2].nodes, 0);
}

TEST(FaultLog, WhatIsWrittenReadsBack) {
  RandomStream random(1, RandomPurpose::test, 0);
  FaultLog log{"a log", 512, 3e7, {}};
  double at_s = 0;
  for (int i = 0; i < 300; ++i) {
    at_s += i % 5 == 0 ? 0 : random.exponential(1e5);
    const std::string causes[] = {"", "gpu", "say \"no\", twice", "two\nlines"};
    log.faults.push_back({at_s, i % 7 == 0 ? 0 : random.exponential(1e4),
                          static_cast<int>(random.below(513)) - 1, causes[i % 4]});
  }
  const FaultLog back = parse_fault_logs(fault_log_csv(log), "f.csv").at(0);
  EXPECT_EQ(back.name, log.name);
  EXPECT_EQ(back.nodes, log.nodes);
  EXPECT_NEAR(back.span_s, log.span_s, 1e-8);
  EXPECT_EQ(back.faults, log.faults);
  const FaultLog bare{"bare", 0, 0, {{1, 2, -1, ""}}};
  EXPECT_EQ(parse_fault_logs(fault_log_csv(bare), "f.csv").at(0).faults, bare.faults);
}

TEST(FaultLog, FaultsOfTheFileNameTheirPlace) {
  const std::string columns =
      "no log of faults has these columns; known: start_h (or _s, _min, _day, or hours) with any "
      "of repair_h, node, cause; node,start_day,end_day; "
      "system,start_min_since_2001,node,downtime_min; output of sacct -P or sacctmgr -P show "
      "event; a kernel log with Xids (NVRM: Xid); or Prometheus samples of DCGM_FI_DEV_XID_ERRORS";
  const std::pair<std::string, std::string> cases[] = {
      {"", "f.csv:1:1: the file is empty"},
      {"# nodes: 4\n", "f.csv:1:1: the file is empty"},
      {"start_h\n", "f.csv: has no faults"},
      {"93.492\n93.5\n", "f.csv:1:1: " + columns},
      {"a,b\n1,2\n", "f.csv:1:1: " + columns},
      {"# nodes: 4\n\na,b\n1,2\n", "f.csv:3:1: " + columns},
      {"start\n1\n", "f.csv:1:1: " + columns},
      {"start_h,repare_h\n1,2\n", "f.csv:1:2: unknown column 'repare_h'; did you mean 'repair_h'?"},
      {"start_h,start_s\n1,2\n",
       "f.csv:1:2: columns 'start_s' and 'start_h' contain the same quantity"},
      {"start_h,start_h\n1,2\n", "f.csv:1:2: column 'start_h' is in the header twice"},
      {"start_h,node\n1\n", "f.csv:2:1: the row has 1 cells, but the header has 2"},
      {"start_h,cause\n1,\"fan\n", "f.csv:2:1: a quote is not closed"},
      {"start_h\n1\nnan\n", "f.csv:3:1: column 'start_h' holds 'nan', not a number"},
      {"start_h\ninf\n", "f.csv:2:1: column 'start_h' holds 'inf', not a number"},
      {"start_h\n1e400\n", "f.csv:2:1: column 'start_h' holds '1e400', not a number"},
      {"start_h\n0x10\n", "f.csv:2:1: column 'start_h' holds '0x10', not a number"},
      {"start_h\n\"\"\n", "f.csv:2:1: column 'start_h' holds '', not a number"},
      {"start_h\n-1\n", "f.csv:2:1: column 'start_h' is negative: -1"},
      {"start_day\n1e300\n", "f.csv:2:1: column 'start_day' is more than 100 years: 1e300"},
      {"start_h,repair_h\n1,-0.5\n", "f.csv:2:2: column 'repair_h' is negative: -0.5"},
      {"start_h,node\n1,1.5\n", "f.csv:2:2: column 'node' holds '1.5', not a whole number"},
      {"start_h,node\n1,-2\n", "f.csv:2:2: column 'node' is negative: -2"},
      {"start_h,node\n1,2000000000\n",
       "f.csv:2:2: column 'node' is not the number of a node: 2000000000"},
      {"start_h,node\n1,99999999999\n",
       "f.csv:2:2: column 'node' holds '99999999999', not a whole number"},
      {"# nodes: 4\nstart_h,node\n1,4\n",
       "f.csv:3:2: column 'node' is 4, beyond the last of 4 nodes"},
      {"# nodes: many\nstart_h\n1\n",
       "f.csv:1:1: 'nodes' contains 'many', which is not a number above zero"},
      {"# nodes: 1.5\nstart_h\n1\n", "f.csv:1:1: the number of nodes is not a whole number"},
      {"#\n# days: -3\nstart_h\n1\n",
       "f.csv:2:1: 'days' contains '-3', which is not a number above zero"},
      {"# kind: procss\nstart_h\n1\n", "f.csv:1:1: unknown kind 'procss'; did you mean 'process'?"},
      {"# days: nan\nstart_h\n1\n",
       "f.csv:1:1: 'days' contains 'nan', which is not a number above zero"},
      {"node,start_day,end_day\n1,5,4\n",
       "f.csv:2:3: column 'end_day' is 4, before the start at 5"},
      {"start_day,end_day\n4,5\n", "f.csv:1:1: column 'node' is missing"},
      {"system,start_min_since_2001,node,downtime_min\n18,5,1024,1\n",
       "f.csv:2:3: column 'node' is 1024, beyond the last of 1024 nodes"},
      {"system,start_min_since_2001,node\n18,5,1024\n",
       "f.csv:1:1: column 'downtime_min' is missing"},
      {std::string("\x7f"
                   "ELF\x02\0\0,\n1\n",
                   12),
       "f.csv:"},
      {std::string("start_h\n1\0\n", 11),
       "f.csv:2:1: column 'start_h' holds '1\\x00', not a number"},
  };
  for (const auto& [text, what] : cases) {
    const std::string error = log_error(text);
    EXPECT_TRUE(error.starts_with(what)) << error << "\nnot: " << what;
  }
}

// Half a file, or one with a changed byte, is either read or refused by name.
TEST(FaultLog, DamagedFilesAreReadOrRefused) {
  const std::string whole =
      "# nodes: 40\n# days: 30\nstart_h,repair_h,node,cause\n1,2,3,gpu\n4.5,0,12,\"a, "
      "\"\"b\"\"\"\n";
  RandomStream random(1, RandomPurpose::test, 1);
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string damaged = whole.substr(0, i % 3 == 0 ? random.below(whole.size()) : whole.size());
    for (std::uint64_t j = 0; j < 1 + random.below(3) && !damaged.empty(); ++j) {
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    }
    const std::string error = log_error(damaged);
    refused += error != "no error";
    EXPECT_TRUE(error == "no error" || error.starts_with("f.csv:")) << error;
  }
  EXPECT_GT(refused, 1000);
}

TEST(FaultLog, ReadsFromAFile) {
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / ("faults" + std::to_string(getpid()) + ".csv");
  std::ofstream(path) << "start_h\n1\n";
  EXPECT_EQ(read_fault_logs(path.string()).at(0).faults.size(), 1U);
  std::filesystem::remove(path);
  EXPECT_THROW(read_fault_logs(path.string()), Error);
}

}  // namespace
}  // namespace windtunnel
