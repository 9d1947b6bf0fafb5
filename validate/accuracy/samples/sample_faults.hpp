// What is wrong with measured series of kernels, before anything rests on them: kinds of bad
// calibrations, each with a rule that a clean run, noisy as machines are, does not trip.
//
// Rules look at what physics says (memories' rates, times that do not fall with size, a clock on
// the wall) and at how far a series lies from its neighbours in size, against how far the run's
// series lie in general. A row is blamed once, by the first kind that explains it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/calibration/kernel_law.hpp"
#include "models/calibration/sample.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

enum class FaultSeverity {
  refused,  // no calibration is to be made of it
  warned,   // one that says so
};
std::string_view to_string(FaultSeverity severity);

struct SampleFault {
  std::string kind;  // of sample_fault_kinds()
  FaultSeverity severity = FaultSeverity::warned;
  std::vector<std::string> rows;  // "file:line"; empty: of the file as a whole
  std::string what;
  std::string advice;
};

// What is known beside the samples; all of it optional.
struct KnownMachine {
  const GpuSpec* spec = nullptr;        // of the device
  std::string device = {};              // as it should call itself
  std::string driver = {};              // of the device today
  const KernelLaws* laws = nullptr;     // fitted on the samples, or to be used for them
  const KernelLaws* earlier = nullptr;  // of the same device before
};

struct SampleFaultKind {
  std::string_view name;
  FaultSeverity severity;
  std::string_view help;
  std::string_view advice;
};
std::span<const SampleFaultKind> sample_fault_kinds();

// In the order of the kinds.
std::vector<SampleFault> sample_faults(std::span<const Sample> samples, const KnownMachine& known);

bool any_refused(std::span<const SampleFault> faults);

// Of the library, by the name that the device calls itself ("NVIDIA H200"); nullptr: a CPU, or one
// that the library lacks.
const GpuSpec* spec_of_device(std::string_view device);

}  // namespace windtunnel
