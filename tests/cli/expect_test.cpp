#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/nccl_log.hpp"
#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

using Json = nlohmann::json;

const std::string kAsked = "expect all_reduce --cluster '2 x dgx-h100' ";

Json answered(const std::string& arguments) {
  const ProgramResult result = run_program(arguments + " --json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out);
}

TEST(ExpectCommand, StatesEverySizeWithItsInterval) {
  const Json answer = answered(kAsked + "--sizes 8,1K..1M");
  EXPECT_EQ(answer.at("schema"), "windtunnel/expect/1");
  EXPECT_EQ(answer.at("ranks"), 16);
  ASSERT_EQ(answer.at("sizes").size(), 12u);
  EXPECT_EQ(answer.at("sizes").front().at("bytes"), 8);
  EXPECT_EQ(answer.at("sizes").back().at("bytes"), 1048576);
  for (const Json& size : answer.at("sizes")) {
    EXPECT_LT(size.at("busbw_Bps").at("low"), size.at("busbw_Bps").at("mean"));
    EXPECT_GT(size.at("busbw_Bps").at("high"), size.at("busbw_Bps").at("mean"));
    EXPECT_FALSE(size.at("algorithm").get<std::string>().empty());
  }
  EXPECT_NE(answer.at("noise").at("large").at("source"), "");
}

TEST(ExpectCommand, ShowsTableAndPage) {
  const std::string page = scratch_folder("expect") + "/page.html";
  const ProgramResult result = run_program(kAsked + "--sizes 1M..8M --page " + page);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"all-reduce on 2 x dgx-h100", "busbw", "What the 90 % intervals rest on",
                           "from 1 MB", "8 MiB"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << " is not in " << result.out;
  }
  EXPECT_NE(read_text(page).find("Bus bandwidth by size"), std::string::npos);
}

// The log shows a twelfth of the expected bandwidth.
TEST(ExpectCommand, ReadsALog) {
  const std::string log = nccl_log(scratch_folder("expect_log"), "all_reduce.log");
  const Json answer = answered(kAsked + "--log " + log);
  ASSERT_EQ(answer.at("sizes").size(), 3u);
  EXPECT_EQ(answer.at("sizes").back().at("place"), "slower");
  EXPECT_EQ(answer.at("log").at("inside"), 0);
  EXPECT_FALSE(answer.at("log").at("tried").empty());
  EXPECT_TRUE(answer.at("log").at("cause").is_string());
  const ProgramResult shown = run_program(kAsked + "--log " + log);
  for (const char* part : {"What the log says", "0 of 3 sizes", "look at", "none: healthy"}) {
    EXPECT_NE(shown.out.find(part), std::string::npos) << part << " is not in " << shown.out;
  }
}

TEST(ExpectCommand, RefusesWhatIsNone) {
  const std::string log = nccl_log(scratch_folder("expect_wrong"), "all_reduce.log");
  struct Row {
    std::string arguments;
    const char* said;
  };
  for (const Row& row :
       {Row{"expect all_reduse --cluster '2 x dgx-h100'", "all_reduce"},
        Row{kAsked + "--sizes 1Q", "--sizes"}, Row{kAsked + "--sizes 8M..1M", "--sizes"},
        Row{kAsked + "--sizes ''", "--sizes"}, Row{kAsked + "--sizes 0", "--sizes"},
        Row{"expect all_reduce", "--cluster"},
        Row{"expect all_gather --cluster '2 x dgx-h100' --log " + log, "only of all-reduce"},
        Row{"expect all_reduce --cluster '1 x dgx-h100' --log " + log, "16 ranks on 2 nodes"},
        Row{kAsked + "--log " + log + " --sizes 1M", "the log already says which sizes; leave out"},
        Row{"expect all_reduce --cluster '1 x h100'", "two ranks"},
        Row{"expect alltoall --cluster '2 x dgx-h100' --algorithm tree", "--algorithm"},
        Row{kAsked + "--log examples/logs/llama3-8b.log", "windtunnel diagnose"},
        Row{kAsked + "--log no/such.log", "no/such.log"}}) {
    const ProgramResult result = run_program(row.arguments);
    EXPECT_EQ(result.exit_code, 2) << row.arguments;
    EXPECT_NE(result.err.find(row.said), std::string::npos) << row.arguments << ": " << result.err;
  }
}

// The table does not give the number of nodes, and one of its rows is damaged.
TEST(ExpectCommand, SaysWhatItAssumesAndLeavesOut) {
  const std::string log = scratch_folder("expect_rows") + "/rows.csv";
  std::ofstream(log) << R"(source,machine,gpu,gpus,nodes,network,collective,bytes,time_us,dtype
a,b,H100,8,,NVLink,all_reduce,1048576,60,float
a,b,H100,8,,NVLink,all_reduce,oops,60,float
a,b,H100,8,,NVLink,all_reduce,8388608,120,float
)";
  const Json answer = answered("expect all_reduce --cluster '4 x dgx-h100' --log " + log);
  EXPECT_EQ(answer.at("nodes"), 1);
  EXPECT_EQ(answer.at("machine"), "1 of 4 x dgx-h100");
  ASSERT_EQ(answer.at("warnings").size(), 2u) << answer.at("warnings");
  EXPECT_NE(answer.at("warnings").at(0).get<std::string>().find("rows.csv:3"), std::string::npos)
      << answer.at("warnings");
  EXPECT_NE(answer.at("warnings").at(1).get<std::string>().find("assumed: 1"), std::string::npos);
}

TEST(ExpectCommand, TakesALargeMachine) {
  const Json answer = answered("expect all_reduce --cluster '16384 x dgx-h100' --sizes 1G");
  EXPECT_EQ(answer.at("ranks"), 131072);
}

TEST(ExpectCommand, TakesKeysOfTheMachine) {
  const Json full = answered(kAsked + "--sizes 8G");
  const Json half = answered(kAsked + "--sizes 8G --set cluster.node.nic='200 Gb/s'");
  EXPECT_LT(half.at("sizes").at(0).at("busbw_Bps").at("mean").get<double>(),
            0.8 * full.at("sizes").at(0).at("busbw_Bps").at("mean").get<double>());
}

}  // namespace
}  // namespace windtunnel
