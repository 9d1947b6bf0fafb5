// Everything that the program knows by name (the library, schedules, compressors, snapshot tiers,
// recovery policies), as tables and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/json/json.hpp"
#include "report/text/table.hpp"

namespace windtunnel {

struct SnapshotTier;
struct TierProtection;

struct Listing {
  std::string_view name;  // "gpus"
  std::string_view help;
  TextTable (*table)();  // for people: the main numbers
  Json (*document)();    // {"gpus": [...]}: every number with its interval, origin and source
};

const std::vector<Listing>& listings();

// Fused attention kernels that a scenario can name: on which GPUs, and how fast.
TextTable attention_table();
Json attention_document();

// These are compressors of gradients, with their keys and usual values.
TextTable compressor_table();
Json compressor_document();

// What a tier with this protection survives, such as "process crash, loss of 1 of 2 nodes".
std::string survived_text(const SnapshotTier& tier, const TierProtection& protection);
Json survived_json(const SnapshotTier& tier, const TierProtection& protection);

// Software that writes and reads snapshots, with the speed of one of its processes.
TextTable snapshot_writer_table();
Json snapshot_writer_document();

}  // namespace windtunnel
