// How fast the programs are that write and read snapshots. A process that serialises tensors does
// so at a pace of its own, whatever the storage: torch.save is one thread that copies, checks and
// writes one tensor after the other. Which ranks do it decides how much each has to do.
#pragma once

#include <span>
#include <string_view>

#include "models/base/origin.hpp"
#include "models/reliability/snapshot.hpp"
#include "models/workload/layout.hpp"

namespace windtunnel {

// Per process, of bytes per second; 0: as fast as what it writes to. Fitted on published times as
// what remains of them beside the copy between GPU and host; `source` says of which rows.
struct NamedWriter {
  std::string_view name;
  Parameter write_Bps;
  Parameter read_Bps;
  Parameter copy_Bps;
  Parameter start_s;
  WritingRanks ranks;  // usually
  WhenBusy when_busy;  // of the software that saves with it
};
std::span<const NamedWriter> snapshot_writers();

// With the origin of what it writes at.
SnapshotWriter usual_writer(const NamedWriter& named);

// Of a process that writes: what it handles over what a rank would with WritingRanks::all.
double writer_parts(const SnapshotWriter& writer, const Layout& layout);

}  // namespace windtunnel
