#include "models/cost/snapshot/snapshot_writer.hpp"

#include <array>

namespace windtunnel {
namespace {

Parameter published(double value, double low, double high, const char* source) {
  return {value, low, high, Origin::published, source};
}
Parameter assumed(double value, double low, double high, const char* source) {
  return {value, low, high, Origin::assumed, source};
}

// Sources: torchsnapshot's benchmarks/ddp/README.md (20 GB on p4d.24xlarge, PyTorch 1.13);
// DLRover's docs/blogs/flash_checkpoint.md (GPT-2 xl on two A100). While busy: torchtitan waits for
// the future of its last dcp.async_save (torchtitan/components/checkpoint.py, b5bcd76c), as
// PyTorch's recipe of asynchronous saving does; torchsnapshot's users wait for PendingSnapshot
// likewise. Megatron-LM appends to a queue of calls, each a forked process
// (core/dist_checkpointing/strategies/async_utils.py, core_v0.12.0, TemporalAsyncCaller; its
// persistent worker blocks, because it stages the next snapshot only when the last is written);
// NeMo has the same queue (nemo/utils/callbacks/dist_ckpt_io.py, AsyncFinalizableCheckpointIO).
// DeepSpeed's decoupled engine writes in a separate process, which must end before the next
// optimizer step (deepspeed/runtime/checkpoint_engine/decoupled_checkpoint_engine.py, commit, which
// the engine's step calls), so that training waits at the latest when the next snapshot is due.
// DLRover skips a snapshot if it does not get the lock of shared memory
// (dlrover/trainer/torch/flash_checkpoint/engine.py, save_state_dict_to_memory).
const std::array<NamedWriter, 7>& writer_table() {
  static const std::array<NamedWriter, 7> kWriters = {{
      {"torch-save",
       published(0.64e9, 0.45e9, 1.1e9, "32 s for 20 GB on drives, torchsnapshot, one GPU"),
       published(1.54e9, 1.1e9, 3e9, "9.3 s for 13.5 GB on drives, DLRover, DDP"),
       {},
       {},
       WritingRanks::holders,
       WhenBusy::block},
      {"torchsnapshot",
       published(1.6e9, 1.1e9, 2e9, "13.91 s for 20 GB on drives, torchsnapshot, one GPU"),
       {},
       {},
       published(0.66, 0.3, 1, "20 GB on drives, torchsnapshot, 8 and 16 GPUs"),
       WritingRanks::all,
       WhenBusy::block},
      {"dcp",
       assumed(0.64e9, 0.45e9, 2e9,
               "torch.distributed.checkpoint: assumed to write files as fast as torch.save"),
       assumed(1.54e9, 1.1e9, 3e9,
               "torch.distributed.checkpoint: assumed to write files as fast as torch.save"),
       {},
       {},
       WritingRanks::all,
       WhenBusy::block},
      {"megatron",
       assumed(0.64e9, 0.45e9, 2e9,
               "torch.distributed.checkpoint: assumed to write files as fast as torch.save"),
       assumed(1.54e9, 1.1e9, 3e9,
               "torch.distributed.checkpoint: assumed to write files as fast as torch.save"),
       {},
       {},
       WritingRanks::all,
       WhenBusy::queue},
      {"nemo",
       assumed(0.64e9, 0.45e9, 2e9,
               "torch.distributed.checkpoint: assumed to write files as fast as torch.save"),
       assumed(1.54e9, 1.1e9, 3e9,
               "torch.distributed.checkpoint: assumed to write files as fast as torch.save"),
       {},
       {},
       WritingRanks::all,
       WhenBusy::queue},
      {"deepspeed-decoupled",
       published(15.6e9, 14.9e9, 22.5e9,
                 "FastPersist, one process, four or eight drives: read from a bar chart in "
                 "DeepSpeed's blog on DeepNVMe of June 2025"),
       published(1.54e9, 1.1e9, 3e9, "read by torch.load, as with torch-save"),
       {},
       {},
       WritingRanks::all,
       WhenBusy::block},
      {"flash-checkpoint",
       assumed(0.64e9, 0.45e9, 2e9, "in the background of training, by torch.save"),
       published(3.65e9, 1.9e9, 4.6e9, "3.7 s for 13.5 GB in memory, DLRover, DDP"),
       published(6.35e9, 2.3e9, 8.1e9, "1.0 s for 6.35 GB to memory, DLRover, ZeRO-3"),
       {},
       WritingRanks::all,
       WhenBusy::skip},
  }};
  return kWriters;
}

}  // namespace

std::span<const NamedWriter> snapshot_writers() {
  return writer_table();
}

SnapshotWriter usual_writer(const NamedWriter& named) {
  SnapshotWriter writer;
  writer.write_Bps = named.write_Bps.value;
  writer.read_Bps = named.read_Bps.value;
  writer.copy_Bps = named.copy_Bps.value;
  writer.start_s = named.start_s.value;
  writer.ranks = named.ranks;
  writer.origin = named.write_Bps.origin;
  return writer;
}

double writer_parts(const SnapshotWriter& writer, const Layout& layout) {
  switch (writer.ranks) {
    case WritingRanks::all:
      return 1;
    case WritingRanks::holders:
      return double(layout.island_replicas()) / shard_ranks(layout).optimizer;
    case WritingRanks::one:
      return double(layout.ranks()) / layout.islands();
  }
  return 1;
}

}  // namespace windtunnel
