// Simulates clean runs of a machine with realistic noise, for tests of the search for faulty
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
// 4 degrees of freedom. A neighbour slows one series of twelve by up to a factor of two, and some
// whole batches by less. `noise` multiplies the size and the frequency of deviations to longer
// times.
std::vector<Sample> clean_run(MachineKind kind, std::uint64_t seed, double noise = 1);

// Scales all figures of a sample that are in seconds by `factor`.
void stretch(Sample& sample, double factor);

// Scales all times of the run, as if something slowed the device.
void slow_down(std::vector<Sample>& run, double slower);

bool is_single(const Sample& sample);
std::string kernel_of(const Sample& sample);  // of the first work
bool is_stream(std::string_view kernel);

// Returns the warm series of a kernel to fit on, ordered by size; with `judged`, the series to
// judge, too.
std::vector<Sample*> series_of(std::vector<Sample>& run, std::string_view kernel,
                               bool judged = false);

}  // namespace windtunnel
