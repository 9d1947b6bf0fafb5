// Predictions for the words of checkpoint rows are compared with results by hand.
#include "validate/accuracy/kinds/checkpoint_accuracy.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

ValidationReport validated(const std::string& rows, const std::optional<RowFilter>& where = {}) {
  return validate_checkpoints(
      {parse_checkpoint_rows("source,system,gpus,gpu_type,model,checkpoint_bytes,storage,"
                             "storage_bw_Bps,method,event,seconds\n" +
                                 rows,
                             "times.csv")},
      where);
}

// torch.save writes 0.64 GB/s and reads 1.54; a GPU's PCIe is 0.85 x 32 GB/s.
TEST(CheckpointAccuracy, BytesGoThroughTheSoftwareToThePlace) {
  const ValidationReport report = validated(
      "s,2 nodes,16,A100,m,64e9,NVMe,4e9,torch.save by rank 0,save,100\n"
      "s,2 nodes,16,A100,m,64e9,NVMe,4e9,ZeRO-3 synchronous,save,10\n"
      "s,2 nodes,16,A100,m,64e9,NAS,5e8,ZeRO-3 synchronous,load,100\n"
      "s,2 nodes,16,A100,m,64e9,8 x Gen5 NVMe,6e8,torch.save,save throughput,\n");
  ASSERT_EQ(report.rows.size(), 4u) << report.skipped.front().reason;
  const double pcie_Bps = 0.85 * 32e9;
  EXPECT_NEAR(report.rows[0].predicted, 64e9 / pcie_Bps + 64e9 / 0.64e9, 0.1);
  // 16 processes write 4 GB each in 6.25 s; the 32 GB of a node take longer on its drives.
  EXPECT_NEAR(report.rows[1].predicted, 4e9 / pcie_Bps + 8, 0.01);
  EXPECT_NEAR(report.rows[1].baselines.at("bytes / bandwidth"), 8, 1e-9);
  EXPECT_NEAR(report.rows[2].predicted, 0.05 + 128 + 4e9 / pcie_Bps, 0.01);
  // A throughput is converted to the time of 1 GB.
  EXPECT_NEAR(report.rows[3].measured, 1 / 0.6, 1e-9);
  EXPECT_NEAR(report.rows[3].predicted, 1e9 / pcie_Bps + 1 / 0.64, 0.01);
}

TEST(CheckpointAccuracy, SavesOverSlowStorageTellTheBytesOfARun) {
  const std::string slow = "s,node,2,A100,m,,NAS,1e8,\"DDP, synchronous\",save,100\n";
  const std::string fast = "s,node,2,A100,m,,SSD,2e9,\"DDP, synchronous\",save,12\n";
  const ValidationReport both = validated(slow + fast);
  ASSERT_EQ(both.fitted.size(), 1u);
  ASSERT_EQ(both.rows.size(), 1u);
  EXPECT_EQ(both.rows[0].id, "times.csv:3");
  EXPECT_NEAR(both.rows[0].baselines.at("bytes / bandwidth"), 10e9 / 2e9, 1e-9);
  const ValidationReport alone = validated(fast);
  EXPECT_TRUE(alone.rows.empty());
  EXPECT_EQ(alone.skipped.at(0).reason, "the bytes of the checkpoint are not stated");
}

// Each GPU copies 4 GB over PCIe; training waits for this copy only, because DCP writes in the
// background.
TEST(CheckpointAccuracy, ASaveBehindTrainingStallsItForTheCopy) {
  const ValidationReport report = validate_checkpoints({parse_checkpoint_rows(
      "source,system,gpus,gpu_type,model,checkpoint_bytes,storage,storage_bw_Bps,method,event,"
      "seconds,blocking_s\n"
      "s,node,8,A100,m,32e9,NVMe,4e9,DCP async,save,9,0.2\n"
      "s,node,8,A100,m,32e9,NVMe,4e9,DCP,save,9,9\n",
      "times.csv")});
  ASSERT_EQ(report.rows.size(), 3u);
  EXPECT_EQ(report.rows[1].metric, "stall_s");
  EXPECT_EQ(report.rows[1].measured, 0.2);
  EXPECT_NEAR(report.rows[1].predicted, 4e9 / (0.85 * 32e9), 1e-6);
  EXPECT_NEAR(report.rows[0].predicted, report.rows[1].predicted + 8, 1e-6);
}

// For a save with a stated stall, the parameters give the bytes. The storage is not named, but one
// process of torch.save is slower than the storage.
TEST(CheckpointAccuracy, ParametersTellBytes) {
  const ValidationReport report = validate_checkpoints({parse_checkpoint_rows(
      "source,system,gpus,gpu_type,model,params,checkpoint_bytes,storage,storage_bw_Bps,method,"
      "event,seconds,blocking_s\n"
      "s,node,8,not stated,full,7B,,not stated,,\"torch.save, FSDP\",save,50,50\n"
      "s,node,8,H100,m with optimizer,8B,,NAS,1e9,DCP,save,100,100\n"
      "s,node,8,H100,m with optimizer,8B,,not stated (NFS),,DCP,save,100,100\n",
      "times.csv")});
  ASSERT_EQ(report.rows.size(), 2u) << report.skipped.at(0).reason;
  EXPECT_NEAR(report.rows[0].predicted, 28e9 / 0.64e9, 0.04 * 28 / 0.64);
  EXPECT_NEAR(report.rows[1].baselines.at("bytes / bandwidth"), 96, 1e-9);
  ASSERT_EQ(report.skipped.size(), 1u);
  EXPECT_NE(report.skipped[0].reason.find("bandwidth of 'not stated (NFS)'"), std::string::npos);
}

TEST(CheckpointAccuracy, SkipsWithTheReason) {
  const ValidationReport report = validated(
      "s,node,8,A100,m,1e9,FSx for Lustre,,torch.save,save,10\n"
      "s,node,8,A100,m,1e9,NVMe,1e9,FastPersist AIO,save,10\n"
      "s,node,8,Q9000,m,1e9,NVMe,1e9,torch.save,save,10\n"
      "s,1 x p99x.24xlarge,8,A100,m,1e9,NVMe,,torch.save,save,10\n"
      "s,node,8,A100,m,1e9,NVMe,,torch.save,stall,10\n");
  EXPECT_TRUE(report.rows.empty());
  ASSERT_EQ(report.skipped.size(), 5u);
  const char* const reasons[] = {"'stall' is unknown",
                                 "bandwidth of 'FSx for Lustre' is not stated",
                                 "the library has no such software", "Q9000", "aws-p99x"};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_NE(report.skipped[i].reason.find(reasons[i]), std::string::npos)
        << report.skipped[i].reason;
  }
}

TEST(CheckpointAccuracy, JudgesTheRowsThatAreAskedFor) {
  const std::string rows =
      "s,node,8,A100,m,1e9,NVMe,1e9,torch.save,save,10\n"
      "s,node,4,A100,m,1e9,NVMe,1e9,torch.save,save,10\n";
  EXPECT_EQ(validated(rows, RowFilter::parse("gpus==4")).rows.size(), 1u);
  EXPECT_THROW(validated(rows, RowFilter::parse("gpu==4")), Error);
}

}  // namespace
}  // namespace windtunnel
