// One collective of models/calibration/kernel_work.hpp at a time, between ranks that all run it,
// with buffers of its own. Kinds that name an algorithm are those of TcpCollectives; the others run
// through whatever joins the ranks.
#pragma once

#include <functional>
#include <string>

#include "kernels/device/device.hpp"
#include "models/calibration/kernel_work.hpp"
#include "validate/harness/collectives/collectives.hpp"

namespace windtunnel {

// Empty where it can run, else why not; nullptr: a rank alone.
std::string why_no_collective(const KernelWork& work, const Collectives* collectives);

// What it returns owns the buffers; `collectives` must outlive it.
std::function<void()> prepare_collective(const KernelWork& work, const Device& device,
                                         Collectives& collectives);

}  // namespace windtunnel
