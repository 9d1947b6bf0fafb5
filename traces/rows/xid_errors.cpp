#include "traces/rows/xid_errors.hpp"

#include <algorithm>
#include <array>

namespace windtunnel {
namespace {

// From the immediate action in NVIDIA's catalog for A100 and later GPUs
// (docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html): RESTART_APP is process;
// RESET_GPU, RESTART_BM, RESTART_VM, CHECK_MECHANICALS and the workflows of Xid 48 and of NVLink
// are node; IGNORE, UPDATE_SWFW and errors that only accompany another Xid (45, 154, 171, 172) are
// nothing. Xid 43 is IGNORE in the catalog because the GPU is healthy, but the application has to
// end. The actions for Xid 144 to 150 depend on a subcode, which the line summarises as Fatal or
// Nonfatal. Numbers that the catalog calls unused, or without an action, have no row.
constexpr auto kXids = std::to_array<XidError>({
    {8, 8, XidCost::process, "GPU stopped processing"},
    {11, 11, XidCost::process, "invalid push buffer"},
    {13, 13, XidCost::process, "exception in a kernel"},
    {14, 14, XidCost::nothing, "injected error"},
    {25, 25, XidCost::process, "illegal push buffer"},
    {31, 31, XidCost::process, "memory page fault"},
    {32, 32, XidCost::process, "corrupted push buffer"},
    {37, 38, XidCost::nothing, "driver firmware"},
    {39, 41, XidCost::process, "copy engine"},
    {43, 43, XidCost::process, "fault of the application"},
    {44, 45, XidCost::nothing, "clean-up after another error"},
    {46, 46, XidCost::node, "GPU timed out"},
    {48, 48, XidCost::node, "double-bit ECC error"},
    {54, 54, XidCost::node, "auxiliary power not connected"},
    {60, 60, XidCost::process, "video processor"},
    {62, 62, XidCost::node, "micro-controller halted"},
    {63, 63, XidCost::nothing, "row of memory remapped"},
    {64, 64, XidCost::node, "row of memory not remapped"},
    {66, 67, XidCost::nothing, "illegal access by the driver"},
    {68, 68, XidCost::process, "video decoder"},
    {69, 69, XidCost::process, "class error"},
    {70, 72, XidCost::process, "copy engine"},
    {74, 74, XidCost::node, "NVLink"},
    {75, 77, XidCost::process, "copy engine"},
    {78, 78, XidCost::nothing, "virtual GPU not started"},
    {79, 79, XidCost::node, "GPU fell off the bus"},
    {80, 80, XidCost::process, "corrupted data sent to the GPU"},
    {82, 86, XidCost::process, "codec or copy engine"},
    {88, 89, XidCost::process, "video decoder"},
    {92, 92, XidCost::nothing, "many single-bit ECC errors"},
    {93, 93, XidCost::nothing, "wear limit of the InfoROM"},
    {94, 94, XidCost::process, "contained memory error"},
    {95, 95, XidCost::node, "uncontained memory error"},
    {96, 105, XidCost::process, "codec"},
    {106, 107, XidCost::nothing, "test message"},
    {108, 108, XidCost::nothing, "remote translation over NVLink"},
    {109, 109, XidCost::node, "context switch timed out"},
    {110, 110, XidCost::node, "security fault"},
    {119, 119, XidCost::node, "GSP timed out"},
    {120, 120, XidCost::node, "GSP"},
    {121, 121, XidCost::nothing, "corrected error of C2C"},
    {126, 135, XidCost::process, "copy engine"},
    {136, 136, XidCost::node, "link not trained"},
    {137, 137, XidCost::nothing, "privilege error of NVLink"},
    {139, 139, XidCost::process, "optical flow"},
    {140, 140, XidCost::node, "ECC error not recovered"},
    {141, 141, XidCost::nothing, "fast path of CUDA"},
    {143, 143, XidCost::node, "GPU not initialised"},
    {144, 150, XidCost::fatal, "NVLink"},
    {151, 151, XidCost::node, "key rotation"},
    {152, 153, XidCost::nothing, "deep learning accelerator"},
    {154, 154, XidCost::nothing, "recovery action of another Xid"},
    {155, 155, XidCost::node, "NVLink down"},
    {156, 156, XidCost::node, "resource retired"},
    {157, 157, XidCost::nothing, "resource not retired"},
    {158, 158, XidCost::node, "GPU timed out fatally"},
    {160, 161, XidCost::nothing, "channel retired"},
    {162, 165, XidCost::nothing, "power smoothing"},
    {171, 172, XidCost::nothing, "details of Xid 48"},
});

}  // namespace

const XidError* find_xid(int number) {
  const auto* const found = std::ranges::find_if(
      kXids, [&](const XidError& each) { return number >= each.first && number <= each.last; });
  return found == kXids.end() ? nullptr : found;
}

}  // namespace windtunnel
