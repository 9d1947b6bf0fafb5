#include "validate/accuracy/runs/fit_rows.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

// Lines 2 to 7 are: two rows of an A100, one of an H100, one without a time, one with 9 GPUs for tp
// 2, and one that is cut off.
std::string rows_file() {
  const std::string path =
      ::testing::TempDir() + "windtunnel-fit-rows-" + std::to_string(getpid()) + ".csv";
  std::ofstream(path)
      << "source,model,layers,hidden,heads,seq,vocab,global_batch,micro_batch,gpus,gpu_type,tp,pp,"
         "iter_time_s\n"
         "s,GPT,24,2048,16,2048,51200,64,2,8,A100-SXM4-80GB,2,1,3\n"
         "s,GPT,12,2048,16,2048,51200,64,2,8,A100-SXM4-80GB,2,1,2\n"
         "s,GPT,24,2048,16,2048,51200,64,2,8,H100-SXM-80GB,2,1,1\n"
         "s,GPT,24,2048,16,2048,51200,64,2,8,A100-SXM4-80GB,2,1,\n"
         "s,GPT,24,2048,16,2048,51200,64,2,9,A100-SXM4-80GB,2,1,3\n"
         "s,GPT,24\n";
  return path;
}

// Returns the places, such as "6:10" of "rows.csv:6:10".
std::vector<std::string> places_of(const std::vector<UnusableRow>& rows) {
  std::vector<std::string> places;
  for (const UnusableRow& row : rows) {
    const size_t extension = row.id.rfind(".csv:");
    places.push_back(row.id.substr(extension + 5));
  }
  return places;
}

TEST(FitRows, EveryRowIsUsedOrUnusableOrCounted) {
  const FitInput all = read_fit_rows(rows_file(), "", "a100-80");
  EXPECT_EQ(all.gpu, "a100-80");
  EXPECT_EQ(all.rows.size(), 2u);
  EXPECT_EQ(places_of(all.unusable), (std::vector<std::string>{"6:10", "7", "5"}));
  EXPECT_EQ(all.other_rows, 1u);

  const FitInput some = read_fit_rows(rows_file(), "layers==12", "");
  EXPECT_EQ(some.rows.size(), 1u);
  EXPECT_EQ(places_of(some.unusable), std::vector<std::string>{"7"});  // no filter applies to it
  EXPECT_EQ(some.other_rows, 4u);
}

TEST(FitRows, OneKindOfGpuIsChosenByName) {
  const auto refusal = [](const std::string& where, const std::string& gpu) -> std::string {
    return error_of([&] { read_fit_rows(rows_file(), where, gpu); });
  };
  EXPECT_NE(refusal("", "").find("a100-80 (2), h100 (1)"), std::string::npos) << refusal("", "");
  EXPECT_NE(refusal("", "b200").find("no row of GPU kind b200"), std::string::npos);
  EXPECT_NE(refusal("layers==99", "").find("can be used"), std::string::npos)
      << refusal("layers==99", "");
  EXPECT_NE(refusal("layer==1", "").find("did you mean 'layers'"), std::string::npos);
}

}  // namespace
}  // namespace windtunnel
