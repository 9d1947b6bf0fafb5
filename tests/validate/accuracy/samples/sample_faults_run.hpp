// Clean runs of a made-up machine, as noisy as machines are, for tests of what finds bad ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/random.hpp"
#include "models/calibration/sample.hpp"

namespace windtunnel {

enum class MachineKind { host, gpu };

// A host with three levels of memory, or an H200: kernels bound by memory or by their own work,
// products, messages, some copies with cold caches, works to be judged, the first one again. Every
// series is off by its own spread with tails like Student's of 4 degrees of freedom; one of twelve
// is slowed by a neighbour by up to two, and so are some batches as a whole, by less. `noise`: so
// many times as far and as often, towards longer times.
std::vector<Sample> clean_run(MachineKind kind, std::uint64_t seed, double noise = 1);

// Scales all figures of a sample that are in seconds by `factor`.
void stretch(Sample& sample, double factor);

// Scales all times of the run, as if something slowed the device.
void slow_down(std::vector<Sample>& run, double slower);

bool is_single(const Sample& sample);
std::string kernel_of(const Sample& sample);  // the first one
bool is_stream(std::string_view kernel);

// The warm series of a kernel, by size: to be fitted on, or all.
std::vector<Sample*> series_of(std::vector<Sample>& run, std::string_view kernel,
                               bool judged = false);

}  // namespace windtunnel
