// Checks measured series of kernels before anything uses them: kinds of bad calibrations, each with
// a rule that a clean run with normal noise does not violate.
//
// Rules use physics (memory rates, times that do not fall with size, elapsed time) and the distance
// of a series from its neighbours in size, relative to the run's usual distances. A row is blamed
// once, by the first kind that explains it.
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
  refused,  // must not be used for a calibration
  warned,   // can be used, with a warning
};
std::string_view to_string(FaultSeverity severity);

struct SampleFault {
  std::string kind;  // of sample_fault_kinds()
  FaultSeverity severity = FaultSeverity::warned;
  std::vector<std::string> rows;  // "file:line"; empty: the whole file
  std::string what;
  std::string advice;
};

// Knowledge besides the samples; all of it is optional.
struct KnownMachine {
  const GpuSpec* spec = nullptr;        // of the device
  std::string device = {};              // its expected name
  std::string driver = {};              // its present driver
  const KernelLaws* laws = nullptr;     // fitted on the samples, or to be used for them
  const KernelLaws* earlier = nullptr;  // of the same device, from earlier
};

struct SampleFaultKind {
  std::string_view name;
  FaultSeverity severity;
  std::string_view help;
  std::string_view advice;
};
std::span<const SampleFaultKind> sample_fault_kinds();

// Returns the faults in the order of the kinds.
std::vector<SampleFault> sample_faults(std::span<const Sample> samples, const KnownMachine& known);

bool any_refused(std::span<const SampleFault> faults);

// Returns the library's GPU with the name that the device reports ("NVIDIA H200"); null for a CPU,
// and for a GPU that the library lacks.
const GpuSpec* spec_of_device(std::string_view device);

}  // namespace windtunnel
