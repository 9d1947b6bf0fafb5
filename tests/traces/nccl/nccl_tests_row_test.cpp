// Wrong rows and logs are refused with file, line, column and the exact text.
#include "traces/nccl/nccl_tests_row.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/error_of.hpp"
#include "traces/nccl/nccl_tests.hpp"

namespace windtunnel {
namespace {

struct BadCase {
  const char* name;
  std::string text;
  const char* message;
};

std::string csv(const std::string& row) {
  return "source,machine,gpu,gpus,nodes,network,collective,bytes,time_us,algbw_GBps,busbw_GBps,"
         "placement,nccl_version,dtype,notes,check\n" +
         row + "\n";
}

std::string log_of(const std::string& rows, const std::string& ranks = "",
                   const std::string& collective = "all_reduce_perf") {
  const std::string two =
      "#  Rank  0 Group  0 Pid 1 on a device  0 [0x04] NVIDIA H100\n"
      "#  Rank  1 Group  0 Pid 1 on a device  1 [0x05] NVIDIA H100\n";
  return "# Collective test starting: " + collective + "\n# Using devices\n" +
         (ranks.empty() ? two : ranks) +
         "#   size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw "
         "#wrong\n" +
         rows;
}

std::string json_of(const std::string& results, const std::string& args = "\"all_reduce_perf\"",
                    int ngpus = 2) {
  return R"({"args":[)" + args + R"(],"config":{"nthreads":1,"ngpus":)" + std::to_string(ngpus) +
         R"(,"devices":[{"group":0,"hostname":"a","device_info":"H100"}]},)" + "\n" +
         R"("results":[)" + results + "]}";
}

const BadCase kCases[] = {
    {"EmptyTable", "", "x:1:1: the file is empty"},
    {"HeaderAlone", csv("").substr(0, csv("").size() - 1), "x:1:1: contains a header but no rows"},
    {"ColumnMissing", "machine,gpu,gpus,nodes,network,colective,bytes,time_us\n",
     "x:1:1: column 'collective' is missing; the file has a similar one, 'colective'"},
    {"RowEndsEarly", csv("s,M,H100,16,2,IB,all_reduce"),
     "x:2: the row has 7 cells, but the header has 16"},
    {"TimeIsText", csv("s,M,H100,16,2,IB,all_reduce,1048576,fast,,,out,,float,,"),
     "x:2:9: column 'time_us' holds 'fast', not a number"},
    {"TimeHasUnit", csv("s,M,H100,16,2,IB,all_reduce,1048576,100us,,,out,,float,,"),
     "x:2:9: column 'time_us' holds '100us', not a number"},
    {"TimeMissing", csv("s,M,H100,16,2,IB,all_reduce,1048576,,,,out,,float,,"),
     "x:2:9: column 'time_us' holds '', not a number"},
    {"TimeNegative", csv("s,M,H100,16,2,IB,all_reduce,1048576,-1,,,out,,float,,"),
     "x:2:9: a time of -1 us is not positive"},
    {"TimeZero", csv("s,M,H100,16,2,IB,all_reduce,1048576,0,,,out,,float,,"),
     "x:2:9: a time of 0 us is not positive"},
    {"TimeInfinite", csv("s,M,H100,16,2,IB,all_reduce,1048576,inf,,,out,,float,,"),
     "x:2:9: column 'time_us' holds 'inf', not a number"},
    {"SizeHasUnit", csv("s,M,H100,16,2,IB,all_reduce,1M,100,,,out,,float,,"),
     "x:2:8: column 'bytes' holds '1M', not a number"},
    {"SizeNegative", csv("s,M,H100,16,2,IB,all_reduce,-8,100,,,out,,float,,"),
     "x:2:8: -8 is not a number of bytes"},
    {"SizeFraction", csv("s,M,H100,16,2,IB,all_reduce,8.5,100,,,out,,,,"),
     "x:2:8: 8.5 is not a number of bytes"},
    {"SizeOfHalfElements", csv("s,M,H100,16,2,IB,all_reduce,1048578,100,,,out,,float,,"),
     "x:2:8: 1048578 bytes are not a whole number of elements of type float, which have 4"},
    {"UnknownType", csv("s,M,H100,16,2,IB,all_reduce,1048576,100,,,out,,flaot,,"),
     "x:2:14: unknown type 'flaot'; did you mean 'float'?"},
    {"UnknownCollective", csv("s,M,H100,16,2,IB,all_redcue,1048576,100,,,out,,float,,"),
     "x:2:7: unknown collective 'all_redcue'; did you mean 'all_reduce'?"},
    {"UnknownPlacement", csv("s,M,H100,16,2,IB,all_reduce,1048576,100,,,inside,,float,,"),
     "x:2:12: column 'placement' holds 'inside', not 'in' or 'out'"},
    {"OneRank", csv("s,M,H100,1,1,IB,all_reduce,1048576,100,,,out,,float,,"),
     "x:2:4: column 'gpus' contains 1; it must be at least 2"},
    {"HalfARank", csv("s,M,H100,2.5,1,IB,all_reduce,1048576,100,,,out,,float,,"),
     "x:2:4: column 'gpus' holds '2.5', not a whole number"},
    {"MoreNodesThanRanks", csv("s,M,H100,2,4,IB,all_reduce,1048576,100,,,out,,float,,"),
     "x:2:5: 2 ranks cannot be on 4 nodes"},
    {"AlgbwContradicts", csv("s,M,H100,16,2,IB,all_reduce,1048576,100,12.5,19.66,out,,float,,"),
     "x:2:10: algbw is 12.5 GB/s, but 1048576 bytes in 100 us among 16 ranks make 10.49 GB/s"},
    {"BusbwContradicts", csv("s,M,H100,16,2,IB,all_reduce,1048576,100,10.49,9.83,out,,float,,"),
     "x:2:11: busbw is 9.83 GB/s, but 1048576 bytes in 100 us among 16 ranks make 19.66 GB/s"},
    {"NoTable", "# nThread 1 nGpus 8\nmpirun was killed\n",
     "x:1:1: contains no table of nccl-tests, which begins with '#  size  count  type ...'"},
    {"TableWithoutRows", log_of(""), "x:5:1: the table has a header but no rows"},
    {"LogRowEndsEarly", log_of("  1048576  262144  float  sum  -1  100.00  10.49\n"),
     "x:6:44: the row has only 7 of 13 columns"},
    {"LogRowTooLong", log_of("1048576 262144 float sum -1 100 10.49 10.49 0 100 10.49 10.49 0 7\n"),
     "x:6:65: the row has 14 columns, but the header has 13"},
    {"LogTimeIsText", log_of("1048576 262144 float sum -1 hang 10.49 10.49 0 100 10.49 10.49 0\n"),
     "x:6:29: 'hang' is not a time in us"},
    {"LogTimeZero", log_of("1048576 262144 float sum -1 0.00 10.49 10.49 0 100 10.49 10.49 0\n"),
     "x:6:29: a time of 0 us is not positive"},
    {"LogSizeHasUnit", log_of("1M 262144 float sum -1 100 10.49 10.49 0 100 10.49 10.49 0\n"),
     "x:6:1: '1M' is not a number of bytes"},
    {"LogWrongIsText",
     log_of("1048576 262144 float sum -1 100 10.49 10.49 bad 100 10.49 10.49 0\n"),
     "x:6:45: 'bad' is not a number of wrong elements"},
    {"LogBusbwContradicts",
     log_of("1048576 262144 float sum -1 100 10.49 18.35 0 100 10.49 10.49 0\n"),
     "x:6:39: busbw is 18.35 GB/s, but 1048576 bytes in 100 us among 2 ranks make 10.49 GB/s"},
    {"LogWithoutRanks",
     "# Collective test starting: all_reduce_perf\n# size count type time algbw busbw\n"
     "1048576 262144 float 100 10.49 10.49\n",
     "x:3:1: there is no line '#  Rank  0 ... device ...' before the table, which says which GPUs "
     "ran"},
    {"LogOfOneRank",
     log_of("1048576 262144 float sum -1 100 10.49 0 0 100 10.49 0 0\n",
            "#  Rank  0 Group  0 Pid 1 on a device  0 [0x04] NVIDIA H100\n"),
     "x:5:1: the run has one rank, so nothing is sent"},
    {"RunsMixed",
     log_of("",
            "#  Rank  0 Group  0 Pid 1 on a device  0 [0x04] NVIDIA H100\n"
            "#  Rank  0 Group  0 Pid 9 on b device  0 [0x04] NVIDIA H100\n"),
     "x:4:10: rank 0 is listed twice, so outputs of several runs are mixed"},
    {"RanksMissing",
     log_of("1048576 262144 float sum -1 100 10.49 10.49 0 100 10.49 10.49 0\n",
            "#  Rank  0 Group  0 Pid 1 on a device  0 [0x04] NVIDIA H100\n"
            "#  Rank  3 Group  0 Pid 1 on a device  3 [0x07] NVIDIA H100\n"),
     "x:6:1: ranks up to 3 occur, but only 2 are listed, so lines are missing"},
    {"LogCollectiveUnknown",
     log_of("1048576 262144 float sum -1 100 10.49 10.49 0 100 10.49 10.49 0\n", "",
            "all_reduec_perf"),
     "x:6:1: unknown collective 'all_reduec'; did you mean 'all_reduce'?"},
    {"LogCollectiveUnsaid",
     log_of("1048576 262144 float sum -1 100 10.49 10.49 0 100 10.49 10.49 0\n", "", "mine"),
     "x:6:1: neither a line nor the file's name says which collective ran (all_reduce_perf, ...); "
     "state it with --collective"},
    {"LogColumnMissing", "# Using devices\n#  size  count  type  time  algbw #wrong\n",
     "x:2:35: the table has no column 'busbw'"},
    {"JsonCutShort", R"({"version":2,"args":["all_reduce_perf")",
     "x:1:39: the JSON is broken here: cut short, or not written by nccl-tests"},
    {"JsonWithoutArgs", R"({"config":{"ngpus":2,"devices":[{"group":0}]},"results":[]})",
     "x:1:1: the key 'args' is missing"},
    {"JsonWithoutConfig", R"({"args":["all_reduce_perf"],"results":[]})",
     "x:1:1: the key 'config' is missing, which says which GPUs ran"},
    {"JsonWithoutResults",
     R"({"args":["all_reduce_perf"],"config":{"ngpus":2,"devices":[{"group":0}]}})",
     "x:1:1: the key 'results' is missing"},
    {"JsonNoResults", json_of(""), "x:1:1: 'results' is empty, so the run did not finish"},
    {"JsonOneRank", json_of("{}", "\"all_reduce_perf\"", 1),
     "x:1:1: 'config' has 1 ranks; at least two are needed"},
    {"JsonCollectiveUnsaid", json_of("{}", "\"./a.out\""),
     "x:1:1: neither 'args' nor the file's name says which collective ran (all_reduce_perf, ...); "
     "state it with --collective"},
    {"JsonNumberTooLarge", json_of(R"({"size":1e48576})"),
     "x:1:1: a number in the JSON is too large"},
    {"JsonHalfMissing", json_of(R"({"size":8,"type":"float"})"),
     "x:2:12: a result has neither 'out_of_place' nor 'in_place'"},
    {"JsonTimeMissing", json_of(R"({"size":8,"type":"float","in_place":{"alg_bw":1,"bus_bw":1}})"),
     "x:2:12: in_place: the key 'time' is missing"},
    {"JsonTimeNotANumber",
     json_of(R"({"size":8,"type":"float","in_place":{"time":"nan","alg_bw":1,"bus_bw":1}})"),
     "x:2:12: in_place: 'time' is \"nan\", not a number"},
    {"JsonThreadsNotANumber",
     R"({"args":["all_reduce_perf"],"config":{"nthreads":"2","devices":[{}]},"results":[]})",
     "x:1:1: 'nthreads' is \"2\", not a whole number from 0 to 1000"},
    {"JsonGroupNegative",
     R"({"args":["all_reduce_perf"],"config":{"ngpus":2,"devices":[{"group":-1}]},"results":[]})",
     "x:1:1: 'group' is -1, not a whole number from 0 to 1000"},
    {"JsonHostNotAText",
     R"({"args":["all_reduce_perf"],"config":{"ngpus":2,"devices":[{"hostname":3}]},"results":[]})",
     "x:1:1: 'hostname' is 3, not a text"},
    {"JsonDeviceNoObject",
     R"({"args":["all_reduce_perf"],"config":{"ngpus":2,"devices":[3]},"results":[]})",
     "x:1:1: a device is not an object"},
    {"JsonTypeNotAText", json_of(R"({"size":8,"type":4,"in_place":{"time":8}})"),
     "x:2:12: 'type' is 4, not a text"},
    {"JsonBusbwContradicts", json_of(R"({"size":8000,"type":"float",
  "in_place":{"time":8,"alg_bw":1,"bus_bw":1.75}})"),
     "x:2:12: busbw is 1.75 GB/s, but 8000 bytes in 8 us among 2 ranks make 1 GB/s"},
};

class BadTimings : public ::testing::TestWithParam<BadCase> {};

// A wrong log is refused; a wrong row of a table is listed.
std::string complaint(const std::string& text) {
  CollectiveRows read;
  const std::string error = error_of([&] {
    const bool log = text.starts_with('#') || text.starts_with('{');
    read = log ? parse_nccl_tests(text, "x", {}) : parse_collective_rows(text, "x");
  });
  if (read.unreadable.empty()) return error;
  return read.unreadable[0].id + ": " + read.unreadable[0].reason;
}

TEST_P(BadTimings, AreNamedByPlace) {
  EXPECT_EQ(complaint(GetParam().text), GetParam().message);
}

TEST(CollectiveNames, HoweverTheyAreWritten) {
  for (const char* name :
       {"all_reduce", "allreduce", "all-reduce", "AllReduce", "all_reduce_perf"}) {
    EXPECT_EQ(collective_named(name, {}).kind, CollectiveKind::all_reduce) << name;
  }
  EXPECT_EQ(collective_named("send-recv", {}).kind, CollectiveKind::send_recv);
  EXPECT_EQ(collective_named("reduce_scatter", {}).kind, CollectiveKind::reduce_scatter);
  EXPECT_FALSE(collective_named("alltoallv", {}).unusable.empty());
}

TEST(CollectiveNames, OfAFile) {
  EXPECT_EQ(collective_in_name("logs.2/all_reduce_perf_2n.log"), "all_reduce");
  EXPECT_EQ(collective_in_name("h100_allreduce_16.txt"), "all_reduce");
  EXPECT_EQ(collective_in_name("2n-Reduce-Scatter.log"), "reduce_scatter");
  EXPECT_EQ(collective_in_name("reduce.log"), "reduce");
  EXPECT_EQ(collective_in_name("all_to_all.log"), "alltoall");
  EXPECT_EQ(collective_in_name("alltoallv_perf.log"), "alltoallv");
  EXPECT_EQ(collective_in_name("all_reduce/run.log"), "");
}

INSTANTIATE_TEST_SUITE_P(Traces, BadTimings, ::testing::ValuesIn(kCases),
                         [](const ::testing::TestParamInfo<BadCase>& info) {
                           return std::string(info.param.name);
                         });

TEST(NcclRow, ReleaseOfNccl) {
  EXPECT_EQ(nccl_release("2.21.5"), 21);
  EXPECT_EQ(nccl_release("2.18"), 18);
  EXPECT_EQ(nccl_release("NCCL 2.9.6+cuda11"), 9);
  EXPECT_EQ(nccl_release("RCCL 2.22.3"), 0);
  EXPECT_EQ(nccl_release("NCCL (CUDA 12.2 module)"), 0);
  EXPECT_EQ(nccl_release("CUDA 12.2.1"), 0);
  EXPECT_EQ(nccl_release(""), 0);
}

TEST(NcclRow, RanksOfAProcessAreCounted) {
  const std::string one =
      "#  Rank  0 Group  0 Pid   17 on      a device  0 [0x04] NVIDIA H100\n"
      "#  Rank  1 Group  0 Pid   17 on      a device  1 [0x05] NVIDIA H100\n";
  const std::string other = "#  Rank  2 Group  0 Pid   17 on      b device  0 [0x04] NVIDIA H100\n";
  EXPECT_EQ(process_ranks(one), 2);
  EXPECT_EQ(process_ranks(one + other), 2);
  EXPECT_EQ(process_ranks(other), 1);
  EXPECT_EQ(process_ranks("#  size  count  type"), 0);
}

}  // namespace
}  // namespace windtunnel
