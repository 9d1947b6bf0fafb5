// What the program knows by name: the library, schedules, compressors, snapshot tiers and
// recoveries, as tables and as JSON.
#pragma once

#include <string_view>
#include <vector>

#include "report/json/json.hpp"
#include "report/text/table.hpp"

namespace windtunnel {

struct Listing {
  std::string_view name;  // "gpus"
  std::string_view help;
  TextTable (*table)();  // for reading: the main numbers
  Json (*document)();    // {"gpus": [...]}: every number with its interval, origin and source
};

const std::vector<Listing>& listings();

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
