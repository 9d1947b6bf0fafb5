#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "validate/accuracy/kinds/checkpoint_accuracy.hpp"

namespace windtunnel {
namespace {

constexpr const char* kCheckpointHeader =
    "source,system,gpus,gpu_type,model,checkpoint_bytes,storage,storage_bw_Bps,method,event,"
    "seconds\n";

CheckpointRows parsed_checkpoints(const std::string& rows) {
  return parse_checkpoint_rows(kCheckpointHeader + rows, "times.csv");
}

TEST(CheckpointRows, StateWhatTheyState) {
  const CheckpointRows rows = parsed_checkpoints(
      "a,one node,8,A100,GPT,20e9,NAS,1e8,torch.save,save,210\n"
      "a,one node,8,A100,GPT,,NAS,,torch.save,load,100\n"
      "a,one node,1,A100,GPT,,drives,1e9,torch.save,save throughput,\n");
  ASSERT_EQ(rows.runs.size(), 3u);
  EXPECT_EQ(rows.runs[0].id, "times.csv:2");
  EXPECT_EQ(rows.runs[0].bytes, 20e9);
  EXPECT_EQ(rows.runs[0].storage_Bps, 1e8);
  EXPECT_EQ(rows.runs[0].seconds, 210);
  EXPECT_EQ(rows.runs[1].event, CheckpointEvent::load);
  EXPECT_FALSE(rows.runs[1].bytes);
  EXPECT_EQ(rows.runs[2].event, CheckpointEvent::save_rate);
  EXPECT_TRUE(rows.unusable.empty());
}

TEST(CheckpointRows, FaultsNameTheirCells) {
  const CheckpointRows rows = parsed_checkpoints(
      "a,b,8,A100,GPT,20 GB,NAS,1e8,torch.save,save,210\n"
      "a,b,,A100,GPT,20e9,NAS,1e8,torch.save,save,210\n"
      "a,b,8,A100,GPT,20e9,NAS,1e8,torch.save,stall,210\n"
      "a,b,8,A100,GPT,20e9,NAS,1e8,torch.save,save,\n"
      "a,b,8,A100,GPT,20e9,NAS,,torch.save,save throughput,\n"
      "a,b,8,A100,GPT,20e9,,1e8,,save,-1\n");
  EXPECT_TRUE(rows.runs.empty());
  ASSERT_EQ(rows.unusable.size(), 6u);
  const char* const reasons[] = {"checkpoint_bytes",
                                 "column 'gpus': is empty",
                                 "save, load, save throughput",
                                 "column 'seconds': is empty",
                                 "column 'storage_bw_Bps': is empty",
                                 "column 'storage': is empty"};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_NE(rows.unusable[i].reason.find(reasons[i]), std::string::npos)
        << rows.unusable[i].reason;
  }
  EXPECT_EQ(rows.unusable[1].id, "times.csv:3:3");
  EXPECT_THROW(parse_checkpoint_rows("source,event\n", "times.csv"), Error);
}

}  // namespace
}  // namespace windtunnel
