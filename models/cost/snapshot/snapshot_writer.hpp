// Speed of the programs that write and read snapshots. A process that serialises tensors has its
// own limit, independent of storage: torch.save copies, checks and writes one tensor after the
// other in one thread. The work per process depends on which ranks write.
#pragma once

#include <span>
#include <string_view>

#include "models/base/origin.hpp"
#include "models/reliability/snapshot.hpp"
#include "models/workload/layout.hpp"

namespace windtunnel {

// Bytes per second and process; 0: not limiting. Fitted on published times, after subtracting the
// copy between GPU and host; `source` names the rows.
struct NamedWriter {
  std::string_view name;
  Parameter write_Bps;
  Parameter read_Bps;
  Parameter copy_Bps;
  Parameter start_s;
  WritingRanks ranks;  // where the scenario states none
  WhenBusy when_busy;  // behaviour of the software that saves with it
};
std::span<const NamedWriter> snapshot_writers();

// Copies the named writer's rates; the origin is that of write_Bps.
SnapshotWriter usual_writer(const NamedWriter& named);

// Returns how often a rank's bytes (WritingRanks::all) a writing process handles.
double writer_parts(const SnapshotWriter& writer, const Layout& layout);

}  // namespace windtunnel
