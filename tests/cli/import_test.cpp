#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

using Json = nlohmann::json;

const std::string kFiles = WINDTUNNEL_SOURCE_DIR "/tests/scenarios/imports/files/";
const std::string kScript = WINDTUNNEL_SOURCE_DIR "/examples/configurations/llama3-70b.sh";

TEST(ImportCommand, WritesAScenarioThatRuns) {
  const std::string folder = scratch_folder("import");
  const std::string file = folder + "/job.yaml";
  const ProgramResult told =
      run_program("import " + kScript + " --cluster dgx-h100 --json --out " + file);
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const Json answer = Json::parse(told.out);
  EXPECT_EQ(answer.at("scenario").get<std::string>(), read_text(file));
  EXPECT_EQ(answer.at("files").at(0).at("kind"), "megatron-lm");
  EXPECT_EQ(answer.at("software"), "megatron-lm");
  EXPECT_FALSE(answer.at("without_effect").empty());
  for (const Json& read : answer.at("read")) EXPECT_GT(read.at("setting").at("line"), 0) << read;
  const Json ran = Json::parse(run_program("run " + file + " --json").out);
  // `run` also takes the script itself instead of a scenario.
  const ProgramResult direct =
      run_program("run " + kScript + " --set cluster.node=dgx-h100 --json");
  ASSERT_EQ(direct.exit_code, 0) << direct.err;
  EXPECT_NE(direct.err.find("read as a configuration of megatron-lm"), std::string::npos)
      << direct.err;
  EXPECT_EQ(Json::parse(direct.out).at("iteration"), ran.at("iteration"));
}

TEST(ImportCommand, DoesNotWriteOverItsInput) {
  const std::string script = scratch_folder("import_over_input") + "/job.sh";
  const std::string text = read_text(kScript);
  std::ofstream(script) << text;
  const ProgramResult refused =
      run_program("import " + script + " --cluster dgx-h100 --out " + script);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("job.sh: the command reads this file; write to another one"),
            std::string::npos)
      << refused.err;
  EXPECT_EQ(read_text(script), text);
}

TEST(ImportCommand, SaysWhatItReadAssumedAndLeftOut) {
  const ProgramResult told =
      run_program("import " + kFiles + "axolotl/llama3.1-8b-full.yaml --cluster '1 x dgx-a100'");
  ASSERT_EQ(told.exit_code, 0) << told.err;
  for (const char* part :
       {"Read\n", "Assumed, because no setting states it\n", "Settings left out that may matter\n",
        "another optimizer than AdamW", "model: llama3.1-8b"}) {
    EXPECT_NE(told.out.find(part), std::string::npos) << part << " is not in " << told.out;
  }
}

TEST(ImportCommand, TakesKeysThatNoFileStates) {
  const std::string asked = "import " + kFiles + "accelerate/tp-hsdp.yaml --cluster dgx-h100 ";
  const ProgramResult refused = run_program(asked + "--model llama3-8b --set batch.sequence=4096");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("--set batch.global"), std::string::npos) << refused.err;
  const ProgramResult told =
      run_program(asked + "--model llama3-8b --set batch.sequence=4096 --set batch.global=64");
  EXPECT_EQ(told.exit_code, 0) << told.err;
}

}  // namespace
}  // namespace windtunnel
