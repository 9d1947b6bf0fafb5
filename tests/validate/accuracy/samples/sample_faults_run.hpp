// Clean runs of a simulated machine have realistic noise, for tests of the search for faulty
// samples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/random.hpp"
#include "models/calibration/sample.hpp"

namespace windtunnel {

enum class MachineKind { host, gpu };

// The machine is a host with three levels of memory, or an H200. A run has kernels bound by memory
// or by their own work, products, messages, some copies with cold caches, works to be judged, and
// the first work again. Every series is off by a spread of its own, with tails like Student's t of
// 4 degrees of freedom. One series of twelve is slowed by a neighbour, by up to a factor of two,
// and so are some whole batches, by less. `noise` makes deviations to longer times that many times
// larger and more frequent.
std::vector<Sample> clean_run(MachineKind kind, std::uint64_t seed, double noise = 1);

// Scales all figures of a sample that are in seconds by `factor`.
void stretch(Sample& sample, double factor);

// Scales all times of the run, as if something slowed the device.
void slow_down(std::vector<Sample>& run, double slower);

bool is_single(const Sample& sample);
std::string kernel_of(const Sample& sample);  // of the first work
bool is_stream(std::string_view kernel);

// Returns the warm series of a kernel, by size: those to fit on, or all.
std::vector<Sample*> series_of(std::vector<Sample>& run, std::string_view kernel,
                               bool judged = false);

}  // namespace windtunnel
