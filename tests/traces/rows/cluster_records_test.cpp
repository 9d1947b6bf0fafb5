// Slurm's accounting and events, kernel logs and metrics of DCGM are read as logs of faults.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/base/random.hpp"
#include "models/base/units.hpp"
#include "tests/support/error_of.hpp"
#include "traces/rows/fault_log.hpp"
#include "traces/rows/fault_records.hpp"

namespace windtunnel {
namespace {

std::vector<FaultLog> read_records(std::string_view text) {
  return parse_fault_logs(text, "dir/cluster.log");
}

std::string refusal_of(std::string_view text) {
  return error_of([&] { parse_fault_logs(text, "f"); });
}

std::string note_of(const FaultLog& log, std::string_view what) {
  for (const auto& [key, text] : log.notes) {
    if (key == what) return text;
  }
  return "";
}

const std::string kJobs =
    "JobID|State|Start|End|NNodes|NodeList\n"
    "7|COMPLETED|2024-08-01T00:00:00|2024-08-03T00:00:00|2|gpu[01-02]\n"
    "8|NODE_FAIL|2024-08-03T00:00:00|2024-08-03T12:00:00|1|gpu02\n"
    "8.batch|FAILED|2024-08-03T00:00:00|2024-08-03T12:00:00|1|gpu02\n"
    "9|FAILED|2024-08-03T00:00:00|2024-08-04T00:00:00|3|gpu[01,03-04]\n"
    "10|CANCELLED by 1000|2024-08-04T00:00:00|2024-08-05T00:00:00|4|gpu[01-04]\n"
    "11|PENDING|Unknown|Unknown|4|None assigned\n"
    "12|RUNNING|2024-08-04T12:00:00|Unknown|1|r1n[08-09]-ib\n";

TEST(SlurmJobs, HowAJobEndedTellsWhatFailed) {
  const std::vector<FaultLog> logs = read_records(kJobs);
  ASSERT_EQ(logs.size(), 2U);
  EXPECT_EQ(logs[0].kind, FailureKind::node);
  EXPECT_EQ(logs[1].kind, FailureKind::process);
  for (const FaultLog& log : logs) {
    EXPECT_EQ(log.name, "cluster");
    EXPECT_EQ(log.nodes, 6);  // gpu01 to gpu04, r1n08-ib and r1n09-ib
    EXPECT_EQ(log.span_s, 4 * kDay_s);
    // The sum is 2 x 2 d, 1 x 0.5 d, 3 x 1 d, 4 x 1 d, and half a day until the latest time.
    EXPECT_DOUBLE_EQ(log.watched_node_s, 12 * kDay_s);
  }
  ASSERT_EQ(logs[0].faults.size(), 1U);
  EXPECT_EQ(logs[0].faults[0], (NodeFault{2.5 * kDay_s, 0, 1, "NODE_FAIL"}));
  ASSERT_EQ(logs[1].faults.size(), 1U);  // the step "8.batch" belongs to its job
  EXPECT_EQ(logs[1].faults[0], (NodeFault{3 * kDay_s, 0, -1, "FAILED"}));
  EXPECT_EQ(note_of(logs[0], "no failure"), "CANCELLED: 1, COMPLETED: 1, RUNNING: 1");
}

// There is one failure in twelve days of nodes that ran jobs, while six nodes were watched for four
// days.
TEST(SlurmJobs, ARateIsByTheNodeTimeOfJobs) {
  const FaultLog log = read_records(kJobs)[0];
  const FaultFit fit = fit_faults(log);
  EXPECT_NEAR(fit.rate_per_node_s.value * kDay_s, 1 / 12.0, 1e-12);
  EXPECT_NEAR(fit.rate_per_node_s.high * kDay_s, 5.572 / 12, 1e-4);  // Poisson bound for one event
  EXPECT_NEAR(fit.rate_per_node_up_s * kDay_s, 1 / 12.0, 1e-3);
  EXPECT_EQ(fit.gap_mean_s.high, 0);  // one fault has no gap
  const FaultLog back = parse_fault_logs(fault_log_csv(log), "f.csv").at(0);
  EXPECT_NEAR(fit_faults(back).rate_per_node_s.value, fit.rate_per_node_s.value, 1e-15);
}

TEST(SlurmJobs, AClassOfProcessesHasNeitherBatchesNorRepairs) {
  const FaultLog log = read_records(kJobs)[1];
  const FailureClass fitted = fitted_class(log, fit_faults(log));
  EXPECT_EQ(fitted.name, "process");
  EXPECT_EQ(fitted.kind, FailureKind::process);
  EXPECT_TRUE(fitted.batch_shares.empty());
  EXPECT_TRUE(fitted.repair.empirical_s.empty());
  check_failure_class(fitted);
  const FaultLog back = parse_fault_logs(fault_log_csv(log), "f.csv").at(0);
  EXPECT_EQ(back.kind, FailureKind::process);
}

// Slurm may name the failed one of several nodes; several jobs on a failed node give one fault.
TEST(SlurmJobs, TheFailedNodeIsTakenWhereItIsNamed) {
  const std::vector<FaultLog> logs = read_records(
      "JobIDRaw|State|Start|End|AllocNodes|NodeList|FailedNode|\n"
      "1|NODE_FAIL|2024-08-01T00:00:00|2024-08-02T00:00:00|2|a[1-2]|a2|\n"
      "2|NODE_FAIL|2024-08-01T00:00:00|2024-08-02T00:00:10|2|a[2-3]|a2|\n"
      "3|BOOT_FAIL|2024-08-03T00:00:00|2024-08-03T00:00:00|1|a3||\n");
  ASSERT_EQ(logs.size(), 1U);
  ASSERT_EQ(logs[0].faults.size(), 2U);
  EXPECT_EQ(logs[0].faults[0].node, 1);
  EXPECT_EQ(logs[0].faults[1], (NodeFault{2 * kDay_s, 0, 2, "BOOT_FAIL"}));
}

// The number of nodes follows from their names if more nodes are named than ran jobs at the same
// time, and otherwise from the sizes of jobs.
TEST(SlurmJobs, ANoteSaysWhatDecidedTheNumberOfNodes) {
  EXPECT_EQ(note_of(read_records(kJobs)[0], "nodes"),
            "the nodes named in jobs; state the true number with --nodes");
  const FaultLog log = read_records(
                           "State|Start|End|NNodes|FailedNode\n"
                           "NODE_FAIL|2024-08-01T00:00:00|2024-08-02T00:00:00|5|a1\n")
                           .at(0);
  EXPECT_EQ(log.nodes, 5);
  EXPECT_EQ(note_of(log, "nodes"),
            "the number of nodes that ran jobs at the same time; jobs name 1; state the true "
            "number with --nodes");
}

// The last cell may be empty (sacct -P), and a bar may end each line (sacct -p).
TEST(SlurmJobs, ALastCellMayBeEmpty) {
  const std::string rows[] = {
      "State|Start|End|NNodes|FailedNode\n"
      "FAILED|2024-08-01T00:00:00|2024-08-02T00:00:00|2|\n",
      "State|Start|End|NNodes|FailedNode|\n"
      "FAILED|2024-08-01T00:00:00|2024-08-02T00:00:00|2||\n"};
  for (const std::string& text : rows) {
    const FaultLog log = read_records(text).at(0);
    ASSERT_EQ(log.faults.size(), 1U) << text;
    EXPECT_EQ(log.faults[0].node, -1) << text;
    EXPECT_EQ(log.nodes, 2) << text;
  }
}

TEST(FaultRecords, TheMostFrequentCausesAreShownAndTheOthersCounted) {
  std::map<std::string, int> counts;
  for (int i = 1; i <= 8; ++i) counts[fmt::format("cause {}", i)] = i;
  EXPECT_EQ(counts_text(counts).substr(0, 22), "cause 8: 8, cause 7: 7");
  EXPECT_EQ(counts_text(counts).find("more"), std::string::npos);
  counts["rare"] = counts["rarer"] = 1;
  EXPECT_TRUE(counts_text(counts).ends_with(", 2 more")) << counts_text(counts);
}

// Days are counted from 1970 by the calendar; years outside 1970 to 2200 are refused as typing
// errors.
TEST(FaultRecords, YearsOfLogs) {
  EXPECT_EQ(day_number(1970, 1, 1), 0);
  EXPECT_EQ(day_number(1972, 3, 1), 2 * 365 + 31 + 29);
  EXPECT_EQ(day_number(2200, 1, 1),
            230 * 365 + 57 - 1);  // leap years every four years, except 2100
  EXPECT_EQ(day_number(1969, 12, 31), std::nullopt);
  EXPECT_EQ(day_number(2201, 1, 1), std::nullopt);
  EXPECT_EQ(day_number(2023, 2, 29), std::nullopt);
}

// Returns a hostile list of node names: three brackets of 300 numbers stand for 27 million names.
std::string repeated_names() {
  std::string ones = "[1";
  for (int i = 1; i < 300; ++i) ones += ",1";
  ones += "]";
  return "a" + ones + ones + ones;
}

TEST(SlurmJobs, FaultsOfTheTableNameTheirPlace) {
  const std::string head = "State|Start|End|NNodes\n";
  const std::pair<std::string, std::string> cases[] = {
      {"JobID|State|NNodes\n1|FAILED|1\n", "f:1:1: the header has no column 'Start'; print"},
      {"State|Start|End\n1|2|3\n", "f:1:1: the header has no column 'NNodes'"},
      {"1|FAILED|2024-08-01T00:00:00\n", "f:1:1: the header has no column 'State'"},
      {head + "FAILED|2024-08-01T00:00:00\n", "f:2:1: the row has 2 cells, but the header has 4"},
      {head + "FALED|2024-08-01T00:00:00|2024-08-02T00:00:00|1\n",
       "f:2:1: State is an unknown state 'FALED'; did you mean 'FAILED'?"},
      {head + "FAILED|2024-13-01T00:00:00|2024-08-02T00:00:00|1\n",
       "f:2:8: Start '2024-13-01T00:00:00' is not a time"},
      {head + "FAILED|2024-08-01T00:00:00|2024-08-02T25:00:00|1\n",
       "f:2:28: End '2024-08-02T25:00:00' is not a time"},
      {head + "FAILED|2024-08-02T00:00:00|2024-08-01T00:00:00|1\n",
       "f:2:28: End is before Start, 2024-08-02T00:00:00"},
      {head + "FAILED|2024-08-01T00:00:00|2024-08-02T00:00:00|two\n",
       "f:2:48: NNodes 'two' is not a number of nodes"},
      {"State|Start|End|NodeList\nFAILED|2024-08-01T00:00:00|2024-08-02T00:00:00|a[1-\n",
       "f:2:48: NodeList 'a[1-' is not a list of nodes"},
      {"State|Start|End|NodeList\nFAILED|2024-08-01T00:00:00|2024-08-02T00:00:00|a[0-999999999]\n",
       "f:2:48: NodeList 'a[0-999999999]' is not a list of nodes"},
      {"State|Start|End|NodeList\nFAILED|2024-08-01T00:00:00|2024-08-02T00:00:00|" +
           repeated_names() + "\n",
       "f:2:48: NodeList 'a[1,1,1"},
      {head + "COMPLETED|2024-08-01T00:00:00|2024-08-02T00:00:00|1\n",
       "f: has no record of a fault"},
  };
  for (const auto& [text, what] : cases) {
    const std::string error = refusal_of(text);
    EXPECT_TRUE(error.starts_with(what)) << error << "\nnot: " << what;
  }
}

// A time out of service is one fault, whichever states follow the first; a drained node lets its
// job end.
const std::string kEvents =
    "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User|Cluster Nodes\n"
    "c||2024-08-01T00:00:00|Unknown||Cluster Registered TRES|slurm(64030)|gpu[01-08]\n"
    "c|gpu02|2024-08-02T00:00:00|2024-08-02T00:10:00|DOWN*|Not responding|slurm(64030)|\n"
    "c|gpu02|2024-08-02T00:10:00|2024-08-02T06:00:00|DOWN+DRAIN|replaced|root(0)|\n"
    "c|gpu03|2024-08-03T00:00:00|2024-08-03T02:00:00|IDLE+DRAIN|firmware|root(0)|\n"
    "c|gpu03|2024-08-03T02:00:00|2024-08-03T03:00:00|DOWN|reboot by hand|root(0)|\n"
    "c|gpu05|2024-08-04T00:00:00|2024-08-04T01:00:00|DOWN+REBOOT_ISSUED|reboot|root(0)|\n"
    "c|gpu07|2024-08-05T00:00:00|Unknown|DOWN*|Not responding|slurm(64030)|\n";

TEST(SlurmEvents, HowANodeLeftServiceTellsWhatFailed) {
  const std::vector<FaultLog> logs = read_records(kEvents);
  ASSERT_EQ(logs.size(), 1U);
  const FaultLog& log = logs[0];
  EXPECT_EQ(log.kind, FailureKind::node);
  EXPECT_EQ(log.nodes, 8);
  EXPECT_EQ(log.span_s, 4 * kDay_s);
  ASSERT_EQ(log.faults.size(), 2U);
  EXPECT_EQ(log.faults[0], (NodeFault{kDay_s, 6 * kHour_s, 1, "DOWN* (Not responding)"}));
  EXPECT_EQ(log.faults[1], (NodeFault{4 * kDay_s, 0, 6, "DOWN* (Not responding)"}));
  EXPECT_TRUE(note_of(log, "no failure")
                  .starts_with("DOWN+REBOOT_ISSUED (reboot): 1, IDLE+DRAIN (firmware): 1 "))
      << note_of(log, "no failure");
  EXPECT_EQ(note_of(log, "events"), "");
  EXPECT_NEAR(fit_faults(log).rate_per_node_s.value * 8 * 4 * kDay_s, 2, 1e-12);
}

// Without a column of the cluster's nodes, only nodes with an event are known, and a note says so.
TEST(SlurmEvents, NodesWithoutAnEventAreAskedFor) {
  const FaultLog log = read_records(
                           "NodeName|TimeStart|TimeEnd|State\n"
                           "a1|2024-08-01T00:00:00|2024-08-01T01:00:00|fail\n"
                           "a1|2024-08-03T00:00:00|2024-08-03T01:00:00|DOWN\n")
                           .at(0);
  EXPECT_EQ(log.nodes, 1);
  ASSERT_EQ(log.faults.size(), 2U);  // they are two days apart
  EXPECT_EQ(log.faults[1], (NodeFault{2 * kDay_s, kHour_s, 0, "DOWN"}));
  EXPECT_TRUE(note_of(log, "events").find("--nodes") != std::string::npos);
}

// Slurm writes ALLOCATED+ while some jobs of a node are completing.
TEST(SlurmEvents, AStateMayEndInAPlus) {
  const FaultLog log = read_records(
                           "NodeName|TimeStart|TimeEnd|State\n"
                           "a1|2024-08-01T00:00:00|2024-08-01T01:00:00|ALLOCATED+\n"
                           "a2|2024-08-03T00:00:00|2024-08-03T01:00:00|DOWN\n")
                           .at(0);
  ASSERT_EQ(log.faults.size(), 1U);
  EXPECT_EQ(log.faults[0], (NodeFault{2 * kDay_s, kHour_s, 1, "DOWN"}));
  EXPECT_TRUE(note_of(log, "no failure").starts_with("ALLOCATED+: 1 "))
      << note_of(log, "no failure");
}

TEST(SlurmEvents, FaultsOfTheTableNameTheirPlace) {
  const std::string head = "NodeName|TimeStart|TimeEnd|State\n";
  const std::pair<std::string, std::string> cases[] = {
      {"NodeName|TimeStart|State\na|2024-08-01T00:00:00|DOWN\n",
       "f:1:1: the header has no column 'TimeEnd'; print it with sacctmgr -P show event"},
      {head + "a|2024-08-01T00:00:00|Unknown|DWN\n",
       "f:2:31: State is an unknown state 'DWN'; did you mean 'DOWN'?"},
      {head + "a|2024-08-01T00:00:00|Unknown|+\n", "f:2:31: State is an unknown state ''"},
      {head + "a|2024-08-01T00:00:00|Unknown|\n", "f:2:31: State is an unknown state ''"},
      {head + "a|yesterday|Unknown|DOWN\n", "f:2:3: TimeStart 'yesterday' is not a time"},
      {head + "a|2024-08-02T00:00:00|2024-08-01T00:00:00|DOWN\n",
       "f:2:23: TimeEnd is before TimeStart, 2024-08-02T00:00:00"},
      {head + "a|2024-08-02T00:00:00|DOWN\n", "f:2:1: the row has 3 cells, but the header has 4"},
      {head + "a|2024-08-02T00:00:00|Unknown|IDLE+DRAIN\n", "f: has no record of a fault"},
  };
  for (const auto& [text, what] : cases) {
    const std::string error = refusal_of(text);
    EXPECT_TRUE(error.starts_with(what)) << error << "\nnot: " << what;
  }
}

// A gauge keeps the last Xid of a GPU, so only a change of its value counts. The exporter's labels
// change with it.
const std::string kSamples =
    "DCGM_FI_DEV_XID_ERRORS{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\",err_code=\"0\"} =>\n"
    "0 @[1722470400]\n"
    "0 @[1722556740]\n"
    "DCGM_FI_DEV_XID_ERRORS{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\",err_code=\"79\"} =>\n"
    "79 @[1722556800]\n"
    "79 @[1722643200.5]\n"
    "DCGM_FI_DEV_XID_ERRORS{gpu=\"1\",UUID=\"GPU-b\",Hostname=\"n1\"} =>\n"
    "48 @[1722470400]\n"
    "48 @[1722643200]\n"
    "0 @[1722643260]\n"
    "31 @[1722729600]\n"
    "63 @[1722816000]\n"
    "DCGM_FI_DEV_XID_ERRORS{gpu=\"0\",UUID=\"GPU-c\",Hostname=\"n2\"} =>\n"
    "0 @[1722470400]\n"
    "0 @[1722902400]\n";

TEST(DcgmMetrics, AChangeOfTheLastXidIsAFault) {
  const std::vector<FaultLog> logs = read_records(kSamples);
  ASSERT_EQ(logs.size(), 2U);
  EXPECT_EQ(logs[0].nodes, 2);
  EXPECT_EQ(logs[0].span_s, 5 * kDay_s);
  ASSERT_EQ(logs[0].faults.size(), 1U);
  EXPECT_EQ(logs[0].faults[0], (NodeFault{kDay_s, 0, 0, "Xid 79 (GPU fell off the bus)"}));
  ASSERT_EQ(logs[1].faults.size(), 1U);
  EXPECT_EQ(logs[1].faults[0], (NodeFault{3 * kDay_s, 0, 0, "Xid 31 (memory page fault)"}));
  EXPECT_TRUE(note_of(logs[0], "standing").starts_with("1 GPUs show an Xid"));
  EXPECT_TRUE(note_of(logs[0], "no failure").starts_with("Xid 63: 1 "));
}

TEST(DcgmMetrics, LinesMayEndInCarriageReturns) {
  std::string text;
  for (const char letter : kSamples) {
    if (letter == '\n') text += '\r';
    text += letter;
  }
  const std::vector<FaultLog> logs = read_records(text);
  const std::vector<FaultLog> plain = read_records(kSamples);
  ASSERT_EQ(logs.size(), 2U);
  EXPECT_EQ(logs[0].faults, plain[0].faults);
  EXPECT_EQ(logs[1].faults, plain[1].faults);
}

// The same samples may come as lines, with times in milliseconds or seconds, with the metric's name
// among the labels, and with other metrics between them.
TEST(DcgmMetrics, LinesOfSamplesAreReadToo) {
  const std::string labels = "gpu=\"0\",instance=\"n\\\"1:9400\"";
  const std::string cases[] = {
      "# TYPE DCGM_FI_DEV_XID_ERRORS gauge\nup{instance=\"n2:9400\"} 1\n"
      "DCGM_FI_DEV_XID_ERRORS{" +
          labels +
          "} 0 1722470400000\n"
          "DCGM_FI_DEV_XID_ERRORS{" +
          labels + "} 95 1722556800000\n",
      "up{instance=\"n2:9400\"} 1 1722470400\n{__name__=\"DCGM_FI_DEV_XID_ERRORS\", " + labels +
          "} 0 1722470400\n{__name__=\"DCGM_FI_DEV_XID_ERRORS\", " + labels +
          "} 95 1722556800\n# EOF\n",
      "DCGM_EXP_XID_ERRORS_COUNT{xid=\"95\",Hostname=\"n2\"} 0 1722470400\n"
      "DCGM_EXP_XID_ERRORS_COUNT{xid=\"95\",Hostname=\"n1\"} 1 1722556800\n"
      "DCGM_EXP_XID_ERRORS_COUNT{xid=\"95\",Hostname=\"n1\"} 1 1722556830\n",
  };
  for (const std::string& text : cases) {
    const FaultLog log = read_records(text).at(0);
    EXPECT_EQ(log.nodes, 2) << text;
    ASSERT_EQ(log.faults.size(), 1U) << text;
    EXPECT_EQ(log.faults[0], (NodeFault{kDay_s, 0, 0, "Xid 95 (uncontained memory error)"}))
        << text;
  }
}

// If a windowed count rises, there is one more fault; after a gap the count starts anew.
TEST(DcgmMetrics, EachRiseOfACountIsAFault) {
  std::string text;
  const std::string series =
      "DCGM_EXP_XID_ERRORS_COUNT{xid=\"94\",Hostname=\"n1\",window_size_in_ms=\"60000\"} ";
  for (const auto& [value, at_s] : {std::pair{1, 1000}, {1, 1050}, {2, 1100}, {1, 5000}}) {
    text += fmt::format("{}{} {}\n", series, value, at_s);
  }
  const FaultLog log = read_records(text).at(0);
  EXPECT_EQ(log.kind, FailureKind::process);
  ASSERT_EQ(log.faults.size(), 3U);
  EXPECT_EQ(log.faults[1].start_s, 100);
  EXPECT_EQ(log.faults[2].start_s, 4000);
}

TEST(DcgmMetrics, FaultsOfTheLinesNameTheirPlace) {
  const std::string series = "DCGM_FI_DEV_XID_ERRORS{gpu=\"0\",Hostname=\"n1\"}";
  const std::pair<std::string, std::string> cases[] = {
      {series + " 79\n",
       "f:1:49: the sample has no time, because an exporter prints only current values"},
      {series + " 79 then\n", "f:1:50: expected a time in seconds or milliseconds since 1970"},
      {series + " x 1\n", "f:1:47: expected a value, not 'x 1'"},
      {series + " 7.5 1\n", "f:1:1: a sample is 7.5, which is not an Xid"},
      {series + " =>\n79 at 5\n", "f:2:1: expected a line 'NAME{LABELS} =>'"},
      {series + " =>\n79 @[5\n", "f:2:1: expected ']' after the time"},
      {"DCGM_FI_DEV_XID_ERRORS{gpu=\"0} 79 1\n", "f:1:36: the label 'gpu' is not closed"},
      {"DCGM_FI_DEV_XID_ERRORS{gpu} 79 1\n", "f:1:24: expected a label NAME=\"VALUE\" or '}'"},
      {"DCGM_FI_DEV_XID_ERRORS{gpu=\"0\"} 79 1\n",
       "f:1:1: expected a label Hostname, node or instance"},
      {"DCGM_EXP_XID_ERRORS_COUNT{Hostname=\"n\"} 1 1\n", "f:1:1: expected a label xid"},
      {series + " 0 1\n" + series + " 63 9\n", "f: has no record of a fault"},
  };
  for (const auto& [text, what] : cases) {
    const std::string error = refusal_of(text);
    EXPECT_TRUE(error.starts_with(what)) << error << "\nnot: " << what;
  }
}

TEST(KernelLog, WhatAnXidCostsIsNvidiasAction) {
  EXPECT_EQ(find_xid(31)->cost, XidCost::process);
  EXPECT_EQ(find_xid(94)->cost, XidCost::process);
  for (const int number : {48, 62, 64, 74, 79, 95, 109, 119, 120, 140}) {
    EXPECT_EQ(find_xid(number)->cost, XidCost::node) << number;
  }
  for (const int number : {45, 63, 92, 121, 154}) {
    EXPECT_EQ(find_xid(number)->cost, XidCost::nothing) << number;
  }
  EXPECT_EQ(find_xid(147)->cost, XidCost::fatal);
  EXPECT_EQ(find_xid(61), nullptr);  // these GPUs do not use it
  EXPECT_EQ(find_xid(9999), nullptr);
}

TEST(KernelLog, ReadsASyslogOfManyHosts) {
  const std::vector<FaultLog> logs = read_records(
      "2024-08-01T00:00:00+00:00 n1 kernel: nvidia: loading\n"
      "2024-08-01T01:00:00+00:00 n3 systemd[1]: Started\n"
      "2024-08-02T00:00:00+00:00 n2 kernel: NVRM: Xid (PCI:0000:3b:00): 31, pid=7, name=python\n"
      "2024-08-02T00:00:30+00:00 n2 kernel: NVRM: Xid (PCI:0000:5e:00): 31, pid=8, name=python\n"
      "2024-08-03T00:00:00+00:00 n1 kernel: NVRM: Xid (PCI:0000:3b:00): 94, Contained\n"
      "2024-08-03T02:00:20+02:00 n1 kernel: NVRM: Xid (PCI:0000:3b:00): 95, Uncontained\n"
      "2024-08-04T00:00:00+00:00 n2 kernel: nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, "
      "Non-fatal, Link 32\n"
      "2024-08-04T12:00:00+00:00 n2 kernel: nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, "
      "Fatal, Link 32\n"
      "2024-08-05T00:00:00+00:00 n2 kernel: NVRM: Xid (PCI:0000:3b:00): 63, Row Remapper\n"
      "2024-08-05T00:00:00+00:00 n2 kernel: NVRM: Xid (PCI:0000:3b:00): 61, pid=7\n"
      "2024-08-05T00:00:00+00:00 n2 kernel: NVRM: Xid (PCI:0000:3b:00): 145, RLW_CTRL Nonfatal\n");
  ASSERT_EQ(logs.size(), 2U);
  const FaultLog& nodes = logs[0];
  EXPECT_EQ(nodes.nodes, 2);  // the nodes that the kernel's lines name
  EXPECT_EQ(note_of(nodes, "nodes"),
            "the nodes named in kernel lines; state the true number with --nodes");
  EXPECT_EQ(nodes.span_s, 4 * kDay_s);
  ASSERT_EQ(nodes.faults.size(), 2U);
  // A contained error and its consequence are one fault of the node.
  EXPECT_EQ(nodes.faults[0], (NodeFault{2 * kDay_s, 0, 0, "Xid 95 (uncontained memory error)"}));
  EXPECT_EQ(nodes.faults[1], (NodeFault{3.5 * kDay_s, 0, 1, "SXid 20034"}));
  ASSERT_EQ(logs[1].faults.size(), 1U);
  EXPECT_EQ(logs[1].faults[0], (NodeFault{kDay_s, 0, 1, "Xid 31 (memory page fault)"}));
  EXPECT_EQ(note_of(nodes, "no failure"),
            "SXid 12028: 1, Xid 145: 1, Xid 63: 1 (Xids by NVIDIA's list, and SXids that are not "
            "marked as fatal)");
  EXPECT_EQ(note_of(nodes, "left out"), "Xid 61: 1 (NVIDIA's list gives no action for it)");
  EXPECT_NE(note_of(nodes, "same fault").find("5 records became 3 faults"), std::string::npos);
}

TEST(KernelLog, ReadsTheFormsOfDmesg) {
  const std::string xid = " NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n";
  const std::string cases[] = {
      "[    5.000000] usb 1-1: new device\n[86405.250000]" + xid,
      "[Wed Aug 28 11:11:22 2024] usb 1-1: new device\n[Thu Aug 29 11:11:22 2024]" + xid,
      "2024-08-28T11:11:22,000000+00:00 usb 1-1: new device\n2024-08-29T11:11:22,250000+00:00" +
          xid,
      "<6>Dec 31 11:11:22 n1 kernel: usb\n<3>Jan  1 11:11:22 n1 kernel:" + xid,
      "Jan  1 11:11:22 n1 kernel:" + xid + "Dec 31 11:11:22 n1 kernel: usb\n",
      "n1: [    5.000000] usb 1-1: new device\nn1: [86405.000000]" + xid,
  };
  for (const std::string& text : cases) {
    const FaultLog log = read_records(text).at(0);
    EXPECT_EQ(log.nodes, 1) << text;
    EXPECT_NEAR(log.span_s, kDay_s, 1) << text;
    ASSERT_EQ(log.faults.size(), 1U) << text;
    EXPECT_NEAR(log.faults[0].start_s, kDay_s, 1) << text;
    EXPECT_EQ(log.faults[0].node, 0) << text;
  }
}

TEST(KernelLog, CommentsSayWhatTheLinesDoNot) {
  const FaultLog log =
      read_records("# name: row 7\n# nodes: 400\n# days: 30\n[5.0] NVRM: Xid (0000:01:00): 48, x\n")
          .at(0);
  EXPECT_EQ(log.name, "row 7");
  EXPECT_EQ(log.nodes, 400);
  EXPECT_NEAR(fit_faults(log).rate_per_node_s.value * 400 * 30 * kDay_s, 1, 1e-12);
}

// Two nodes that fail within a minute are one batch, also after writing and reading the file again.
TEST(KernelLog, ABatchIsOneAlsoInAnotherFile) {
  const std::string xid = " kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n";
  const FaultLog log = read_records("2024-08-01T00:00:00 n1 kernel: usb\n2024-08-02T00:00:00 n1" +
                                    xid + "2024-08-02T00:00:30 n2" + xid +
                                    "2024-08-05T00:00:00 n1" + xid + "2024-08-09T00:00:00 n2" + xid)
                           .at(0);
  ASSERT_EQ(log.faults.size(), 4U);
  EXPECT_EQ(fit_faults(log).batch_shares.size(), 2U);
  const FaultLog back = parse_fault_logs(fault_log_csv(log), "f.csv").at(0);
  EXPECT_EQ(back.batch_window_s, 60);
  EXPECT_EQ(back.faults, log.faults);
  EXPECT_EQ(fit_faults(back).batch_shares, fit_faults(log).batch_shares);
}

// A table of faults may have causes that name Xids.
TEST(KernelLog, ATableIsNoneThoughItsCausesNameXids) {
  const std::string xid = "\"NVRM: Xid (PCI:0000:3b:00): 79, x\"";
  for (const std::string& text : {"cause,start_h\n" + xid + ",1\n", "hours,cause\n1," + xid + "\n",
                                  "\"start_h\",cause\n1," + xid + "\n"}) {
    const FaultLog log = read_records(text).at(0);
    ASSERT_EQ(log.faults.size(), 1U) << text;
    EXPECT_EQ(log.faults[0], (NodeFault{kHour_s, 0, -1, "NVRM: Xid (PCI:0000:3b:00): 79, x"}))
        << text;
  }
}

TEST(ClusterRecords, WhatTheyTellThemselvesIsNotSaidAboveThem) {
  const std::string told =
      " is only for tables of faults; it follows from the records of a cluster";
  EXPECT_EQ(refusal_of("# nodes: 8\n# kind: process\n" + kJobs), "f:2:1: 'kind'" + told);
  EXPECT_EQ(refusal_of("# batch-window: 5\n[5.0] NVRM: Xid (0000:01:00): 48, x\n"),
            "f:1:1: 'batch-window'" + told);
  EXPECT_EQ(refusal_of("# batch-window: 0\nstart_h\n1\n"),
            "f:1:1: 'batch-window' contains '0', which is not a number above zero");
}

TEST(KernelLog, FaultsOfTheLinesNameTheirPlace) {
  const std::string first = "[1.0] boot\n";
  const std::pair<std::string, std::string> cases[] = {
      {first + "NVRM: Xid (PCI:0000:3b:00): 79, x\n",
       "f:2:1: there is no known form of time before"},
      {first + "[2.0] NVRM: Xid (PCI:0000:3b:00): x, y\n",
       "f:2:33: expected the number of an Xid, as in '(PCI:0000:3b:00): 79,', not ': x, y'"},
      {first + "[2.0] NVRM: Xid (PCI:0000:3b\n", "f:2:7: expected the number of an Xid"},
      {first + "[2.0] NVRM: Xid (PCI:0000:3b:00): 79x\n", "f:2:33: expected the number of an Xid"},
      {first + "Aug 28 11:11:22 n1 kernel: NVRM: Xid (PCI:0000:3b:00): 79, x\n",
       "f:2:1: its time has another form than in line 1"},
      {"[9.0] boot\n[1.0] boot\n", "f:2:1: counts seconds since another boot"},
      {"a: [9.0] boot\nb: [10.0] boot\n", "f:2:1: counts seconds since another node's boot"},
      {"[9.0] boot\n[10.0] usb\n", "f: has no record of a fault"},
  };
  for (const auto& [text, what] : cases) {
    const std::string error = refusal_of(text);
    EXPECT_TRUE(error.starts_with(what)) << error << "\nnot: " << what;
  }
}

// Half a file, or one with a changed byte, is either read or refused by name.
TEST(KernelLog, DamagedRecordsAreReadOrRefused) {
  const std::string logs[] = {
      kJobs,
      "Dec 31 11:11:22 n1 kernel: usb\nJan  1 11:11:22 n1 kernel: NVRM: Xid (PCI:00:3b): 79, x\n",
      "n1: [    5.0] usb 1-1\nn1: [86405.0] NVRM: Xid (PCI:00:3b): 31, pid\n", kEvents, kSamples};
  RandomStream random(1, RandomPurpose::test, 2);
  int refused = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string& whole = logs[i % std::size(logs)];
    std::string damaged = whole.substr(0, i % 2 == 0 ? random.below(whole.size()) : whole.size());
    for (std::uint64_t j = 0; j < 1 + random.below(3) && !damaged.empty(); ++j) {
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    }
    const std::string error = error_of([&] {
      for (const FaultLog& log : parse_fault_logs(damaged, "f")) {
        if (log.span_s > 0) check_failure_class(fitted_class(log, fit_faults(log)));
      }
    });
    refused += error != "no error";
    const bool by_name = error.starts_with("f:") || error.starts_with("a fit needs") ||
                         error.starts_with("all faults of the log");
    EXPECT_TRUE(error == "no error" || by_name) << error;
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace windtunnel
