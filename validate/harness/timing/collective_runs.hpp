// Prepares one collective of models/calibration/kernel_work.hpp, with buffers of its own, for ranks
// that all run it. Kinds that name an algorithm use TcpCollectives; others use whatever connects
// the ranks.
#pragma once

#include <functional>
#include <string>

#include "kernels/device/device.hpp"
#include "models/calibration/kernel_work.hpp"
#include "validate/harness/collectives/collectives.hpp"

namespace windtunnel {

// Empty if it can run, else why not; nullptr: a single rank.
std::string why_no_collective(const KernelWork& work, const Collectives* collectives);

// The result owns the buffers; `collectives` must outlive it.
std::function<void()> prepare_collective(const KernelWork& work, const Device& device,
                                         Collectives& collectives);

}  // namespace windtunnel
