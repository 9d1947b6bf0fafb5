// The exchange of a buffer of gradients between data-parallel ranks, for real: kernels of a device
// and Collectives, in the order of the recipe that the simulator costs (models/compression), which
// this is measured to judge.
//
// What runs differs from a recipe where kernels or collectives are not there as costed. The
// differences are listed in docs/reference/harness.md, "Exchanges that really run"; a test holds
// them to be the only ones.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"
#include "models/calibration/kernel_work.hpp"
#include "models/compression/recipe.hpp"
#include "validate/harness/collectives/collectives.hpp"

namespace windtunnel {

struct ExchangeParts;

// `work`: the measured kernel or collective that it is, or whose bytes it moves.
struct ExchangeStep {
  KernelWork work;
  std::function<void()> run;

  bool communicates() const { return kernel_kind(work.kernel).family == KernelFamily::collective; }
};

// Empty where exchanges by this method can run, else what they lack, as the end of a sentence that
// starts with its name.
std::string why_no_exchange(const CompressorChoice& choice);

class Exchange {
 public:
  // All ranks with the same. Throws Error where it cannot run.
  Exchange(const CompressorChoice& choice, std::span<const TensorShape> tensors,
           const Device& device, Collectives& collectives);
  ~Exchange();
  Exchange(Exchange&&) noexcept;

  // Rows of the tensor in the device's memory, at a multiple of 256 bytes: the rank's own before a
  // run, afterwards the sum over all ranks as far as it was sent (signsgd without feedback: 1 or -1
  // as most ranks have it).
  float* gradient(std::size_t tensor) const;
  // What the rank has not sent yet, in the same form; nullptr: nothing is kept.
  const float* error(std::size_t tensor) const;

  // The steps that the next run starts.
  std::span<const ExchangeStep> steps() const;
  // Starts all of them; `around(step)` starts each in its place where it is given.
  void run(const std::function<void(const ExchangeStep&)>& around = {});

 private:
  std::unique_ptr<ExchangeParts> parts_;
};

}  // namespace windtunnel
