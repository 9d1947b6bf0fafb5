// The lists of listing.hpp that stand in files of their own.
#pragma once

#include "report/json/json.hpp"
#include "report/text/table.hpp"

namespace windtunnel {

// Fused attention kernels that a scenario can name: on which GPUs, how fast.
TextTable attention_table();
Json attention_document();

// Compressors of gradients, with the keys that each takes and their usual values.
TextTable compressor_table();
Json compressor_document();

// Software that writes and reads snapshots, with the speed of one of its processes.
TextTable snapshot_writer_table();
Json snapshot_writer_document();

}  // namespace windtunnel
